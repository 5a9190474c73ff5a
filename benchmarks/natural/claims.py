"""What stands beside true and false statements of readers, and what their markers open.

    python benchmarks/natural/claims.py [--part open|test|all] [--each] [--write]

Readers wrote them about real documents: with each question of the collection, and beside them
(``statements/``), a true one in words of their own and one with a small change. Each is compared
with the chunks that hold its quotation, as what it cites. Each true one with a question is also
given as a model's answer to it. Of the false ones those count as a wrong number or date that were
changed so (``change``) and have a figure, a number word, or the name of a month or weekday that the
true one has not: "before" for "after" is no wrong date.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from chapterhouse.claims.mismatch import find_mismatches
from chapterhouse.claims.quotation import closest_sentences
from chapterhouse.library import Library
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.text.wording import words_of
from chapterhouse.types import Chunk, Document, Evidence, Mismatch
from folders import PARTS
from libraries import ask_model, opened
from measuring import Bar, Machine, Table, finish
from plain_text import comparable
from questions import read_questions

STATEMENTS: Final = Path(__file__).parent / "statements"
FORMS: Final = ("[{0}]", "[^{0}]", "[{1}]", "({1})", "[^{1}:1]", "【{0}】", "[{0}, {0}]")
VALUES: Final = ("number", "date")
OPENED: Final = 0.5  # share of the shorter text's pairs of words that both have
FIGURE: Final = re.compile(r"\d[\d.,'’\u202f]*")
WORD: Final = re.compile(r"[^\W\d_]+")


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
    quotation: str

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """What stands beside it."""
        return find_mismatches(self.text, self.cited, self.question)

    @property
    def is_wrong_value(self) -> bool:
        """Whether it is false in a number or a date."""
        differs = bool(values(self.text) - values(self.other))
        return not self.true and self.change in VALUES and differs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument(
        "--each", action="store_true", help="print what is wrong, and what is missed"
    )
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    machine = Machine()
    bars: list[Bar] = []
    tables: list[Table] = []
    for part in ("open", "test") if chosen.part == "all" else (chosen.part,):
        cases: list[Case] = []
        answers: list[tuple[bool, bool]] = []
        for folder in (name for name, own in PARTS.items() if own == part):
            with opened(folder, "none") as library:
                own = list(cases_of(folder, library))
                answers += answers_of(own, library)
            cases += own
        if chosen.each:
            print_each(cases)
        figures = figures_of(cases, answers)
        tables += tables_of(part, cases, figures)
        if part == "test":
            bars = list(bars_of(figures))
    return finish(
        "claims",
        "What stands beside sentences of a model",
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
        for true, text, other in ((True, *pair), (False, *pair[::-1])):
            yield Case(folder, question, change, true, text, other, cited, evidence[0][1])


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
    return Evidence(document.id, chunk.start, chunk.end, text, *place, header=chunk.header)


def values(text: str) -> set[str]:
    """Return the figures of a text and its words for numbers, months and weekdays."""
    figures = {figure.rstrip(".,") for figure in FIGURE.findall(text)}
    return figures | {word for word in WORD.findall(text.lower()) if word in VALUE_WORDS}


def _value_words() -> frozenset[str]:
    lists = (
        names
        for own in map(words_of, ("de", "en", "es", "fr", "it"))
        for names in (own.cardinals[2:], own.tens, own.months, own.weekdays)
    )
    return frozenset(word for names in lists for word in names if word not in {"-", "may"})


VALUE_WORDS: Final = _value_words()


# --- answers ------------------------------------------------------------------------------------


def answers_of(cases: Sequence[Case], library: Library) -> Iterator[tuple[bool, bool]]:
    """Let a scripted model answer each question with its true statement and its first source.

    Yields:
        Whether it is shown as it was written, and whether something stands beside it.
    """
    forms = cycle(FORMS)
    for case in cases:
        if case.true and case.question:
            name = library.documents.get(case.cited[0].document_id).source.rsplit("/", 1)[-1]
            text = f"{case.text} {next(forms).format(1, name)}"
            answer = ask_model(library, case.question, ScriptedModel([text]))
            beside = any(one.mismatches for one in answer.sentences if not one.note)
            yield words(case.text) in words(answer.text), beside


def words(text: str) -> str:
    """Return the words of a text without the numbers of its citations."""
    return " ".join(re.findall(r"\w+", re.sub(r"\[\d+\]", "", text.casefold())))


# --- figures ------------------------------------------------------------------------------------


def figures_of(cases: Sequence[Case], answers: Sequence[tuple[bool, bool]]) -> Mapping[str, float]:
    """Return all figures, in per cent."""

    def share(found: Sequence[bool]) -> float:
        return 100 * sum(found) / max(len(found), 1)

    beside = [(case, one) for case in cases for one in case.mismatches]
    instead = [(case, one) for case, one in beside if one.instead]
    true = [case for case in cases if case.true]
    wrong = [case for case in cases if case.is_wrong_value]
    return {
        "true: something stands beside it": share([bool(case.mismatches) for case in true]),
        "a wrong number or date: named": share([finds_change(case) for case in wrong]),
        "a wrong unit: named": share(
            [finds_change(c) for c in cases if not c.true and c.change == "unit"]
        ),
        "what stands beside a statement: right": share([is_changed(*one) for one in beside]),
        "what is said to stand instead: in the true statement": share(
            [is_instead(*one) for one in instead]
        ),
        "what a marker opens: the quotation": share([opens(case) for case in true]),
        "right answers of a model: shown": share([shown for shown, _ in answers]),
    }


def finds_change(case: Case) -> bool:
    return any(is_changed(case, one) for one in case.mismatches)


def is_changed(case: Case, one: Mismatch) -> bool:
    """Whether what is named is in the false statement, and not in the true one."""
    return not case.true and one.text.casefold() not in case.other.casefold()


def is_instead(case: Case, one: Mismatch) -> bool:
    """Whether what is said to stand there has a value that only the true statement has."""
    own = Evidence("", 0, len(case.other), case.other, case.cited[0].language)
    return not case.true and not find_mismatches(one.instead, [own])


def opens(case: Case) -> bool:
    """Whether the closest sentences are mostly of the quotation, or it of them."""
    found = closest_sentences(case.text, case.cited)
    if found is None:
        return False
    one, other = (
        set(pairwise(["", *words(text).split()])) for text in (found.quote, case.quotation)
    )
    return len(one & other) > OPENED * min(len(one), len(other))


def tables_of(part: str, cases: Sequence[Case], figures: Mapping[str, float]) -> list[Table]:
    rows = tuple((name, round(value, 1)) for name, value in figures.items())
    wrong = sum(case.is_wrong_value for case in cases)
    title = f"{part} folders: {len(cases) // 2} pairs, {wrong} false in a number or date"
    return [Table(f"{title}, per cent", ("figure", "%"), rows)]


def bars_of(figures: Mapping[str, float]) -> Iterator[Bar]:
    for name, least, most in (
        ("true: something stands beside it", None, 2),
        ("a wrong number or date: named", 60, None),
        ("what stands beside a statement: right", 95, None),
        ("right answers of a model: shown", 100, None),
    ):
        yield Bar(name, round(figures[name], 1), least, most)


def print_each(cases: Sequence[Case]) -> None:
    for case in cases:
        found = case.mismatches
        if any(not is_changed(case, one) for one in found) or (case.is_wrong_value and not found):
            told = "; ".join(f"{one.kind} {one.text} → {one.instead}" for one in found)
            print(f"{case.folder} {case.change} {case.true}: {case.text}\n    {told}")
            print(f"    {case.quotation[:300]!r}")


if __name__ == "__main__":
    raise SystemExit(main())
