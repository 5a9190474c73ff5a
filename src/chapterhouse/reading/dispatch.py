"""One file to one reader, in the worker."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.errors import RejectedError
from chapterhouse.reading.detect import detect, has_pdf_header
from chapterhouse.reading.formats import ARCHIVES, IMAGES, METHOD, PACKAGES
from chapterhouse.reading.garbled import legible
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office.parts import Parts
from chapterhouse.reading.preflight import preflight
from chapterhouse.text.counting import counted
from chapterhouse.types import ExtractedPage, Extraction, Member, Notice, PageView

if TYPE_CHECKING:
    from chapterhouse.reading import mail
    from chapterhouse.reading.pdf import passages
else:
    mail = lazy("chapterhouse.reading.mail")
    passages = lazy("chapterhouse.reading.pdf.passages")

# The function that reads a format, and what of a file it is given. Each is loaded when its format
# comes up: a worker for text stays small.
READERS: Final[Mapping[str, tuple[str, ...]]] = {
    "docx": ("office.word:read_docx", "parts", "read_inside"),
    "xlsx": ("office.xberg:read_xlsx", "parts"),
    "xlsb": ("office.xberg:read_xlsb", "parts"),
    "pptx": ("office.slides:read_pptx", "parts"),
    "odt": ("office.opendocument:read_odt", "parts"),
    "ods": ("office.opendocument:read_ods", "parts"),
    **dict.fromkeys(("odp", "odg"), ("office.opendocument:read_drawn", "parts", "format")),
    "mbox": ("mail:read_mbox", "data"),
    "eml": ("mail:read_eml", "data", "limits"),
    "pdf": ("pdf.document:read_pdf", "data", "name", "limits"),
    "html": ("html.page:read_html", "data"),
    "md": ("plain:read_markdown", "data"),
    "txt": ("plain:read_text", "data"),
    "code": ("plain:read_code", "data", "language"),
    "json": ("plain:read_json", "data"),
    "yaml": ("plain:read_yaml", "data"),
    "ipynb": ("notebooks:read_notebook", "data"),
    "xml": ("plain:read_xml", "data"),
    "tex": ("tex:read_tex", "data"),
    "ics": ("calendars:read_ics", "data"),
    **dict.fromkeys(
        ARCHIVES - {"mbox"}, ("archives:read_archive", "data", "name", "format", "limits")
    ),
    **dict.fromkeys(IMAGES, ("ocr:read_image", "data", "format", "limits")),
    **dict.fromkeys(("csv", "tsv"), ("plain:read_delimited", "data", "format", "limits")),
    **dict.fromkeys(("rst", "adoc", "org"), ("markup:read_markup", "data", "format")),
    **dict.fromkeys(("srt", "vtt"), ("plain:read_subtitles", "data", "format")),
}
_OTHERWISE: Final = ("office.xberg:read_office", "data", "format", "limits")
_PICTURE: Final = re.compile(r"(?:/media/|^Pictures/|/Pictures/)[^/]+$")
_WEB_ARCHIVE: Final = re.compile(rb"\s*MIME-Version:", re.IGNORECASE)  # a page and its pictures
_SLIDE: Final = re.compile(r"ppt/slides/slide\d+\.xml")


@dataclass(frozen=True, slots=True)
class _File:
    data: bytes
    name: str
    format: str
    language: str
    limits: Limits
    parts: Parts | None  # of a package

    def read_inside(self, data: bytes, name: str) -> Extraction:
        """Read a file that is a part of the text of this one."""
        depth = self.limits.archive_depth
        if not depth:
            raise RejectedError("too-deep", "Files in it are nested too deeply.")
        preflight(data, name, self.limits)
        if _WEB_ARCHIVE.match(data) or name.lower().endswith((".mht", ".mhtml")):
            text, notices = mail.body(mail.parse(data))
            return Extraction((ExtractedPage(text),), "html", METHOD, notices=notices)
        return read(data, name, replace(self.limits, archive_depth=depth - 1))


def read(data: bytes, name: str, limits: Limits) -> Extraction:
    """Detect the format of ``data`` and read it.

    What could not be read is in the extraction's notices; one without text always has some.

    Raises:
        RejectedError: the bytes cannot be read; its code says why.
    """
    detected = detect(data, name, limits)
    parts = Parts(data, limits) if detected.format in PACKAGES else None
    file = _File(data, name, detected.format, detected.language, limits, parts)
    whole = legible(_read(file))
    if detected.format in ARCHIVES:
        return replace(whole, notices=(*detected.notices, *whole.notices))
    extraction = in_parts(whole, name, limits)
    notices = (*detected.notices, *extraction.notices)
    has_text = any(page.text.strip() for page in extraction.pages)
    if not has_text and all(notice.code != "ocr-not-installed" for notice in notices):
        unread = _unread_contents(parts, whole.format) if parts else ""
        other = (Notice("contents-not-read", unread),) if unread else ()
        notices = (*notices, Notice("no-text", "No text was found in the file."), *other)
    return replace(extraction, notices=notices)


def show(data: bytes, request: str, limits: Limits) -> PageView:
    """Return a page of a PDF as a picture, and the places of passages, as the request says."""
    if not has_pdf_header(data, claimed=True):
        raise RejectedError("unsupported-format", "Only pages of PDFs can be shown.")
    return passages.show_pages(data, request, limits)


def _read(file: _File) -> Extraction:
    path, *wanted = READERS.get(file.format, _OTHERWISE)
    module, _, name = path.partition(":")
    reader = getattr(import_module(f"chapterhouse.reading.{module}"), name)
    extraction: Extraction = reader(*(getattr(file, one) for one in wanted))
    return extraction


def _unread_contents(parts: Parts, format_: str) -> str:
    """Return a sentence about the pictures and files in a package, or an empty one without any."""
    names = parts.names()
    if format_ == "pptx" and not any(map(_SLIDE.fullmatch, names)):
        return "It has no slides."
    pictures = sum(bool(_PICTURE.search(name)) for name in names)
    files = sum("/embeddings/" in name for name in names)
    numbers = ((pictures, "picture"), (files, "embedded file"))
    found = " and ".join(counted(number, noun) for number, noun in numbers if number)
    what_to_do = "Take them out and add them" if files else "Save it as PDF, or add the pictures"
    return f"Not read: {found}. {what_to_do} by themselves." if found else ""


def in_parts(extraction: Extraction, name: str, limits: Limits) -> Extraction:
    """Return an extraction that is no longer than the limit, the rest as files in it."""
    if sum(len(page.text) for page in extraction.pages) <= limits.text_characters:
        return extraction
    first, *further = _parts(extraction.pages, limits.text_characters)
    stem, ending = name.rpartition(".")[0] or name, "md" if extraction.markdown else "txt"
    count = len(further) + 1
    members = tuple(
        Member(
            f"{stem} part {number} of {count}.{ending}",
            "\n\n".join(page.text for page in pages).encode("utf-8", "replace"),
        )
        for number, pages in enumerate(further, start=2)
    )
    sentence = f"It is very long: this is part 1 of {count}; the others are documents of their own."
    return replace(
        extraction,
        pages=first,
        members=(*extraction.members, *members),
        notices=(*extraction.notices, Notice("text-in-parts", sentence)),
    )


def _parts(pages: Sequence[ExtractedPage], most: int) -> Iterator[tuple[ExtractedPage, ...]]:
    """Yield whole pages together as far as they go; a page that is too long by itself is cut."""
    own: list[ExtractedPage] = []
    size = 0
    for page in pages:
        for piece in _pieces(page.text, most):
            if own and size + len(piece) > most:
                yield tuple(own)
                own, size = [], 0
            own.append(replace(page, text=piece))
            size += len(piece)
    yield tuple(own)


def _pieces(text: str, most: int) -> Iterator[str]:
    """Yield a text in pieces that end behind a line where there is one in the second half."""
    start = 0
    while len(text) - start > most:
        end = text.rfind("\n", start + most // 2, start + most) + 1 or start + most
        yield text[start:end]
        start = end
    yield text[start:]
