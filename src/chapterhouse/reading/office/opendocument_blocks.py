"""The body of an OpenDocument file as Markdown blocks ([OpenDocument 1.3] part 3)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from xml.etree.ElementTree import Element

from chapterhouse.errors import RejectedError
from chapterhouse.reading.grid import Span, grid_blocks, table_blocks
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import escaped, lowered, raised
from chapterhouse.reading.office.number_formats import not_calculated

_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_NUMBER: Final = 4_000  # above, Roman numbers and letters are written in digits
_LETTERS: Final = 26
_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT = f"{{{_OASIS}text:1.0}}"
TABLE = f"{{{_OASIS}table:1.0}}"
DRAW = f"{{{_OASIS}drawing:1.0}}"
STYLE = f"{{{_OASIS}style:1.0}}"
OFFICE = f"{{{_OASIS}office:1.0}}"
CHART = f"{{{_OASIS}chart:1.0}}"
PRESENTATION = f"{{{_OASIS}presentation:1.0}}"
_SVG = f"{{{_OASIS}svg-compatible:1.0}}"
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
# Not the document's own text: deleted text, tables of contents, forms, alternative images.
_SKIPPED = frozenset((
    f"{TEXT}tracked-changes", f"{TEXT}table-of-content", f"{TEXT}sequence-decls",
    f"{OFFICE}forms", f"{_SVG}title", f"{_SVG}desc", f"{DRAW}image", f"{PRESENTATION}notes",
    f"{PRESENTATION}settings", f"{TEXT}ruby-text",
))  # fmt: skip
_SPACES = frozenset({f"{TEXT}s", f"{TEXT}tab", f"{TEXT}line-break"})
_NESTED_CEILING = 3
_REPEAT_CEILING = 1_000  # columns or rows that one element may stand for; sheets pad to the edge


@dataclass(frozen=True, slots=True)
class _Level:
    """How headings of one level are numbered."""

    form: str
    prefix: str
    suffix: str
    shown: int  # levels in a number
    start: int


@dataclass(slots=True)
class HeadingNumbers:
    """Counts headings: how those of each level, from 1, are numbered, and how many there were."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    def next(self, heading: Element, level: int) -> str:
        """Return the number of the next heading, with a blank behind it; empty without one."""
        own = self.levels.get(level)
        if own is None or heading.get(f"{TEXT}is-list-header") == "true":
            return ""
        started = heading.get(f"{TEXT}restart-numbering") == "true"
        before = None if started else self.counts.get(level)
        first = number_in(heading, f"{TEXT}start-value", own.start) if started else own.start
        self.counts = {name: count for name, count in self.counts.items() if name < level}
        self.counts[level] = first if before is None else before + 1
        shown = range(max(level - own.shown + 1, 1), level + 1)
        known = {place: self.levels[place] for place in shown if place in self.levels}
        written = (
            write(self.counts.get(place, known[place].start), known[place].form) for place in known
        )
        number = ".".join(filter(None, written))
        return f"{own.prefix}{number}{own.suffix.strip()} " if number and own.form else ""


def heading_numbers(styles: Element | None) -> HeadingNumbers:
    """Return what counts the headings of a document whose ``styles.xml`` this is."""
    found = styles.iter(f"{TEXT}outline-level-style") if styles is not None else ()
    return HeadingNumbers(
        {
            number_in(level, f"{TEXT}level", 1): _Level(
                level.get(f"{STYLE}num-format", ""),
                level.get(f"{STYLE}num-prefix", "").lstrip(),
                level.get(f"{STYLE}num-suffix", ""),
                number_in(level, f"{TEXT}display-levels", 1),
                number_in(level, f"{TEXT}start-value", 1),
            )
            for level in found
        }
    )


def numbered_levels(roots: Iterable[Element]) -> frozenset[tuple[str, int]]:
    """Return the list styles, each with those of its levels that are numbers."""
    return frozenset(
        (style.get(f"{STYLE}name", ""), number_in(level, f"{TEXT}level", 1))
        for root in roots
        for style in root.iter(f"{TEXT}list-style")
        for level in style.iter(f"{TEXT}list-level-style-number")
        if level.get(f"{STYLE}num-format", "1")
    )


def number_in(element: Element, name: str, otherwise: int) -> int:
    """Return the number that an attribute holds."""
    value = element.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 7 else otherwise  # noqa: PLR2004 - no count


def write(number: int, form: str) -> str:
    """Return a number in one of the forms ``1``, ``a``, ``A``, ``i`` and ``I``; empty without."""
    if not form or form not in "aAiI" or not 0 < number < _MOST_NUMBER:
        return str(number) if form else ""
    small = _roman(number) if form in "iI" else _letters(number)
    return small.upper() if form.isupper() else small


def _roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        while number >= value:
            written, number = written + sign, number - value
    return written


def _letters(number: int) -> str:
    written = ""
    while number:
        number, last = divmod(number - 1, _LETTERS)
        written = chr(ord("a") + last) + written
    return written


@dataclass(slots=True)
class Writer:
    """Collects blocks of one document."""

    limits: Limits
    styles: dict[str, str]  # parent of each, to find out what an automatic style stands for
    positions: dict[str, str]  # whether text of a style is raised or lowered, where it says so
    numbered: frozenset[tuple[str, int]]  # list styles and those levels, from 1, that are numbers
    embedded: Callable[[str], Element | None]  # the root of an embedded object by its path
    heading_number: Callable[[Element, int], str]  # what stands before the next heading of a level
    notes: list[str] = field(default_factory=list)  # footnotes and comments, in order
    nested: int = 0  # documents inside documents that are being read
    in_line: bool = False  # what is read is put on a line, where no sign begins a block

    def blocks(self, element: Element) -> Iterator[str]:
        """Yield the Markdown blocks inside an element."""
        for child in element:
            if child.tag in _SKIPPED:
                continue
            if child.tag in {f"{TEXT}h", f"{TEXT}p"}:
                yield from self._paragraph(child)
            elif child.tag == f"{TEXT}list":
                yield "\n".join(self._list(child, 0, ""))
            elif child.tag == f"{TABLE}table":
                yield from self._table(child)
            elif child.tag == f"{OFFICE}annotation":
                self._comment(child)
            elif child.tag == f"{DRAW}object":
                yield from self._object(child)
            else:
                yield from self.blocks(child)

    def inline(self, element: Element) -> str:
        """Return the text of a paragraph on one line; frames in it are left out."""
        return " ".join("".join(self._pieces(element)).split())

    def _paragraph(self, element: Element) -> Iterator[str]:
        text = self.inline(element)
        marks = self._marks(element)
        if text:
            yield marks + text if marks or self.in_line else escaped(text)
        for frame in _frames(element):
            yield from self.blocks(frame)

    def _marks(self, element: Element) -> str:
        if element.tag == f"{TEXT}h":
            stated = element.get(f"{TEXT}outline-level", "1")
            level = min(int(stated) if stated.isdecimal() and len(stated) < 3 else 1, 10) or 1  # noqa: PLR2004 - there are ten
            return "#" * min(6, level) + " " + self.heading_number(element, level)
        style = element.get(f"{TEXT}style-name", "")
        for _ in range(5):
            if style == "Title":
                return "# "
            style = self.styles.get(style, "")
        return ""

    def _pieces(self, element: Element) -> Iterator[str]:
        before = element.text or ""
        yield before
        for child in element:
            if child.tag in _SPACES:
                yield " "
            elif child.tag == f"{TEXT}note":
                yield self._note(child)
            elif child.tag == f"{OFFICE}annotation":
                self._comment(child)
            elif child.tag not in _SKIPPED and not _is_drawn(child):
                text = "".join(self._pieces(child))
                position = self.positions.get(child.get(f"{TEXT}style-name", ""), "")
                if position.startswith("super"):
                    text = raised(text, before)
                yield lowered(text) if position.startswith("sub") else text
            before = child.tail or ""
            yield before

    def _note(self, element: Element) -> str:
        has_body = element.find(f"{TEXT}note-body") is not None
        text = " ".join(map(self.inline, element.iter(f"{TEXT}p"))) if has_body else ""
        if not text:
            return ""
        number = sum(note.startswith("[^") for note in self.notes) + 1
        self.notes.append(f"[^{number}]: {text}")
        return f"[^{number}]"

    def _comment(self, element: Element) -> None:
        author = element.findtext("{http://purl.org/dc/elements/1.1/}creator", "")
        if text := " ".join(map(self.inline, element.iter(f"{TEXT}p"))):
            self.notes.append(f"Comment ({author}): {text}" if author else f"Comment: {text}")

    def _list(self, element: Element, depth: int, style: str) -> Iterator[str]:
        style = element.get(f"{TEXT}style-name", style)
        ordered = (style, depth + 1) in self.numbered
        number = 0
        for item in element:
            if item.tag not in {f"{TEXT}list-item", f"{TEXT}list-header"}:
                continue
            number += 1
            mark = f"{number}. " if ordered else "- "
            for child in item:
                if child.tag == f"{TEXT}list":
                    yield from self._list(child, depth + 1, style)
                    continue
                for block in self.blocks(wrap(child)):
                    # Outlines of slides are lists of headings: the list says it already.
                    text = block.lstrip("# ") if child.tag == f"{TEXT}h" else block
                    yield "  " * depth + mark + text.replace("\n", "\n" + "  " * depth)
                    mark = "  "

    def tables(self, sheet: Element) -> list[str]:
        """Return the tables on a sheet under their headings, and the lines around them."""
        return grid_blocks(*self._cells(sheet))

    def _table(self, table: Element) -> Iterator[str]:
        """Yield a table of a text or slide; one of one column is text, one in a cell a line."""
        cells = [list(_of_row(row)) for row in _rows(table)]
        if all(len(row) < 2 and _repeated(cell, "columns") == 1 for row in cells for cell in row):  # noqa: PLR2004 - one column
            for (cell,) in filter(None, cells):
                yield from self.blocks(cell)
            return
        if self.in_line:
            yield " | ".join(cell for row in self._cells(table)[0] for cell in row if cell)
            return
        marked = table.find(f"{TABLE}table-header-rows")
        headers = () if marked is None else _rows(marked)
        yield from table_blocks(*self._cells(table), sum(1 for _ in headers))

    def _cells(self, element: Element) -> tuple[list[list[str]], list[Span]]:
        """Return the texts of a table's cells, and which of these are merged."""
        rows: list[list[str]] = []
        spans: list[Span] = []
        cells = 0
        for row in _rows(element):
            texts = self._row(row)
            spans.extend(_spans(row, len(rows)))
            repeat = min(_repeated(row, "rows"), _REPEAT_CEILING if any(texts) else 1)
            cells += len(texts) * repeat
            if cells > self.limits.sheet_cells:
                raise RejectedError("too-many-cells", "A table has more cells than the limit.")
            rows.extend(list(texts) for _ in range(repeat))
        width = max(map(len, rows), default=0)
        if width * len(rows) > self.limits.sheet_cells:
            raise RejectedError("too-many-cells", "A table has more cells than the limit.")
        return [row + [""] * (width - len(row)) for row in rows], spans

    def _row(self, row: Element) -> list[str]:
        texts: list[str] = []
        for cell in _of_row(row):
            text = self._cell(cell)
            repeat = min(_repeated(cell, "columns"), _REPEAT_CEILING if text else 64)
            texts.extend([text] * repeat)
        return texts[: _used(texts)]

    def _cell(self, cell: Element) -> str:
        """Return the text of a cell on one line; a list of one item is its text."""
        was_in_line, self.in_line = self.in_line, True
        blocks = list(filter(None, self.blocks(cell)))
        self.in_line = was_in_line
        text = " ".join(" ".join(blocks).split())
        is_item = (
            len(blocks) == 1 and "\n" not in blocks[0] and cell.find(f"{TEXT}list") is not None
        )
        return (text.removeprefix("- ") if is_item else text) or _value(cell)

    def _object(self, element: Element) -> Iterator[str]:
        """Yield an embedded chart's title and numbers, or the text or cells of another document.

        Formulas have no text here.
        """
        root = self.embedded(element.get(XLINK_HREF, ""))
        if root is None:
            return
        for inner in ("text", "spreadsheet"):
            body = root.find(f"{OFFICE}body/{OFFICE}{inner}")
            if body is not None and self.nested < _NESTED_CEILING:
                self.nested += 1
                for sheet in body.findall(f"{TABLE}table") if inner == "spreadsheet" else ():
                    yield from self.tables(sheet)
                    body.remove(sheet)
                yield from self.blocks(body)
                self.nested -= 1
        if (chart := root.find(f".//{CHART}chart")) is not None:
            for title in chart.findall(f"{CHART}title")[:1]:
                yield from self.blocks(title)
            for table in chart.iter(f"{TABLE}table"):
                yield from table_blocks(*self._cells(table), 1)


def wrap(element: Element) -> Element:
    """Return an element that holds nothing but this one."""
    parent = Element("item")
    parent.append(element)
    return parent


def _frames(element: Element) -> Iterator[Element]:
    """Yield what is drawn inside a paragraph, outermost first."""
    for child in element:
        if child.tag in _SKIPPED:
            continue
        if _is_drawn(child):
            yield wrap(child)
        else:
            yield from _frames(child)


def _is_drawn(element: Element) -> bool:
    """Tell whether an element is a frame or shape; a link around text has the same prefix."""
    return element.tag.startswith((DRAW, TABLE)) and element.tag != f"{DRAW}a"


def _rows(element: Element) -> Iterator[Element]:
    for child in element:
        if child.tag == f"{TABLE}table-row":
            yield child
        elif child.tag.startswith(f"{TABLE}table-"):  # header rows, row groups
            yield from _rows(child)


def _of_row(row: Element) -> Iterator[Element]:
    cells = {f"{TABLE}table-cell", f"{TABLE}covered-table-cell"}
    return (cell for cell in row if cell.tag in cells)


def _spans(row: Element, number: int) -> Iterator[Span]:
    """Yield the merged cells that begin in a row."""
    column = 0
    for cell in _of_row(row):
        down = number_in(cell, f"{TABLE}number-rows-spanned", 1)
        across = number_in(cell, f"{TABLE}number-columns-spanned", 1)
        if down > 1 or across > 1:
            yield Span(number, column, number + down - 1, column + across - 1)
        column += _repeated(cell, "columns")


def _repeated(element: Element, what: str) -> int:
    value = element.get(f"{TABLE}number-{what}-repeated", "1")
    return max(1, int(value)) if value.isdecimal() and len(value) < 10 else 1  # noqa: PLR2004 - beyond any sheet


def is_not_calculated(cell: Element) -> bool:
    """Whether a cell has a formula, and nothing says what it calculates."""
    is_text = cell.get(f"{OFFICE}value-type") == "string"
    shows = any("".join(paragraph.itertext()) for paragraph in cell.iter(f"{TEXT}p"))
    return bool(cell.get(f"{TABLE}formula")) and not (is_text or shows or _stored(cell))


def _value(cell: Element) -> str:
    """Return the value of a cell that states no text of it."""
    if is_not_calculated(cell):
        return not_calculated(cell.get(f"{TABLE}formula", "").partition("=")[2])
    return _stored(cell)


def _stored(cell: Element) -> str:
    names = ("string-value", "date-value", "time-value", "boolean-value", "value")
    return next((text for name in names if (text := cell.get(f"{OFFICE}{name}"))), "")


def _used(row: list[str]) -> int:
    """Return the length of a row without its empty end."""
    return next((index + 1 for index in reversed(range(len(row))) if row[index]), 0)
