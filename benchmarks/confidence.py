"""Fit how likely what is shown answers a question, and measure it on what it was not fitted on.

    python benchmarks/confidence.py           measure, leaving one folder or set out
    python benchmarks/confidence.py --write   also fit on all and write the weights

Natural questions over the open folders, answerable or not, papers, and XQuAD in four languages:
each is asked as it is, and once more with the documents that answer it taken out; and questions of
other folders are asked. What is shown is right where it has all facts, or overlaps the gold span.
The natural questions as they are count most, so that the confidence is calibrated on them.
"""

import argparse
import dataclasses
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "natural"))

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from chapterhouse.answering.choosing import WHOLE
from chapterhouse.answering.confidence import SIGNS, Signs
from chapterhouse.answering.extractive import CHUNKS_READ, find_parts
from chapterhouse.asking import reference_of
from chapterhouse.evaluation.collection import indexed
from chapterhouse.evaluation.datasets import CorpusDocument, load_dataset
from chapterhouse.library import Library
from chapterhouse.types import SearchResult
from data_folder import data_folder
from folders import PARTS
from gold_sets import drawn, locate, rows
from libraries import complete_vectors, opened
from marking import calibration_error, has_facts
from measuring import Bar, Machine, Table, finish
from questions import Question, read_questions

FOLDERS = tuple(name for name, part in PARTS.items() if part == "open")
XQUAD = ("xquad-en", "xquad-de", "xquad-zh", "xquad-ar")
WEIGHTS = Path(__file__).parents[1] / "src/chapterhouse/answering/confidence.json"
SAMPLE = 150
FOREIGN = 30  # questions of other folders
SET_WEIGHT = 0.1  # of a question of a set, where one of a folder counts 1
# Of a question without its documents; more for languages that have no unanswerable ones besides.
OUT_WEIGHT = {True: 0.12, False: 0.6}
PENALTY = 1.0
ANSWER, PASSAGES = 0.65, 0.05
SEED = 3

Floats = NDArray[np.float64]
Shown = Sequence[tuple[str, int, int]]
Check = Callable[[Shown, str], bool]


@dataclass(frozen=True, slots=True)
class Case:
    """What was shown for a question: of which set, of which kind, by which signs, and if right."""

    set: str
    kind: str  # answerable, near, far, out (its documents are) or foreign
    signs: Signs
    right: bool
    absent: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its kind, what is right, and the documents to take out."""

    text: str
    kind: str
    check: Check
    documents: frozenset[str] = frozenset()


# --- asking --------------------------------------------------------------------------------------


def cases() -> list[Case]:
    """Ask everything."""
    questions = {name: read_questions(name) for name in FOLDERS}
    foreign = {name: [one.question for one in own] for name, own in questions.items()}
    found: list[Case] = []
    for name in FOLDERS:
        with opened(name, "built-in") as library:
            ids = {one.source.partition("/")[2]: one.id for one in library.documents()}
            asked = [
                Asked(
                    one.question,
                    one.miss or "answerable",
                    _has_facts(one),
                    frozenset(ids[each] for each in one.documents if each in ids),
                )
                for one in questions[name]
            ]
            others = [text for other in FOLDERS if other != name for text in foreign[other]]
            found += _asked(name, library, asked, others)
        print(name, len(found), flush=True)
    every = [text for own in foreign.values() for text in own]
    for name, make in {"covid-qa-open": _papers, **dict.fromkeys(XQUAD, _xquad)}.items():
        found += make(name, every)
        print(name, len(found), flush=True)
    return found


def _asked(
    name: str, library: Library, asked: Sequence[Asked], foreign: Sequence[str]
) -> Iterator[Case]:
    for one in asked:
        yield from _case(name, one.kind, library, library.search(one.text), one.check)
        if one.documents:
            result = library.search(one.text, limit=5 * CHUNKS_READ)
            left = [hit for hit in result.hits if hit.document.id not in one.documents]
            without = dataclasses.replace(result, hits=tuple(left[:CHUNKS_READ]))
            yield from _case(name, "out", library, without, _never)
    for text in random.Random(SEED).sample(list(foreign), FOREIGN):
        yield from _case(name, "foreign", library, library.search(text), _never)


def _has_facts(question: Question) -> Check:
    return lambda _, text: has_facts(text, question.facts)


def _never(_shown: Shown, _text: str) -> bool:
    return False


def _case(
    name: str, kind: str, library: Library, result: SearchResult, check: Check
) -> Iterator[Case]:
    engines = library._engines  # noqa: SLF001 - a benchmark looks inside
    found = find_parts(result, engines.store.census(()), reference_of(engines), WHOLE)
    if found.signs is None:
        return
    shown = [(part.hit.document.id, *span) for part in found.parts for span in part.spans]
    text = "\n".join(part.text(library.body(part.hit.document.id).text) for part in found.parts)
    yield Case(name, kind, found.signs, check(shown, text), bool(found.names.absent))


def _papers(name: str, foreign: Sequence[str]) -> list[Case]:
    root = data_folder() / "retrieval" / name
    texts = {row["_id"]: row["text"] for row in rows(root / "documents.jsonl")}
    documents = [CorpusDocument(each, "", text) for each, text in texts.items()]
    with indexed(documents) as collection:
        complete_vectors(collection.library)
        ids = {theirs: ours for ours, theirs in collection.names.items()}
        asked = []
        for row in drawn(rows(root / "questions.jsonl"), SAMPLE):
            own = ids[row["document"]]
            wanted = texts[row["document"]][row["start"] : row["end"]]
            place = locate(collection.library.body(own).text, wanted, row["start"])
            spans = {own: [place]} if place else {}
            asked.append(Asked(row["text"], "answerable", _overlaps(spans), frozenset({own})))
        return list(_asked(name, collection.library, asked, foreign))


def _xquad(name: str, foreign: Sequence[str]) -> list[Case]:
    dataset = load_dataset(data_folder() / "retrieval" / name)
    with indexed(dataset.documents) as collection:
        complete_vectors(collection.library)
        ids = {theirs: ours for ours, theirs in collection.names.items()}
        asked = []
        for identifier in drawn(sorted(dataset.questions), SAMPLE):
            spans: dict[str, list[tuple[int, int]]] = {}
            for document in dataset.relevant[identifier]:
                text = collection.library.body(ids[document]).text
                for answer in dataset.answers[identifier]:
                    if (start := text.find(answer)) >= 0:
                        spans[ids[document]] = [(start, start + len(answer))]
            check, own = _overlaps(spans), frozenset(spans)
            asked.append(Asked(dataset.questions[identifier], "answerable", check, own))
        return list(_asked(name, collection.library, asked, foreign))


def _overlaps(spans: Mapping[str, Sequence[tuple[int, int]]]) -> Check:
    def check(shown: Shown, _: str) -> bool:
        return any(
            start < last and first < end
            for name, start, end in shown
            for first, last in spans.get(name, ())
        )

    return check


# --- fitting -------------------------------------------------------------------------------------


def fit(found: Sequence[Case]) -> Floats:
    """Return the intercept and a weight for each sign."""
    table, right = _table(found), np.asarray([case.right for case in found], dtype=float)
    weights = np.asarray([_weight(case) for case in found])
    mean, deviation = table.mean(axis=0), table.std(axis=0) + 1e-9
    scaled = (table - mean) / deviation

    def loss(model: Floats) -> tuple[float, Floats]:
        chance = 1 / (1 + np.exp(-(scaled @ model[1:] + model[0])))
        likely = right * np.log(chance + 1e-12) + (1 - right) * np.log(1 - chance + 1e-12)
        slope = weights * (chance - right)
        steep = np.concatenate([[slope.sum()], scaled.T @ slope + PENALTY * model[1:]])
        return float(-(weights * likely).sum() + PENALTY / 2 * model[1:] @ model[1:]), steep

    start = np.zeros(table.shape[1] + 1)
    model: Floats = minimize(loss, start, jac=True, method="L-BFGS-B").x
    own = model[1:] / deviation
    return np.concatenate([[model[0] - mean @ own], own])


def _weight(case: Case) -> float:
    out = OUT_WEIGHT[case.signs.meaning] if case.kind in {"out", "foreign"} else 1.0
    return out * (1.0 if case.set in FOLDERS or not case.signs.meaning else SET_WEIGHT)


def _table(found: Sequence[Case]) -> Floats:
    return np.asarray([[getattr(case.signs, sign) for sign in SIGNS] for case in found])


def stated(found: Sequence[Case], model: Floats) -> Floats:
    """Return the confidence in each case."""
    result: Floats = 1 / (1 + np.exp(-(_table(found) @ model[1:] + model[0])))
    return result


def left_out(found: Sequence[Case]) -> Floats:
    """Return the confidence in each case by a model of all other folders and sets."""
    result = np.zeros(len(found))
    for meaning in (True, False):
        own = [n for n, case in enumerate(found) if case.signs.meaning is meaning]
        for group in dict.fromkeys(_group(found[n], meaning=meaning) for n in own):
            inside = [n for n in own if _group(found[n], meaning=meaning) == group]
            rest = [found[n] for n in own if _group(found[n], meaning=meaning) != group]
            result[inside] = stated([found[n] for n in inside], fit(rest))
    return result


def _group(case: Case, *, meaning: bool) -> str:
    """Return what is left out together: XQuAD asks the same questions in every language."""
    return "xquad" if case.set in XQUAD and meaning else case.set


# --- telling -------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write weights and results")
    chosen = parser.parse_args()
    machine = Machine()
    found = cases()
    sure = left_out(found)
    if chosen.write:
        WEIGHTS.write_text(json.dumps(_weights(found), indent=1) + "\n", "utf-8")
    natural = [n for n, case in enumerate(found) if case.set in FOLDERS]
    as_asked = [n for n in natural if found[n].kind in {"answerable", "near", "far"}]
    error = calibration_error([sure[n] for n in as_asked], [found[n].right for n in as_asked])
    own = _figures([found[n] for n in natural], sure[natural])
    bars = [
        Bar("natural: shown as an answer and wrong, of answerable", own["wrong"], most=0.08),
        Bar("natural: near misses shown as an answer", own["near"], most=0.15),
        Bar("natural: far questions shown as an answer", own["far"], most=0.03),
        Bar("natural: expected calibration error", round(error, 4), most=0.08),
    ]
    columns = ("right", "answers", "wrong", "near", "far", "out", "foreign")
    lines = []
    for name in ("natural, all", *dict.fromkeys(case.set for case in found)):
        inside = (
            natural
            if name == "natural, all"
            else [n for n, case in enumerate(found) if case.set == name]
        )
        figures = _figures([found[n] for n in inside], sure[inside])
        lines.append((name, *(_percent(figures[column]) for column in columns)))
    head = ("set", "gold shown", "shown as answer", "and wrong", "near misses", "far",
            "documents out", "foreign")  # fmt: skip
    tables = [
        Table("Shown as an answer, percent, each folder and set left out", head, tuple(lines))
    ]
    models = [fit([case for case in found if case.signs.meaning is own]) for own in (True, False)]
    signs: list[tuple[str | float, ...]] = [
        (sign, *(round(float(model[number]), 3) for model in models))
        for number, sign in enumerate(("intercept", *SIGNS))
    ]
    tables.append(Table("Weights", ("sign", "by meaning", "by words"), tuple(signs)))
    return finish("confidence", "How sure an answer is", bars, tables, machine.setting(), (),
                  write=chosen.write)  # fmt: skip


def _weights(found: Sequence[Case]) -> dict[str, object]:
    written: dict[str, object] = {}
    for name, meaning in (("by meaning", True), ("by words", False)):
        model = fit([case for case in found if case.signs.meaning is meaning])
        written[name] = dict(zip(("intercept", *SIGNS), model.round(3).tolist(), strict=True))
    return written | {"answer": ANSWER, "passages": PASSAGES}


def _figures(found: Sequence[Case], sure: Floats) -> dict[str, float]:
    shown = [s >= ANSWER and not case.absent for s, case in zip(sure, found, strict=True)]

    def share(kind: str, values: Sequence[bool]) -> float:
        own = [value for value, case in zip(values, found, strict=True) if case.kind == kind]
        return float(np.mean(own)) if own else float("nan")

    wrong = [one and not case.right for one, case in zip(shown, found, strict=True)]
    return {
        "right": share("answerable", [case.right for case in found]),
        "answers": share("answerable", shown),
        "wrong": share("answerable", wrong),
    } | {kind: share(kind, shown) for kind in ("near", "far", "out", "foreign")}


def _percent(value: float) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.1f}"


if __name__ == "__main__":
    sys.exit(main())
