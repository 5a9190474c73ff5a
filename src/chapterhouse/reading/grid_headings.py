"""Which row of a table heads its values, or whether none does.

Digits show headings: a column of numbers, dates or codes has one without. Of names and their
values the words show them, or names of one kind.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from chapterhouse.text.language_data import language_data

LONGEST_LABEL: Final = 200  # characters; what is longer is a text, and no label or heading
SAMPLE: Final = 50  # rows by which a column is judged
_MOST_HEADINGS: Final = 3
PAIR: Final = 2  # columns of names and their values
_REGULAR: Final = 0.8  # share of a column
DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = re.compile(r"\d+")
_INITIALS: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,2}(?![^\W\d_])")
_VALUE: Final = re.compile(
    r"[A-Z]{3}\s?\d[\d.,'\s]*|\W{0,3}\d[\d.,:/'\s\u2019T+-]*(?:\W{1,2}|\s?\W{0,2}[^\W\d_]{1,3})?\W?"
    r"|(?i:true|false)|[^\s@]+@[^\s@]+|\S+://\S+"
)
_CODE: Final = re.compile(r"[^\W\d_]+-\d+")  # of a thing, which heads numbers at most
_ITEM: Final = re.compile(r"[•·▪◦‣■□●○➢✓]|\(?(?:\d{1,3}|[a-z]|[ivx]{2,5})[.)]\Z")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_DATE: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}[./]\d{1,2}[./](?:\d\d){0,2}")
# Names of one kind: questions, labels of forms, and those of settings, which begin small.
_KINDS_OF_NAMES: Final = (
    re.compile(r".*[?？]", re.DOTALL),
    re.compile(r".*[:：]", re.DOTALL),
    re.compile(r"[a-z]\w*[._]\w[\w.-]*"),
)

Row = list[str]


def with_heading(rows: list[Row], marked: int = 0) -> list[Row]:
    """Return a table with its headings in the first row, which is empty where there are none.

    So many rows are ``marked`` as headings; without any they are told by the texts.
    """
    if marked:
        columns = zip(*rows[:marked], strict=True)
        return [[", ".join(filter(None, dict.fromkeys(one))) for one in columns], *rows[marked:]]
    heading, body = headed(rows, may_head=True, repeats=False)
    return [heading or [""] * len(rows[0]), *body]


def headed(rows: list[Row], *, may_head: bool, repeats: bool) -> tuple[Row | None, list[Row]]:
    """Return the headings of a table, if it has some, and its other rows.

    The first row of a table is them unless it looks like the rows below; of one that follows
    another without a title it must look unlike them, unless it ``repeats`` its headings.
    """
    heading, body = rows[0], rows[1:]
    while len(rows) - len(body) < _MOST_HEADINGS and (joined := _joined(heading, body)):
        heading, body = joined, body[1:]
    is_heading = repeats or (can_head(heading, body) and (may_head or heads(heading, body)))
    return (heading, body) if is_heading else (None, rows)


def _joined(upper: Row, rows: list[Row]) -> Row | None:
    """Return the headings of two rows as one, or None where the second is none."""
    if len(rows) < 2 or (any(map(is_value, upper)) and not can_head(upper, rows)):  # noqa: PLR2004 - a row of headings, and one of values
        return None
    lower, body = rows[0], rows[1:]
    columns = list(zip(upper, lower, strict=True))
    reaches_right = any(one == other != "" for one, other in pairwise(upper))
    reaches_down = any(above == below != "" for above, below in columns)
    is_grouped = reaches_right or any(below and not above for above, below in columns[1:])
    divides = reaches_down or not upper[0] or not lower[0]
    filled = [below or above for above, below in columns]
    if not (is_grouped and divides and can_head(filled, body)):
        return None
    labels = [label for label in lower if label]
    if not (reaches_down or len(set(labels)) < len(labels) or heads(filled, body)):
        return None
    groups = upper if reaches_right else _spread(upper, lower)
    pairs = zip(groups, lower, strict=True)
    return [", ".join(filter(None, dict.fromkeys(pair))) for pair in pairs]


def _spread(upper: Row, lower: Row) -> Row:
    """Return the names of groups in each of their columns, as far as these can be told.

    A name stands over the first of them. Groups of as many columns, or of labels of one kind,
    such as years, are told; of others those whose end is: where all that belongs to no group is
    named above, the last group has at most as many as one before it.
    """
    groups: list[list[int]] = []
    for place, (above, below) in enumerate(zip(upper, lower, strict=True)):
        if above and below:
            groups.append([place])
        elif below and groups and groups[-1][-1] == place - 1:
            groups[-1].append(place)
        elif below and place:  # the name may stand over the middle of a group
            return upper
    sizes = [len(group) for group in groups]
    kinds = {_shape(lower[place]) for group in groups for place in group}
    if len(groups) < 2:  # noqa: PLR2004 - one group has no other that tells its end
        return upper
    if len(set(sizes)) > 1 and len(kinds) > 1:
        if lower[0]:
            return upper
        del groups[-1][max(sizes[:-1]) :]
    names = {place: upper[group[0]] for group in groups for place in group}
    return [names.get(place, above) for place, above in enumerate(upper)]


def can_head(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether nothing shows that a row is no heading of the others."""
    filled = sum(map(bool, row))
    if 2 * filled < len(row) or any(len(cell) > LONGEST_LABEL for cell in row):
        return False
    values = [place for place, cell in enumerate(row) if is_value(cell)]
    names = [cell.endswith(":") for cell in row if cell]
    is_named = names[0] and not all(names) and not (names[1] and heads(row, rows))
    if is_named or any(map(_ITEM.match, row)):  # a name with its values; an item of a list
        return False
    if len(row) == PAIR and (row[0].endswith(":") or values):
        return False
    if len(row) == PAIR and _is_form(rows) and not _heads_pairs(row, rows):
        return False
    digits = sum(DIGIT.search(cell) is not None for cell in row)
    if values and (values[0] == 0 or digits > len(values)):
        return False
    return all(_is_period(row, place, rows) for place in values) and not any(
        _is_alike(cell, _column(rows, place))
        or (_CODE.fullmatch(cell) and share_of_values(rows, place) < _REGULAR)
        for place, cell in enumerate(row)
        if cell
    )


def _is_form(rows: Sequence[Sequence[str]]) -> bool:
    """Whether two columns are names with values of several kinds."""
    words = Counter(text for text in _column(rows, 1) if not is_value(text))
    is_mixed = 1 in words.values() and 0 < share_of_values(rows, 1) < _REGULAR  # n/a is no kind
    return is_mixed and not any(map(DIGIT.search, _column(rows, 0)))


def _heads_pairs(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a row is such as Setting and Value, or the names below are of a kind it is not."""
    if len(row) != PAIR or not all(row):
        return False
    names, begins_small = _column(rows, 0), [cell[0].islower() for cell in row]
    is_known = all(
        words & {word, word.removesuffix("s")}
        for cell, words in zip(row, _words_of_pairs(), strict=True)
        for word in cell.casefold().split()[-1:]
    )
    return is_known or any(
        len(names) > 1 and all(map(kind.fullmatch, names)) and not kind.fullmatch(row[0])
        for kind in _KINDS_OF_NAMES
        if begins_small[0] == begins_small[1]
    )


@cache
def _words_of_pairs() -> tuple[frozenset[str], frozenset[str]]:
    """Return what columns of names, and of their values, are called in any language."""
    known = language_data().values()
    labels = frozenset[str]().union(*(language.label_words for language in known))
    return labels, frozenset[str]().union(*(language.value_words for language in known))


def is_value(cell: str) -> bool:
    """Whether a cell is a number, an amount, a date or the like."""
    return _VALUE.fullmatch(cell) is not None


def _is_period(row: Sequence[str], place: int, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a number or date heads its column: a year, a day, or one of several that count on."""
    cell, below = row[place], _column(rows, place)
    for kind in (_YEAR, _DATE):
        if kind.fullmatch(cell):
            return bool(below) and not any(map(kind.fullmatch, below))
    counted = [int(one) for one in row[1:] if one.isdecimal() and len(one) < 5]  # noqa: PLR2004
    steps = {after - before for before, after in pairwise(counted)}
    return cell.isdecimal() and len(counted) > 2 and steps == {1} and counted[0] <= 1  # noqa: PLR2004


def _is_alike(cell: str, below: Sequence[str]) -> bool:
    """Whether a code such as T-11 is written like all codes below it."""
    if not DIGIT.search(cell) or is_value(cell) or len(below) <= 1:
        return False
    return {_shape(one) for one in below} == {_shape(cell)}


def _shape(text: str) -> str:
    return _INITIALS.sub("a", _NUMBER.sub("9", text))


def heads(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a row has a text where the rows below have digits, or a name for numbers."""
    return _heads_pairs(row, rows) or any(
        not is_value(cell) and share_of_values(rows, place) >= _REGULAR
        if DIGIT.search(cell)
        else cell and has_digits(rows, place)
        for place, cell in enumerate(row)
    )


def has_digits(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Whether nearly all texts in a column have digits."""
    return _share(rows, place, DIGIT.search) >= _REGULAR


def share_of_values(rows: Sequence[Sequence[str]], place: int) -> float:
    """Return the share of numbers, dates and the like among the texts in a column."""
    return _share(rows, place, _VALUE.fullmatch)


def _share(rows: Sequence[Sequence[str]], place: int, found: Callable[[str], object]) -> float:
    """Return the share of the texts in a column in which something is found."""
    texts = _column(rows, place)
    return sum(found(text) is not None for text in texts) / max(1, len(texts))


def _column(rows: Sequence[Sequence[str]], place: int) -> list[str]:
    return [row[place] for row in rows[:SAMPLE] if row[place]]
