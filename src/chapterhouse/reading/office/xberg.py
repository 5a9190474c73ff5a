"""Office files, e-books and messages through xberg, the one library that is used for them.

xberg is pinned and young; everything that touches it stands in `_extract`. It is given bytes
only: its other kind of input is an address, which it would fetch.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from chapterhouse import lazy
from chapterhouse.errors import RejectedError
from chapterhouse.reading.archives import limit_members
from chapterhouse.reading.detect import encrypted
from chapterhouse.reading.garbled import decoded_again
from chapterhouse.reading.grid import grid_blocks
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import (
    believable_title,
    escaped,
    fence_after,
    first_heading,
    joined,
)
from chapterhouse.reading.office.binary import (
    headers_and_endnotes,
    prepare_rtf,
    without_deleted,
    xls_sheet_extras,
)
from chapterhouse.reading.office.binary_headings import with_own_headings
from chapterhouse.reading.office.cell_facts import with_facts
from chapterhouse.reading.office.excel import (
    SheetExtras,
    prepare_xlsb,
    prepare_xlsx,
    xlsb_sheet_extras,
    xlsx_sheet_extras,
)
from chapterhouse.reading.office.number_formats import show_cells
from chapterhouse.reading.office.ooxml import without_templates
from chapterhouse.reading.office.parts import Parts
from chapterhouse.reading.ole import code_page
from chapterhouse.types import ExtractedPage, Extraction, Member, Notice

if TYPE_CHECKING:
    import xberg

    from chapterhouse.reading import mail, outlook
else:
    xberg = lazy("xberg")
    mail = lazy("chapterhouse.reading.mail")
    outlook = lazy("chapterhouse.reading.outlook")

MIME_TYPES = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint",
    "xls": "application/vnd.ms-excel",
    "epub": "application/epub+zip",
    "rtf": "application/rtf",
    "msg": "application/vnd.ms-outlook",
    "typst": "application/x-typst",
}
# Preflight has judged sizes and ratios by our own limits; xberg's ratio refuses good files.
_RATIO = 100_000
_ENTITY_CHARACTERS = 1_000_000
_ITERATIONS = 100_000_000
_XML_DEPTH = 1_024
_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)")
_NOTE = re.compile(r"^\[\^\d+\]:\s+", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
_MESSAGE_HEADERS = tuple(
    f"**{name}**" for name in ("Subject", "From", "To", "CC", "BCC", "Date", "Message-ID")
)
# Code and formulas as they stand; only in tables the library escapes formulas too.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{}~])|`[^`\n]*`|(?<!\| )\$\$[^$\n]*\$\$")
_LIBRARY_MARKS = ("#", ">", "`", "~", "-----")  # of headings, quotations, code and slides, its own
_OUTSIDE_TEXT = re.compile(r"endnote and/or header-text-box")
_SLIDE_RULE = re.compile(r"^-----$\n*", re.MULTILINE)
_PASSWORD = re.compile(r"password.?protected|encrypted", re.IGNORECASE)
# How xberg begins what it says of the limits that it was given, and of no damage.
_LIMIT = re.compile(r"security limit exceeded|cell limit exceeded", re.IGNORECASE)
_LIMIT_CODES = (
    (re.compile(r"nest|depth", re.IGNORECASE), "too-deep", "Its parts are nested too deeply"),
    (re.compile(r"cell", re.IGNORECASE), "too-many-cells", "It has more cells than the limit"),
)


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    number: int | None
    grids: tuple[Sequence[Sequence[str]], ...]


@dataclass(frozen=True, slots=True)
class _Result:
    """What xberg makes of a file, in our own terms."""

    text: str
    sheets: tuple["_Sheet", ...]
    title: str
    metadata: dict[str, str]
    attachments: tuple[str, ...]
    warnings: tuple[str, ...]


def read_office(data: bytes, format_: str, limits: Limits) -> Extraction:
    """Read one of `MIME_TYPES` that is no package of Excel."""
    prepare = {"rtf": prepare_rtf, "doc": without_deleted}.get(format_)
    data = prepare(data) if prepare else data
    result = _extract(data, format_, limits)
    match format_:
        case "msg":
            return _message(result, data, limits)
        case "xls":
            return _extraction(result, format_, _sheets(result, xls_sheet_extras(data)), "sheet")
        case "ppt":
            return _extraction(result, format_, _old_slides(result.text), "slide")
        case "doc":
            result = _old_document(data, result)
    return _extraction(result, format_, (ExtractedPage(_tidy(result.text)),))


def _old_document(data: bytes, result: _Result) -> _Result:
    """Read a Word file of before 2007 by its own table of characters, with headers and endnotes."""
    text, warnings = result.text, result.warnings
    if encoding := code_page(data):
        text = decoded_again(text, encoding)
    text = with_own_headings(text, data)
    extras = headers_and_endnotes(data)
    if extras is not None:
        text = "\n\n".join([text, *extras])
        warnings = tuple(warning for warning in warnings if not _OUTSIDE_TEXT.search(warning))
    return replace(result, text=text, warnings=warnings)


def read_xlsx(parts: Parts) -> Extraction:
    """Read an Excel file."""
    notices = (*prepare_xlsx(parts), *show_cells(parts))
    result = _extract(parts.packed(), "xlsx", parts.limits)
    return _extraction(result, "xlsx", _sheets(result, xlsx_sheet_extras(parts)), "sheet", notices)


def read_xlsb(parts: Parts) -> Extraction:
    """Read a binary Excel file."""
    data = parts.packed()  # before anything is replaced: copies have no binary parts
    notices = prepare_xlsb(parts)
    result = _extract(data, "xlsb", parts.limits)
    return _extraction(result, "xlsb", _sheets(result, xlsb_sheet_extras(parts)), "sheet", notices)


def _extraction(
    result: _Result,
    format_: str,
    pages: tuple[ExtractedPage, ...],
    kind: str = "",
    notices: tuple[Notice, ...] = (),
) -> Extraction:
    heading = next((found for page in pages if (found := first_heading(page.text))), "")
    text = "\n".join(page.text for page in pages)
    stated = result.title if believable_title(result.title, text) else ""
    warnings = (Notice("parser-warning", warning) for warning in result.warnings)
    return Extraction(
        pages,
        format_,
        method(),
        page_kind=kind,
        title=stated or ("" if kind == "sheet" else heading),
        metadata=result.metadata,
        notices=(*notices, *warnings),
    )


_runner = cache(asyncio.Runner)  # one for a process: to make one takes as long as a file


@cache
def method() -> str:
    """Return the library's name and version."""
    return f"xberg {version('xberg')}"


def _extract(data: bytes, format_: str, limits: Limits) -> _Result:
    ceilings = xberg.SecurityLimits(
        max_archive_size=limits.archive_bytes,
        max_compression_ratio=_RATIO,
        max_files_in_archive=limits.archive_entries,
        max_nesting_depth=limits.xml_depth,
        max_entity_length=_ENTITY_CHARACTERS,
        max_content_size=limits.archive_entry_bytes,
        max_iterations=_ITERATIONS,
        max_xml_depth=_XML_DEPTH,
        max_table_cells=limits.sheet_cells,
    )
    config = xberg.ExtractionConfig(
        output_format="markdown",
        use_cache=False,
        disable_ocr=True,
        escape_markdown=True,  # else nothing tells a heading from a text that looks like one
        enable_quality_processing=False,  # it rewrites text
        security_limits=ceilings,
        postprocessor=xberg.PostProcessorConfig(enabled=False),
        max_archive_depth=0,  # nothing inside a container is opened
        pages=xberg.PageConfig(extract_pages=True, insert_page_markers=False),
        content_filter=xberg.ContentFilterConfig(
            include_headers=False,
            include_footers=False,
            include_footnotes=True,
            strip_repeating_text=False,
            include_watermarks=False,
        ),
    )
    source = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=MIME_TYPES[format_])

    async def run() -> Any:
        return await xberg.extract(source, config)

    try:
        found = _runner().run(run())
    except (RuntimeError, ValueError, OSError, xberg.XbergError) as error:
        raise rejected(str(error)) from error
    if not found.results:
        raise rejected("; ".join(item.message for item in found.errors) or "no result")
    return _result(found.results[0])


def rejected(message: str) -> RejectedError:
    """Return what the library said as a rejection whose code is true."""
    message = " ".join(message.split())[:300]
    if _PASSWORD.search(message):
        return encrypted()
    if _LIMIT.search(message):
        for what, code, sentence in _LIMIT_CODES:
            if what.search(message):
                return RejectedError(code, f"{sentence} ({message}).")
        return RejectedError("too-large", f"It is larger than the limits allow ({message}).")
    return RejectedError("unreadable", f"The document is damaged ({message}).")


def _result(document: Any) -> _Result:
    """Copy xberg's values into ours, so that nothing else depends on its types."""
    stated = document.metadata
    authors = ", ".join(stated.authors or ())
    fields = {
        "author": authors or stated.created_by or "",
        "created": stated.created_at or "",
        "modified": stated.modified_at or "",
        "language": stated.language or "",
        "keywords": ", ".join(stated.keywords or ()),
    }
    mail = stated.format.email if stated.format is not None else None
    if mail is not None:
        sender = f"{mail.from_name} <{mail.from_email}>" if mail.from_name else mail.from_email
        fields |= {
            "from": sender or authors,
            "to": ", ".join(mail.to_emails),
            "cc": ", ".join(mail.cc_emails),
            "date": stated.created_at or "",
        }
    sheets = tuple(
        _Sheet(page.sheet_name, page.page_number, tuple(table.cells for table in page.tables or ()))
        for page in document.pages or ()
        if page.sheet_name
    )
    return _Result(
        text="" if sheets else _unescaped(document.content),
        sheets=sheets,
        title=(stated.title or (stated.subject if mail is not None else "") or "").strip(),
        metadata=without_templates(fields),
        attachments=tuple(mail.attachments) if mail is not None else (),
        warnings=tuple(warning.message for warning in document.processing_warnings),
    )


def _unescaped(text: str) -> str:
    """Take out the backslashes that the library sets before signs, but for bars.

    A quotation must be what the document says; what is no heading must not become one.
    """
    lines = text.splitlines(keepends=True)
    found, fence = [], ""
    for above, line, below in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        before, fence = fence, fence_after(fence, line)
        is_row = line.startswith("|") and (above + below).strip()
        found.append(line if before or fence else _without_escapes(line, is_row=bool(is_row)))
    return "".join(found)


def _without_escapes(line: str, *, is_row: bool) -> str:
    text = _ESCAPED.sub(lambda found: found[1] or found[0], line)
    is_marked = is_row or line.startswith(_LIBRARY_MARKS)
    return text if is_marked else escaped(text)


def _tidy(text: str) -> str:
    """Take out what stands for pictures and anchors; keep what a reader of the page would see."""
    text = _IMAGE.sub("", text)
    return _BLANK_LINES.sub("\n\n", text).strip("\n") + "\n" if text.strip() else ""


def _sheets(result: _Result, extras: Mapping[str, SheetExtras]) -> tuple[ExtractedPage, ...]:
    pages = []
    for sheet in result.sheets:
        extra = extras.get(sheet.name, SheetExtras(hidden=False, blocks=()))
        name = " ".join(sheet.name.split()) + " (hidden)" * extra.hidden
        tables = (grid_blocks(*with_facts(cells, extra.cells)) for cells in sheet.grids)
        body = joined([*(block for table in tables for block in table), *extra.blocks])
        text = f"## {name}\n\n{body}" if name and body else body
        pages.append(ExtractedPage(text, sheet.number, name))
    if not pages and result.text.strip():
        return (ExtractedPage(_tidy(result.text)),)
    return tuple(pages)


def _old_slides(text: str) -> tuple[ExtractedPage, ...]:
    """Cut the text of a ppt at its rules; speaker notes stand together behind the last slide."""
    slides = _SLIDE_RULE.split(text)[1:] or [text]
    return tuple(
        ExtractedPage(_tidy(_NOTE.sub("Notes: ", slide)), number, first_heading(slide))
        for number, slide in enumerate(slides, 1)
    )


def _message(result: _Result, data: bytes, limits: Limits) -> Extraction:
    body = outlook.body(
        data, _message_body(result), lambda own: _message_body(_extract(own, "msg", limits))
    )
    members = (Member(name, content) for name, content in outlook.attachments(data))
    inside = tuple(limit_members(members, limits))
    stated = result.metadata | outlook.thread(data)
    text = "\n\n".join(filter(None, (_tidy(body).strip("\n"), outlook.meeting(data))))
    extraction = mail.message(result.title, stated, text, inside, "msg", method())
    missing = len(result.attachments) - len(inside)
    if missing <= 0:
        return extraction
    sentence = f"{missing} of its {len(result.attachments)} attachments cannot be read."
    return replace(extraction, notices=(Notice("attachments-not-read", sentence),))


def _message_body(result: _Result) -> str:
    """Return the text of a message without the lines that the library puts around it."""
    body = result.text
    while body.startswith(_MESSAGE_HEADERS):
        _, _, body = body.partition("\n\n")
    if result.attachments:
        body = body.rpartition("\nAttachments:\n")[0] or body
    return body
