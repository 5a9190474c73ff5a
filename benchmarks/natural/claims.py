"""What the judge of claims says about statements of readers, true ones and false ones.

    python benchmarks/natural/claims.py [--part open|test|all] [--fit] [--each] [--write]

Readers wrote them about real documents: with each question of the collection, and beside them
(``statements/``), a true one in words of their own and one with a small change. Each is judged
beside the chunks that hold its quotation, the other hits of a search being there too, and each true
one is given as a model's answer to its question. ``--fit`` fits the model on the open folders, says
what it does on folders left out, and writes ``src/chapterhouse/claims/model.json``.
"""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

import chapterhouse.claims
from chapterhouse.agents.ask import ask
from chapterhouse.answering.request import AskOptions
from chapterhouse.answering.second_opinion import Opinion, with_opinions
from chapterhouse.claims.features import FEATURES, Reading, compare_with_evidence, stated
from chapterhouse.claims.judge import disagreement, is_altered, judge, missing
from chapterhouse.claims.no_statement import bare, essence
from chapterhouse.claims.statement import read
from chapterhouse.library import Library
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import FOUND, Chunk, Document, Evidence, Judgement, ProblemKind, Support
from folders import PARTS
from libraries import opened
from measuring import Bar, Machine, Table, finish
from plain_text import comparable
from questions import CHANGES, read_questions

STATEMENTS: Final = Path(__file__).parent / "statements"
MODEL: Final = Path(chapterhouse.claims.__file__).parent / "model.json"
FORMS: Final = ("[{0}]", "[^{0}]", "[{1}]", "({1})", "[^{1}:1]", "【{0}】", "[{0}, {0}]")
VALUES: Final = ("number", "date", "unit")  # whose right value can be named
HARD: Final = ("number", "date", "entity", "negation")
FALSE_ALLOWED: Final = 0.075  # share of false statements called supported that the fit aims at
RIDGE: Final = 10.0
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """A statement with its evidence.

    Attributes:
        question: What it answers; or empty.
        other: The statement of the pair that is not this one.
        quotation: What the reader copied from the document.
    """

    folder: str
    question: str
    change: str
    true: bool
    text: str
    other: str
    cited: tuple[Evidence, ...]
    others: tuple[Evidence, ...]
    quotation: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument("--fit", action="store_true", help="fit the model, and measure nothing")
    parser.add_argument("--each", action="store_true", help="print what is judged wrong")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    if chosen.fit and chosen.part != "open":
        parser.error("--fit looks at the open folders only")
    machine = Machine()
    bars: list[Bar] = []
    tables: list[Table] = []
    for part in ("open", "test") if chosen.part == "all" else (chosen.part,):
        cases: list[Case] = []
        shown: list[bool] = []
        for folder in (name for name, own in PARTS.items() if own == part):
            with opened(folder, "built-in") as library:
                own = list(cases_of(folder, library))
                shown += [] if chosen.fit else shown_answers(own, library)
            cases += own
        if chosen.fit:
            write_model(cases)
            return 0
        judged = [(case, judge(case.text, case.cited, case.others)) for case in cases]
        if chosen.each:
            print_wrong(judged)
        figures = figures_of(judged, shown)
        tables += tables_of(part, judged, figures)
        if part == "test":
            bars = list(bars_of(figures))
    return finish(
        "claims",
        "What is said about statements of a model",
        bars,
        tables,
        machine.setting(),
        write=chosen.write,
    )


# --- statements ---------------------------------------------------------------------------------


def cases_of(folder: str, library: Library) -> Iterator[Case]:
    """Yield both statements of each pair whose quotations are in the library."""
    documents = {document.source: document for document in library.documents.list()}
    for question, pair, change, evidence in pairs(folder):
        found = [
            piece
            for name, quote in evidence
            for source, document in documents.items()
            if source == name or source.endswith(f"/{name}")
            for piece in chunks_with(quote, document, library)
        ]
        cited = tuple(dict.fromkeys(found))
        if not cited:
            print(f"{folder}: not in the library: {evidence[0][1][:60]!r}", flush=True)
            continue
        known = {(piece.document_id, piece.start) for piece in cited}
        others = tuple(
            evidence_of(hit.document, hit.chunk, library)
            for hit in library.search.hits(question or pair[0]).hits
            if (hit.document.id, hit.chunk.start) not in known
        )
        for true, text, other in ((True, *pair), (False, *pair[::-1])):
            yield Case(folder, question, change, true, text, other, cited, others, evidence[0][1])


def pairs(folder: str) -> Iterator[tuple[str, tuple[str, str], str, list[tuple[str, str]]]]:
    """Yield question, true and false statement, change, and quotations with their documents."""
    for one in read_questions(folder):
        if one.true_statement:
            quoted = [(each.document, each.quote) for each in one.evidence]
            yield one.question, (one.true_statement, one.false_statement), one.change, quoted
    for line in (STATEMENTS / f"{folder}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        quoted = [(each["document"], each["quote"]) for each in row["evidence"]]
        yield "", (row["true_statement"], row["false_statement"]), row["change"], quoted


def chunks_with(quote: str, document: Document, library: Library) -> list[Evidence]:
    """Return the chunk that holds a quotation, or the two that hold most of its words."""
    wanted = comparable(quote)
    pieces = [
        evidence_of(document, chunk, library) for chunk in library.documents.chunks(document.id)
    ]
    whole = [piece for piece in pieces if wanted in comparable(piece.text)]
    if whole:
        return whole[:1]
    words = set(wanted.split())
    shared = {piece: len(words & set(comparable(piece.text).split())) for piece in pieces}
    best = sorted(pieces, key=lambda piece: -shared[piece])[:2]
    return [piece for piece in best if shared[piece] >= 0.7 * len(words)]


def evidence_of(document: Document, chunk: Chunk, library: Library) -> Evidence:
    text = library.documents.body(document.id).text[chunk.start : chunk.end]
    place = (document.language, document.title, tuple(chunk.section_path))
    return Evidence(document.id, chunk.start, chunk.end, text, *place)


# --- the model ----------------------------------------------------------------------------------


def reading_of(case: Case) -> Reading | None:
    """Return a statement beside what it cites; None where they share no word."""
    claim = read(essence(bare(case.text)), case.cited[0].language)
    return compare_with_evidence(claim, case.cited, stated(case.cited))


def is_open(reading: Reading | None) -> bool:
    """Whether the model decides: no number or date differs, and it is no altered copy."""
    if reading is None or disagreement(reading) or is_altered(reading):
        return False
    return all(problem.kind is ProblemKind.NAME for problem in missing(reading))


def fit(rows: Floats, labels: Floats) -> tuple[Floats, float]:
    """Return weights and intercept of a logistic regression, ridge on standardised features."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    table = np.c_[(rows - mean) / spread, np.ones(len(rows))]
    penalty = np.diag([RIDGE] * rows.shape[1] + [0.0])
    weights = np.zeros(table.shape[1])
    for _ in range(50):
        sure = 1 / (1 + np.exp(-table @ weights))
        curvature = (table * (sure * (1 - sure))[:, None]).T @ table + penalty
        weights -= np.linalg.solve(curvature, table.T @ (sure - labels) + penalty @ weights)
    own = weights[:-1] / spread
    return own, float(weights[-1] - own @ mean)


def write_model(cases: Sequence[Case]) -> None:
    """Fit on all cases; choose the threshold by what folders say that were left out."""
    readings = [reading_of(case) for case in cases]
    rows = np.array([one.features if one else [0.0] * len(FEATURES) for one in readings])
    decided = np.array([is_open(one) for one in readings])
    labels = np.array([float(case.true) for case in cases])
    folders = np.array([case.folder for case in cases])
    logits = np.zeros(len(cases))
    for folder in sorted(set(folders)):
        out = folders == folder
        weights, intercept = fit(rows[~out], labels[~out])
        logits[out] = rows[out] @ weights + intercept
    sure = np.where(decided, 1 / (1 + np.exp(-logits)), 0.0)
    threshold = float(np.quantile(sure[labels == 0], 1 - FALSE_ALLOWED))
    true = float((sure[labels == 1] >= threshold).mean())
    print(f"folders left out: {true:.1%} of true ones supported at {FALSE_ALLOWED:.0%} of false")
    weights, intercept = fit(rows, labels)
    value = {
        "weights": {name: round(float(w), 4) for name, w in zip(FEATURES, weights, strict=True)},
        "intercept": round(intercept, 4),
        "threshold": round(threshold, 4),
    }
    MODEL.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


# --- answers ------------------------------------------------------------------------------------


def shown_answers(cases: Sequence[Case], library: Library) -> list[bool]:
    """Let a scripted model answer each question with its true statement; say which are shown."""
    shown = []
    forms = cycle(FORMS)
    for case in cases:
        if case.true and case.question:
            name = library.documents.get(case.cited[0].document_id).source.rsplit("/", 1)[-1]
            text = f"{case.text} {next(forms).format(1, name)}"
            shown.append(words(case.text) in words(answer_of(case.question, text, library)))
    return shown


def answer_of(question: str, text: str, library: Library) -> str:
    """Return what is shown where a model answers a question with a text."""
    model = ScriptedModel([text])
    never = library.settings.expansion.model_copy(update={"rewrite": "never"})  # one text to give
    settings = library.settings.model_copy(update={"expansion": never})
    own = library._runtime  # noqa: SLF001 - with a model of our own
    runtime = replace(own, settings=settings, language_model=lambda _: model)
    choices = AskOptions(remember=False, use_cache=False)
    return asyncio.run(ask(question, "", choices, runtime)).text


def words(text: str) -> str:
    """Return the words of a text without the numbers of its citations."""
    return " ".join(re.findall(r"\w+", re.sub(r"\[\d+\]", "", text.casefold())))


# --- figures ------------------------------------------------------------------------------------

Judged = tuple[Case, Judgement]


def figures_of(judged: Sequence[Judged], shown: Sequence[bool]) -> Mapping[str, float]:
    """Return all figures, in per cent."""

    def share(kept: Sequence[Judged], labels: Sequence[Support]) -> float:
        return 100 * sum(told.support in labels for _, told in kept) / max(len(kept), 1)

    true = [one for one in judged if one[0].true]
    false = [one for one in judged if not one[0].true]
    hard = [one for one in false if one[0].change in HARD]
    values = [one for one in false if one[0].change in VALUES]
    return {
        "true, supported or quoted": share(true, tuple(FOUND)),
        "true, disagrees": share(true, (Support.DISAGREES,)),
        "false, supported": share(false, tuple(FOUND)),
        "wrong number, date, name or negation, supported": share(hard, tuple(FOUND)),
        "of those the right value named": 100 * sum(map(is_named, hard)) / max(len(hard), 1),
        "wrong number, date or unit, the right value named": (
            100 * sum(map(is_named, values)) / max(len(values), 1)
        ),
        **second_opinions([case for case, _ in judged]),
        "right answers of a model shown": 100 * sum(shown) / max(len(shown), 1),
    }


def second_opinions(cases: Sequence[Case]) -> Mapping[str, float]:
    """Return what opinions of a model change that is right, and of one that always says yes."""

    def told(case: Case, verdict: Support) -> Support:
        opinion = {case.text: Opinion(verdict, case.quotation)}
        return with_opinions(judge, opinion, "scripted")(case.text, case.cited, case.others).support

    true = [told(case, Support.SUPPORTED) in FOUND for case in cases if case.true]
    false = [told(case, Support.NOT_FOUND) in FOUND for case in cases if not case.true]
    hard = [
        told(case, Support.SUPPORTED) in FOUND
        for case in cases
        if judge(case.text, case.cited, case.others).support is Support.DISAGREES
    ]
    lies = 100 * sum(hard) / max(len(hard), 1)
    return {
        "second opinion, right: true, supported": 100 * sum(true) / max(len(true), 1),
        "second opinion, right: false, supported": 100 * sum(false) / max(len(false), 1),
        "second opinion, always yes: what disagrees, supported": lies,
    }


def is_named(one: Judged) -> bool:
    """Whether the value that is told in place of the wrong one stands in the true statement."""
    case, told = one
    if told.support is not Support.DISAGREES:
        return False
    right = set(words(case.other).split()) - set(words(case.text).split())
    known = stated((Evidence("", 0, len(case.other), case.other, case.cited[0].language),))
    for problem in told.problems:
        own = read(problem.found, case.cited[0].language)
        values = {float(t.number.value) for t in own.tokens if t.number}
        if right & set(words(problem.found).split()) or values & {v for v, _ in known.numbers}:
            return True
    return False


def tables_of(part: str, judged: Sequence[Judged], figures: Mapping[str, float]) -> list[Table]:
    rows = tuple((name, round(value, 1)) for name, value in figures.items())
    by_change: list[tuple[str | float, ...]] = []
    for change in CHANGES:
        own = [one for one in judged if one[0].change == change]
        counts = []
        for true in (True, False):
            kept = [told.support for case, told in own if case.true is true]
            counts += [
                round(100 * sum(s in FOUND for s in kept) / max(len(kept), 1)),
                round(100 * kept.count(Support.DISAGREES) / max(len(kept), 1)),
            ]
        by_change.append((change, len(own) // 2, *counts))
    heads = ("change", "pairs", "true found", "true disagrees", "false found", "false disagrees")
    return [
        Table(f"{part} folders ({len(judged) // 2} pairs), per cent", ("figure", "%"), rows),
        Table(f"{part} folders, by change, per cent", heads, tuple(by_change)),
    ]


def bars_of(figures: Mapping[str, float]) -> Iterator[Bar]:
    for name, least, most in (
        ("true, supported or quoted", 75, None),
        ("true, disagrees", None, 3),
        ("false, supported", None, 8),
        ("wrong number, date, name or negation, supported", None, 3),
        ("of those the right value named", 60, None),
        ("second opinion, right: true, supported", 92, None),
        ("second opinion, right: false, supported", None, 4),
        ("second opinion, always yes: what disagrees, supported", None, 0),
        ("right answers of a model shown", 100, None),
    ):
        yield Bar(name, round(figures[name], 1), least, most)


def print_wrong(judged: Sequence[Judged]) -> None:
    for case, told in judged:
        if case.true is not (told.support in FOUND):
            found = "; ".join(f"{p.kind} {p.claimed} → {p.found}" for p in told.problems)
            print(
                f"{case.folder} {case.change} {case.true} {told.support} {told.score}: {case.text}"
            )
            print(f"    {found} | {' '.join(span.quote for span in told.spans)[:300]!r}")


if __name__ == "__main__":
    raise SystemExit(main())
