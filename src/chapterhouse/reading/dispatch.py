"""One file to one reader, in the worker."""

from dataclasses import replace

from chapterhouse.reading.completeness import missing, pdf_words
from chapterhouse.reading.detect import Detected, detect
from chapterhouse.reading.garbled import legible
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.members import in_parts
from chapterhouse.reading.names import ARCHIVES, IMAGES, PACKAGES, TEXTS
from chapterhouse.reading.office.package_words import package_words, unread_contents
from chapterhouse.reading.office.parts import Parts
from chapterhouse.types import Extraction, Notice


def read(data: bytes, name: str, limits: Limits) -> Extraction:
    """Detect the format of ``data`` and read it.

    What could not be read is in the extraction's notices; one without text always has some.

    Raises:
        RejectedError: the bytes cannot be read; its code says why.
    """
    detected = detect(data, name, limits)
    if detected.format in PACKAGES:
        parts = Parts(data, limits)
        visible = package_words(parts, detected.format)  # first: readers change parts
        whole = legible(_read_package(parts, detected.format))
        missed = missing(visible, whole.format, whole.pages) if visible is not None else ()
        unread = unread_contents(parts, whole.format)
    else:
        whole, missed, unread = legible(_read(data, name, detected, limits)), (), ""
    if detected.format in ARCHIVES:
        return replace(whole, notices=(*detected.notices, *whole.notices))
    # Where a page was too much to lay out, its bare text is what was kept.
    if whole.format == "pdf" and not _has(whole.notices, "layout-skipped"):
        missed = missing(pdf_words(data), "pdf", whole.pages)
    extraction = in_parts(whole, name, limits)
    notices = (*detected.notices, *extraction.notices, *missed)
    has_text = any(page.text.strip() for page in extraction.pages)
    if not has_text and not _has(notices, "ocr-not-installed"):
        other = (Notice("contents-not-read", unread),) if unread else ()
        notices = (*notices, Notice("no-text", "No text was found in the file."), *other)
    return replace(extraction, notices=notices)


def _has(notices: tuple[Notice, ...], code: str) -> bool:
    return any(notice.code == code for notice in notices)


def _read(data: bytes, name: str, detected: Detected, limits: Limits) -> Extraction:
    # Each reader is imported when its format comes up: a worker for text stays small.
    match detected.format:
        case "pdf":
            from chapterhouse.reading.pdf.document import read_pdf  # noqa: PLC0415

            return read_pdf(data, name)
        case "html":
            from chapterhouse.reading.html.page import read_html  # noqa: PLC0415

            return read_html(data, name)
        case archive if archive in ARCHIVES:
            return _read_archive(data, name, archive, limits)
        case text if text in TEXTS:
            return _read_text(data, name, detected, limits)
        case image if image in IMAGES:
            from chapterhouse.reading.ocr import read_image  # noqa: PLC0415

            return read_image(data, name, image, limits)
        case office:
            return _read_office(data, office, limits)


def _read_archive(data: bytes, name: str, format_: str, limits: Limits) -> Extraction:
    if format_ == "mbox":
        from chapterhouse.reading.mail import read_mbox  # noqa: PLC0415

        return read_mbox(data)
    from chapterhouse.reading.archives import read_archive  # noqa: PLC0415

    return read_archive(data, name, format_, limits)


def _read_text(data: bytes, name: str, detected: Detected, limits: Limits) -> Extraction:
    match detected.format:
        case "eml":
            from chapterhouse.reading.mail import read_eml  # noqa: PLC0415

            return read_eml(data, limits)
        case "csv" | "tsv" as delimited:
            from chapterhouse.reading.tables import read_delimited  # noqa: PLC0415

            return read_delimited(data, name, delimited, limits)
        case "json" | "yaml" | "xml":
            from chapterhouse.reading import structured  # noqa: PLC0415

            readers = {
                "json": structured.read_json,
                "yaml": structured.read_yaml,
                "xml": structured.read_xml,
            }
            return readers[detected.format](data, name)
        case "code":
            from chapterhouse.reading.plain import read_code  # noqa: PLC0415

            return read_code(data, name, detected.language)
        case written:
            return _read_written(data, name, written)


def _read_written(data: bytes, name: str, format_: str) -> Extraction:
    match format_:
        case "srt" | "vtt":
            from chapterhouse.reading.subtitles import read_subtitles  # noqa: PLC0415

            return read_subtitles(data, name, format_)
        case "ics":
            from chapterhouse.reading.calendars import read_ics  # noqa: PLC0415

            return read_ics(data, name)
        case "rst" | "adoc" | "org":
            from chapterhouse.reading.markup import read_markup  # noqa: PLC0415

            return read_markup(data, name, format_)
        case "tex":
            from chapterhouse.reading.tex import read_tex  # noqa: PLC0415

            return read_tex(data, name)
        case prose:
            from chapterhouse.reading.plain import read_markdown, read_text  # noqa: PLC0415

            return (read_markdown if prose == "md" else read_text)(data, name)


def _read_office(data: bytes, format_: str, limits: Limits) -> Extraction:
    match format_:
        case "mobi":
            from chapterhouse.reading.books import read_mobi  # noqa: PLC0415

            return read_mobi(data, limits)
        case other:
            from chapterhouse.reading.office.xberg import read_office  # noqa: PLC0415

            return read_office(data, other, limits)


def _read_package(parts: Parts, format_: str) -> Extraction:
    match format_:
        case "odt" | "odp" | "odg":
            from chapterhouse.reading.office import opendocument as odf  # noqa: PLC0415

            readers = {
                "odt": odf.read_odt,
                "odp": odf.read_odp,
                "odg": odf.read_odg,
            }
            return readers[format_](parts)
        case "ods":
            from chapterhouse.reading.office.opendocument import read_ods  # noqa: PLC0415

            return read_ods(parts)
        case "vsdx":
            from chapterhouse.reading.office.drawings import read_vsdx  # noqa: PLC0415

            return read_vsdx(parts)
        case "pptx":
            from chapterhouse.reading.office.slides import read_pptx  # noqa: PLC0415

            return read_pptx(parts)
        case word_or_excel:
            from chapterhouse.reading.office import xberg  # noqa: PLC0415

            excel = {"xlsx": xberg.read_xlsx, "xlsb": xberg.read_xlsb}
            return excel.get(word_or_excel, xberg.read_docx)(parts)
