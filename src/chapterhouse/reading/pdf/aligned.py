"""Tables without ruling lines: neighbouring rows whose words leave the same strips free.

A strip of white that runs through some rows of text between words parts two columns if in enough
of the rows it is wider than a space. Lines of one cell stand closer than the rows do.
"""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from chapterhouse.reading.pdf.layout import Segment, bounding_box, visual_rows
from chapterhouse.reading.pdf.tables import Table, emphasised, joined_lines
from chapterhouse.reading.pdf.text import LEADERS, Word, is_right_to_left

_MARKER = re.compile(r"[-*•·▪◦‣–—■□●○➢✓\ue000-\uf8ff]|\(?[0-9]{1,3}[.)]|\(?[a-z][.)]|\[\d+\]")
_NUMBER = re.compile(r"[^\w\s]{0,3}\s?\d[\d.,'\u202f\xa0 ]*\s?[^\w\s]{0,3}")
_DIGIT = re.compile(r"\d")
_NAME = re.compile(r"\D*[^\W\d]{2}\D*")
_NAMELESS = re.compile(r"[\ue000-\uf8ff\s]+")  # glyphs of a font that names no characters
_ROW_GAP = 3.2  # of the height of a line: a wider space ends the table
_CLOSE = 0.6  # likewise: a heading is no further above rows that stand closer
_WIDE = 1.1  # of the font size: a space that words of one cell do not have between them
_CLEAR = 0.5  # of the font size: a space that words of one cell rarely have, but a cell may
_ALL_CLEAR = 0.45  # where even the narrowest space is wider, each parts cells
_WIDER = 1.8  # times the narrowest space of the row, which a clear one must be
_LOOSE = 0.33  # of the font size: a space that is clearly wider than between words
_NARROWEST = 2.0  # points: a strip of white
_MOST_CHARACTERS = 80.0  # mean characters a cell up to which it is no prose
_LEAST_FILLED = 0.5  # share of the cells that hold text
_MOST_STACKED = 0.25  # share of the rows in which several cells are wrapped, if labels are
_FEW_ROWS = 2  # a table with no more has no empty cells
_LONGEST_PAGE = 4  # digits
_FEWEST_PAGES = 3  # entries of a table of contents
_LEAST_LETTERS = 20  # letters and digits of a table
_LEAST_MEAN = 2.5  # of them in a cell of its wordiest column
_NEAR = 2.5  # points: edges this near are one


class _Strip(NamedTuple):
    left: float
    right: float
    wide: int  # number of rows in which the white is wider than a space


class _Line(NamedTuple):
    """The words of one cell on one line."""

    column: int
    words: tuple[Word, ...]
    top: float
    bottom: float

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


Row = list[Segment]
White = tuple[float, float, int]  # from, to, and 1 where it is wider than a space


def aligned_tables(region: Sequence[Segment]) -> list[Table]:
    """Return the tables in a region without columns of prose."""
    tables = []
    rows: list[Row] = []
    strips: list[_Strip] = []
    before: Row = []  # the row above the run, which may be its header
    last: Row = []
    for row in visual_rows(region):
        fitting = _narrowed(strips, rows, row)
        if fitting is None:
            tables += _finished(_headed(before, rows, strips), strips)
            rows, strips = [], []
            fitting = _narrowed(strips, rows, row)
        if fitting is not None:
            before = before if rows else last
            rows.append(row)
            strips = fitting
        last = row
    return tables + _finished(_headed(before, rows, strips), strips)


def _narrowed(strips: Sequence[_Strip], rows: Sequence[Row], row: Row) -> list[_Strip] | None:
    """Return the strips that a row leaves free, or None where it is no row of the table."""
    if any(item.sideways or not item.words for item in row):
        return None
    whites = list(_whites(row))
    if not rows:
        return [_Strip(*white) for white in whites] if len(row) > 1 else None
    if not _is_near(rows[-1], row):
        return None
    left = _shared(strips, whites)
    parting = _inner(strips, rows)
    lost = len(parting) - len(_inner(left, rows))
    if len(row) == 1:
        return left if lost <= 0 and _is_spaced(row, _inner(left, rows), whites) else None
    return left if len(parting) > lost and lost <= len(parting) // 3 else None


def _is_near(above: Row, row: Row, most: float = _ROW_GAP) -> bool:
    upper, here = bounding_box(item.box for item in above), bounding_box(item.box for item in row)
    return here.top - upper.bottom <= most * min(upper.height, here.height)


def _shared(strips: Sequence[_Strip], whites: Sequence[White]) -> list[_Strip]:
    """Return what strips and the spaces of a row have in common.

    Where words of the row part a strip, only the widest piece keeps what was known of it. A wide
    space parts two columns: not those whose strip was a space between words so far, but for one.
    """
    shared: list[_Strip] = []
    parted = [
        max((_overlap(strip, white) for strip in strips), default=0.0) if white[2] else 0.0
        for white in whites
    ]
    for strip in strips:
        pieces = [
            _Strip(
                max(strip.left, white[0]),
                min(strip.right, white[1]),
                white[2] if strip.wide or _overlap(strip, white) == most else 0,
            )
            for white, most in zip(whites, parted, strict=True)
            if _overlap(strip, white) >= _NARROWEST
        ]
        widest = max(pieces, key=lambda piece: piece.right - piece.left, default=None)
        shared += [p._replace(wide=p.wide + strip.wide) if p is widest else p for p in pieces]
    return shared


def _overlap(strip: _Strip, white: White) -> float:
    return min(strip.right, white[1]) - max(strip.left, white[0])


def _is_spaced(row: Row, parting: Sequence[_Strip], whites: Sequence[White]) -> bool:
    """Whether a row without wide spaces still parts its words where the columns are parted.

    That is a row of one cell, or one whose cells fill their columns: there the spaces between
    cells are wider than those between words.
    """
    box = row[0].box
    crossed = [s for s in parting if box.left < s.left and s.right < box.right]
    if not crossed:
        return True
    spaces = whites[1:-1]
    between = [w for w in spaces if any(w[0] <= s.left and s.right <= w[1] for s in crossed)]
    others = [end - start for start, end, _ in spaces if (start, end, _) not in between]
    narrowest = min((end - start for start, end, _ in between), default=0.0)
    return (
        len(between) >= len(crossed)
        and narrowest > _LOOSE * row[0].size
        and narrowest > 1.3 * max(others, default=0.0)
    )


def _headed(before: Row, rows: list[Row], strips: Sequence[_Strip]) -> list[Row]:
    """Put the row above a run on top of it where it is a header whose cells fill their columns."""
    if len(before) != 1 or len(rows) < 2 or not _is_near(before, rows[0]):  # noqa: PLR2004
        return rows
    if before[0].sideways or not before[0].words:
        return rows
    whites = list(_whites(before))
    parting = _inner(strips, rows)
    left = _inner(_shared(strips, whites), rows)
    crosses = before[0].box.right > parting[-1].right if parting else False
    is_close = _is_near(before, rows[0], _CLOSE) or not _is_near(rows[0], rows[1], _CLOSE)
    fits = len(left) == len(parting) and crosses and _is_spaced(before, left, whites) and is_close
    return [before, *rows] if fits else rows


def _whites(row: Row) -> Iterator[White]:
    """Yield the spaces between the words of a row, and whether they are wide."""
    words = sorted((word for item in row for word in item.words), key=lambda word: word.box.left)
    right = words[0].box.right
    spaces: list[tuple[float, float, float]] = []
    for word in words[1:]:
        spaces.append((right, word.box.left, word.size))
        right = max(right, word.box.right)
    usual = min((end - start for start, end, _ in spaces if end > start), default=0.0)
    yield -math.inf, words[0].box.left, 0
    for start, end, size in spaces:
        if end - start >= _NARROWEST:
            wider = end - start > _WIDER * usual or usual > _ALL_CLEAR * size
            clearly = end - start > _CLEAR * size and wider
            yield start, end, int(clearly or end - start > _WIDE * size)
    yield right, math.inf, 0


def _inner(strips: Sequence[_Strip], rows: Sequence[Row]) -> list[_Strip]:
    """Return the strips that part columns: not the margins, and wide in enough rows.

    Only rows of several segments are asked: a line of a wrapped cell may stand alone.
    """
    asked = sum(len(row) > 1 for row in rows)
    least = 1 if asked < 3 else max(2, 0.25 * asked)  # noqa: PLR2004
    return [s for s in strips if -math.inf < s.left and s.right < math.inf and s.wide >= least]


def _finished(rows: Sequence[Row], strips: Sequence[_Strip]) -> list[Table]:
    """Return the table of a run of rows, or nothing where it is none; of two parts, theirs."""
    if (cut := _begins_another(rows)) is not None:
        parts = (rows[:cut], rows[cut:])
        return [
            table for part in parts for table in aligned_tables([one for r in part for one in r])
        ]
    parting = [(strip.left + strip.right) / 2 for strip in _inner(strips, rows)]
    lines = [list(_cells(row, parting)) for row in rows]
    while lines and len(lines[-1]) < 2 and not _continues(rows) and not _label_distance(lines):  # noqa: PLR2004
        rows, lines = rows[:-1], lines[:-1]  # a last row of one cell is a line of text
    if not parting or not _is_table(lines, len(parting) + 1):
        return []
    cells = [_texts(group, len(parting) + 1) for group in _logical_rows(lines)]
    if len(cells) < 2:  # noqa: PLR2004
        return []
    if is_right_to_left("".join("".join(row) for row in cells)[:500]):
        cells = [row[::-1] for row in cells]
    else:
        cells = _labelled(cells)
    items = [item for row in rows for item in row]
    words = frozenset(word.order for item in items for word in item.words)
    table = Table(tuple(cells), bounding_box(item.box for item in items), words)
    placed = [
        (n, line.column, word) for n, row in enumerate(lines) for line in row for word in line.words
    ]
    return [emphasised(table, placed)]


def _begins_another(rows: Sequence[Row]) -> int | None:
    """Return the place of the row with which another table begins, or None.

    That is a line alone below values, above headings without any; or the first of names with a
    colon.
    """
    digits = [any(_DIGIT.search(item.text) for item in row) for row in rows]
    names = [row[0].text.endswith(":") and len(row) > 1 for row in rows]
    for place in range(2, len(rows) - 2):
        is_title = len(rows[place]) == 1 and len(rows[place + 1]) > 2 and not digits[place + 1]  # noqa: PLR2004 - two may be a wrapped cell with its value
        if is_title and digits[place - 1] and digits[place + 2]:
            return place + 1
    first = names.index(True) if True in names else 0
    return first if first and sum(names) > 1 else None


def _labelled(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Repeat a first cell in the rows below it that are whole but for it and have a name there."""
    labelled = [rows[0]]
    for row in rows[1:]:
        label, above = row[0], labelled[-1][0]
        whole = len(row) > 2 and all(row[1:]) and len(labelled) > 1  # noqa: PLR2004
        if not label and whole and _NAME.fullmatch(above) and _NAME.fullmatch(row[1]):
            label = above
        labelled.append((label, *row[1:]))
    return labelled


def _continues(rows: Sequence[Row]) -> bool:
    """Whether a last row of one segment is the end of a cell in the row above, not a new line."""
    if len(rows) < 2:  # noqa: PLR2004
        return False
    last = rows[-1][0].box
    above = bounding_box(item.box for row in rows[-4:-1] for item in row)
    edge = min(item.box.left for row in rows[:-1] for item in row)
    return last.left > edge + _NEAR and last.top - above.bottom < 0.3 * last.height


def _cells(row: Row, parting: Sequence[float]) -> Iterator[_Line]:
    """Yield the words of a row by column."""
    found: dict[int, list[Word]] = {}
    for item in row:
        for word in item.words:
            found.setdefault(sum(word.box.centre > place for place in parting), []).append(word)
    for column in sorted(found):
        words = sorted(found[column], key=lambda word: word.order)
        box = bounding_box(word.box for word in words)
        yield _Line(column, tuple(words), box.top, box.bottom)


def _is_table(rows: Sequence[Sequence[_Line]], columns: int) -> bool:
    full = sum(len(row) > 1 for row in rows)
    cells = [line for row in rows for line in row if not _NAMELESS.fullmatch(line.text)]
    by_column = [[line for line in cells if line.column == column] for column in range(columns)]
    # Two columns of two rows are chance.
    if full < (3 if columns == 2 else 2) or not all(by_column):  # noqa: PLR2004
        return False
    slots = columns * len(list(_logical_rows(rows)))
    least = _LEAST_FILLED if slots > _FEW_ROWS * columns else 1.0
    is_filled = least * slots <= len(cells)
    is_prose = sum(len(line.text) for line in cells) > _MOST_CHARACTERS * slots
    is_level = sum(_is_level(group) for group in by_column) >= columns - columns // 4
    # Dots lead to page numbers, or these count on: a table of contents is read by lines.
    is_contents = sum(LEADERS.search(line.text) is not None for line in cells) > len(rows) // 3
    is_contents = is_contents or _are_page_numbers([line.text for line in by_column[-1]])
    is_list = columns == 2 and all(_MARKER.fullmatch(line.text) for line in by_column[0])  # noqa: PLR2004
    is_sound = is_filled and is_level and not (is_prose or is_contents or is_list)
    return is_sound and _says_something(by_column)


def _are_page_numbers(texts: Sequence[str]) -> bool:
    """Whether a column holds whole numbers alone, none lower than the one above it."""
    numbers = [int(text) for text in texts if text.isdecimal() and len(text) <= _LONGEST_PAGE]
    return len(numbers) == len(texts) >= _FEWEST_PAGES and numbers == sorted(numbers)


def _says_something(by_column: Sequence[Sequence[_Line]]) -> bool:
    """Whether there are names or figures, and not the symbols of a formula or of an axis."""
    letters = [[sum(map(str.isalnum, line.text)) for line in column] for column in by_column]
    longest = max(sum(counts) / len(counts) for counts in letters)
    return longest >= _LEAST_MEAN and sum(map(sum, letters)) >= _LEAST_LETTERS


def _is_level(lines: Sequence[_Line]) -> bool:
    """Whether most cells of a column begin, end or are centred at one place."""
    if len(lines) < 2:  # noqa: PLR2004
        return True
    boxes = [bounding_box(word.box for word in line.words) for line in lines[:60]]
    edges = ([b.left for b in boxes], [b.right for b in boxes], [b.centre for b in boxes])
    return any(
        sum(abs(value - other) <= _NEAR for other in values) >= 0.6 * len(boxes)
        for values in edges
        for value in values
    )


def _logical_rows(rows: Sequence[Sequence[_Line]]) -> Iterator[list[_Line]]:
    """Yield the lines of each row of the table, those of wrapped cells together."""
    threshold = _row_distance(rows) or _label_distance(rows)
    numeric = _numeric(rows)
    group: list[_Line] = []
    for row in rows:
        is_name = len(row) > 1 and not row[0].column and row[0].text.endswith(":")
        if group and (
            is_name or _stacks(group, row, numeric) or not _same_row(group, row, threshold)
        ):
            yield group
            group = []
        group.extend(row)
    if group:
        yield group


def _numeric(rows: Sequence[Sequence[_Line]]) -> frozenset[int]:
    """Return the columns that hold numbers alone below their heading."""
    found: dict[int, bool] = {}
    for row in rows[1:]:
        for line in row:
            is_number = _NUMBER.fullmatch(line.text) is not None
            found[line.column] = is_number and found.get(line.column, True)
    return frozenset(column for column, holds in found.items() if holds and column)


def _stacks(group: Sequence[_Line], row: Sequence[_Line], numeric: frozenset[int]) -> bool:
    """Whether a row without a first cell has a number below another: no cell goes on so."""
    if len(row) < 2 or any(not line.column for line in row):  # noqa: PLR2004
        return False
    above = {line.column for line in group if _NUMBER.fullmatch(line.text)}
    return any(line.column in numeric & above for line in row)


def _row_distance(rows: Sequence[Sequence[_Line]]) -> float | None:
    """Return the space that parts rows where other cells than the first are wrapped, or None."""
    wrapped = sum(all(line.column for line in row) for row in rows)
    return _distance(rows) if wrapped else None


def _label_distance(rows: Sequence[Sequence[_Line]]) -> float | None:
    """Return the space that parts rows whose labels are wrapped beside a value, or None.

    Groups of rows are parted by space, too: here each group is one row, with all of its cells.
    """
    threshold = _distance(rows)
    if threshold is None or not any(_is_label(row) for row in rows):
        return None
    groups: list[list[Sequence[_Line]]] = []
    for row in rows:
        if groups and _top(row) - max(map(_bottom, groups[-1])) <= threshold:
            groups[-1].append(row)
        else:
            groups.append([row])
    columns = {line.column for row in rows for line in row}
    is_whole = all({line.column for row in group for line in row} == columns for group in groups)
    several = sum(sum(not _is_label(row) for row in group) > 1 for group in groups)
    return threshold if is_whole and several <= _MOST_STACKED * len(groups) else None


def _is_label(row: Sequence[_Line]) -> bool:
    return all(line.column == 0 for line in row)


def _distance(rows: Sequence[Sequence[_Line]]) -> float | None:
    """Return the space that parts rows, or None.

    Lines of a cell stand at the smallest distance found in any column; where some spaces between
    all lines are clearly larger, they part the rows.
    """
    lines = [line for row in rows for line in row]
    height = sorted(line.bottom - line.top for line in lines)[len(lines) // 2]
    last: dict[int, _Line] = {}
    distances = []
    for line in lines:
        if line.column in last:
            distances.append(line.top - last[line.column].bottom)
        last[line.column] = line
    if not distances:
        return None
    threshold = min(distances) + 0.2 * height
    spaces = [_top(below) - _bottom(above) for above, below in pairwise(_merged(rows))]
    return threshold if any(space > threshold for space in spaces) else None


def _merged(rows: Sequence[Sequence[_Line]]) -> list[list[_Line]]:
    """Join rows that overlap in height, as lines of cells centred in their row do."""
    merged: list[list[_Line]] = []
    for row in rows:
        if merged and _top(row) < _bottom(merged[-1]) - 1:
            merged[-1] = [*merged[-1], *row]
        else:
            merged.append(list(row))
    return merged


def _top(row: Sequence[_Line]) -> float:
    return min(line.top for line in row)


def _bottom(row: Sequence[_Line]) -> float:
    return max(line.bottom for line in row)


def _same_row(group: Sequence[_Line], row: Sequence[_Line], threshold: float | None) -> bool:
    if threshold is not None:
        return _top(row) - _bottom(group) <= threshold
    columns = {line.column for line in group}
    starts_empty = all(line.column for line in row)
    return starts_empty and 0 in columns and all(line.column in columns for line in row)


def _texts(lines: Sequence[_Line], columns: int) -> tuple[str, ...]:
    return tuple(
        joined_lines(line.text for line in lines if line.column == column)
        for column in range(columns)
    )
