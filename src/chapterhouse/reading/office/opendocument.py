"""OpenDocument texts, slides and drawings, read from their XML, and what sheets share with them.

Own readers because the all-in-one library loses most of a presentation (word F1 0.29 on two
files) and runs the cells of embedded tables together.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from xml.etree.ElementTree import Element

from chapterhouse.errors import RejectedError
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.markdown import believable_title, first_heading, joined, running_text
from chapterhouse.reading.office.number_formats import formulas_notice
from chapterhouse.reading.office.opendocument_blocks import (
    CHART,
    DRAW,
    OFFICE,
    PRESENTATION,
    STYLE,
    TABLE,
    TEXT,
    XLINK_HREF,
    Writer,
    heading_numbers,
    is_not_calculated,
    numbered_levels,
    wrap,
)
from chapterhouse.reading.office.parts import Parts
from chapterhouse.types import ExtractedPage, Extraction, Notice

_DC = "{http://purl.org/dc/elements/1.1/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_PAGE_KINDS = {"odp": "slide", "odg": "page", "ods": "sheet"}
_CONCERNED = re.compile(r"(?:styles|meta)\.xml|[^/]+/content\.xml")
_FIELD_TAGS = {
    f"{TEXT}{name}" for name in ("page-number", "page-count", "sheet-name", "date", "time")
}
# Placeholders of a slide's notes that say nothing of it.
_FURNITURE = frozenset({"page-number", "date-time", "header", "footer", "page"})
_FIELDS = (
    ("title", f"{_DC}title"),
    ("author", f"{_DC}creator"),
    ("created", f"{_META}creation-date"),
    ("modified", f"{_DC}date"),
    ("language", f"{_DC}language"),
    ("subject", f"{_DC}subject"),
)


def read_odt(parts: Parts) -> Extraction:
    """Read a text document: headings, lists, tables, footnotes and comments."""
    content, notices = content_of(parts)
    shared = parts.xml("styles.xml")
    writer = writers(parts, content, shared)()
    body = content.find(f"{OFFICE}body/{OFFICE}text")
    blocks = list(writer.blocks(body)) if body is not None else []
    text = joined([*blocks, *writer.notes, *running_texts(parts, shared)])
    return _extraction(parts, "odt", [ExtractedPage(text)], first_heading(text), notices)


def _extraction(
    parts: Parts,
    format_: str,
    pages: Sequence[ExtractedPage],
    otherwise: str,
    notices: tuple[Notice, ...],
) -> Extraction:
    """Return what was read; its title is ``otherwise`` where the text belies the stated one."""
    title, metadata = metadata_of(parts)
    believable = believable_title(title, "\n".join(page.text for page in pages))
    return Extraction(
        tuple(pages),
        format_,
        METHOD,
        page_kind=_PAGE_KINDS.get(format_, ""),
        title=title if believable else otherwise,
        metadata=metadata,
        notices=notices,
    )


def read_drawn(parts: Parts, format_: str) -> Extraction:
    """Read ``odp``, one page a slide, its title on top and its notes at the end, or ``odg``."""
    content, notices = content_of(parts)
    writer = writers(parts, content, parts.xml("styles.xml"))
    declared = {
        element.get(f"{PRESENTATION}name"): f"{kind.capitalize()}: {text}"
        for kind in ("header", "footer")
        for element in content.iter(f"{PRESENTATION}{kind}-decl")
        if (text := " ".join((element.text or "").split()))
    }
    slides = enumerate(content.iter(f"{DRAW}page"), 1)
    pages = [_slide(slide, number, writer(), declared) for number, slide in slides]
    label = next((page.label for page in pages if page.label), "")
    return _extraction(parts, format_, pages, label, notices)


def _slide(
    slide: Element, number: int, writer: Writer, declared: dict[str | None, str]
) -> ExtractedPage:
    """Read one slide; what is above or below several stands on the first that shows it."""
    title = ""
    blocks: list[str] = []
    for shape in slide:
        writer.in_line = shape.get(f"{PRESENTATION}class") == "title" and not title
        texts = list(filter(None, writer.blocks(wrap(shape))))
        if writer.in_line:
            title = " ".join(" ".join(texts).lstrip("# ").split())
            continue
        blocks.extend(texts)
    writer.in_line = False
    notes = [
        block
        for shape in slide.iterfind(f"{PRESENTATION}notes/*")
        if shape.get(f"{PRESENTATION}class") not in _FURNITURE
        for block in filter(None, writer.blocks(wrap(shape)))
    ]
    blocks += ["Notes:", *notes] if notes else []
    shown = (slide.get(f"{PRESENTATION}use-{kind}-name") for kind in ("header", "footer"))
    running = [text for name in shown if (text := declared.pop(name, ""))]
    heading = f"## {title}" if title else ""
    return ExtractedPage(joined([heading, *blocks, *writer.notes, *running]), number, title)


def content_of(parts: Parts) -> tuple[Element, tuple[Notice, ...]]:
    """Return the root of the main part, and which parts are damaged."""
    notices = parts.repair(_CONCERNED, "content.xml")
    content = parts.xml("content.xml")
    if content is None:
        raise RejectedError("unreadable", "The OpenDocument file has no content.xml.")
    return content, notices


def running_texts(parts: Parts, styles: Element | None) -> list[str]:
    """Return the text of each header and footer once, fields that count pages left out.

    ``styles`` is the root of ``styles.xml``, which is changed.
    """
    if styles is None:
        return []
    writer = writers(parts, styles, styles)()
    writer.in_line = True
    found: dict[str, None] = {}
    for element in styles.iterfind(f"{OFFICE}master-styles/{STYLE}master-page/*"):
        kind = element.tag.removeprefix(STYLE).partition("-")[0].capitalize()
        if kind in {"Header", "Footer"} and element.get(f"{STYLE}display") != "false":
            for field in element.iter():
                if field.tag in _FIELD_TAGS:
                    field.text = ""
            if text := running_text(" ".join(writer.blocks(element))):
                found[f"{kind}: {text}"] = None
    return list(found)


def writers(parts: Parts, content: Element, shared: Element | None) -> Callable[[], Writer]:
    """Return what makes writers of blocks; styles stand in ``content`` and ``shared``."""
    styles = {
        style.get(f"{STYLE}name", ""): style.get(f"{STYLE}parent-style-name", "")
        for style in content.iter(f"{STYLE}style")
    }
    positions = {
        style.get(f"{STYLE}name", ""): stated
        for root in (content, *([] if shared is None else [shared]))
        for style in root.iter(f"{STYLE}style")
        for marks in style.iterfind(f"{STYLE}text-properties")
        if (stated := marks.get(f"{STYLE}text-position", ""))
    }
    numbered = numbered_levels([content] if shared is None else [shared, content])

    def embedded(path: str) -> Element | None:
        return parts.xml(posixpath.join(posixpath.normpath(path), "content.xml"))

    return lambda: Writer(
        parts.limits, styles, positions, numbered, embedded, heading_numbers(shared).next
    )


def metadata_of(parts: Parts) -> tuple[str, dict[str, str]]:
    """Return the title and the other fields of ``meta.xml``."""
    root = parts.xml("meta.xml")
    if root is None:
        return "", {}
    found = {name: (root.findtext(f".//{tag}") or "").strip() for name, tag in _FIELDS}
    return found.pop("title"), {name: text for name, text in found.items() if text}


def read_ods(parts: Parts) -> Extraction:
    """Read a spreadsheet: one page a sheet with its cells, shapes and comments."""
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
    return _extraction(parts, "ods", pages, "", (*notices, *formulas_notice(formulas)))


def _sheet(sheet: Element, number: int, writer: Writer, hidden: set[str | None]) -> ExtractedPage:
    name = " ".join(sheet.get(f"{TABLE}name", "").split())
    name += " (hidden)" * (sheet.get(f"{TABLE}style-name") in hidden)
    drawn = [block for shape in _take_drawn(sheet) for block in _texts(shape, writer)]
    body = joined([*writer.tables(sheet), *drawn, *writer.notes])
    return ExtractedPage(f"## {name}\n\n{body}" if name and body else body, number, name)


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
    yield from writer.blocks(wrap(shape))
