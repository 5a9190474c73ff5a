"""A grid of cells as tables and lines: of a sheet, or of delimited text.

People put titles and notes around their tables, two rows of headings, and several tables on one
sheet, with empty rows and columns between. A value is never shown under a heading that is none:
where the headings are not clear, a table has none. Digits show them: a column of numbers, dates
or codes has a heading without.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise, zip_longest
from typing import Final, NamedTuple

from chapterhouse.reading.markdown import markdown_table
from chapterhouse.text.language_data import language_data

_MOST_SPANS: Final = 20_000  # merged cells of one sheet
_MOST_COPIES: Final = 100_000  # of all of them
_LONGEST_LABEL: Final = 200  # characters; what is longer is a text, and no label or heading
_SHORTEST_NOTE: Final = 40  # characters
_SAMPLE: Final = 50  # rows by which a column is judged
_MOST_PAIRS: Final = 12  # lines of metadata above a table
_MOST_HEADINGS: Final = 3
_PAIR: Final = 2  # columns of names and their values
_REGULAR: Final = 0.8  # share of a column
_DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = re.compile(r"\d+")
_INITIALS: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,2}(?![^\W\d_])")
_VALUE: Final = re.compile(
    r"[A-Z]{3}\s?\d[\d.,'\s]*|\W{0,3}\d[\d.,:/'\s\u2019T+-]*(?:\W{1,2}|\s?\W{0,2}[^\W\d_]{1,3})?\W?"
    r"|(?i:true|false)|[^\s@]+@[^\s@]+|\S+://\S+"
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_DATE: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}[./]\d{1,2}[./](?:\d\d){0,2}")
# Names of one kind: questions, labels of forms, and those of settings, which begin small.
_KINDS_OF_NAMES: Final = (
    re.compile(r".*[?？]", re.DOTALL),
    re.compile(r".*[:：]", re.DOTALL),
    re.compile(r"[a-z]\w*[._]\w[\w.-]*"),
)
_MARKS: Final = re.compile(r"(?=#{1,6}(?:\s|$)|[|>]|`{3}|~{3}|=+\s*$|-{2,}\s*$|[-+*]\s)")

Row = list[str]


class Span(NamedTuple):
    """The rows and columns that a merged cell takes, from 0, the last ones included."""

    top: int
    left: int
    bottom: int
    right: int


class Copy(str):
    """The text of a merged cell in another of its columns."""

    __slots__ = ()


@dataclass(slots=True)
class _Table:
    """Rows with the columns of the grid that have their texts, and what heads them."""

    columns: tuple[int, ...]
    rows: list[Row]
    heading: Row | None = None

    def __str__(self) -> str:
        return markdown_table([self.heading or [""] * len(self.columns), *self.rows]).rstrip("\n")


def grid_blocks(
    rows: Sequence[Sequence[str]], spans: Sequence[Span] = (), *, is_delimited: bool = False
) -> list[str]:
    """Return the tables of a grid as Markdown, and the lines around them, in order.

    A merged cell belongs to each of its rows and columns. Delimited text of one column is a table.
    """
    width = max(map(len, rows), default=0)
    cells = [[*map(str.strip, row), *[""] * (width - len(row))] for row in rows]
    fill_spans(cells, spans)
    regions = list(_regions(cells))
    found: list[str | _Table] = []
    for region, below in zip_longest(regions, regions[1:]):
        _add(region, below, found, is_list=is_delimited and len(regions) == 1)
    return [str(block) for block in found]


def fill_spans(cells: list[Row], spans: Sequence[Span]) -> None:
    """Repeat the text of each merged cell in rows and columns that have something of their own.

    A title above or between the rows of a table is not repeated.
    """
    used_rows = [any(row) for row in cells]
    width = len(cells[0]) if spans and cells else 0
    used = [column for column in range(width) if any(row[column] for row in cells)]
    if not used:
        return
    copies = 0
    for top, left, bottom, right in spans[:_MOST_SPANS]:
        columns = used[bisect_left(used, left) : bisect_right(used, right)]
        own = cells[top] if top < len(cells) else []
        text = own[left] if own and columns and columns[0] == left else ""
        is_title = left != right and left == used[0] and not any(own[:left] + own[right + 1 :])
        if not text or is_title or len(text) > _LONGEST_LABEL:
            continue
        rows = range(top, min(bottom + 1, len(cells)))
        copies += len(rows) * len(columns)
        if copies > _MOST_COPIES:
            return
        for row in rows:
            for column in columns if used_rows[row] else ():
                cells[row][column] = cells[row][column] or (text if column == left else Copy(text))


# --- parts of a sheet ----------------------------------------------------------------------------


def _regions(cells: list[Row]) -> Iterator[_Table]:
    """Yield the parts that empty rows divide, or empty columns if both sides are tables."""
    runs = list(_runs(cells))
    if runs and all(len(run) == 1 for run in runs):  # an empty line behind each
        runs = [[row for run in runs for row in run]]
    for run in runs:
        whole = _without_empty(run, range(len(run[0])))
        sides = _sides(whole)
        is_even = len({tuple(map(any, side.rows)) for side in sides}) == 1
        if len(sides) > 1 and all(_is_own_table(side, is_even=is_even) for side in sides):
            for side in sides:
                yield from (_without_empty(part, side.columns) for part in _runs(side.rows))
        else:
            yield whole


def _runs(cells: Sequence[Row]) -> Iterator[list[Row]]:
    return (list(run) for has_text, run in groupby(cells, any) if has_text)


def _without_empty(rows: list[Row], columns: Sequence[int]) -> _Table:
    """Return rows without columns that have nothing of their own."""
    places = [
        place
        for place in range(len(columns))
        if any(row[place] and not isinstance(row[place], Copy) for row in rows)
    ]
    return (
        _Table(tuple(columns), rows) if len(places) == len(columns) else _at(columns, rows, places)
    )


def _at(columns: Sequence[int], rows: Sequence[Row], places: Iterable[int]) -> _Table:
    return _Table(tuple(columns[p] for p in places), [[row[p] for p in places] for row in rows])


def _sides(whole: _Table) -> list[_Table]:
    """Return the groups of columns that stand together."""
    if whole.columns[-1] - whole.columns[0] < len(whole.columns):
        return [whole]
    groups = groupby(enumerate(whole.columns), lambda one: one[1] - one[0])
    places = [[place for place, _ in group] for _, group in groups]
    return [_at(whole.columns, whole.rows, side) for side in places]


def _is_own_table(side: _Table, *, is_even: bool) -> bool:
    """Whether rows have headings, and their own names if they are as many as beside them."""
    _, (heading, *rows), _ = _parts(next(_runs(side.rows)))
    if len(side.columns) == 1 or not rows or not all(heading):
        return False
    names = [row[0] for row in rows[:_SAMPLE]]
    is_named = all(names) and len(set(names)) == len(names) and not any(map(_is_value, names))
    return (is_named or (not is_even and _heads(heading, rows))) and _can_head(heading, rows)


# --- one part ------------------------------------------------------------------------------------


def _add(region: _Table, below: _Table | None, found: list[str | _Table], *, is_list: bool) -> None:
    """Add what is in a region, or let it head the one below where a heading is all it has."""
    if region.heading:
        found.append(region)
        return
    has_numbers = 2 * _share(region.rows[1:], 0, _VALUE.fullmatch) > 1
    if len(region.columns) == 1 and not is_list and not has_numbers:
        found.extend(map(_line, region.rows))
        return
    before = next((block for block in reversed(found) if isinstance(block, _Table)), None)
    lines, rows, notes = _parts(region.rows)
    found.extend(map(_line, lines))
    may_head = before is None or isinstance(found[-1], str)
    if below is not None and len(rows) == 1 and not notes and _is_heading_of(region, below):
        below.heading = _over(rows[0], region.columns, below.columns)
    elif before is not None and _continues(region.columns, rows, before):
        own = [_over(row, region.columns, before.columns) for row in rows]
        if found[-1] is before:
            before.rows.extend(own)
        else:
            found.append(_Table(before.columns, own, before.heading))
    elif (len(rows) == 1 and (below is not None or found)) or (
        before is None and below is not None and _are_pairs(rows, below)
    ):
        found.extend(map(_line, rows))
    else:
        heading, body = _headed(rows, may_head=may_head, before=before)
        found.append(_Table(region.columns, body, heading))
    found.extend(map(_line, notes))


def _parts(rows: list[Row]) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the lines above a table, the table from its heading on, and sentences below it."""
    top, end = 0, len(rows)
    while top < end - 1 and _is_title(rows[top]):
        top += 1
    while end - 1 > top and _is_title(rows[end - 1]) and len(rows[end - 1][0]) > _SHORTEST_NOTE:
        end -= 1
    pairs = top
    while pairs < min(end - 2, top + _MOST_PAIRS) and _is_pair(rows[pairs]):
        pairs += 1
    heading, body = rows[pairs], rows[pairs + 1 : end]
    if pairs > top and sum(map(bool, heading)) > _PAIR and all(heading[:2]):
        has_values = any(_DIGIT.search(row[1]) or row[0].endswith(":") for row in rows[top:pairs])
        if _can_head(heading, body) and (has_values or _heads(heading, body)):
            top = pairs
    return rows[:top], rows[top:end], rows[end:]


def _is_title(row: Row) -> bool:
    """Whether a row is one text, which may be merged from its first column on."""
    is_merged = any(isinstance(cell, Copy) for cell in row)
    return len(row) > 1 and len(_own(row)) == 1 and (bool(row[0]) or not is_merged)


def _own(row: Row) -> list[str]:
    return [cell for cell in row if cell and not isinstance(cell, Copy)]


def _is_pair(row: Row) -> bool:
    return _is_title(row) or (all(row[:2]) and not any(row[2:]))


def _line(row: Row) -> str:
    texts = [" ".join(cell.split()) for cell in _own(row)]
    if len(texts) == _PAIR:
        texts = [f"{texts[0].rstrip(': ')}: {texts[1]}"]
    text = " · ".join(texts)
    return "\\" + text if _MARKS.match(text) else text


def _are_pairs(rows: list[Row], below: _Table) -> bool:
    """Whether rows above a wider table are names with their values."""
    return 1 <= len(rows) <= _MOST_PAIRS and len(rows[0]) == _PAIR < len(below.columns)


def _continues(columns: tuple[int, ...], rows: list[Row], before: _Table) -> bool:
    """Whether rows have digits in the columns in which the table above has them."""
    numeric = {c for place, c in enumerate(before.columns) if _has_digits(before.rows, place)}
    places = [place for place, column in enumerate(columns) if column in numeric]
    return (
        before.heading is not None
        and set(columns) <= set(before.columns)
        and any(rows[0][p] for p in places)
        and all(_DIGIT.search(row[p]) for row in rows[:_SAMPLE] for p in places if row[p])
    )


def _is_heading_of(region: _Table, below: _Table) -> bool:
    """Whether the last row of a region heads the rows that follow an empty one."""
    row = region.rows[-1]
    own = _over(row, region.columns, below.columns)
    is_over_all = len(row) > 1 and all(own) and len(own) == sum(map(bool, row))
    return is_over_all and _can_head(own, below.rows) and _heads(own, below.rows)


def _over(row: Row, columns: tuple[int, ...], others: tuple[int, ...]) -> Row:
    """Return the cells of a row in other columns."""
    texts = dict(zip(columns, row, strict=True))
    return [texts.get(column, "") for column in others]


# --- headings ------------------------------------------------------------------------------------


def _headed(
    rows: list[Row], *, may_head: bool, before: _Table | None
) -> tuple[Row | None, list[Row]]:
    """Return the headings of a table, if it has some, and its other rows.

    The first row of a table is them unless it looks like the rows below; of one that follows
    another without a title it must look unlike them.
    """
    heading, body = rows[0], rows[1:]
    repeats = before is not None and heading == before.heading
    while len(rows) - len(body) < _MOST_HEADINGS and (joined := _joined(heading, body)):
        heading, body = joined, body[1:]
    is_heading = repeats or (_can_head(heading, body) and (may_head or _heads(heading, body)))
    return (heading, body) if is_heading else (None, rows)


def _joined(upper: Row, rows: list[Row]) -> Row | None:
    """Return the headings of two rows as one, or None where the second is none."""
    if len(rows) < 2 or (any(map(_is_value, upper)) and not _can_head(upper, rows)):  # noqa: PLR2004 - a row of headings, and one of values
        return None
    lower, body = rows[0], rows[1:]
    columns = list(zip(upper, lower, strict=True))
    reaches_right = any(one == other != "" for one, other in pairwise(upper))
    reaches_down = any(above == below != "" for above, below in columns)
    is_grouped = reaches_right or any(below and not above for above, below in columns[1:])
    divides = reaches_down or not upper[0] or not lower[0]
    filled = [below or above for above, below in columns]
    if not (is_grouped and divides and _can_head(filled, body)):
        return None
    labels = [label for label in lower if label]
    if not (reaches_down or len(set(labels)) < len(labels) or _heads(filled, body)):
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


def _can_head(row: Row, rows: Sequence[Row]) -> bool:
    """Whether nothing shows that a row is no heading of the others."""
    filled = sum(map(bool, row))
    if 2 * filled < len(row) or any(len(cell) > _LONGEST_LABEL for cell in row):
        return False
    values = [place for place, cell in enumerate(row) if _is_value(cell)]
    if len(row) == _PAIR and (row[0].endswith(":") or values):
        return False
    if len(row) == _PAIR and _is_form(rows) and not _heads_pairs(row, rows):
        return False
    digits = sum(_DIGIT.search(cell) is not None for cell in row)
    if values and (values[0] == 0 or digits > len(values)):
        return False
    return all(_is_period(row, place, rows) for place in values) and not any(
        _is_alike(cell, _column(rows, place)) for place, cell in enumerate(row) if cell
    )


def _is_form(rows: Sequence[Row]) -> bool:
    """Whether two columns are names with values of several kinds."""
    is_mixed = 0 < _share(rows, 1, _VALUE.fullmatch) < _REGULAR
    return is_mixed and not any(map(_DIGIT.search, _column(rows, 0)))


def _heads_pairs(row: Row, rows: Sequence[Row]) -> bool:
    """Whether a row is such as Setting and Value, or the names below are of a kind it is not."""
    if len(row) != _PAIR or not all(row):
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


def _is_value(cell: str) -> bool:
    return _VALUE.fullmatch(cell) is not None


def _is_period(row: Row, place: int, rows: Sequence[Row]) -> bool:
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
    if not _DIGIT.search(cell) or _is_value(cell) or len(below) <= 1:
        return False
    return {_shape(one) for one in below} == {_shape(cell)}


def _shape(text: str) -> str:
    return _INITIALS.sub("a", _NUMBER.sub("9", text))


def _heads(row: Row, rows: Sequence[Row]) -> bool:
    """Whether a row has a text where the rows below have digits, or a name for numbers."""
    return _heads_pairs(row, rows) or any(
        not _is_value(cell) and _share(rows, place, _VALUE.fullmatch) >= _REGULAR
        if _DIGIT.search(cell)
        else cell and _has_digits(rows, place)
        for place, cell in enumerate(row)
    )


def _has_digits(rows: Sequence[Row], place: int) -> bool:
    return _share(rows, place, _DIGIT.search) >= _REGULAR


def _share(rows: Sequence[Row], place: int, found: Callable[[str], object]) -> float:
    """Return the share of the texts in a column in which something is found."""
    texts = _column(rows, place)
    return sum(found(text) is not None for text in texts) / max(1, len(texts))


def _column(rows: Sequence[Row], place: int) -> list[str]:
    return [row[place] for row in rows[:_SAMPLE] if row[place]]
