"""Tables of a web page made plain: spanned cells repeated, layout tables dissolved, headings."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from chapterhouse.reading.grid_headings import can_head
from chapterhouse.reading.html.furniture import Node, text_of

_MOST_SPAN = 100
_MOST_CELLS = 20_000  # of a table whose spanned cells are repeated
_LAYOUT = "table, p, h1, h2, h3, article, section, main"
_MOST_IN_CELL = 800  # characters of a cell in a table of data that holds blocks
_MOST_LAYOUT_ROWS = 6
_ROW_GROUPS = ("thead", "tbody", "tfoot")
_BOLD = "b, strong"
_SAMPLE = 50  # rows by which a first row is judged


def plain_tables(parser: Any, root: Node) -> None:
    """Repeat spanned cells in every column and row, and dissolve tables used for layout.

    Markdown makes the first row of a table its heading: one that is no heading gets an empty row
    above it.
    """
    tables = root.css("table")
    layout = [table for table in tables if _is_layout(table)]
    inside = {table.mem_id for table in layout}
    for table in tables:
        if table.mem_id not in inside:
            _repeat_spanned(table)
            rows = list(islice(filter(None, _rows(table)), _SAMPLE))
            if not _is_headed(table, rows):
                _add_empty_heading(parser, rows[0])
    for table in layout:
        _dissolve(parser, table)


def _is_layout(table: Node) -> bool:
    rows = list(_rows(table))
    widest = max((len(cells) for cells in rows), default=0)
    if widest < 2:  # noqa: PLR2004 - one column is no table
        return True
    if table.css_first("th") is not None or len(rows) > _MOST_LAYOUT_ROWS:
        return False
    cells = [cell for row in rows for cell in row if cell.css_first(_LAYOUT) is not None]
    return any(len(" ".join((cell.text() or "").split())) > _MOST_IN_CELL for cell in cells)


def plain_captions(parser: Any, root: Node) -> None:
    """Turn captions into paragraphs of their own, those of tables before the table."""
    for caption in root.css("caption, figcaption"):
        paragraph = parser.create_node("p")
        above = caption.parent if caption.tag == "caption" else caption
        if above is None:
            continue
        above.insert_before(paragraph, move=True)
        for child in _children(caption):
            paragraph.insert_child(child, move=True)
        caption.decompose()


def _rows(table: Node) -> Iterator[list[Node]]:
    """Yield the cells of each row of this table, not of the tables inside it."""
    for part in _elements(table):
        if part.tag == "tr":
            yield _cells(part)
        elif part.tag in _ROW_GROUPS:
            yield from (_cells(row) for row in _elements(part) if row.tag == "tr")


def _cells(row: Node) -> list[Node]:
    return [cell for cell in _elements(row) if cell.tag in ("td", "th")]


def _elements(node: Node) -> Iterator[Node]:
    return (child for child in _children(node) if child.is_element_node)


def _is_headed(table: Node, rows: list[list[Node]]) -> bool:
    """Whether the first row is headings: by its elements, else in bold, else by its texts."""
    if table.css_first("thead") is not None:
        return True
    marks = [[_is_marked(cell) for cell in row if text_of(cell)] for row in rows]
    if not all(map(all, marks)):
        if all(marks[0]):
            return True
        if all(row[:1] == [True] for row in marks):  # the names of the rows
            return False
    width = max(map(len, rows))
    first, *others = ([*map(text_of, row), *[""] * (width - len(row))] for row in rows)
    return can_head(first, others)


def _is_marked(cell: Node) -> bool:
    """Whether a cell is a heading by its element, or all its text is bold."""
    bold = sum(len(text_of(part)) for part in cell.css(_BOLD))
    return cell.tag == "th" or bold >= len(text_of(cell))


def _add_empty_heading(parser: Any, first: list[Node]) -> None:
    row = parser.create_node("tr")
    for _ in first:
        row.insert_child(parser.create_node("th"))
    first[0].parent.insert_before(row)


def _dissolve(parser: Any, table: Node) -> None:
    """Turn the cells of a table into blocks that follow one another."""
    for row in list(_rows(table)):
        for cell in row:
            block = parser.create_node("div")
            cell.insert_before(block, move=True)
            for child in _children(cell):
                block.insert_child(child, move=True)
            cell.decompose()
    for part in list(_elements(table)):
        if part.tag in _ROW_GROUPS:
            for row in [inner for inner in _elements(part) if inner.tag == "tr"]:
                row.unwrap()
        if part.tag in (*_ROW_GROUPS, "tr"):
            part.unwrap()
    table.unwrap()


def _children(node: Node) -> list[Node]:
    found = []
    child = node.child
    while child is not None:
        found.append(child)
        child = child.next
    return found


def _repeat_spanned(table: Node) -> None:
    rows = list(_rows(table))
    spans = [_spans(cell) for row in rows for cell in row]
    if not 0 < sum(across * down for across, down in spans) - len(spans) <= _MOST_CELLS:
        return
    below: dict[int, tuple[Node, int]] = {}  # by column: a cell from above, and rows to go
    for row in rows:
        _fill(row, below)
    for row in rows:
        for cell in row:
            for name in ("colspan", "rowspan"):
                if name in cell.attributes:
                    del cell.attrs[name]


def _fill(row: list[Node], below: dict[int, tuple[Node, int]]) -> None:
    """Insert the copies that a row lacks: of its own wide cells, and of those above it."""
    column = 0
    reaching: dict[int, tuple[Node, int]] = {}
    for cell in row:
        while column in below:
            cell.insert_before(_plain(below[column][0]))
            column += 1
        across, down = _spans(cell)
        for _ in range(across - 1):
            cell.insert_after(_plain(cell))
        reaching.update((c, (cell, down - 1)) for c in range(column, column + across))
        column += across
    while row and column in below:
        row[-1].parent.insert_child(_plain(below[column][0]))
        column += 1
    for place, (source, left) in list(below.items()):
        reaching.setdefault(place, (source, left - 1))
    below.clear()
    below.update({place: found for place, found in reaching.items() if found[1] > 0})


def _spans(cell: Node) -> tuple[int, int]:
    """Return how many columns and rows a cell takes."""
    attributes = cell.attributes
    return _span(attributes.get("colspan")), _span(attributes.get("rowspan"))


def _span(value: str | None) -> int:
    return min(int(value[:4]), _MOST_SPAN) if value and value.isdecimal() and int(value[:4]) else 1


def _plain(cell: Node) -> Node:
    """Return a copy of a cell that spans nothing."""
    copy = cell.clone()
    for name in ("colspan", "rowspan", "id"):
        if name in copy.attributes:
            del copy.attrs[name]
    return copy
