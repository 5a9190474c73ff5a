"""How much of anything reading will take, in which codes it says no, and how it asks for time."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

_ANY_RATIO = 2**62


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings for one file and for the process that reads it.

    The figures follow Apache Tika, Apache POI and OWASP ASVS 5.0 V5.2, and were widened where
    ordinary documents broke them: an embedded PDF or an empty sheet compresses more than a
    hundredfold, so the ratio is only judged on entries above a grace.
    """

    file_bytes: int = 100_000_000
    archive_bytes: int = 500_000_000  # everything in a ZIP container or an archive, unpacked
    archive_entry_bytes: int = 100_000_000  # one entry, unpacked
    archive_ratio: int = 100  # declared over stored size of an entry larger than the grace
    archive_ratio_grace: int = 10_000_000  # declared bytes
    archive_entries: int = 5_000  # in a ZIP container
    archive_files: int = 20_000  # in an archive, with those in archives inside it
    archive_depth: int = 3  # archives inside archives
    text_characters: int = 20_000_000  # of one document; what is beyond becomes further ones
    line_bytes: int = 20_000_000  # one line of a text file
    xml_depth: int = 200  # elements inside elements
    image_pages: int = 5_000  # of a TIFF
    image_pixels: int = 50_000_000  # width times height
    sheet_cells: int = 5_000_000  # of one spreadsheet or delimited table
    cell_characters: int = 32_767  # the ceiling of spreadsheet programs
    worker_memory_bytes: int = 2_000_000_000  # address space
    worker_files: int = 64  # held open
    cpu_seconds: int = 60  # for one file
    wall_seconds: float = 20.0  # for one file, until its reader asks for more
    wall_seconds_ceiling: float = 600.0  # no file may exceed it, however much it asks for
    ocr_page_seconds: float = 30.0
    recycle_files: int = 200  # after which a worker is replaced, plain text not counted
    recycle_rss_bytes: int = 500_000_000  # likewise, peak memory


def archive_limits(limits: Limits) -> Limits:
    """Return the limits of a ZIP that is no document but an archive of many.

    What is unpacked is bounded as it is unpacked, however small it was.
    """
    return replace(
        limits,
        archive_entries=2 * limits.archive_files,  # folders are entries, too
        archive_entry_bytes=limits.archive_bytes,  # one that is larger is no reason against others
        archive_ratio=_ANY_RATIO,
    )


# --- more time -----------------------------------------------------------------------------------

_FIRST: Final = 10.0  # seconds that every file has
_STEP: Final = 10.0
_ask: Callable[[float], object] = bool  # outside a worker nobody measures the time


def on_request(ask: Callable[[float], object]) -> None:
    """Have ``ask`` called with the seconds whenever a reader needs more time."""
    global _ask  # noqa: PLW0603 - one worker process reads one file at a time
    _ask = ask


def need_time(seconds: float) -> None:
    """Say that the next step may take so many seconds beyond the ordinary limit.

    The worker passes it on, the parent decides.
    """
    _ask(seconds)


class Allowance:
    """Time for a loop over parts, asked for as it goes on, so that one part that hangs is noticed.

    Recognition asks for its own time; the time that it takes is counted apart. ``seconds`` are for
    the loop without recognition, ``ceiling`` for all of it.
    """

    def __init__(self, seconds: float, ceiling: float) -> None:
        """Start the clock."""
        self._seconds, self._ceiling = seconds, ceiling
        self._started = time.monotonic()
        self._apart = 0.0
        self._asked = _FIRST

    def lasts(self) -> bool:
        """Whether there is time for one more part; asks for more where it may."""
        total = time.monotonic() - self._started
        spent = total - self._apart
        if spent >= self._seconds or total >= self._ceiling:
            return False
        if spent > self._asked - _STEP / 2:
            need_time(_STEP)
            self._asked += _STEP
        return True

    def count_apart(self, seconds: float) -> None:
        """Do not count time for which recognition asked itself."""
        self._apart += seconds


# --- codes ---------------------------------------------------------------------------------------

# Rejection codes travel in `RejectedError.code`, notice codes in `Notice.code`. Both are stable:
# scripts and the ledger of files rely on them.
REJECTIONS: Final[Mapping[str, str]] = MappingProxyType({
    "empty": "The file has no bytes.",
    "too-large": "The file is larger than the limit.",
    "unsupported-format": "The content is not a document of any format that can be read.",
    "encrypted": "The document is protected by a password or by rights management.",
    "unreadable": "The format is known, but the content is damaged or not well formed.",
    "archive-damaged": "The container's directory is missing, cut off or contradicts itself.",
    "archive-overlap": "Entries of the container share the same bytes, as ZIP bombs do.",
    "archive-too-large": "The container would unpack to more than the limit.",
    "archive-ratio": "An entry of the container would grow far more than documents do.",
    "archive-too-many-entries": "The container has more entries than the limit.",
    "line-too-long": "One line of the text is longer than the limit.",
    "too-deep": "Elements are nested deeper than the limit.",
    "too-many-cells": "The table has more cells than the limit.",
    "image-too-large": "The image has more pixels than the limit.",
    "symbolic-link": "Links are not followed, in folders and in archives.",
    "xml-doctype": "The XML declares a document type with entities, or where none belongs.",
    "missing-extra": "It needs a part that is not installed; the sentence says which.",
    "timed-out": "Reading took longer than the limit and was stopped.",
    "out-of-memory": "Reading needed more memory than the limit.",
    "reader-crashed": "The process that read the file died, or answered nonsense.",
})  # fmt: skip
NOTICES: Final[Mapping[str, str]] = MappingProxyType({
    "extension-mismatch": "The file's extension does not fit its content, which decided.",
    "encoding-guessed": "The text states no encoding; the most likely one was used.",
    "invisible-characters": "Invisible, control or private characters were removed.",
    "undecodable-characters": "Some bytes mean nothing in the text's encoding or a PDF's font.",
    "garbled-text": "Much of the text is no text of any language: a wrong encoding or font.",
    "text-truncated": "Pages that the sentence names were not read.",
    "text-in-parts": "The text is very long; its parts are documents of their own.",
    "attachments-not-read": "Files in it were not read.",
    "attachments-rejected": "Files in it gave no text; each is listed with its own reason.",
    "no-text": "No text was found in the file.",
    "contents-not-read": "Pictures in it, or files, were not read.",
    "ocr": "A page was read by OCR; the sentence says how sure it is.",
    "ocr-unsure": "A page was read by OCR with a confidence at which words are often wrong.",
    "ocr-not-installed": "There is an image of text, and no OCR engine to read it.",
    "ocr-failed": "The OCR engine could not read an image of text.",
    "part-unreadable": "A part of the container could not be read; the others were.",
    "not-calculated": "Formulas have no stored value; the file shows what they calculate.",
    "page-unreadable": "A page could not be read; the others were.",
    "layout-skipped": "A page was too dense to look for headings in; its text is whole.",
    "form-not-read": "A form keeps its fields where they could not be read.",
    "incomplete": "An independent count finds words in a PDF that were not read.",
    "navigation-left-out": "Parts of a web page that surround its content were left out.",
    "running-lines": "Running headers and page numbers that say nothing new were left out.",
    "parser-warning": "The parser reported that it left something out.",
})  # fmt: skip
