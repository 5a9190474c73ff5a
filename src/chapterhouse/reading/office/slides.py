"""Presentations in Office Open XML, read from their own XML.

An own reader, because the all-in-one library sets a space between the runs of a word wherever
its formatting changes, and leaves out charts and comments.
"""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from chapterhouse.errors import RejectedError
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.grid import Span, table_blocks
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import believable_title, escaped, joined, lowered, raised
from chapterhouse.reading.office.ooxml import (
    attribute,
    chart_blocks,
    children,
    comment_blocks,
    core_properties,
    descendants,
    local,
    main_part,
    relation_id,
    relations,
)
from chapterhouse.reading.office.parts import Parts
from chapterhouse.types import ExtractedPage, Extraction, Notice

_TITLES = frozenset({"title", "ctrTitle"})
_RUNNING = {"hdr": "Header", "ftr": "Footer"}
_MAIN = "ppt/presentation.xml"
_SLIDE = re.compile(r"ppt/slides/slide\d+\.xml")
_CONCERNED = re.compile(
    r"ppt/(?:slides|notesSlides|charts|diagrams|comments)/(?:_rels/)?[^/]+\.(?:xml|rels)"
    r"|_rels/\.rels|ppt/(?:_rels/)?presentation\.xml(?:\.rels)?|docProps/core\.xml"
)
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
_BULLETS = frozenset({"buAutoNum", "buChar", "buBlip", "buNone"})


def read_pptx(parts: Parts) -> Extraction:
    """Read a presentation: one page a slide with its title, texts, tables, charts and notes."""
    main = main_part(parts, _MAIN)
    notices = parts.repair(_CONCERNED)
    if main not in parts.names():
        raise RejectedError("unreadable", f"The presentation's main part, {main!r}, is missing.")
    order = _order(parts, main)
    notices += tuple(
        Notice("part-unreadable", f"{part!r} is missing from the container.")
        for part in order
        if part not in parts.names()
    )
    running = set[str]()
    pages = tuple(_slide(parts, part, number, running) for number, part in enumerate(order, 1))
    title, metadata = core_properties(parts)
    if not believable_title(title, "\n".join(page.text for page in pages)):
        title = next((page.label for page in pages if page.label), "")
    return Extraction(
        pages, "pptx", METHOD, page_kind="slide", title=title, metadata=metadata, notices=notices
    )


def _order(parts: Parts, main: str) -> list[str]:
    """Return the slides' parts in the order in which they are shown, else in that of their names.

    Names decide where the main part or its relations are damaged.
    """
    root = parts.xml(main)
    listed = [] if root is None else [relation_id(slide) for slide in descendants(root, "sldId")]
    targets = {found.id: found.target for found in relations(parts, main)}
    if shown := [part for name in listed if (part := targets.get(name, ""))]:
        return shown
    return sorted(filter(_SLIDE.fullmatch, parts.names()), key=lambda name: (len(name), name))


def _slide(parts: Parts, part: str, number: int, running: set[str]) -> ExtractedPage:
    """Read one slide. ``running`` holds the headers and footers that were shown before."""
    root = parts.xml(part)
    if root is None:
        return ExtractedPage("", number)
    found = relations(parts, part)
    targets = {relation.id: relation.target for relation in found}
    title, blocks, above_below = "", list[str](), list[str]()
    for shape in _shapes(root):
        kind = _placeholder(shape)
        if kind in _TITLES and not title:
            title = _line(shape)
        elif kind in _RUNNING and (text := _line(shape)) not in running:
            running.add(text)
            above_below.append(f"{_RUNNING[kind]}: {text}")
        else:
            blocks.extend(_shape(shape, parts, targets))
    for relation in found:
        if relation.kind == "notesSlide" and (notes := _notes(parts, relation.target)):
            blocks.extend(["Notes:", *notes])
        elif relation.kind == "comments" and (comments := parts.xml(relation.target)) is not None:
            blocks.extend(comment_blocks(comments))
    heading = f"## {title}" if title else ""
    text = joined([heading, *blocks, *above_below])
    return ExtractedPage(text, number, title)


def _line(shape: Element) -> str:
    return " ".join(text for text, _, _ in _paragraphs(shape))


def _shapes(element: Element) -> Iterator[Element]:
    """Yield shapes and frames, those of groups in place; of alternatives the first."""
    for child in element:
        name = local(child)
        if name in {"sp", "graphicFrame"}:
            yield child
        elif name == "AlternateContent":
            yield from _shapes(next(iter(child), child))
        elif name in {"cSld", "spTree", "grpSp", "Choice"}:
            yield from _shapes(child)


def _placeholder(shape: Element) -> str:
    """Return what a shape is a placeholder for: ``body`` where its type is left out."""
    found = next(descendants(shape, "ph"), None)
    return "" if found is None else found.get("type", "body")


def _shape(shape: Element, parts: Parts, targets: dict[str, str]) -> Iterator[str]:
    if local(shape) == "sp":
        kind = _placeholder(shape)
        if kind not in _FURNITURE:
            yield _text(shape, listed=kind in {"body", "obj"})
        return
    for inner in descendants(shape, "tbl", "chart", "relIds"):
        if local(inner) == "tbl":
            yield from _table(inner, parts.limits)
            continue
        # SmartArt keeps its words in a data part.
        part = targets.get(relation_id(inner) or attribute(inner, "dm"), "")
        if part and (root := parts.xml(part)) is not None:
            chart = local(inner) == "chart"
            yield from chart_blocks(root) if chart else [_text(root, listed=True)]


def _text(shape: Element, *, listed: bool) -> str:
    """Return a shape's paragraphs; as a list where they have bullets or the layout gives some."""
    paragraphs = list(_paragraphs(shape))
    several = listed and len(paragraphs) > 1
    lines: list[str] = []
    number = 0
    for text, level, bullet in paragraphs:
        number = number + 1 if bullet == "buAutoNum" else 0
        if bullet == "buAutoNum":
            lines.append(f"{'  ' * level}{number}. {escaped(text)}")
        elif bullet in {"buChar", "buBlip"} or (several and bullet != "buNone"):
            lines.append(f"{'  ' * level}- {escaped(text)}")
        else:
            lines.append(f"\n{escaped(text)}\n")
    return "\n".join(lines).replace("\n\n\n", "\n\n").strip("\n")


def _paragraphs(shape: Element) -> Iterator[tuple[str, int, str]]:
    """Yield text, level and kind of bullet of each paragraph that has words."""
    for paragraph in descendants(shape, "p"):
        text = " ".join("".join(_pieces(paragraph)).split())
        if not text:
            continue
        marks = next(children(paragraph, "pPr"), Element("pPr"))
        level = marks.get("lvl", "0")
        bullet = next((name for name in map(local, marks) if name in _BULLETS), "")
        yield text, min(8, int(level)) if level.isdecimal() else 0, bullet


def _pieces(paragraph: Element) -> Iterator[str]:
    """Yield the text of runs, fields and formulas as they follow one another."""
    shift, before = 0, ""
    for element in paragraph.iter():
        if local(element) == "r":
            shift = _shift(element)
        elif local(element) == "t":
            text = element.text or ""
            before = raised(text, before) if shift > 0 else lowered(text) if shift < 0 else text
            yield before
        elif local(element) == "br":
            yield " "


def _shift(run: Element) -> int:
    """Return how far a run is raised, in thousandths of a per cent; lowered below 0."""
    stated = next(children(run, "rPr"), run).get("baseline", "0")
    return int(stated) if re.fullmatch(r"-?\d{1,9}", stated) else 0


def _table(table: Element, limits: Limits) -> list[str]:
    """Return a table; one of one column is text."""
    found = [list(children(row, "tc")) for row in children(table, "tr")]
    if all(len(row) < 2 for row in found):  # noqa: PLR2004 - one column
        return [_text(cell, listed=False) for row in found for cell in row]
    rows: list[list[str]] = []
    spans: list[Span] = []
    cells = 0
    for row in found:
        for column, cell in enumerate(row):
            down, across = (_number(cell.get(name, "")) for name in ("rowSpan", "gridSpan"))
            if down > 1 or across > 1:
                top = len(rows)
                spans.append(Span(top, column, top + down - 1, column + across - 1))
        texts = [" ".join(text for text, _, _ in _paragraphs(cell)) for cell in row]
        cells += len(texts)
        if cells > limits.sheet_cells:
            raise RejectedError("too-many-cells", "A table has more cells than the limit.")
        rows.append(texts)
    width = max(map(len, rows), default=0)
    if width * len(rows) > limits.sheet_cells:
        raise RejectedError("too-many-cells", "A table has more cells than the limit.")
    has_first_row = next(children(table, "tblPr"), table).get("firstRow") in {"1", "true"}
    return table_blocks(rows, spans, has_first_row=has_first_row)


def _number(stated: str) -> int:
    return int(stated) if stated.isdecimal() and len(stated) < 7 else 1  # noqa: PLR2004 - beyond any table


def _notes(parts: Parts, part: str) -> list[str]:
    root = parts.xml(part)
    shapes = () if root is None else _shapes(root)
    bodies = (shape for shape in shapes if _placeholder(shape) == "body")
    return [escaped(text) for shape in bodies for text, _, _ in _paragraphs(shape)]
