"""Files that a PDF carries: those of the whole document, and those pinned to a place on a page."""

import ctypes
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pypdfium2.raw as pdfium

from chapterhouse.errors import RejectedError
from chapterhouse.reading.archives import limit_members, oversized_member, problem_member
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.fields import wide_string
from chapterhouse.types import Member, Notice

_MOST_ANNOTATIONS = 5_000  # of a page


def document_files(document: Any, limits: Limits) -> Iterator[Member]:
    """Yield the files that the document carries as a whole; ``document`` is PDFium's."""
    for number in range(min(pdfium.FPDFDoc_GetAttachmentCount(document), limits.archive_files + 1)):
        attachment = pdfium.FPDFDoc_GetAttachment(document, number)
        if attachment:
            yield _file(attachment, limits)


def page_files(page: Any, limits: Limits) -> Iterator[Member]:
    """Yield the files that are pinned to a loaded page, in the order of its annotations."""
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            attachment = pdfium.FPDFAnnot_GetFileAttachment(annotation)
            if attachment:
                yield _file(attachment, limits)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def within_limits(
    found: Iterable[Member], limits: Limits
) -> tuple[tuple[Member, ...], tuple[Notice, ...]]:
    """Return the files up to the limits, each once, and a notice where there were more."""
    distinct = {(member.path, member.data): member for member in found}
    inside: list[Member] = []
    try:
        inside.extend(limit_members(distinct.values(), limits))
    except RejectedError as error:
        sentence = f"Not all files in it were read: {error.message}"
        return tuple(inside), (Notice("contents-not-read", sentence),)
    return tuple(inside), ()


def _file(attachment: Any, limits: Limits) -> Member:
    name = wide_string(partial(pdfium.FPDFAttachment_GetName, attachment)) or "file"
    size = ctypes.c_ulong()
    if not pdfium.FPDFAttachment_GetFile(attachment, None, 0, size):
        return problem_member(name, "unreadable", "It is damaged in its PDF.")
    if size.value > limits.archive_entry_bytes:
        return oversized_member(name, size.value, limits)
    buffer = ctypes.create_string_buffer(size.value)
    if not pdfium.FPDFAttachment_GetFile(attachment, buffer, size.value, size):
        return problem_member(name, "unreadable", "It is damaged in its PDF.")
    return Member(name, buffer.raw[: size.value])
