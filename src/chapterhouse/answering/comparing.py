"""The row of a table with the highest or lowest value of the column that a question compares.

"Which boat is cheapest?" is answered where one table has one column that is meant, each of its
cells is a number, and all are of one unit. Rows are those that have the other words of the
question; sums and means below them are no rows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Final

from chapterhouse.answering.choosing import Bodies
from chapterhouse.answering.parts import Part
from chapterhouse.claims.numbers import Number, numbers
from chapterhouse.retrieval.question import is_name
from chapterhouse.text.canonical import names_text
from chapterhouse.text.markdown import BlockKind, blocks, table_cells
from chapterhouse.text.terms import terms_in, text_of_section
from chapterhouse.text.wording import languages_of_words, words_of
from chapterhouse.types import Hit, Question, Range

_HITS: Final = 3  # first hits whose tables are compared
_LONGEST: Final = 400_000  # characters of a table
_MOST_TIED: Final = 3  # rows; more have nothing that is worth telling
_DIGIT: Final = re.compile(r"\d")
_GROUPS: Final = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_WORD: Final = re.compile(r"[^\W\d]+")
_ROWS: Final = re.compile(r"(?:^\|.*\n?)+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Wish:
    words: frozenset[str]  # by which it compares
    is_highest: bool
    kind: str  # of the column: ``any``, one of a ``price``, or one that is ``named``


@dataclass(frozen=True, slots=True)
class _Table:
    hit: Hit
    header: str
    rows: tuple[Range, ...]  # in the document's text
    cells: tuple[tuple[str, ...], ...]


def compared(
    question: Question, hits: Sequence[Hit], bound: Sequence[bool], bodies: Bodies
) -> tuple[Part, ...]:
    """Return the row that a question asks for by comparing, or those of equal value; else nothing.

    Args:
        bound: Of each hit whether it is about what the question names.
    """
    wish = _wish(question)
    found: dict[tuple[str, int], tuple[int, tuple[Part, ...]]] = {}
    for hit, is_bound in zip(hits[:_HITS] if wish else (), bound, strict=False):
        table = _table(hit, bodies.text(hit.document.id))
        if wish and table and is_bound and (best := _best_rows(question, wish, table)):
            found[hit.document.id, table.rows[0][0]] = _words_in(question, table), best
    most = max((words for words, _ in found.values()), default=0)
    results = [best for words, best in found.values() if words == most > 0]
    return results[0] if len(results) == 1 else ()


def _words_in(question: Question, table: _Table) -> int:
    document, path = table.hit.document, text_of_section(table.hit.chunk.section_path)
    rows = " ".join(cell for row in table.cells for cell in row)
    text = f"{names_text(document)} {path} {table.header} {rows}"
    there = frozenset(terms_in(text, document.language))
    return sum(not there.isdisjoint(terms) for _, terms in question.words)


@cache
def _cues(language: str) -> tuple[tuple[str, bool, re.Pattern[str]], ...]:
    own = words_of(language)
    cues = (
        ("price", True, own.dearest), ("price", False, own.cheapest),
        ("any", True, own.highest), ("any", False, own.lowest),
        ("named", True, own.most), ("named", False, own.fewest),
    )  # fmt: skip
    return tuple(
        (kind, is_highest, re.compile(rf"(?<!\w)(?:{'|'.join(listed)})(?!\w)", re.IGNORECASE))
        for kind, is_highest, listed in cues
        if listed
    )


@cache
def _known(names: str) -> frozenset[str]:
    return frozenset(one for each in languages_of_words() for one in getattr(words_of(each), names))


def _wish(question: Question) -> _Wish | None:
    text = question.text
    for language in dict.fromkeys((*question.languages, *languages_of_words())):
        for kind, is_highest, cue in _cues(language):
            if match := cue.search(text):
                several = any(_counts(text, one, match.start()) for one in numbers(text, language))
                words = frozenset(match.group().casefold().split())
                return None if several else _Wish(words, is_highest, kind)
    return None


def _counts(text: str, number: Number, place: int) -> bool:
    """Whether a number says which or how many are asked for: the second highest, two cheapest."""
    before = number.end <= place and not text[number.end : place].strip(" -")
    in_words = not _DIGIT.search(text[number.start : number.end])
    return number.value > 1 and (number.ordinal or before or in_words)


def _table(hit: Hit, text: str) -> _Table | None:
    """Return the whole table of which a passage has rows; None of several."""
    start, end = hit.chunk.start, hit.chunk.end
    own = [match.span() for match in _ROWS.finditer(text, start, end) if match.group().strip()]
    if len(own) != 1:
        return None
    low, high = own[0]
    while low and text.startswith("|", text.rfind("\n", 0, low - 1) + 1):
        low = text.rfind("\n", 0, low - 1) + 1
    match = _ROWS.match(text, low, low + _LONGEST)
    high = match.end() if match else high
    found = [block for block in blocks(text[low:high]) if block.kind is BlockKind.TABLE]
    if len(found) != 1 or high - low >= _LONGEST:
        return None
    header, begin = text[low : low + found[0].body_start], low + found[0].body_start
    rows = [(one.start(), one.end()) for one in re.compile(r"\|.*").finditer(text, begin, high)]
    cells = tuple(tuple(table_cells(text[a:b], hit.document.format)) for a, b in rows)
    width = len(table_cells(header.split("\n", 1)[0]))
    whole = rows and all(len(row) == width for row in cells)
    return _Table(hit, header.split("\n", 1)[0], tuple(rows), cells) if whole else None


def _best_rows(question: Question, wish: _Wish, table: _Table) -> tuple[Part, ...]:
    """Return the rows of the best value, if it is the same however marks in numbers are read."""
    language = table.hit.document.language
    readings = (language,) if language else ("en", "de")
    first, *others = [_best(question, wish, table, one) for one in readings]
    return first if all(one == first for one in others) else ()


def _best(question: Question, wish: _Wish, table: _Table, reading: str) -> tuple[Part, ...]:
    language, names = table.hit.document.language, table_cells(table.header)
    columns = [frozenset(terms_in(name, language)) for name in names]
    places = _asked_rows(question, wish, table, columns)
    values = [_values(table, places, at, reading) for at in range(len(columns))]
    asked = {
        term for word, own in question.words for term in own if word.casefold() not in wish.words
    }
    named = [at for at, own in enumerate(columns) if not own.isdisjoint(asked)]
    chosen = [at for at in named if values[at]]
    if not chosen and wish.kind == "price":
        of_price = [not _known("price_names").isdisjoint(one.casefold().split()) for one in names]
        chosen = [at for at, own in enumerate(values) if own and of_price[at]]
    elif not chosen and wish.kind == "any" and not any(named):  # but the first, which names rows
        chosen = [at for at, own in enumerate(values) if own]
    own = values[chosen[0]] if len(chosen) == 1 else {}
    best = (max if wish.is_highest else min)(own.values(), default=None)
    tied = [table.rows[at] for at, value in own.items() if value == best]
    end = "highest" if wish.is_highest else "lowest"
    note = f"the {end} of {len(own)} values in “{names[chosen[0]]}”" if own else ""
    few = tied if len(tied) <= _MOST_TIED else ()
    return tuple(Part(table.hit, (at,), at, header=table.header, note=note) for at in few)


def _asked_rows(
    question: Question, wish: _Wish, table: _Table, columns: Sequence[frozenset[str]]
) -> tuple[int, ...]:
    """Return the rows with the words of a question that only some rows have; none without a name.

    Sums and means are left out: whoever asks for the highest value means none of them.
    """
    hit, language = table.hit, table.hit.document.language
    totals = _known("total_names")
    first = [frozenset(_WORD.findall(row[0].casefold())) for row in table.cells]
    if any(totals & own and not own <= totals for own in first):  # "Total income" may be a row
        return ()
    places = tuple(at for at, own in enumerate(first) if not totals & own)
    there = [frozenset(terms_in(" ".join(row), language)) for row in table.cells]
    names = f"{names_text(hit.document)} {text_of_section(hit.chunk.section_path)}"
    above = frozenset(terms_in(names, language)).union(*columns)
    for word, terms in question.words:
        with_it = tuple(at for at in places if not there[at].isdisjoint(terms))
        if word.casefold() in wish.words or not above.isdisjoint(terms):
            continue
        if not with_it and (is_name(word, question) or _DIGIT.search(word)):
            return ()
        places = with_it or places
    return places


def _values(
    table: _Table, places: Sequence[int], column: int, reading: str
) -> Mapping[int, Decimal]:
    """Return the value of each row in a column; nothing where a cell is no number, or units differ.

    One row alone compares nothing.
    """
    read = {at: list(_numbers_of(table.cells[at][column], reading)) for at in places}
    kinds = {kind for found in read.values() for _, kind in found}
    whole = all(len(found) == 1 for found in read.values()) and len(kinds) == 1
    return {at: found[0][0] for at, found in read.items()} if whole and len(read) > 1 else {}


def _numbers_of(cell: str, language: str) -> Iterator[tuple[Decimal, tuple[str, str]]]:
    """Yield the numbers of a cell, each with its unit and the words beside it."""
    cell = _GROUPS.sub("\u00a0", cell)
    for one in numbers(cell, language):
        rest = " ".join(f"{cell[: one.start]} {cell[one.end :]}".split())
        is_value = one.high is None and not one.ordinal and not _DIGIT.search(rest)
        if is_value and _DIGIT.search(cell[one.start : one.end]):
            yield one.value, (one.unit, rest)
