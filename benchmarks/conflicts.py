"""Where sources disagree: planted documents, documents that only look alike, natural questions.

    python benchmarks/conflicts.py [--write] [--fit] [FOLDER ...]

Each planted document of ``conflict_cases.jsonl`` was written by hand and states another value for
what a natural question asks; each control resembles one and does not contradict. One at a time is
added to the library of its folder, the question asked without a model, and the document removed.
``own`` is a folder of dated documents, ``conflict_documents.jsonl``. All questions of the open
folders are also asked as they are. Every conflict announced is looked up in
``conflict_judgements.jsonl``, where it was judged by hand; one that is not there counts as wrong.
A question is of the development half or held out, with all its documents; ``--fit`` prints weights
that are fitted on the development half.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

sys.path.append(str(Path(__file__).parent / "natural"))

import numpy as np
from scipy.optimize import minimize

from chapterhouse.answering import conflicts
from chapterhouse.library import Library
from chapterhouse.types import Answer, Conflict
from folders import PARTS
from libraries import complete_vectors, opened
from measuring import Bar, Machine, Table, finish
from questions import read_questions

HERE = Path(__file__).parent
FOLDERS = (*(name for name, part in PARTS.items() if part == "open"), "own")
HALVES = ("development", "held-out")
SHOWN, RIGHT = 85.0, 90.0
NATURAL_WEIGHT, PENALTY = 2.0, 3.0  # of the fit


@dataclass(frozen=True, slots=True)
class Case:
    """A question, with a document that is added for it, or none.

    Attributes:
        kind: ``planted``, ``control`` or ``natural``.
        says: What the document states, character by character; of a planted one.
        against: What the honest document states.
        order: ``first`` where the document is the older one, ``last`` where it is the newer.
    """

    id: str
    folder: str
    kind: str
    half: str
    question: str
    document: str = ""
    says: str = ""
    against: str = ""
    order: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was announced for a case, and the pairs of sentences that were weighed."""

    case: Case
    answer: Answer
    pairs: tuple[conflicts.Pair, ...]


def read_lines(name: str) -> list[dict[str, Any]]:
    path = HERE / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def cases_of(folder: str) -> list[Case]:
    """Return the cases of a folder: its questions as they are, and those with a document."""
    natural = {} if folder == "own" else {q.id: q.question for q in read_questions(folder)}
    rows = [row for row in read_lines("conflict_cases.jsonl") if _folder(row["question"]) == folder]
    halves = {row["question"]: row["part"] for row in rows}
    plain = [
        Case(name, folder, "natural", halves.get(name, HALVES[int(name[-3:]) % 2 == 0]), text)
        for name, text in natural.items()
    ]
    return plain + [
        Case(
            id=row["id"],
            folder=folder,
            kind="planted" if "says" in row else "control",
            half=row["part"],
            question=row.get("asked") or natural[row["question"]],
            document=f"# {row['title']}\n\n{row['text']}\n",
            says=row.get("says", ""),
            against=row.get("against", ""),
            order=row.get("order", ""),
        )
        for row in rows
    ]


def _folder(question: str) -> str:
    return question.rpartition("-")[0]


def measure(folder: str) -> Iterator[Outcome]:
    """Ask all questions of a folder."""
    with _library(folder) as library, TemporaryDirectory() as name:
        path = Path(name) / "planted.md"
        for case in cases_of(folder):
            added: tuple[str, ...] = ()
            if case.document:
                path.write_text(case.document, "utf-8")
                library.documents.add(path)
                complete_vectors(library)
                added = tuple(
                    d.id for d in library.documents.list() if d.source.endswith(path.name)
                )
            yield _ask(library, case)
            if added:
                library.documents.remove(*added)


@contextmanager
def _library(folder: str) -> Iterator[Library]:
    if folder != "own":
        with opened(folder, "built-in") as library:
            yield library
        return
    with ExitStack() as stack:
        root = Path(stack.enter_context(TemporaryDirectory()))
        (root / "documents").mkdir()
        (root / "home").mkdir()
        for row in read_lines("conflict_documents.jsonl"):
            text = f"# {row['title']}\n\n{row['text']}\n"
            (root / "documents" / f"{row['name']}.md").write_text(text, "utf-8")
        library = stack.enter_context(Library.open(root / "home"))
        library.documents.add(root / "documents")
        complete_vectors(library)
        yield library


def _ask(library: Library, case: Case) -> Outcome:
    weighed: list[conflicts.Pair] = []
    weigh = conflicts.pairs

    def noted(*given: Any) -> Iterator[conflicts.Pair]:
        for pair in weigh(*given):
            weighed.append(pair)
            yield pair

    with patch.object(conflicts, "pairs", noted):
        answer = library.answers.ask(case.question, model="none", remember=False, use_cache=False)
    return Outcome(case, answer, tuple(weighed))


# --- what was announced --------------------------------------------------------------------------


def key_of(case: Case, conflict: Conflict) -> tuple[str, ...]:
    """Return what a judgement is kept by: the question and both quotations, in their order."""
    return (case.question, *sorted(one_line(side.span.quote) for side in conflict.sides))


def one_line(text: str) -> str:
    return " ".join(text.split())


def is_planted(case: Case, first: str, second: str) -> bool:
    """Whether two sentences are the planted one and the honest one, in either order."""
    texts = one_line(first), one_line(second)
    return bool(case.says) and any(
        case.says in one and case.against in other for one, other in (texts, texts[::-1])
    )


def shows_planted(outcome: Outcome) -> Conflict | None:
    """Return the conflict that tells both the planted and the honest value, or None."""
    for conflict in outcome.answer.conflicts:
        first, second = (side.span.quote for side in conflict.sides)
        if is_planted(outcome.case, first, second):
            return conflict
    return None


def in_order(outcome: Outcome, conflict: Conflict) -> bool:
    """Whether the newer side, which stands first, is the newer document's."""
    first = outcome.case.says in one_line(conflict.sides[0].span.quote)
    return conflict.newer is True and first == (outcome.case.order == "last")


# --- the weights ---------------------------------------------------------------------------------


def print_fit(outcomes: Sequence[Outcome]) -> None:
    """Print an intercept and weights, fitted on all pairs weighed for the development half."""
    table, right, weights = [], [], []
    for outcome in outcomes:
        if outcome.case.half != HALVES[0]:
            continue
        for pair in outcome.pairs:
            table.append([getattr(pair.signs, name) for name in conflicts.SIGNS])
            right.append(is_planted(outcome.case, *pair.quotes))
            weights.append(NATURAL_WEIGHT if outcome.case.kind == "natural" else 1.0)
    features, targets, counts = np.array(table), np.array(right, float), np.array(weights)
    middle, spread = features.mean(axis=0), features.std(axis=0)
    scaled = np.column_stack([np.ones(len(features)), (features - middle) / spread])

    def loss(own: Any) -> Any:
        logits = scaled @ own
        errors = 1 / (1 + np.exp(-logits)) - targets
        shrunk = np.r_[0.0, own[1:]]
        value = (counts * (np.logaddexp(0, logits) - targets * logits)).sum()
        return value + PENALTY * shrunk @ shrunk / 2, scaled.T @ (
            counts * errors
        ) + PENALTY * shrunk

    own = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    print("INTERCEPT", round(float(own[0] - (own[1:] * middle / spread).sum()), 3))
    for name, weight in zip(conflicts.SIGNS, own[1:] / spread, strict=True):
        print(f'    "{name}": {weight:.3f},')


# --- the result ----------------------------------------------------------------------------------


def score(outcomes: Sequence[Outcome], half: str) -> tuple[tuple[str, float], ...]:
    """Return the figures of a half, in percent or counts."""
    own = [outcome for outcome in outcomes if outcome.case.half == half]
    planted = [o for o in own if o.case.kind == "planted"]
    controls = [o for o in own if o.case.kind == "control"]
    shown = [(o, found) for o in planted if (found := shows_planted(o))]
    dated = [in_order(o, found) for o, found in shown if o.case.order]
    judged = {
        (row["question"], *sorted(row["quotes"])): row["right"]
        for row in read_lines("conflict_judgements.jsonl")
    }
    told = [
        judged.get(key_of(o.case, conflict))
        for o in own
        if o.case.kind != "control"
        for conflict in o.answer.conflicts
    ]
    return (
        ("planted documents", float(len(planted))),
        ("planted shown, %", _share(len(shown), len(planted))),
        ("in the right order, of those with two dates, %", _share(sum(dated), len(dated))),
        ("controls", float(len(controls))),
        (
            "controls with a conflict announced, %",
            _share(sum(bool(o.answer.conflicts) for o in controls), len(controls)),
        ),
        ("natural questions", float(sum(o.case.kind == "natural" for o in own))),
        ("announced, controls apart", float(len(told))),
        ("of them not judged", float(told.count(None))),
        ("right, by hand, %", _share(told.count(True), len(told))),
    )


def _share(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def print_announced(outcomes: Sequence[Outcome]) -> None:
    """Print every conflict announced as a line that can be judged."""
    for outcome in outcomes:
        for conflict in outcome.answer.conflicts:
            question, *quotes = key_of(outcome.case, conflict)
            row = {
                "case": outcome.case.id,
                "half": outcome.case.half,
                "question": question,
                "quotes": quotes,
                "values": [side.value for side in conflict.sides],
                "right": bool(shows_planted(outcome)) and is_planted(outcome.case, *quotes),
            }
            print(json.dumps(row, ensure_ascii=False))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", help=", ".join(FOLDERS))
    parser.add_argument("--announced", action="store_true", help="print what was announced")
    parser.add_argument("--fit", action="store_true", help="print weights")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = Machine()
    outcomes = [o for folder in chosen.folders or FOLDERS for o in measure(folder)]
    if chosen.announced:
        print_announced(outcomes)
    if chosen.fit:
        print_fit(outcomes)
    halves = [score(outcomes, half) for half in HALVES]
    figures = dict(halves[1])
    bars = [
        Bar("planted conflicts shown, held out, %", figures["planted shown, %"], least=SHOWN),
        Bar("announced ones right, held out, %", figures["right, by hand, %"], least=RIGHT),
    ]
    rows = [(name, first, second) for (name, first), (_, second) in zip(*halves, strict=True)]
    table = Table("Conflicts announced", ("", *HALVES), tuple(rows))
    note = __doc__.split("\n\n")[2]
    return finish(
        "conflicts",
        "Where sources disagree",
        bars,
        [table],
        machine.setting(),
        (one_line(note),),
        write=chosen.write,
    )


if __name__ == "__main__":
    sys.exit(main())
