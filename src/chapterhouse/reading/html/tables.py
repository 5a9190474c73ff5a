"""Tables of a web page made plain: spanned cells repeated, layout tables dissolved, headings."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from chapterhouse.reading.grid_headings import headed
from chapterhouse.reading.html.furniture import Node, text_of

_MOST_SPAN = 100
_MOST_CELLS = 20_000  # of a table whose spanned cells are repeated
_LAYOUT = "table, p, h1, h2, h3, article, section, main"
_MOST_IN_CELL = 800  # characters of a cell in a table of data that holds blocks
_MOST_LAYOUT_ROWS = 6
_ROW_GROUPS = ("thead", "tbody", "tfoot")
_BOLD = "b, strong"
_SAMPLE = 50  # rows by which a first row is judged
_MOST_HEADINGS = 3


def plain_tables(parser: Any, root: Node) -> None:
    """Repeat spanned cells in every column and row, and dissolve tables used for layout.

    Markdown makes the first row of a table its heading: a title goes above the table, several rows
    of headings become one, and a row that is no heading gets an empty one above it.
    """
    tables = root.css("table")
    layout = [table for table in tables if _is_layout(table)]
    inside = {table.mem_id for table in layout}
    for table in tables:
        if table.mem_id not in inside:
            is_headed = _take_titles(parser, table)
            _repeat_spanned(table)
            rows = list(islice(filter(None, _rows(table)), _SAMPLE))
            _give_heading(parser, rows, is_headed=is_headed)
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


def _take_titles(parser: Any, table: Node) -> bool:
    """Turn first rows of one wide cell into blocks before the table; whether one is a heading."""
    is_heading = False
    for row in list(filter(None, _rows(table)))[:-1]:
        if len(row) > 1 or _spans(row[0])[0] == 1:
            break
        is_heading = is_heading or row[0].tag == "th"
        block = parser.create_node("div")
        table.insert_before(block, move=True)
        for child in _children(row[0]):
            block.insert_child(child, move=True)
        row[0].parent.decompose()
    return is_heading


def _give_heading(parser: Any, rows: list[list[Node]], *, is_headed: bool) -> None:
    """Leave one row of headings at the top of a table, an empty one where there are none.

    One that ``is_headed`` as a whole has others only if these are marked.
    """
    width = max(map(len, rows))
    texts = [[*map(text_of, row), *[""] * (width - len(row))] for row in rows]
    count = _marked_headings(rows, texts)
    heading: Sequence[str] | None
    if count is None and not is_headed:
        heading, body = headed(texts, may_head=True, repeats=False)
        count = len(rows) - len(body)
    else:
        columns = zip(*texts[: count or 0], strict=True)
        heading = [", ".join(filter(None, dict.fromkeys(column))) for column in columns]
    if count == 1:
        return
    row = parser.create_node("tr")
    for text in heading or [""] * width:
        cell = parser.create_node("th")
        cell.insert_child(text)
        row.insert_child(cell)
    rows[0][0].parent.insert_before(row)
    for cells in rows[: count or 0]:
        cells[0].parent.decompose()


def _marked_headings(rows: list[list[Node]], texts: Sequence[Sequence[str]]) -> int | None:
    """Count the first rows that are headings by elements or in bold; None if nothing shows them.

    Of the rows below the first only the corner may be empty, and a text over all columns is the
    title of what follows.
    """
    marks = [list(map(_is_marked, row)) for row in rows]
    shown = [
        [mark for mark, text in zip(one, own, strict=False) if text]
        for one, own in zip(marks, texts, strict=True)
    ]
    if all(map(all, shown)):
        return None
    count = 0
    for row, mark, own, text in zip(rows, marks, shown, texts, strict=True):
        part = row[0].parent.parent.tag
        is_whole = len(row) == len(text) and all(mark[1:]) and len(set(text)) > 1
        if part == "tfoot" or not (part == "thead" or (all(own) and (count == 0 or is_whole))):
            break
        count += 1
    if count == 0 and shown[0][:1] != [True]:  # else a name of a row
        return None
    return count if count <= _MOST_HEADINGS else 1


def _is_marked(cell: Node) -> bool:
    """Whether a cell is a heading by its element, or all its text is bold."""
    bold = sum(len(text_of(part)) for part in cell.css(_BOLD))
    return cell.tag == "th" or 0 < len(text_of(cell)) <= bold


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
