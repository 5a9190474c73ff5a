"""Lines and rectangles that a PDF page draws, and the tables that they rule."""

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from chapterhouse.reading.pdf.layout import bounding_box
from chapterhouse.reading.pdf.text import Box, Place, Word, is_right_to_left
from chapterhouse.text.hyphens import is_torn, join_torn

_THIN = 2.5  # points: a path no thicker than this is a line
_SHORT = 4.0  # points: a line no longer than this is a dot
_MOST_OBJECTS = 6_000  # a page with more is a drawing, and its lines are no table
_MOST_SEGMENTS = 400  # likewise for one path
_DEEPEST_FORM = 3

Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_TOUCH = 3.0  # points: lines this near meet
_FEW_RULED = 2  # a table of header and body may leave its rows without lines
_MOST_IN_CELL = 600  # characters
_MOST_SLOTS = 4_000  # a finer grid is graph paper
_LEAST_WHOLE = 0.7  # share of the slots below the header that are cells of their own
MOST_REPEATED = 60  # characters of a cell that are repeated where it spans others
_LEAST_STACKED = 0.7  # share of the lines that a group of rows has in all cells, and of their ends
_LEAST_CELLS = 0.6  # share of the cells whose lines are whole
_MARGIN = 8.0  # points: most that is left free at the sides of a cell
_NUMBER = re.compile(r"\d")
_MOST_RULES = 600  # of one direction; a page with more is a drawing


class Rule(NamedTuple):
    """A straight line along an axis: at ``place``, from ``start`` to ``end``, in points."""

    horizontal: bool
    place: float
    start: float
    end: float


class Drawing(NamedTuple):
    """What a page draws besides text. ``images`` are the boxes of its pictures."""

    rules: tuple[Rule, ...]
    images: tuple[Box, ...]
    objects: int
    complete: bool  # False where the page draws more than was looked at


def drawn(page: Any, turn: "Callable[[Place], Box]") -> Drawing:
    """Collect lines and pictures of a loaded page, turned to its reading direction."""
    rules: list[Rule] = []
    images: list[Box] = []
    seen = 0
    for item, kind, matrix in _objects(page):
        seen += 1
        if seen > _MOST_OBJECTS:
            return Drawing((), tuple(images), seen, complete=False)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            images.append(turn(_bounds(item, matrix)))
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            rules.extend(rule for place in _edges(item, matrix) if (rule := _rule(turn(place))))
    return Drawing(tuple(rules), tuple(images), seen, complete=True)


def _objects(page: Any) -> Iterator[tuple[Any, int, Matrix]]:
    """Yield paths and pictures with the matrix of the forms around them; text is ignored."""
    for index in range(min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS + 1)):
        yield from _unfolded(pdfium.FPDFPage_GetObject(page, index), _IDENTITY, 0)


def _unfolded(item: Any, matrix: Matrix, depth: int) -> Iterator[tuple[Any, int, Matrix]]:
    kind = pdfium.FPDFPageObj_GetType(item)
    if kind in (pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE):
        yield item, kind, matrix
    elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST_FORM:
        inner = _product(_matrix_of(item), matrix)
        for index in range(min(pdfium.FPDFFormObj_CountObjects(item), _MOST_OBJECTS + 1)):
            yield from _unfolded(pdfium.FPDFFormObj_GetObject(item, index), inner, depth + 1)


def _matrix_of(item: Any) -> Matrix:
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, matrix):
        return _IDENTITY
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _product(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    rows = (a * p + b * r, a * q + b * s), (c * p + d * r, c * q + d * s)
    return *rows[0], *rows[1], e * p + f * r + t, e * q + f * s + u


def _moved(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _bounds(item: Any, matrix: Matrix) -> Place:
    left, low, right, high = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(item, left, low, right, high)
    return _between(_moved(left.value, low.value, matrix), _moved(right.value, high.value, matrix))


def _between(one: tuple[float, float], other: tuple[float, float]) -> Place:
    (x0, y0), (x1, y1) = one, other
    return Place(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _edges(item: Any, matrix: Matrix) -> Iterator[Place]:
    """Yield the edges of a path as thin rectangles."""
    count = pdfium.FPDFPath_CountSegments(item)
    if count < 2 or count > _MOST_SEGMENTS:  # noqa: PLR2004 - a point is no line
        return
    whole = _bounds(item, matrix)
    if min(whole.right - whole.left, whole.high - whole.low) <= _THIN:
        yield whole
        return
    yield from _straight_edges(item, count, _product(_matrix_of(item), matrix))


def _straight_edges(item: Any, count: int, matrix: Matrix) -> Iterator[Place]:
    x, y = ctypes.c_float(), ctypes.c_float()
    begun = last = None
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(item, index)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = _moved(x.value, y.value, matrix)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            begun = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO and last is not None:
            yield _between(last, point)
        last = point
        if begun is not None and pdfium.FPDFPathSegment_GetClose(segment):
            yield _between(point, begun)


def _rule(box: Box) -> Rule | None:
    if box.height <= _THIN and box.width > _SHORT:
        return Rule(horizontal=True, place=box.middle, start=box.left, end=box.right)
    if box.width <= _THIN and box.height > _SHORT:
        return Rule(horizontal=False, place=box.centre, start=box.top, end=box.bottom)
    return None


class Table(NamedTuple):
    """Rows of cells, where they stand, and the words in them by their place on the page.

    ``edges`` are the places of the lines between and around its columns, none where none are drawn;
    ``columns`` are from where to where each column has words below the first row.
    """

    rows: tuple[tuple[str, ...], ...]
    box: Box
    words: frozenset[int]  # their ``order``
    edges: tuple[float, ...] = ()
    columns: tuple[tuple[float, float], ...] = ()
    bold_top: bool = False  # whether the first row is bold and the others are not
    bold_side: bool = False  # likewise for the first column


class _Grid(NamedTuple):
    columns: list[float]
    rows: list[float]
    horizontals: list[Rule]
    uprights: list[Rule]


Slot = tuple[int, int]


def ruled_tables(
    words: Sequence[Word], rules: Sequence[Rule], above: Table | None = None
) -> list[Table]:
    """Return the tables whose cells are drawn, with at least two rows and columns of text.

    One with the columns of the table that ends the page before may have a single row.
    """
    tables: list[Table] = []
    taken: set[int] = set()
    for grid in _grids(rules):
        table = _table(grid, [word for word in words if word.order not in taken], above)
        if table is not None:
            tables.append(table)
            taken |= table.words
    return tables


def _grids(rules: Sequence[Rule]) -> Iterator[_Grid]:
    horizontals = _joined(rule for rule in rules if rule.horizontal)
    uprights = _joined(rule for rule in rules if not rule.horizontal)
    if max(len(horizontals), len(uprights)) > _MOST_RULES:
        return
    for across, down in _components(horizontals, uprights):
        columns = _places([r.place for r in down] + [e for r in across for e in (r.start, r.end)])
        rows = _places([r.place for r in across] + [e for r in down for e in (r.start, r.end)])
        if len(columns) > 2 or len(rows) > 2:  # noqa: PLR2004 - more than one cell
            yield _Grid(columns, rows, across, down)


def _joined(rules: Iterable[Rule]) -> list[Rule]:
    """Join pieces of one line, however they were drawn."""
    joined: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.place), rule.start)):
        last = joined[-1] if joined else None
        if last and abs(last.place - rule.place) <= 1 and rule.start <= last.end + _TOUCH:
            joined[-1] = last._replace(end=max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined


def _components(
    horizontals: list[Rule], uprights: list[Rule]
) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield groups of lines that meet, each with lines of both directions."""
    owner = list(range(len(horizontals) + len(uprights)))
    for i, across in enumerate(horizontals):
        for j, down in enumerate(uprights, len(horizontals)):
            if _meet(across, down):
                _unite(owner, i, j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, rule in enumerate([*horizontals, *uprights]):
        pair = groups.setdefault(_root(owner, i), ([], []))
        pair[0 if rule.horizontal else 1].append(rule)
    yield from (pair for pair in groups.values() if pair[0] and pair[1])


def _meet(across: Rule, down: Rule) -> bool:
    return (
        across.start - _TOUCH <= down.place <= across.end + _TOUCH
        and down.start - _TOUCH <= across.place <= down.end + _TOUCH
    )


def _root(owner: list[int], item: int) -> int:
    while owner[item] != item:
        owner[item] = owner[owner[item]]
        item = owner[item]
    return item


def _unite(owner: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(owner, one), _root(owner, other)))
    owner[second] = first


def _places(values: Iterable[float]) -> list[float]:
    """Return the distinct places, those within touching distance as one."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _TOUCH:
            places.append(value)
    return places


def _table(grid: _Grid, words: Sequence[Word], above: Table | None) -> Table | None:
    slots: dict[Slot, list[Word]] = {}
    for word in words:
        row = _slot(grid.rows, word.box.middle)
        column = _slot(grid.columns, word.box.centre)
        if row is not None and column is not None:
            slots.setdefault((row, column), []).append(word)
    size = (len(grid.columns) - 1) * (len(grid.rows) - 1)
    goes_on = above is not None and same_places(above.edges, grid.columns)
    if size > _MOST_SLOTS or len({c for _, c in slots}) < 2 or len(slots) < (2 if goes_on else 3):  # noqa: PLR2004
        return None
    owner = _merged_slots(grid)
    across = len(grid.columns) - 1
    cells: dict[Slot, list[Word]] = {}
    for (row, column), inside in slots.items():
        cells.setdefault(divmod(_root(owner, row * across + column), across), []).extend(inside)
    if len({column for _, column in cells}) < 2:  # noqa: PLR2004 - text in a frame
        return None
    spanned = _spanned(cells, slots, owner, across)
    rows = _trimmed(list(_lines(spanned, grid)))
    lengths = sorted((len(cell) for row in rows for cell in row if cell), reverse=True)
    # Lines part a page rather than a table where most of the text is in a few cells.
    is_frame = lengths[0] > _MOST_IN_CELL and sum(lengths[:2]) > 0.6 * sum(lengths)
    if len(rows) < (1 if goes_on else 2) or is_frame:  # boxes side by side
        return None
    if len(grid.rows) <= _FEW_RULED + 1 and any(_rows_next_to(grid, words)):
        return None  # a band of a table whose other rows have none
    box = Box(grid.columns[0], grid.rows[0], grid.columns[-1], grid.rows[-1])
    placed = [(row, column, word) for (row, column), inside in slots.items() for word in inside]
    table = Table(rows, box, frozenset(word.order for _, _, word in placed), tuple(grid.columns))
    return emphasised(table, placed)


def _rows_next_to(grid: _Grid, words: Sequence[Word]) -> Iterator[bool]:
    """Yield whether the lines of text next to a grid, above and below it, have its columns."""
    top, bottom = grid.rows[0], grid.rows[-1]
    sides = (
        [word for word in words if word.box.middle < top < word.box.bottom + word.box.height],
        [word for word in words if word.box.top - word.box.height < bottom < word.box.middle],
    )
    for side in sides:
        level = [word for word in side if abs(word.box.middle - side[0].box.middle) < _TOUCH]
        level.sort(key=lambda word: word.box.left)
        columns = [_slot(grid.columns, word.box.centre) for word in level]
        gaps = [
            other.box.left - word.box.right > word.size
            for (word, column), (other, next_) in pairwise(zip(level, columns, strict=True))
            if column != next_
        ]
        least = max(2, len(grid.columns) // 2)
        yield None not in columns and len(set(columns)) >= least and all(gaps)


def same_places(some: Sequence[float], others: Sequence[float]) -> bool:
    """Whether lines stand at the same places."""
    alike = len(some) == len(others) and len(some) > 0
    return alike and all(abs(a - b) <= _TOUCH for a, b in zip(some, others, strict=True))


def emphasised(table: Table, placed: Sequence[tuple[int, int, Word]]) -> Table:
    """Return a table that knows what of it is bold, by its words with their rows and columns."""
    top, left = (min((one[i] for one in placed), default=0) for i in (0, 1))
    bold = {
        (at_top, at_side): all(
            word.bold
            for row, column, word in placed
            if (row == top) is at_top and (column == left) is at_side
        )
        for at_top in (True, False)
        for at_side in (True, False)
    }
    below = any(row != top for row, _, _ in placed)
    extents: dict[int, tuple[float, float]] = {}
    for row, column, word in placed:
        if row != top or not below:
            start, end = extents.get(column, (word.box.left, word.box.right))
            extents[column] = min(start, word.box.left), max(end, word.box.right)
    return table._replace(
        columns=tuple(extents[column] for column in sorted(extents)),
        bold_top=below and bold[True, False] and not bold[False, False],
        bold_side=bold[True, True] and bold[False, True] and not bold[True, False],
    )


def _spanned(
    cells: dict[Slot, list[Word]], slots: dict[Slot, list[Word]], owner: list[int], across: int
) -> dict[Slot, list[Word]]:
    """Repeat a short label in every row and column that its cell spans, so each can be read alone.

    A cell of the body that spans columns is repeated only in a table most of whose cells are whole,
    as those of forms are not, and none that spans all columns: it is a title of what is below it.
    """
    regions: dict[int, list[Slot]] = {}
    for place in range(len(owner)):
        regions.setdefault(_root(owner, place), []).append(divmod(place, across))
    below = range(2 * across, len(owner))
    is_whole = sum(owner[place] == place for place in below) >= _LEAST_WHOLE * max(1, len(below))
    spanned = dict(cells)
    for root, region in regions.items():
        words = cells.get(divmod(root, across), [])
        rows, columns = ({slot[i] for slot in region} for i in (0, 1))
        if len(region) == 1 or len(region) != len(rows) * len(columns):
            continue  # whole, or what lacks a line
        if not 0 < sum(len(word.text) for word in words) <= MOST_REPEATED:
            continue
        if len(columns) > 1 and not (is_whole and (min(rows) == 0 or len(columns) < across)):
            continue
        # Rows that have nothing else of their own are no rows: the cell is high.
        own = {row for row, column in cells if row in rows and column not in columns}
        if len(columns) == 1 and own == rows and _are_values(slots, region):
            spanned |= {slot: slots[slot] for slot in region}
            continue
        for row, column in region:
            if row == min(rows) or row in own:
                spanned.setdefault((row, column), words)
    return spanned


def _are_values(slots: dict[Slot, list[Word]], region: Sequence[Slot]) -> bool:
    """Whether each row of a high cell has a number of its own: a line between them is missing."""
    return all(any(map(_NUMBER.search, (w.text for w in slots.get(slot, ())))) for slot in region)


def _slot(edges: list[float], value: float) -> int | None:
    if not edges[0] <= value <= edges[-1]:
        return None
    return next(i for i, edge in enumerate(edges[1:]) if value <= edge)


def _merged_slots(grid: _Grid) -> list[int]:
    """Unite neighbouring slots where no line stands between them."""
    across, down = len(grid.columns) - 1, len(grid.rows) - 1
    owner = list(range(across * down))
    for row in range(down):
        for column in range(across):
            here = row * across + column
            middle = (grid.rows[row] + grid.rows[row + 1]) / 2
            right = grid.columns[column + 1]
            if column + 1 < across and not _covered(grid.uprights, right, middle):
                _unite(owner, here, here + 1)
            centre = (grid.columns[column] + grid.columns[column + 1]) / 2
            if row + 1 < down and not _covered(grid.horizontals, grid.rows[row + 1], centre):
                _unite(owner, here, here + across)
    return owner


def _covered(rules: Sequence[Rule], place: float, at: float) -> bool:
    return any(abs(r.place - place) <= _TOUCH and r.start <= at <= r.end for r in rules)


class _CellLine(NamedTuple):
    """A line of a cell; ``filled`` says whether the next word would not have fitted on it."""

    middle: float
    text: str
    filled: bool


_CellLines = list[_CellLine]


def _lines(cells: dict[Slot, list[Word]], grid: _Grid) -> Iterator[tuple[str, ...]]:
    """Yield the rows of text; where lines are drawn between groups of rows alone, those in them."""
    edges = list(pairwise(grid.columns))
    lined = [
        [_cell_lines(cells.get((row, column), []), *edge) for column, edge in enumerate(edges)]
        for row in range(len(grid.rows) - 1)
    ]
    few = len(lined) <= _FEW_RULED
    stacked = [_is_stack(row) for row in lined]
    several = sum(stacked) >= _FEW_RULED
    for row, is_stack in zip(lined, stacked, strict=True):
        if (few and _is_level(row)) or (is_stack and (several or _has_numbers(row))):
            yield from _unruled_rows(row, _heights(row))
        else:
            yield tuple(joined_lines(line.text for line in cell) for cell in row)


def _cell_lines(words: Sequence[Word], left: float, right: float) -> _CellLines:
    ordered = sorted(words, key=lambda word: word.order)
    lines = [list(group) for _, group in groupby(ordered, key=lambda word: word.line)]
    boxes = [bounding_box(word.box for word in line) for line in lines]
    margin = min((min(box.left - left, right - box.right) for box in boxes), default=0.0)
    width = right - left - 2 * max(0.0, min(margin, _MARGIN))
    following = [line[0].box.width + _TOUCH for line in lines[1:]] + [0.0] * bool(lines)
    return [
        _CellLine(box.middle, " ".join(word.text for word in line), box.width + more > width - 1)
        for line, box, more in zip(lines, boxes, following, strict=True)
    ]


def _heights(row: Sequence[_CellLines]) -> list[float]:
    """Return the heights of the lines of the cell that has the most; none where two are level."""
    heights = [line.middle for line in max(row, key=len)]
    return heights if all(b - a > 2 * _TOUCH for a, b in pairwise(heights)) else []


def _is_level(row: Sequence[_CellLines]) -> bool:
    """Whether all cells of a row hold lines at the same heights, several of them."""
    filled = [cell for cell in row if cell]
    heights = _heights(row)
    return (
        len(heights) > 1
        and len(filled) > 1
        and all(
            len(cell) == len(heights)
            and all(abs(a.middle - b) < _TOUCH for a, b in zip(cell, heights, strict=True))
            for cell in filled
        )
    )


def _is_stack(row: Sequence[_CellLines]) -> bool:
    """Whether the cells of a row hold the lines of several rows, one below the other.

    Their lines stand at the same heights, and end although the next word would have fitted. One
    line before all others is the label of the group.
    """
    heights = _heights(row)
    cells = [cell for cell in row if len(cell) > 1 or (cell and cell is not row[0])]
    if len(heights) < _FEW_RULED or len(cells) < 2:  # noqa: PLR2004
        return False
    lines = [line for cell in cells for line in cell]
    level = all(any(abs(line.middle - each) < _TOUCH for each in heights) for line in lines)
    stacked = [
        sum(line.filled for line in cell[:-1]) <= (1 - _LEAST_STACKED) * (len(cell) - 1)
        for cell in cells
    ]
    full = len(lines) >= _LEAST_STACKED * len(heights) * len(cells)
    return level and full and sum(stacked) >= _LEAST_CELLS * len(stacked)


def _has_numbers(row: Sequence[_CellLines]) -> bool:
    return any(
        len(cell) == len(_heights(row)) and all(map(_NUMBER.search, (line.text for line in cell)))
        for cell in row
    )


def _unruled_rows(row: Sequence[_CellLines], heights: list[float]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a group: one a line, but what only goes on with a line above is its end."""
    label = row[0][0].text if len(row[0]) == 1 else ""
    rows: list[list[str]] = []
    open_cells: set[int] = set()
    for height in heights:
        at = {
            column: line
            for column, cell in enumerate(row)
            for line in cell
            if abs(line.middle - height) < _TOUCH and not (label and column == 0)
        }
        if rows and at.keys() <= open_cells:
            for column, line in at.items():
                rows[-1][column] = joined_lines([rows[-1][column], line.text])
        else:
            rows.append([at[column].text if column in at else "" for column in range(len(row))])
            rows[-1][0] = rows[-1][0] or label
        open_cells = {column for column, line in at.items() if line.filled}
    yield from map(tuple, rows)


def joined_lines(lines: Iterable[str]) -> str:
    """Join the lines of a cell, a word parted at a line's end made whole."""
    text = ""
    for line in lines:
        if is_torn(text, line):
            text = join_torn(text, line, frozenset())
        else:
            text = f"{text} {line}" if text else line
    return text


def _trimmed(rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Drop rows and columns without any text or without any of their own."""
    filled = [row for row in rows if any(row)]
    distinct_rows = [row for i, row in enumerate(filled) if not i or row != filled[i - 1]]
    columns = [c for c in range(len(distinct_rows[0])) if any(row[c] for row in distinct_rows)]
    if is_right_to_left("".join(cell for row in distinct_rows for cell in row)[:500]):
        columns.reverse()  # the first column is the one on the right
    return tuple(tuple(row[c] for c in columns) for row in distinct_rows)
