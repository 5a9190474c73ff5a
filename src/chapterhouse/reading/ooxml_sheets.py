"""What the all-in-one library leaves out of Excel files: comments, shapes, charts, headers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from xml.etree.ElementTree import Element

from chapterhouse.reading.ooxml import (
    chart_titles,
    comment_blocks,
    descendants,
    main_part,
    relation_id,
    relations,
)
from chapterhouse.reading.plain import running_text
from chapterhouse.reading.xml_parts import Parts
from chapterhouse.types import Notice

_MAIN = "xl/workbook.xml"
_CONCERNED = re.compile(
    r"_rels/\.rels|xl/(?:worksheets|chartsheets|drawings|charts|threadedComments|comments)/(?:_rels/)?[^/]+"
    r"\.(?:xml|rels)|xl/(?:comments\d*|sharedStrings|styles)\.xml"
)
# Codes inside headers: section, font, size, colour, page, date, file and so on ([ECMA-376] part 1,
# 18.3.1.46); what they stand for is not in the file. They follow the cells.
_HEADERS = re.compile(r"<(?:\w+:)?(?:odd|even|first)(Header|Footer)(?:\s[^>]*)?>([^<]*)</")
_HEADERS_BYTES = 20_000
_HEADER_CODE = re.compile(r'&(?:&|"[^"]*"|K[0-9A-Fa-f]{6}|\d+|[A-Za-z])')


@dataclass(frozen=True, slots=True)
class SheetExtras:
    """What stands on a sheet beside its cells."""

    hidden: bool
    blocks: tuple[str, ...]


def prepare(parts: Parts) -> tuple[Notice, ...]:
    """Cut off the parts that are damaged, for one of which the library refuses a whole workbook.

    Raises:
        RejectedError: as `Parts.mend`.
    """
    return parts.mend(_CONCERNED, main_part(parts, _MAIN))


def sheet_extras(parts: Parts) -> dict[str, SheetExtras]:
    """Return by the sheet's name whether it is hidden, and its shapes, comments and headers.

    Raises:
        RejectedError: the main part is damaged.
    """
    main = main_part(parts, _MAIN)
    root = parts.xml(main)
    if root is None:
        return {}
    targets = {found.id: found.target for found in relations(parts, main)}
    return {
        sheet.get("name", ""): SheetExtras(
            hidden=sheet.get("state", "visible") != "visible",
            blocks=tuple(_blocks(parts, targets.get(relation_id(sheet), ""))),
        )
        for sheet in descendants(root, "sheet")
    }


def _blocks(parts: Parts, sheet: str) -> Iterator[str]:
    yield from drawing_blocks(parts, sheet)
    kinds = {relation.kind: relation.target for relation in relations(parts, sheet)}
    # A thread has a plain comment beside it that only says so.
    comments = kinds.get("threadedComment") or kinds.get("comments")
    if comments and (root := parts.xml(comments)) is not None:
        yield from comment_blocks(root)
    yield from _headers(parts, sheet)


def drawing_blocks(parts: Parts, sheet: str) -> Iterator[str]:
    """Yield what the shapes and charts on a sheet say."""
    for relation in relations(parts, sheet):
        if relation.kind == "drawing" and (root := parts.xml(relation.target)) is not None:
            yield from _drawing(parts, relation.target, root)


def _drawing(parts: Parts, part: str, root: Element) -> Iterator[str]:
    """Yield the paragraphs of shapes, and the titles of charts, whose numbers are in a sheet."""
    for paragraph in descendants(root, "p"):
        yield " ".join("".join(t.text or "" for t in descendants(paragraph, "t")).split())
    for relation in relations(parts, part):
        if relation.kind == "chart" and (chart := parts.xml(relation.target)) is not None:
            yield from chart_titles(chart)


def _headers(parts: Parts, sheet: str) -> list[str]:
    """Return what is printed above and below each page, each text once."""
    end = (parts.content(sheet) or b"")[-_HEADERS_BYTES:].decode("utf-8", "replace")
    said: dict[str, None] = {}
    for kind, coded in _HEADERS.findall(end):
        if text := header_text(unescape(coded)):
            said[f"{kind}: {text}"] = None
    return list(said)


def header_text(coded: str) -> str:
    """Return what a header says, or nothing where it only counts."""
    return running_text(_HEADER_CODE.sub(_header_sign, coded))


def _header_sign(code: re.Match[str]) -> str:
    return "&" if code[0] == "&&" else " "
