"""OpenDocument texts and presentations, read from their own XML.

Own readers because the all-in-one library loses most of a presentation (word F1 0.29 on two
files) and runs the cells of embedded tables together.
"""

import posixpath
from xml.etree.ElementTree import Element

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.odf_blocks import DRAW, OFFICE, PRESENTATION, STYLE, TEXT, Writer
from chapterhouse.reading.plain import METHOD, first_heading
from chapterhouse.reading.xml_parts import Parts
from chapterhouse.types import ExtractedPage, Extraction

_DC = "{http://purl.org/dc/elements/1.1/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_FIELDS = (
    ("author", f"{_DC}creator"),
    ("created", f"{_META}creation-date"),
    ("modified", f"{_DC}date"),
    ("language", f"{_DC}language"),
    ("subject", f"{_DC}subject"),
)


def read_odt(data: bytes, _name: str, limits: Limits) -> Extraction:
    """Read a text document: headings, lists, tables, footnotes and comments.

    Raises:
        RejectedError: the container or its XML is damaged, bombed or too deep.
    """
    parts = Parts(data, limits)
    content = _content(parts)
    writer = _writer(parts, content, limits)
    body = content.find(f"{OFFICE}body/{OFFICE}text")
    blocks = [block for block in writer.blocks(body) if block] if body is not None else []
    text = _joined([*blocks, *writer.notes])
    title, metadata = _metadata(parts)
    return Extraction(
        (ExtractedPage(text),),
        "odt",
        METHOD,
        title=title or first_heading(text),
        metadata=metadata,
    )


def read_odp(data: bytes, _name: str, limits: Limits) -> Extraction:
    """Read a presentation: one page a slide, its title on top, its notes at the end.

    Raises:
        RejectedError: as `read_odt`.
    """
    parts = Parts(data, limits)
    content = _content(parts)
    pages = tuple(
        _slide(slide, number, _writer(parts, content, limits))
        for number, slide in enumerate(content.iter(f"{DRAW}page"), 1)
    )
    title, metadata = _metadata(parts)
    return Extraction(
        pages,
        "odp",
        METHOD,
        page_kind="slide",
        title=title or (pages[0].label if pages else ""),
        metadata=metadata,
    )


def _slide(slide: Element, number: int, writer: Writer) -> ExtractedPage:
    title = ""
    blocks: list[str] = []
    for shape in slide:
        texts = [block for block in writer.blocks(_only(shape)) if block]
        if shape.get(f"{PRESENTATION}class") == "title" and not title:
            title = " ".join(" ".join(texts).lstrip("# ").split())
            continue
        blocks.extend(texts)
    notes = slide.find(f"{PRESENTATION}notes")
    said = [block for block in writer.blocks(notes) if block] if notes is not None else []
    if said:
        blocks.extend(["Notes:", *said])
    heading = [f"## {title}"] if title else []
    return ExtractedPage(_joined([*heading, *blocks, *writer.notes]), number, title)


def _only(shape: Element) -> Element:
    parent = Element("slide")
    parent.append(shape)
    return parent


def _joined(blocks: list[str]) -> str:
    return "\n\n".join(block.rstrip("\n") for block in blocks) + "\n" if blocks else ""


def _content(parts: Parts) -> Element:
    content = parts.xml("content.xml")
    if content is None:
        raise RejectedError("unreadable", "The OpenDocument file has no content.xml.")
    return content


def _writer(parts: Parts, content: Element, limits: Limits) -> Writer:
    styles = {
        style.get(f"{STYLE}name", ""): style.get(f"{STYLE}parent-style-name", "")
        for style in content.iter(f"{STYLE}style")
    }
    numbered = frozenset(
        style.get(f"{STYLE}name", "")
        for style in content.iter(f"{TEXT}list-style")
        if len(style) and style[0].tag == f"{TEXT}list-level-style-number"
    )

    def embedded(path: str) -> Element | None:
        return parts.xml(posixpath.join(posixpath.normpath(path), "content.xml"))

    return Writer(limits, styles, numbered, embedded)


def _metadata(parts: Parts) -> tuple[str, dict[str, str]]:
    root = parts.xml("meta.xml")
    if root is None:
        return "", {}
    found = {
        name: text for name, tag in _FIELDS if (text := (root.findtext(f".//{tag}") or "").strip())
    }
    return (root.findtext(f".//{_DC}title") or "").strip(), found
