"""PDF files to Markdown, page by page; pages that are pictures of text go through OCR."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import pypdfium2 as pdfium
from pypdfium2 import raw

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Allowance, Limits, need_time
from chapterhouse.reading.markdown import believable_title, count, escaped, first_heading
from chapterhouse.reading.ocr import Recognition, how_to_install, ocr_image, ocr_notice
from chapterhouse.reading.pdf.continuing import continue_tables
from chapterhouse.reading.pdf.embedded import document_files, page_files, within_limits
from chapterhouse.reading.pdf.fields import page_marks
from chapterhouse.reading.pdf.furniture import Place, running_lines
from chapterhouse.reading.pdf.page import (
    MOST_CHARACTERS,
    UNMAPPED,
    Outline,
    PageLayout,
    blocks,
    markdown,
    outline_key,
    page_layout,
    style_of,
)
from chapterhouse.reading.pdf.page_images import rendered
from chapterhouse.reading.pdf.tables import Table
from chapterhouse.reading.pdf.text import page_text
from chapterhouse.types import ExtractedPage, Extraction, Member, Notice

_FEW_CHARACTERS = 30  # a page with less beside a large picture has a stamp, no text layer
_LARGE = 0.5  # share of the page that such a picture covers
_SECONDS_TO_OPEN = 10.0  # beyond those that every file has
# Seconds for the pages of a document without recognition, and for all of them with it.
_SECONDS, _SECONDS_A_PAGE, _MOST_SECONDS = 25.0, 0.02, 500.0
_SECONDS_A_PAGE_AFTERWARDS = 0.002
_MOST_UNREADABLE = 5_000  # pages
MOST_LAYOUT_CHARACTERS = 2_500_000  # of a document; the pages after keep their plain text
_MOST_BOOKMARKS = 10_000
_MOST_UNMAPPED = 10  # characters of a page; a formula may have some signs that no font names
_UNMAPPED_SHARE = 0.5  # of the characters of a page that is better read by OCR
_END, _END_WITHIN = b"%%EOF", 2048  # what a whole file ends with, and how near its last byte
_MOST_ALIKE = 20  # notices of one code that name a page each
_LIMITS = Limits()
_LONGEST_LABEL = 40  # characters of what is printed as the number of a page
_TITLE_PAGES = 2  # pages on which the first large heading may be the title
_LOCKED = frozenset({raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY})
_DATE = re.compile(r"D:(\d{4})(\d{2})(\d{2})")  # ISO 32000-1, 7.9.4
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def is_scan(layout: PageLayout, width: float, height: float) -> bool:
    """Whether a page shows something where its text should be.

    A page that draws nothing at all is blank, and there is nothing to miss on it.
    """
    if layout.plain or layout.characters >= _FEW_CHARACTERS:
        return False
    if not layout.lines:
        return layout.drawn.objects > 0
    largest = max((image.width * image.height for image in layout.drawn.images), default=0.0)
    return largest >= _LARGE * width * height


def recognised(
    page: Any, size: tuple[float, float], number: int
) -> tuple[Recognition | None, Notice | None]:
    """Return what OCR finds on a loaded page (None where it failed), and what to tell of it."""
    try:
        found = ocr_image(rendered(page, size))
    except RejectedError as error:
        sentence = f"Page {number} has no text, and OCR failed on it: {error.message}"
        return None, Notice("ocr-failed", sentence, page=number)
    if found is None:
        sentence = f"Page {number} has no text, and {how_to_install()}"
        return None, Notice("ocr-not-installed", sentence, page=number)
    return found[0], ocr_notice(found[0], number)


@dataclass(frozen=True, slots=True)
class _Read:
    """A page as it was read: its layout, and what OCR found where it was asked."""

    number: int
    layout: PageLayout
    recognised: Recognition | None = None
    files: tuple[Member, ...] = ()
    label: str = ""


def read_pdf(data: bytes, name: str, limits: Limits = _LIMITS) -> Extraction:
    """Read a PDF to one Markdown text a page, in reading order, and the files in it."""
    need_time(_SECONDS_TO_OPEN)
    document = opened(data, name)
    try:
        number_of_pages = len(document)
        if number_of_pages == 0:
            raise _unreadable(f"{name} holds no pages.")
        pages, notices = _read_pages(document, number_of_pages, limits)
        if not pages:
            raise _unreadable(f"No page of {name} can be opened.")
        need_time(_SECONDS_A_PAGE_AFTERWARDS * number_of_pages)
        dropped, running = running_lines([page.layout for page in pages])
        if document.get_formtype() == raw.FORMTYPE_XFA_FULL:
            sentence = "It is a dynamic (XFA) form, whose fields few programs can show."
            notices.append(Notice("form-not-read", sentence))
        written, heading = _written(pages, dropped, _outlines(document))
        title, text = _stated(document, "Title"), "\n".join(page.text for page in written)
        engines = dict.fromkeys(page.recognised.method for page in pages if page.recognised)
        mapped = tuple(_mapped(written, notices))
        # Where a page was too much to lay out, its bare text is what was kept.
        skipped = any(notice.code == "layout-skipped" for notice in notices)
        missed = () if skipped else missing_words(data, mapped)
        pinned = (member for page in pages for member in page.files)
        files, unread = within_limits(chain(document_files(document.raw, limits), pinned), limits)
        return Extraction(
            pages=mapped,
            format="pdf",
            method=", ".join((f"pypdfium2 {pdfium.PYPDFIUM_INFO}", *engines)),
            page_kind="page",
            title=title if believable_title(title, text) else heading,
            metadata=_metadata(document),
            notices=(*_gathered(notices), *running, *missed, *unread),
            members=files,
        )
    finally:
        document.close()


def opened(data: bytes, name: str) -> Any:
    """Return a document of pypdfium2, or raise why it cannot be opened."""
    try:
        document = pdfium.PdfDocument(data)
        document.init_forms()
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in _LOCKED:
            hint = "Save a copy without the password and add that."
            sentence = f"{name} is protected by a password."
            raise RejectedError("encrypted", sentence, hint=hint) from error
        if _END not in data[-_END_WITHIN:]:
            hint = "Get it again from where it came from; of a mail, ask the sender for it."
            sentence = f"{name} is cut off: the end of the PDF is missing."
            raise RejectedError("unreadable", sentence, hint=hint) from error
        raise _unreadable(f"{name} is damaged and cannot be opened as a PDF.") from error
    return document


def _unreadable(message: str) -> RejectedError:
    hint = "If a PDF viewer opens it, save it anew and add that; else get it again from its source."
    return RejectedError("unreadable", message, hint=hint)


def _read_pages(document: Any, count: int, limits: Limits) -> tuple[list[_Read], list[Notice]]:
    pages: list[_Read] = []
    notices: list[Notice] = []
    remaining, free = MOST_LAYOUT_CHARACTERS, limits.archive_bytes
    seconds = min(_MOST_SECONDS, _SECONDS + _SECONDS_A_PAGE * count)
    allowance = Allowance(seconds, _MOST_SECONDS)
    for number in range(1, count + 1):
        unread = number - 1 - len(pages)
        if unread >= _MOST_UNREADABLE or not allowance.lasts():
            notices.append(_left_out(number, count, unread))
            break
        began = time.monotonic()
        try:
            most = min(MOST_CHARACTERS, remaining)
            last = pages[-1].layout.lines if pages else ()
            above = next((line.table for line in reversed(last) if line.table), None)
            page, notice = _read_page(document, number, most, limits if free > 0 else None, above)
        except pdfium.PdfiumError:
            sentence = f"Page {number} is damaged and cannot be opened."
            notices.append(Notice("page-unreadable", sentence, page=number))
            continue
        if page.recognised or (notice and notice.code == "ocr-failed"):
            allowance.count_apart(time.monotonic() - began)
        pages.append(page)
        remaining = max(0, remaining - page.layout.characters)
        free -= sum(len(file.data) for file in page.files)
        if notice:
            notices.append(notice)
    return pages, notices


def _left_out(first: int, last: int, unreadable: int) -> Notice:
    """Name the pages that were not read, and why."""
    reason = "the others took all the time that one file may take"
    if unreadable >= _MOST_UNREADABLE:
        reason = f"{unreadable:,} other pages cannot be opened"
    which = f"Pages {first:,} to {last:,} were" if first < last else f"Page {first:,} was"
    return Notice("text-truncated", f"{which} not read: {reason}.")


def _read_page(
    document: Any,
    number: int,
    most_characters: int,
    limits: Limits | None,
    above: Table | None,
) -> tuple[_Read, Notice | None]:
    """Return a page, with the files pinned to it where there are limits for them."""
    page = document[number - 1]
    textpage = None
    try:
        textpage = page.get_textpage()
        size = page.get_size()
        form = document.formenv.raw if document.formenv is not None else None
        marks = page_marks(form, page.raw)
        layout = page_layout(page.raw, textpage.raw, size, most_characters, marks, above)
        files = tuple(page_files(page.raw, limits)) if limits else ()
        read = _Read(number, layout, files=files, label=_label(document, number))
        if layout.plain:
            sentence = f"Page {number} holds too much to look for headings and tables on it."
            return read, Notice("layout-skipped", sentence, page=number)
        unmapped = layout.unmapped_share >= _UNMAPPED_SHARE
        if unmapped or is_scan(layout, *size):
            found, notice = recognised(page.raw, size, number)
            layout_used = layout._replace(lines=()) if unmapped and found else layout
            return replace(read, layout=layout_used, recognised=found), notice
        return read, None
    finally:
        if textpage is not None:
            textpage.close()
        page.close()


def _label(document: Any, number: int) -> str:
    """Return what is printed as the number of a page where that is something else."""
    label = _one_line(document.get_page_label(number - 1))[:_LONGEST_LABEL]
    return "" if label == str(number) else label


def _written(
    pages: Sequence[_Read], dropped: frozenset[Place], outlines: Mapping[int, Outline]
) -> tuple[list[ExtractedPage], str]:
    """Return the pages as Markdown, and what heads the first of them."""
    retained = [
        [line for i, line in enumerate(page.layout.lines) if (place, i) not in dropped]
        for place, page in enumerate(pages)
    ]
    style = style_of(retained)
    retained = continue_tables(retained, [page.layout.height for page in pages])
    written = []
    for page, lines in zip(pages, retained, strict=True):
        found = blocks(lines, style, outlines.get(page.number, {}))
        recognised_text = page.recognised.text if page.recognised else ""
        parts = (markdown(found), _plain(page.layout.plain), _plain(recognised_text))
        text = "\n\n".join(part for part in parts if part)
        written.append(ExtractedPage(text, page.number, page.label))
    return written, first_heading("\n\n".join(page.text for page in written[:_TITLE_PAGES]), 1)


def _mapped(pages: Sequence[ExtractedPage], notices: list[Notice]) -> Iterator[ExtractedPage]:
    """Yield the pages without characters that no font says the meaning of; tell where many are."""
    for page in pages:
        text, unmapped = UNMAPPED.subn("", page.text)
        if unmapped <= _MOST_UNMAPPED:
            yield page  # they are counted where invisible characters are removed
            continue
        sentence = (
            f"Page {page.number}: at least {unmapped:,} characters shown there could not be read, "
            "because their font has no map of characters."
        )
        notices.append(Notice("undecodable-characters", sentence, page=page.number))
        yield replace(page, text=text.strip("\n"))


def _plain(text: str) -> str:
    return "\n".join(escaped(line) for line in text.splitlines())


def _outlines(document: Any) -> dict[int, Outline]:
    """Return, for each page that bookmarks lead to, the levels of the headings they name."""
    found: defaultdict[int, dict[str, int]] = defaultdict(dict)
    try:
        for bookmark in islice(document.get_toc(max_depth=6), _MOST_BOOKMARKS):
            target = bookmark.get_dest()
            key = outline_key(bookmark.get_title() or "")
            index = target.get_index() if target is not None else None
            if key and index is not None:
                found[index + 1].setdefault(key, min(6, bookmark.level + 1))
    except pdfium.PdfiumError:  # a broken outline leaves the headings found by size
        return {}
    return dict(found)


def _stated(document: Any, key: str) -> str:
    return _one_line(document.get_metadata_value(key))


def _one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _metadata(document: Any) -> dict[str, str]:
    author = _stated(document, "Author")
    date = _DATE.match(document.get_metadata_value("CreationDate"))
    found = {"author": author[:300], "date": "-".join(date.groups()) if date else ""}
    return {key: value for key, value in found.items() if value}


def _gathered(notices: Sequence[Notice]) -> Iterator[Notice]:
    """Yield the notices, the pages of a code that comes often named in one."""
    by_code: dict[str, list[Notice]] = {}
    for notice in notices:
        by_code.setdefault(notice.code, []).append(notice)
    for code, alike in by_code.items():
        if len(alike) <= _MOST_ALIKE:
            yield from alike
            continue
        pages = ", ".join(str(notice.page) for notice in alike[:_MOST_ALIKE])
        yield Notice(code, f"{len(alike)} pages ({pages}, ...); the first: {alike[0].sentence}")


# --- an independent count of the words that a file shows -----------------------------------------

# It goes another and much simpler way than the reader, so that what that drops by mistake is
# noticed: the bare text of the pages and the values of their fields. It is bounded; what lies
# beyond the bounds is not counted, which is never an alarm.
_MOST_PAGES = 200
_MOST_COUNTED = 2_000_000
_REPEATED = 3  # pages with the same line, from which it counts once
_TORN = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")
_NUMBER = re.compile(r"\W*\d*\W*")
_LEAST_SHARE = 0.9  # all real PDFs at hand have .96 and more
_LEAST_WORDS = 30  # of fewer no share is worth a notice


def missing_words(data: bytes, pages: Sequence[ExtractedPage]) -> tuple[Notice, ...]:
    """Return a notice where pages lack more of the visible words than a reader tears apart."""
    visible = pdf_words(data)
    taken = (visible & count("\n".join(page.text for page in pages))).total()
    if visible.total() < _LEAST_WORDS or taken >= _LEAST_SHARE * visible.total():
        return ()
    share = f"{taken / visible.total():.0%} of the words that the file shows"
    return (Notice("incomplete", f"{share} were taken; open the file for the others."),)


def pdf_words(data: bytes) -> Counter[str]:
    """Count the words of the pages and fields; a line that comes on many pages comes once."""
    lines: Counter[str] = Counter()
    texts: list[str] = []
    length = 0
    for text in _pdf_pages(data):
        parts = [part.strip() for part in _TORN.sub("", text).split("\n")]
        lines.update(set(parts))
        lines_used = (p for p in parts if lines[p] < _REPEATED and not _NUMBER.fullmatch(p))
        texts.append("\n".join(lines_used))
        length += len(text)
        if length > _MOST_COUNTED:
            break
    return count("\n".join(texts))


def _pdf_pages(data: bytes) -> Iterator[str]:
    document = pdfium.PdfDocument(data)
    try:
        document.init_forms()
        form = document.formenv.raw if document.formenv is not None else None
        for number in range(min(len(document), _MOST_PAGES)):
            try:
                page = document[number]
                textpage = page.get_textpage()
            except pdfium.PdfiumError:  # the reader has said so
                continue
            marks = page_marks(form, page.raw).marks
            yield "\n".join((page_text(textpage.raw), *(mark.text for mark in marks)))
            textpage.close()
            page.close()
    finally:
        document.close()
