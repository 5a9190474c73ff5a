"""What the all-in-one library gets wrong in Word and Excel files: breaks, charts, comments."""

import io
import re
import zipfile

from chapterhouse.reading.limits import Limits
from chapterhouse.reading.ooxml import (
    chart_blocks,
    comment_blocks,
    descendants,
    relation_id,
    relations,
)
from chapterhouse.reading.xml_parts import Parts

_CHART = re.compile(r"word/charts/chart\d*\.xml")

_DOCUMENT = "word/document.xml"
_BREAK = re.compile(rb"<w:br\b[^>]*w:type=[\"'](?:page|column)[\"'][^>]*/>")


def with_plain_breaks(data: bytes, limits: Limits) -> bytes:
    """Return a Word file whose page breaks are line breaks; without any, the same bytes.

    The library joins the words on both sides of a page break inside a paragraph. Only XML parts
    are copied: nobody looks at pictures here.

    Raises:
        RejectedError: a part is damaged or bombed.
    """
    parts = Parts(data, limits)
    document = parts.content(_DOCUMENT) or b""
    if not _BREAK.search(document):
        return data
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in parts.names():
            if name == _DOCUMENT:
                archive.writestr(name, _BREAK.sub(b"<w:br/>", document))
            elif name.endswith((".xml", ".rels")):
                archive.writestr(name, parts.content(name) or b"")
    return buffer.getvalue()


def document_charts(data: bytes, limits: Limits) -> list[str]:
    """Return titles and numbers of the charts in a Word file, in order of their parts.

    Raises:
        RejectedError: a part is damaged, bombed or too deep.
    """
    parts = Parts(data, limits)
    names = sorted(filter(_CHART.fullmatch, parts.names()), key=lambda name: (len(name), name))
    roots = [root for name in names if (root := parts.xml(name)) is not None]
    return [block for root in roots for block in chart_blocks(root)]


def sheet_comments(data: bytes, limits: Limits) -> dict[int, list[str]]:
    """Return the comments in an Excel file by the number of their sheet, from 1.

    Raises:
        RejectedError: as `document_charts`.
    """
    parts = Parts(data, limits)
    main = "xl/workbook.xml"
    root = parts.xml(main)
    if root is None or not any("omments/" in name or "/comments" in name for name in parts.names()):
        return {}
    targets = {found.id: found.target for found in relations(parts, main)}
    sheets = [targets.get(relation_id(sheet), "") for sheet in descendants(root, "sheet")]
    found = {number: _comments(parts, part) for number, part in enumerate(sheets, 1) if part}
    return {number: blocks for number, blocks in found.items() if blocks}


def _comments(parts: Parts, sheet: str) -> list[str]:
    kinds = {found.kind: found.target for found in relations(parts, sheet)}
    # A thread has a plain comment beside it that only says so.
    part = kinds.get("threadedComment") or kinds.get("comments")
    root = parts.xml(part) if part else None
    return comment_blocks(root) if root is not None else []
