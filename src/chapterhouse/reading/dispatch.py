"""One file to one reader, in the worker."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

from chapterhouse.loading import lazy
from chapterhouse.reading.completeness import missing
from chapterhouse.reading.detect import Detected, detect
from chapterhouse.reading.garbled import legible
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.members import in_parts
from chapterhouse.reading.names import ARCHIVES, IMAGES, PACKAGES
from chapterhouse.reading.office.parts import Parts
from chapterhouse.text.counting import counted
from chapterhouse.types import Extraction, Notice

# Each reader is loaded when its format comes up: a worker for text stays small.
if TYPE_CHECKING:
    from chapterhouse.reading import (
        archives,
        calendars,
        mail,
        markup,
        ocr,
        plain,
        structured,
        subtitles,
        tables,
        tex,
    )
    from chapterhouse.reading.html import page as html
    from chapterhouse.reading.office import xberg
    from chapterhouse.reading.pdf import document as pdf
    from chapterhouse.reading.pdf import visible_words
else:
    archives = lazy("chapterhouse.reading.archives")
    calendars = lazy("chapterhouse.reading.calendars")
    mail = lazy("chapterhouse.reading.mail")
    markup = lazy("chapterhouse.reading.markup")
    ocr = lazy("chapterhouse.reading.ocr")
    plain = lazy("chapterhouse.reading.plain")
    structured = lazy("chapterhouse.reading.structured")
    subtitles = lazy("chapterhouse.reading.subtitles")
    tables = lazy("chapterhouse.reading.tables")
    tex = lazy("chapterhouse.reading.tex")
    html = lazy("chapterhouse.reading.html.page")
    xberg = lazy("chapterhouse.reading.office.xberg")
    pdf = lazy("chapterhouse.reading.pdf.document")
    visible_words = lazy("chapterhouse.reading.pdf.visible_words")


@dataclass(frozen=True, slots=True)
class _File:
    data: bytes
    name: str
    detected: Detected
    limits: Limits


def read(data: bytes, name: str, limits: Limits) -> Extraction:
    """Detect the format of ``data`` and read it.

    What could not be read is in the extraction's notices; one without text always has some.

    Raises:
        RejectedError: the bytes cannot be read; its code says why.
    """
    detected = detect(data, name, limits)
    missed: tuple[Notice, ...] = ()
    unread = ""
    if detected.format in PACKAGES:
        parts = Parts(data, limits)
        whole = legible(_read_package(parts, detected.format))
        unread = _unread_contents(parts, whole.format)
    else:
        whole = legible(_read(_File(data, name, detected, limits)))
    if detected.format in ARCHIVES:
        return replace(whole, notices=(*detected.notices, *whole.notices))
    # Where a page was too much to lay out, its bare text is what was kept.
    if whole.format == "pdf" and not _has(whole.notices, "layout-skipped"):
        missed = missing(visible_words.pdf_words(data), "pdf", whole.pages)
    extraction = in_parts(whole, name, limits)
    notices = (*detected.notices, *extraction.notices, *missed)
    has_text = any(page.text.strip() for page in extraction.pages)
    if not has_text and not _has(notices, "ocr-not-installed"):
        other = (Notice("contents-not-read", unread),) if unread else ()
        notices = (*notices, Notice("no-text", "No text was found in the file."), *other)
    return replace(extraction, notices=notices)


def _has(notices: tuple[Notice, ...], code: str) -> bool:
    return any(notice.code == code for notice in notices)


_PACKAGE_READERS: Final = {
    "docx": "xberg:read_docx",
    "xlsx": "xberg:read_xlsx",
    "xlsb": "xberg:read_xlsb",
    "pptx": "slides:read_pptx",
    "odt": "opendocument:read_odt",
    "ods": "opendocument:read_ods",
    "odp": "opendocument:read_odp",
    "odg": "opendocument:read_odg",
}
_PICTURE: Final = re.compile(r"(?:/media/|^Pictures/|/Pictures/)[^/]+$")
_SLIDE: Final = re.compile(r"ppt/slides/slide\d+\.xml")


def _read_package(parts: Parts, format_: str) -> Extraction:
    module, _, name = _PACKAGE_READERS[format_].partition(":")
    reader = getattr(import_module(f"chapterhouse.reading.office.{module}"), name)
    extraction: Extraction = reader(parts)
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


def _read(file: _File) -> Extraction:
    return _READERS.get(file.detected.format, _office)(file)


def _office(file: _File) -> Extraction:
    return xberg.read_office(file.data, file.detected.format, file.limits)


def _archive(file: _File) -> Extraction:
    return archives.read_archive(file.data, file.name, file.detected.format, file.limits)


def _image(file: _File) -> Extraction:
    return ocr.read_image(file.data, file.name, file.detected.format, file.limits)


def _table(file: _File) -> Extraction:
    return tables.read_delimited(file.data, file.name, file.detected.format, file.limits)


def _markup(file: _File) -> Extraction:
    return markup.read_markup(file.data, file.name, file.detected.format)


def _subtitles(file: _File) -> Extraction:
    return subtitles.read_subtitles(file.data, file.name, file.detected.format)


# Of every format but packages and what xberg reads.
_READERS: Final[Mapping[str, Callable[[_File], Extraction]]] = {
    **dict.fromkeys(ARCHIVES, _archive),
    **dict.fromkeys(IMAGES, _image),
    "mbox": lambda file: mail.read_mbox(file.data),
    "eml": lambda file: mail.read_eml(file.data, file.limits),
    "pdf": lambda file: pdf.read_pdf(file.data, file.name),
    "html": lambda file: html.read_html(file.data, file.name),
    "md": lambda file: plain.read_markdown(file.data, file.name),
    "txt": lambda file: plain.read_text(file.data, file.name),
    "code": lambda file: plain.read_code(file.data, file.name, file.detected.language),
    "json": lambda file: structured.read_json(file.data, file.name),
    "yaml": lambda file: structured.read_yaml(file.data, file.name),
    "xml": lambda file: structured.read_xml(file.data, file.name),
    "tex": lambda file: tex.read_tex(file.data, file.name),
    "ics": lambda file: calendars.read_ics(file.data, file.name),
    **dict.fromkeys(("csv", "tsv"), _table),
    **dict.fromkeys(("rst", "adoc", "org"), _markup),
    **dict.fromkeys(("srt", "vtt"), _subtitles),
}
