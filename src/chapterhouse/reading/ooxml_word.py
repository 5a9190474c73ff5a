"""What the all-in-one library gets wrong in Word files: breaks, moves, charts, headers."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from chapterhouse.reading.ooxml import (
    attribute,
    chart_blocks,
    descendants,
    local,
    main_part,
    relations,
    relations_part,
)
from chapterhouse.reading.plain import running_text
from chapterhouse.reading.xml_parts import Parts
from chapterhouse.types import Notice

_MAIN = "word/document.xml"
_CONCERNED = re.compile(
    r"_rels/\.rels|word/(?:_rels/document\d*\.xml\.rels|"
    r"(?:header\d*|footer\d*|footnotes|endnotes|comments|styles|numbering|charts/chart\d*|"
    r"diagrams/data\d*)\.xml)"
)
_DRAWN = re.compile(r"word/(?:charts/chart|diagrams/data)\d*\.xml")
_BREAK = re.compile(rb"<w:br\b[^>]*w:type=[\"'](?:page|column)[\"'][^>]*/>")
_MOVED_AWAY = re.compile(rb"<w:moveFrom(?=[\s>]).*?</w:moveFrom>", re.DOTALL)
_COUNTING = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|SECTION)\b", re.IGNORECASE)


def prepare(parts: Parts) -> tuple[Notice, ...]:
    """Make a Word file such that the library reads all of it, and say what cannot be read.

    The library refuses a document for one damaged part, joins the words on both sides of a page
    break inside a paragraph, and shows moved text in both places.

    Raises:
        RejectedError: as `Parts.mend`.
    """
    main = main_part(parts, _MAIN)
    notices = parts.mend(_CONCERNED, main)
    document = parts.content(main) or b""
    if main != _MAIN:  # the only name that the library knows
        parts.replace(relations_part(_MAIN), parts.content(relations_part(main)) or b"")
    changed = _MOVED_AWAY.sub(b"", _BREAK.sub(b"<w:br/>", document))
    if changed != document or main != _MAIN:
        parts.replace(_MAIN, changed)
    return notices


def drawn_texts(parts: Parts) -> list[str]:
    """Return the texts of charts and SmartArt in a Word file, in order of their parts."""
    names = sorted(filter(_DRAWN.fullmatch, parts.names()), key=lambda name: (len(name), name))
    roots = [root for name in names if (root := parts.xml(name)) is not None]
    return [block for root in roots for block in _drawn(root)]


def _drawn(root: Element) -> list[str]:
    if local(root) == "chartSpace":
        return chart_blocks(root)
    texts = (" ".join("".join(_pieces(p)).split()) for p in descendants(root, "p"))
    return ["\n".join(f"- {text}" for text in texts if text)]


def headers_and_footers(parts: Parts) -> list[str]:
    """Return the text of each header and footer once, page numbers left out."""
    found = [
        (relation.kind.capitalize(), root)
        for relation in relations(parts, main_part(parts, _MAIN))
        if relation.kind in {"header", "footer"}
        and (root := parts.xml(relation.target)) is not None
    ]
    said = {f"{kind}: {text}": None for kind, root in found if (text := _running(root))}
    return list(said)


def _running(root: Element) -> str:
    return running_text(" ".join("".join(_pieces(p)) for p in descendants(root, "p")))


def _pieces(paragraph: Element) -> Iterator[str]:
    """Yield the text of a paragraph without the results of fields that count pages."""
    fields: list[str] = []  # instruction of each open field; its result follows it
    for element in _shown(paragraph):
        match local(element):
            case "fldChar":
                kind = attribute(element, "fldCharType")
                if kind == "begin":
                    fields.append("")
                elif kind == "end" and fields:
                    fields.pop()
            case "instrText" if fields:
                fields[-1] += element.text or ""
            case "t" if not any(map(_COUNTING.match, fields)):
                yield element.text or ""
            case "tab" | "br":
                yield " "


def _shown(element: Element) -> Iterator[Element]:
    """Yield what is shown inside a paragraph, but for the paragraphs of its text boxes."""
    for child in element:
        name = local(child)
        counts = name == "fldSimple" and _COUNTING.match(attribute(child, "instr"))
        if name not in {"del", "moveFrom", "Fallback", "p", "pPr"} and not counts:
            yield child
            yield from _shown(child)
