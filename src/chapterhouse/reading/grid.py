"""A grid of cells as tables and lines: of a sheet, or of delimited text.

People put titles and notes around their tables, two rows of headings, and several tables on one
sheet, with empty rows and columns between. A value is never shown under a heading that is none:
where the headings are not clear, a table has none.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Final, NamedTuple

from chapterhouse.reading.grid_headings import (
    DIGIT,
    LONGEST_LABEL,
    PAIR,
    SAMPLE,
    Row,
    can_head,
    has_digits,
    headed,
    heads,
    is_value,
    share_of_values,
    with_heading,
)
from chapterhouse.reading.markdown import escaped, markdown_table

_MOST_SPANS: Final = 20_000  # merged cells of one sheet
MOST_COPIES: Final = 100_000  # of all of them
_SHORTEST_NOTE: Final = 40  # characters
_MOST_PAIRS: Final = 12  # lines of metadata above a table


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


def table_blocks(
    rows: Sequence[Sequence[str]],
    spans: Sequence[Span],
    marked: int = 0,
    *,
    has_first_row: bool = False,
) -> list[str]:
    """Return the table of a text or a slide as Markdown, behind its title.

    Its rows are what the file says; only the headings are told where none are ``marked``. A first
    row of one cell over all columns is the title.

    Args:
        has_first_row: Whether the first row heads a table of which nothing else is told.
    """
    width = max(map(len, rows), default=0)
    cells = [[*map(str.strip, row), *[""] * (width - len(row))] for row in rows]
    wide = {span.top for span in spans if span.left == 0 and span.right >= width - 1 > 0}
    top = next((at for at, row in enumerate(cells) if at not in wide or any(row[1:])), len(cells))
    titles = [_line(row) for row in cells[:top] if row[0]]
    fill_spans(cells, spans)
    filled = [row for row in cells[top:] if any(row)]
    if not filled:
        return titles
    table = _without_empty(filled, range(width))
    if len(table.columns) == 1:
        return [*titles, *map(_line, table.rows)]
    heading, *body = with_heading(table.rows, max(marked - top, 0))
    shown = body if has_first_row and not any(heading) else [heading, *body]
    return [*titles, markdown_table(shown)]


def fill_spans(cells: list[Row], spans: Sequence[Span]) -> int:
    """Repeat the text of each merged cell in rows and columns that have something of their own.

    A title above or between the rows of a table is not repeated. Returns in how many cells it is.
    """
    used_rows = [any(row) for row in cells]
    width = len(cells[0]) if spans and cells else 0
    used = [column for column in range(width) if any(row[column] for row in cells)]
    copies = 0
    for top, left, bottom, right in spans[:_MOST_SPANS] if used else ():
        columns = used[bisect_left(used, left) : bisect_right(used, right)]
        own = cells[top] if top < len(cells) else []
        text = own[left] if own and columns and columns[0] == left else ""
        is_title = left != right and left == used[0] and not any(own[:left] + own[right + 1 :])
        if not text or is_title or len(text) > LONGEST_LABEL:
            continue
        rows = range(top, min(bottom + 1, len(cells)))
        if copies + len(rows) * len(columns) > MOST_COPIES:
            break
        copies += len(rows) * len(columns)
        for row in rows:
            for column in columns if used_rows[row] else ():
                cells[row][column] = cells[row][column] or (text if column == left else Copy(text))
    return copies


def _regions(cells: list[Row]) -> Iterator[_Table]:
    """Yield the parts that empty rows divide, or empty columns if both sides are tables."""
    runs = list(_runs(cells))
    if runs and all(len(run) == 1 for run in runs):  # an empty line behind each
        runs = [[row for run in runs for row in run]]
    for run in runs:
        yield from (one for part in _apart(run) for one in _side_by_side(part))


def _apart(run: list[Row]) -> Iterator[list[Row]]:
    """Yield the parts of a run of rows that have no column in common: they touch at a corner."""
    last = {place: n for n, row in enumerate(run) for place, cell in enumerate(row) if cell}
    start = end = 0
    for number, row in enumerate(run):
        if number > end:
            yield run[start:number]
            start = number
        end = max(end, *(last[place] for place, cell in enumerate(row) if cell))
    yield run[start:]


def _side_by_side(run: list[Row]) -> Iterator[_Table]:
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
    names = [row[0] for row in rows[:SAMPLE]]
    is_named = all(names) and len(set(names)) == len(names) and not any(map(is_value, names))
    return (is_named or (not is_even and heads(heading, rows))) and can_head(heading, rows)


# --- one part ------------------------------------------------------------------------------------


def _add(region: _Table, below: _Table | None, found: list[str | _Table], *, is_list: bool) -> None:
    """Add what is in a region, or let it head the one below where a heading is all it has."""
    if region.heading:
        found.append(region)
        return
    has_numbers = 2 * share_of_values(region.rows[1:], 0) > 1
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
        repeats = before is not None and before.heading == rows[0]
        heading, body = headed(rows, may_head=may_head, repeats=repeats)
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
    if pairs > top and sum(map(bool, heading)) > PAIR and all(heading[:2]):
        has_values = any(DIGIT.search(row[1]) or row[0].endswith(":") for row in rows[top:pairs])
        if can_head(heading, body) and (has_values or heads(heading, body)):
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
    if len(texts) == PAIR:
        texts = [f"{texts[0].rstrip(': ')}: {texts[1]}"]
    return escaped(" · ".join(texts))


def _are_pairs(rows: list[Row], below: _Table) -> bool:
    """Whether rows above a wider table are names with their values."""
    return 1 <= len(rows) <= _MOST_PAIRS and len(rows[0]) == PAIR < len(below.columns)


def _continues(columns: tuple[int, ...], rows: list[Row], before: _Table) -> bool:
    """Whether rows have digits in the columns in which the table above has them."""
    numeric = {c for place, c in enumerate(before.columns) if has_digits(before.rows, place)}
    places = [place for place, column in enumerate(columns) if column in numeric]
    return (
        before.heading is not None
        and set(columns) <= set(before.columns)
        and any(rows[0][p] for p in places)
        and all(DIGIT.search(row[p]) for row in rows[:SAMPLE] for p in places if row[p])
    )


def _is_heading_of(region: _Table, below: _Table) -> bool:
    """Whether the last row of a region heads the rows that follow an empty one."""
    row = region.rows[-1]
    own = _over(row, region.columns, below.columns)
    is_over_all = len(row) > 1 and all(own) and len(own) == sum(map(bool, row))
    return is_over_all and can_head(own, below.rows) and heads(own, below.rows)


def _over(row: Row, columns: tuple[int, ...], others: tuple[int, ...]) -> Row:
    """Return the cells of a row in other columns."""
    texts = dict(zip(columns, row, strict=True))
    return [texts.get(column, "") for column in others]
