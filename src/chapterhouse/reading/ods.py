"""OpenDocument spreadsheets, read from their own XML: what the cells show, not what they store.

An own reader because the all-in-one library gives ``0.25`` for a cell that shows ``25 %`` and
``DURATION: PT13H30M00S`` for one that shows ``13:30``, and leaves out comments and shapes.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from chapterhouse.reading.number_formats import formulas_notice
from chapterhouse.reading.odf import content_of, joined, metadata_of, running_texts, writers
from chapterhouse.reading.odf_blocks import (
    CHART,
    DRAW,
    OFFICE,
    STYLE,
    TABLE,
    XLINK_HREF,
    Writer,
    is_not_calculated,
    wrapped,
)
from chapterhouse.reading.plain import METHOD
from chapterhouse.reading.titles import believable_title
from chapterhouse.reading.xml_parts import Parts
from chapterhouse.types import ExtractedPage, Extraction


def read_ods(parts: Parts) -> Extraction:
    """Read a spreadsheet: one page a sheet with its cells, shapes and comments.

    Raises:
        RejectedError: as `read_odt`, and ``too-many-cells``.
    """
    content, notices = content_of(parts)
    shared = parts.xml("styles.xml")
    writer = writers(parts, content, shared)
    hidden = {
        style.get(f"{STYLE}name")
        for style in content.iter(f"{STYLE}style")
        for properties in style.iter(f"{STYLE}table-properties")
        if properties.get(f"{TABLE}display") == "false"
    }
    formulas = sum(map(is_not_calculated, content.iter(f"{TABLE}table-cell")))
    sheets = content.iterfind(f"{OFFICE}body/{OFFICE}spreadsheet/{TABLE}table")
    pages = [_sheet(sheet, number, writer(), hidden) for number, sheet in enumerate(sheets, 1)]
    if pages and (running := running_texts(parts, shared)):
        last = pages[-1]
        pages[-1] = ExtractedPage(joined([last.text, *running]), last.number, last.label)
    title, metadata = metadata_of(parts)
    return Extraction(
        tuple(pages),
        "ods",
        METHOD,
        page_kind="sheet",
        title=title if believable_title(title, "\n".join(page.text for page in pages)) else "",
        metadata=metadata,
        notices=(*notices, *formulas_notice(formulas)),
    )


def _sheet(sheet: Element, number: int, writer: Writer, hidden: set[str | None]) -> ExtractedPage:
    name = " ".join(sheet.get(f"{TABLE}name", "").split())
    name += " (hidden)" * (sheet.get(f"{TABLE}style-name") in hidden)
    drawn = [block for shape in _take_drawn(sheet) for block in _texts(shape, writer)]
    blocks = [block for block in (writer.table(sheet), *drawn, *writer.notes) if block]
    heading = [f"## {name}"] if name and blocks else []
    return ExtractedPage(joined([*heading, *blocks]), number, name)


def _take_drawn(element: Element) -> Iterator[Element]:
    """Yield the frames and shapes on a sheet, and take them out of its cells."""
    for child in list(element):
        if child.tag.startswith(DRAW):
            element.remove(child)
            yield child
        elif child.tag == f"{TABLE}shapes":
            yield from child
        else:
            yield from _take_drawn(child)


def _texts(shape: Element, writer: Writer) -> Iterator[str]:
    """Yield what a shape says; of a chart its titles, because its numbers are in a sheet."""
    for element in shape.iter(f"{DRAW}object"):
        chart = writer.embedded(element.get(XLINK_HREF, ""))
        if chart is not None and chart.find(f".//{CHART}chart") is not None:
            titles = chart.iter(f"{CHART}title")
            yield from (block for title in titles for block in writer.blocks(title))
            return
    yield from writer.blocks(wrapped(shape))
