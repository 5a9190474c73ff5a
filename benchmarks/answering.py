"""Answers without a model: is the answer shown, and is what is no answer called one?

    python benchmarks/answering.py [--quick]

The product's answers to the hits of ``sentence_cases.py``: questions that the library answers,
the same with the documents taken out that do (and with the whole article), and questions of other
sets. Shown: something quoted on the first screen touches the gold span, or all facts are in it.
``2wiki-open`` asks for several documents: all of them are cited, and of comparisons the documents
of both things compared.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse.answering.extractive import CHUNKS_READ, Reference, answer
from chapterhouse.types import AnswerOutcome
from marking import calibration_error, share
from measuring import Bar, Machine, Row, Table, finish
from sentence_cases import (
    NATURAL,
    SETS,
    SEVERAL,
    XQUAD,
    Case,
    Documents,
    QuestionSet,
    Shown,
    There,
    own_reference,
    question_sets,
)

LEAST: Final = {"xquad-en": 93.0, "xquad-de": 87.0, "xquad-zh": 90.0, "xquad-ar": 85.0}
SILENT: Final[Mapping[There, float]] = {"taken out": 80.0, "foreign": 96.0}
BARRED: Final = (*XQUAD, "covid-qa-open")
NOT_THERE: Final[Sequence[There]] = ("near", "far", "taken out", "article out", "foreign")
BINS: Final = 10


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a question.

    Attributes:
        held: Share of what is wanted that is shown.
        right: Whether that suffices: some of a gold span, all facts, all documents.
        sides: Of a comparison in ``2wiki-open``, whether both things are cited; else None.
    """

    there: There
    outcome: AnswerOutcome
    confidence: float
    sure: bool
    held: float
    right: bool
    words: int
    sides: bool | None = None

    @property
    def claimed(self) -> bool:
        """Whether it is called an answer."""
        return self.outcome is AnswerOutcome.ANSWER


def told(one: QuestionSet, case: Case, own: Reference) -> Told:
    """Answer a case as the product does."""
    result = replace(case.result, hits=case.result.hits[:CHUNKS_READ])
    census = replace(one.census, documents=result.documents, chunks=result.chunks)
    found = answer(result, census, one.reference(case, own))
    sentences = found.sentences
    cited = {number for sentence in sentences for number in sentence.citations}
    text = "\n".join(sentence.text for sentence in sentences)
    places = [(c.document_id, c.start, c.end, "") for c in found.citations if c.number in cited]
    shown: Shown = [*places, ("", 0, 0, text)]
    documents = {name for name, *_ in places}
    wanted = case.wanted
    held = wanted.held(shown)
    several = isinstance(wanted, Documents)
    sides = wanted.sides if isinstance(wanted, Documents) else frozenset[str]()
    return Told(
        case.there,
        found.outcome,
        found.confidence,
        found.certainty == "sure",
        held,
        held >= 1 if several else held > 0,
        len(text.split()),
        sides <= documents if len(sides) > 1 else None,
    )


# --- the page ------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the questions, unkept")
    options = parser.parse_args()
    machine = Machine()
    own = own_reference()
    rows: dict[str, list[Told]] = {}
    for one in question_sets((*SETS, SEVERAL), 4 if options.quick else 1):
        name = "natural, open folders" if one.name in NATURAL else one.name
        rows.setdefault(name, []).extend(told(one, case, own) for case in one.cases)
    several = rows.pop(SEVERAL)
    return finish(
        "answering",
        "Answers without a model",
        [*bars(rows), *several_bars(several)],
        [answerable_table(rows | {SEVERAL: several}), silence_table(rows), calibration_table(rows)],
        machine.setting(),
        (NOTE,),
        write=not options.quick,
    )


NOTE = (
    "Percent of the questions. Wrong: called an answer, and what is wanted is not shown. "
    "Calibration: expected calibration error of the stated confidence over everything shown, in "
    "and out of reach. The weights of the confidence were fitted on most of these sets: the test "
    "folders of `natural.md` are the measure of what is not seen."
)


def percent(told: Sequence[Told], what: Callable[[Told], bool]) -> float:
    """Return the share of questions of which something is true, in percent."""
    return round(100 * share([what(one) for one in told]).value, 1)


def of(told: Sequence[Told], *there: There) -> list[Told]:
    """Return those whose answer is there or not in one of some ways."""
    return [one for one in told if one.there in there]


def bars(rows: Mapping[str, Sequence[Told]]) -> Iterator[Bar]:
    """Yield what must be shown of each language, and what not be called an answer.

    Where nothing at all is called an answer, not to call something one is no merit: the bar then
    has no figure, and is missed.
    """
    for name, least in LEAST.items():
        answerable = of(rows[name], "answerable")
        yield Bar(f"{name}: gold shown, %", percent(answerable, lambda one: one.right), least)
    for name in BARRED:
        speaks = any(one.claimed for one in of(rows[name], "answerable"))
        for there, least in SILENT.items():
            silent = percent(of(rows[name], there), lambda one: not one.claimed)
            silent = silent if speaks else math.nan
            yield Bar(f"{name}: {there}, not called an answer, %", silent, least)


def several_bars(told: Sequence[Told]) -> Iterator[Bar]:
    """Yield what questions that need several documents must cite."""
    compared = [one for one in told if one.sides is not None]
    yield Bar(f"{SEVERAL}: cites all documents, %", percent(told, lambda one: one.held >= 1), 50)
    yield Bar(
        f"{SEVERAL}: both sides compared, %", percent(compared, lambda one: bool(one.sides)), 80
    )


def answerable_table(rows: Mapping[str, Sequence[Told]]) -> Table:
    """Return what questions get whose answer is there."""
    columns = (
        "set", "questions", "shown", "as an answer", "right of these", "wrong of all", "passages",
        "not found", "words",
    )  # fmt: skip
    body: list[Row] = []
    for name, everything in rows.items():
        own = of(everything, "answerable")
        claimed = [one for one in own if one.claimed]
        body.append(
            (
                name,
                len(own),
                percent(own, lambda one: one.right),
                percent(own, lambda one: one.claimed),
                percent(claimed, lambda one: one.right),
                percent(own, lambda one: one.claimed and not one.right),
                percent(own, lambda one: one.outcome is AnswerOutcome.PASSAGES),
                percent(own, lambda one: one.outcome is AnswerOutcome.NOT_FOUND),
                round(statistics.fmean(one.words for one in own)),
            )
        )
    return Table("The answer is there", columns, tuple(body))


def silence_table(rows: Mapping[str, Sequence[Told]]) -> Table:
    """Return how much of what cannot be answered is not called an answer."""
    body: list[Row] = []
    for name, everything in rows.items():
        found = {there: of(everything, there) for there in NOT_THERE}
        cells = (
            percent(own, lambda one: not one.claimed) if own else "–" for own in found.values()
        )
        body.append((name, *cells))
    return Table("It is not: not called an answer", ("set", *NOT_THERE), tuple(body))


def calibration_table(rows: Mapping[str, Sequence[Told]]) -> Table:
    """Return how far the stated confidence and the truth agree, for each set and over all."""
    body: list[Row] = []
    together = [one for own in rows.values() for one in own]
    for name, everything in {**rows, "all sets": together}.items():
        shown = [one for one in everything if one.outcome is not AnswerOutcome.NOT_FOUND]
        sure = [one for one in shown if one.sure]
        error = calibration_error([o.confidence for o in shown], [o.right for o in shown], BINS)
        body.append(
            (name, len(shown), round(error, 3), len(sure), percent(sure, lambda o: o.right))
        )
    columns = ("set", "shown", "calibration error", "sure", "right of these")
    return Table("Confidence", columns, tuple(body))


if __name__ == "__main__":
    raise SystemExit(main())
