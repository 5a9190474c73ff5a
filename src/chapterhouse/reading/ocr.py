"""Text from images: the engines that are installed, asked in turn until one is sure.

RapidOCR comes with the extra ``ocr`` and brings its models with it; tesseract is the system's.
RapidOCR is asked first, because it reads accents and noise better (``benchmarks/ocr.py`` of
commit 604e6751);
tesseract reads scripts that RapidOCR does not, and then RapidOCR's confidence is low.
"""

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from chapterhouse.errors import install_command
from chapterhouse.loading import is_installed, lazy
from chapterhouse.reading import tesseract
from chapterhouse.reading.limits import Limits
from chapterhouse.types import ExtractedPage, Extraction, Notice

if TYPE_CHECKING:
    from chapterhouse.reading import rapidocr
else:
    rapidocr = lazy("chapterhouse.reading.rapidocr")

ENGINES = ("RapidOCR", "tesseract")
_WRITING = re.compile(r"[^\W_]{2}")  # two letters or digits side by side


class Recognised(NamedTuple):
    """The text of one picture.

    Attributes:
        text: Lines, and blank lines between paragraphs; empty where there are no words.
        confidence: Mean over the words, 0 to 1, as the engine says it; 0 without words.
        sure: Whether the confidence is what the engine reaches where it reads well.
        method: The engine and its version.
    """

    text: str
    confidence: float
    sure: bool
    method: str


class _Engine(NamedTuple):
    """``least`` is the confidence below which its text often is not what the picture says."""

    read: Callable[[bytes, Limits], list[tuple[str, float]]]
    method: str
    least: float


@cache
def has_rapidocr() -> bool:
    """Whether the extra ``ocr`` is installed; nothing of it is imported."""
    return is_installed("rapidocr")


def engine_names() -> tuple[str, ...]:
    """Return the installed engines, the one that is asked first at the head."""
    installed = (has_rapidocr(), bool(tesseract.program()))
    return tuple(name for name, found in zip(ENGINES, installed, strict=True) if found)


def how_to_install() -> str:
    """Return what to do where no engine is installed."""
    return f"OCR is not installed: run {install_command('ocr')} and add the file again."


def ocr_image(image: bytes, limits: Limits | None = None) -> tuple[Recognised, ...] | None:
    """Return the text of each page of an image, or None where no engine is installed.

    Of the formats PNG, JPEG, TIFF, BMP, GIF and WebP only a TIFF has more than one page.
    """
    limits = limits or Limits()
    tried: list[tuple[Recognised, ...]] = []
    for engine in _engines():
        pages = tuple(
            _recognised(text, confidence, engine) for text, confidence in engine.read(image, limits)
        )
        if any(page.text for page in pages) and all(page.sure for page in pages if page.text):
            return pages
        tried.append(pages)
    if not tried:
        return None
    return next((pages for pages in tried if any(page.text for page in pages)), tried[0])


def _recognised(text: str, confidence: float, engine: _Engine) -> Recognised:
    # A ring is no "O": what an engine sees in pictures without writing are single characters.
    if not _WRITING.search(text):
        return Recognised("", 0.0, sure=False, method=engine.method)
    return Recognised(text, confidence, confidence >= engine.least, engine.method)


def read_image(data: bytes, format_: str, limits: Limits) -> Extraction:
    """Read an image by OCR; without an engine the extraction is empty and says so."""
    found = ocr_image(data, limits)
    if found is None:
        notice = Notice("ocr-not-installed", f"No text, {how_to_install()}")
        return Extraction((), format_, "no OCR", markdown=False, notices=(notice,))
    if len(found) == 1:
        pages: tuple[ExtractedPage, ...] = (ExtractedPage(found[0].text),)
    else:
        pages = tuple(ExtractedPage(page.text, number) for number, page in enumerate(found, 1))
    notices = [ocr_notice(page, written.number) for page, written in zip(found, pages, strict=True)]
    return Extraction(
        pages,
        format_,
        found[0].method if found else "",
        page_kind="page" if len(pages) > 1 else "",
        markdown=False,
        notices=tuple(notice for notice in notices if notice),
    )


def ocr_notice(page: Recognised, number: int | None = None) -> Notice | None:
    """Return how far the text of a page can be trusted, or None where there is no text."""
    if not page.text:
        return None
    subject = f"Page {number}: read" if number is not None else "Read"
    shown = math.floor(round(page.confidence * 100, 6)) / 100  # .899 is below .90, and says so
    sentence = f"{subject} by OCR, mean confidence {shown:.2f}"
    if page.sure:
        return Notice("ocr", f"{sentence}.", number)
    return Notice("ocr-unsure", f"{sentence}: check it against the original.", number)


def _engines() -> Iterator[_Engine]:
    names = engine_names()
    if "RapidOCR" in names:
        yield _Engine(rapidocr.read_pages, rapidocr.method(), rapidocr.LEAST_CONFIDENCE)
    if "tesseract" in names:
        yield _Engine(tesseract.read_pages, tesseract.method(), tesseract.LEAST_CONFIDENCE)
