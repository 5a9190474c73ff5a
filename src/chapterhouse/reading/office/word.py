"""Word files, read from their own XML ([ECMA-376] part 1, 17).

An own reader, because the all-in-one library knows no numbers of paragraphs, merged cells, fields
of forms or text boxes. A Word file has pages only after layout, so that it is one page here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Final
from xml.etree.ElementTree import Element

from chapterhouse.errors import RejectedError
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.grid import MOST_COPIES, Span, fill_spans
from chapterhouse.reading.grid_headings import with_heading
from chapterhouse.reading.markdown import (
    believable_title,
    escaped,
    first_heading,
    joined,
    markdown_table,
    running_text,
)
from chapterhouse.reading.office.ooxml import (
    attribute,
    children,
    core_properties,
    drawn_texts,
    equation,
    local,
    main_part,
    relation_id,
    relations,
    relations_part,
)
from chapterhouse.reading.office.parts import Parts
from chapterhouse.reading.office.word_properties import (
    Numbers,
    Style,
    child_of,
    heading_level,
    is_on,
    read_numbering,
    read_styles,
    value,
    whole,
)
from chapterhouse.reading.office.word_text import SKIPPED, TextReader, alternative
from chapterhouse.types import ExtractedPage, Extraction, Notice

Read = Callable[[bytes, str], Extraction]
_MAIN: Final = "word/document.xml"
_CONCERNED: Final = re.compile(
    r"_rels/\.rels|word/(?:charts/chart\d*\.xml|diagrams/data\d*\.xml|"
    r"_rels/(?:document|header|footer|footnotes|endnotes|comments)\d*\.xml\.rels|"
    r"(?:header|footer|footnotes|endnotes|comments|styles|numbering)\d*\.xml)"
)
_OF_FILES: Final = frozenset({"extension-mismatch", "no-text"})  # what is said of files alone
_LONGEST_HEADING: Final = 200  # characters; clauses of contracts have styles of headings, too
_SENTENCE: Final = re.compile(r"(?:\S+\s+){4,}\S*[.;]|.{15,}[。；]", re.DOTALL)
_TIGHT: Final = re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{2,5})[.)]")  # what stands before items
_MOST_SPAN: Final = 100  # columns of one cell


def read_docx(parts: Parts, read_inside: Read) -> Extraction:
    """Read a Word file: headings, lists, tables, forms, boxes, notes, comments, headers.

    ``read_inside`` reads a file in it, by its bytes and name.
    """
    main = main_part(parts, _MAIN)
    notices = parts.repair(_CONCERNED, main, retains_roots=True)
    document = _Document(parts, main, read_inside)
    root = document.xml(main)
    writer = document.writer(main, root, is_body=True)
    blocks = list(_in_lists(writer.blocks(root)))
    running = dict.fromkeys(document.headers_and_footers())
    extras = (*writer.text.notes.values(), *document.comments(), *drawn_texts(parts), *running)
    text = joined([*blocks, *extras])
    title, metadata = core_properties(parts)
    if not believable_title(title, text):
        title = first_heading(text)
    notices = (*notices, *document.notices)
    page = ExtractedPage(text)
    return Extraction((page,), "docx", METHOD, title=title, metadata=metadata, notices=notices)


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph or a table; ``rows`` are those of a table.

    ``mark`` stands before a heading or an item of a list; of items there is the ``list``, and the
    ``level`` in it. Text that ``is_markdown`` was read as such.
    """

    text: str = ""
    mark: str = ""
    list: str = ""
    level: int = 0
    rows: Sequence[Sequence[str]] = ()
    is_markdown: bool = False


class _Document:
    """The parts of a Word file that its stories share."""

    def __init__(self, parts: Parts, main: str, read_inside: Read) -> None:
        self.parts, self.read_inside = parts, read_inside
        self.relations = relations(parts, main)
        self.related = {found.kind: found.target for found in self.relations}
        self.style, style_list = read_styles(self.xml(self.part("styles")))
        self.list_of = read_numbering(self.xml(self.part("numbering")), style_list)
        self.links, self.notes = cache(self._links), cache(self._notes)
        self.targets = cache(self._targets)
        self.cells = self.copies = 0  # of all tables; those that repeat a merged one
        self.read: set[str] = set()  # files in it
        self.notices: list[Notice] = []  # of these

    def part(self, kind: str) -> str:
        """Return the name of a part by its relation, else its usual one."""
        return self.related.get(kind, f"word/{kind}.xml")

    def xml(self, name: str) -> Element:
        """Return the root of a part; one with nothing in it where that is damaged or missing."""
        root = None if self.parts.damage(name) else self.parts.xml(name)
        return Element("}missing") if root is None else root

    def writer(self, part: str, root: Element, *, is_body: bool = False) -> "_Writer":
        """Return what writes the story of a part."""
        # Of elements of one tag, which is much faster than to look at each.
        found = root.iter(f"{root.tag.rpartition('}')[0]}}}fldChar")
        marks = [attribute(one, "fldCharType") for one in found]
        is_cut = marks.count("begin") != marks.count("end")
        text = TextReader(self.style, self.links(part), self.note, is_body, is_cut)
        return _Writer(self, part, Numbers(self.list_of), text)

    def line(self, part: str, story: Element) -> str:
        """Return what a story shows on one line, cells apart."""
        return self.writer(part, story).line(story)

    def count(self, cells: int) -> None:
        """Count cells of tables, also empty ones at the end of rows."""
        self.cells += cells
        if self.cells > self.parts.limits.sheet_cells:
            raise RejectedError("too-many-cells", "Its tables have more cells than the limit.")

    def note(self, kind: str, name: str) -> str:
        """Return the text of a footnote or endnote by its id."""
        found = self.notes(kind).get(name)
        return "" if found is None else self.line(self.part(f"{kind}s"), found)

    def _notes(self, kind: str) -> Mapping[str, Element]:
        notes = children(self.xml(self.part(f"{kind}s")), kind)
        return {attribute(note, "id"): note for note in notes}

    def _links(self, part: str) -> Mapping[str, str]:
        """Return the addresses that a part names, by relation."""
        return {
            found.get("Id", ""): found.get("Target", "")
            for found in self.xml(relations_part(part))
            if found.get("TargetMode") == "External"
        }

    def _targets(self, part: str) -> Mapping[str, str]:
        """Return the parts that a part names, by relation."""
        return {found.id: found.target for found in relations(self.parts, part)}

    def inserted(self, part: str, relation: str) -> Iterator[_Block]:
        """Yield the text of a file that stands in this one, once."""
        name = self.targets(part).get(relation, "")
        content = self.parts.content(name)
        if not content or name in self.read:
            return
        self.read.add(name)
        try:
            within = self.read_inside(content, name)
        except RejectedError as error:
            self.notices.append(Notice("part-unreadable", f"{name!r}: {error.message}"))
            return
        self.notices.extend(one for one in within.notices if one.code not in _OF_FILES)
        text = "\n\n".join(page.text for page in within.pages)
        whole = [_Block(text, is_markdown=True)]
        yield from whole if within.markdown else map(_Block, text.splitlines())

    def comments(self) -> Iterator[str]:
        """Yield the comments in the order of their part."""
        part = self.part("comments")
        for comment in children(self.xml(part), "comment"):
            if text := self.line(part, comment):
                yield f"Comment: {text}"

    def headers_and_footers(self) -> Iterator[str]:
        """Yield the text of each header and footer, page numbers left out."""
        for found in self.relations:
            is_running = found.kind in {"header", "footer"}
            line = self.line(found.target, self.xml(found.target)) if is_running else ""
            if text := running_text(line):
                yield f"{found.kind.capitalize()}: {text}"


@dataclass(slots=True)
class _Writer:
    """Writes the blocks of one story: the body, a header, a note."""

    document: _Document
    part: str
    numbers: Numbers
    text: TextReader
    in_cell: bool = False

    def line(self, element: Element) -> str:
        """Return what an element shows on one line, cells apart."""
        return " ".join(filter(None, map(_line, self.blocks(element))))

    def blocks(self, element: Iterable[Element]) -> Iterator[_Block]:
        """Yield the blocks inside an element."""
        for child in element:
            match local(child):
                case "p":
                    yield from self._paragraph(child)
                case "tbl":
                    yield from self._table(child)
                case "AlternateContent":
                    yield from self.blocks(alternative(child))
                case "oMathPara" | "oMath":
                    yield _Block(equation(child))
                case "altChunk":
                    yield from self.document.inserted(self.part, relation_id(child))
                case name if name not in SKIPPED:
                    yield from self.blocks(child)

    # --- paragraphs ------------------------------------------------------------------------------

    def _paragraph(self, element: Element) -> Iterator[_Block]:
        properties = child_of(element, "pPr")
        named = value(properties, "pStyle")
        style = self.document.style(named)
        text = self.text.read(element, style)
        boxes = self.text.boxes
        ended = child_of(properties, "rPr")
        is_retained = child_of(ended, "del") is None and child_of(ended, "moveFrom") is None
        if text or is_retained:
            mark, name, level = self._number(properties, named, style)
            if not text and self.in_cell and mark != "-":
                yield _Block(mark)  # a column of numbers
            elif text:
                yield _block(text, mark, name, level, heading_level(properties, style.heading))
        for box in boxes:
            fields, self.text.fields = self.text.fields, []
            yield from self.blocks(box)
            self.text.fields = fields

    def _number(self, properties: Element | None, named: str, style: Style) -> tuple[str, str, int]:
        """Count a paragraph; return its mark, list and level; the mark is empty without a list."""
        stated = child_of(properties, "numPr")
        name, place = value(stated, "numId") or style.list, value(stated, "ilvl")
        found = self.document.list_of(name)
        if found is None:
            return "", "", 0
        linked = {one.style: level for level, one in found.levels.items() if one.style}
        otherwise = linked.get(style.owner, 0) if style.level is None else style.level
        level = whole(place, 0) if place else linked.get(named, otherwise)
        return self.numbers.next(name, level), name, level

    # --- tables ----------------------------------------------------------------------------------

    def _table(self, table: Element) -> Iterator[_Block]:
        """Yield a table, behind the rows above it that are one cell; one column is no table."""
        found = [(row, list(_inner(row, "tc"))) for row in _inner(table, "tr")]
        if all(len(cells) < 2 for _, cells in found):  # noqa: PLR2004 - one column
            for _, cells in found:
                for cell in cells:
                    yield from self.blocks(cell)
            return
        rows: list[list[str]] = []
        spans: dict[tuple[int, int], Span] = {}
        headers = 0
        for row, cells in found:
            texts = self._row(row, cells, len(rows), spans)
            if len(cells) == 1 and not rows:
                yield _Block("".join(texts))
                continue
            is_header = is_on(child_of(child_of(row, "trPr"), "tblHeader"))
            headers += is_header and headers == len(rows)
            rows.append(texts)
            self.document.count(len(texts))
        width = max(map(len, rows))
        self.document.count(sum(width - len(row) for row in rows))
        rows = [row + [""] * (width - len(row)) for row in rows]
        if self.document.copies < MOST_COPIES:
            self.document.copies += fill_spans(rows, list(spans.values()))
        if any(map(any, rows)):
            yield _Block(value(child_of(table, "tblPr"), "tblCaption").strip())
            yield _Block(rows=with_heading(rows, headers))

    def _row(
        self,
        row: Element,
        cells: Iterable[Element],
        number: int,
        spans: dict[tuple[int, int], Span],
    ) -> list[str]:
        """Return the texts of a row; add which of its cells are merged, by row and column.

        One that goes on from another spans both, so that its text is passed on.
        """
        texts = [""] * _span(child_of(row, "trPr"), "gridBefore", 0)
        for cell in cells:
            properties = child_of(cell, "tcPr")
            place, span = len(texts), _span(properties, "gridSpan", 1)
            down, across = _merged(properties, "vMerge"), _merged(properties, "hMerge")
            if down or across or span > 1:
                top = number - (down == "continue" and (number - 1, place) in spans)
                left = place - (across == "continue" and place > 0)
                spans[number, place] = Span(top, left, number, place + span - 1)
            was_in_cell, self.in_cell = self.in_cell, True
            texts += [self.line(cell), *[""] * (span - 1)]
            self.in_cell = was_in_cell
        return texts


# --- blocks as Markdown --------------------------------------------------------------------------


def _block(text: str, mark: str, name: str, level: int, heading: int) -> _Block:
    """Return a paragraph as a heading, an item of a list, or text with its number."""
    number = "" if mark == "-" else mark
    is_clause = bool(number) and _SENTENCE.fullmatch(text) is not None
    if heading and len(text) <= _LONGEST_HEADING and not is_clause:
        return _Block(f"{number} {text}".lstrip(), "#" * min(heading, 6))
    if not mark:
        return _Block(text)
    if mark == "-" or _TIGHT.fullmatch(mark):
        return _Block(text, mark, name, level)
    return _Block(f"{mark} {text}")


def _line(block: _Block) -> str:
    """Return a block on one line, cells apart."""
    if block.rows:
        cells = (cell for row in block.rows for cell, _ in groupby(row) if cell)
        return " | ".join(cells)
    return f"{block.mark} {block.text}" if block.list else block.text


def _in_lists(blocks: Iterable[_Block]) -> Iterator[str]:
    """Yield blocks as Markdown, the items of a list on lines that follow one another."""
    lines: list[str] = []
    open_: list[_Block] = []  # the item that a line is below, at each level
    for block in blocks:
        closed = None
        while open_ and (not block.list or open_[-1].level >= block.level):
            closed = open_.pop()
        if lines and not open_ and (closed is None or closed.list != block.list):
            yield "\n".join(lines)
            lines = []
        if not block.list:
            yield _as_markdown(block)
            continue
        indent = sum(2 if above.mark == "-" else 3 for above in open_)
        lines.append(f"{' ' * indent}{block.mark} {block.text}")
        open_.append(block)
    yield "\n".join(lines)


def _as_markdown(block: _Block) -> str:
    """Return a block that is no item of a list."""
    if block.rows:
        return markdown_table(block.rows)
    if block.mark:
        return f"{block.mark} {block.text}"
    return block.text if block.is_markdown else escaped(block.text)


# --- properties ----------------------------------------------------------------------------------


def _inner(element: Element, name: str) -> Iterator[Element]:
    """Yield the rows of a table, or the cells of a row, also of controls, but for deleted ones."""
    for child in element:
        match local(child):
            case "tr" | "tc" as found if found == name:
                properties = child_of(child, f"{name}Pr")
                if child_of(properties, "del" if name == "tr" else "cellDel") is None:
                    yield child
            case "sdt" | "sdtContent" | "customXml" | "ins" | "moveTo":
                yield from _inner(child, name)


def _span(properties: Element | None, name: str, least: int) -> int:
    return min(max(whole(value(properties, name), least), least), _MOST_SPAN)


def _merged(properties: Element | None, name: str) -> str:
    """Return ``restart`` or ``continue`` for a cell that is merged, else nothing."""
    found = child_of(properties, name)
    return "" if found is None else attribute(found, "val") or "continue"
