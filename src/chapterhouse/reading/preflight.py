"""What the parent looks at before any parser: size, containers, encryption, declared sizes.

Nothing here follows a structure that the file controls for longer than the limits allow.
"""

import re

from chapterhouse.errors import RejectedError
from chapterhouse.reading import ole, signatures
from chapterhouse.reading.detect import container_format
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.signatures import image_size
from chapterhouse.reading.xml_guard import declares_entities, doctype, entities, entry_doctype
from chapterhouse.reading.zip_directory import Entry, check_claims, read_directory

_PDF_PAGE = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")
_PDF_BYTES_PER_PAGE = 50_000  # where pages hide in object streams, size is all there is to see
_XML_PARTS = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm", ".svg", ".vml")


def preflight(data: bytes, name: str, limits: Limits) -> None:
    """Refuse what must not reach a parser. ``name`` stands in messages only.

    Raises:
        RejectedError: with one of the codes of `chapterhouse.reading.codes`.
    """
    if not data:
        raise RejectedError("empty", f"{name} has no bytes.")
    if len(data) > limits.file_bytes:
        raise RejectedError(
            "too-large", f"{name} has {len(data):,} bytes; the limit is {limits.file_bytes:,}."
        )
    if data.startswith(ole.SIGNATURE):
        return  # the worker looks into it
    if found := container_format(data, name, limits):
        if found != "zip":  # an archive is bounded as it is unpacked
            entries = read_directory(data, limits)
            check_claims(data, entries, limits)
            if found == "epub":  # readers of the others look at each part that they parse
                _check_parts(data, entries)
    elif signatures.image_format(data):
        _check_pixels(data, limits)
    elif not (
        signatures.has_pdf_header(data, claimed=True)
        or data.startswith(b"{\\rtf")
        or signatures.other_content(data)
        or signatures.archive_format(data)
    ):
        _check_text(data, limits)


def wall_seconds(data: bytes, limits: Limits) -> float:
    """Return how long reading these bytes may take before the worker is killed."""
    if signatures.has_pdf_header(data, claimed=True):
        pages = max(len(_PDF_PAGE.findall(data)), len(data) // _PDF_BYTES_PER_PAGE)
        seconds = limits.pdf_wall_seconds + limits.pdf_wall_seconds_per_page * pages
        return min(limits.pdf_wall_seconds_ceiling, seconds)
    return limits.wall_seconds


def _check_parts(data: bytes, entries: tuple[Entry, ...]) -> None:
    """Refuse declarations of entities; the pages of an e-book may have a document type."""
    for entry in entries:
        if not entry.name.lower().endswith(_XML_PARTS) or not entry.size:
            continue
        if declares_entities(entry_doctype(data, entry)):
            raise RejectedError(
                "xml-doctype",
                f"{entry.name!r} in the container declares entities, as XML bombs do.",
            )


def _check_pixels(data: bytes, limits: Limits) -> None:
    size = image_size(data)
    if size is None:
        raise RejectedError("unreadable", "The image's header is damaged or cut off.")
    width, height = size
    if width * height > limits.image_pixels:
        raise RejectedError(
            "image-too-large",
            f"The image has {width:,} x {height:,} pixels; the limit is {limits.image_pixels:,}.",
        )


def _check_text(data: bytes, limits: Limits) -> None:
    """Refuse declarations of entities that are more than characters, and endless lines."""
    if data[:200].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").startswith(b"<"):
        entities(doctype(data))
    if _has_line_over(data, limits.line_bytes):
        raise RejectedError(
            "line-too-long",
            f"It has a line of more than {limits.line_bytes:,} bytes.",
            hint="Break the text into lines.",
        )


def _has_line_over(data: bytes, ceiling: int) -> bool:
    """Tell whether a stretch of ``ceiling`` bytes has no line break, in steps of that length."""
    start = 0
    while start + ceiling < len(data):
        end = data.rfind(b"\n", start, start + ceiling + 1)
        if end < 0:
            return True
        start = end + 1
    return False
