"""Pages of a PDF as pictures, and where on them each line of the text layer stands.

Runs in a worker. The lines come straight from PDFium and not from the reader's own layout, so
that what the reader drops by mistake is among them.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from ctypes import byref, c_int
from typing import Any, NamedTuple

import pypdfium2 as pdfium
from pypdfium2 import raw

from chapterhouse.errors import RejectedError
from chapterhouse.reading import budget
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.document import png
from chapterhouse.reading.pdf.text import joined
from chapterhouse.reading.pdf.visible_words import pdf_words
from chapterhouse.types import ExtractedPage, Extraction, Member, Notice

MOST_PAGES = 50
WORDS = "words"  # the member that holds the words which the whole file shows
_SCALE = 110 / 72  # pixels a point: 110 dots an inch are enough to read by
_MOST_PIXELS = 2_500_000  # of a page
_MOST_BYTES = 30_000_000  # of all pictures
_MOST_CHARACTERS = 30_000  # of a page
_SECONDS = 30.0
_GAP = 2.0  # heights of a letter; what stands further away on the same line is another line
_FINE = 100_000  # parts of a page by which PDFium is asked for a place
_ENDS = frozenset("\r\n")
_HYPHENS = frozenset("\x02\ufffe")  # PDFium's signs for a hyphen, behind which a line ends


class Place(NamedTuple):
    """A rectangle of a page in points, y upwards."""

    left: float
    low: float
    right: float
    high: float


def draw_pages(data: bytes, pages: str, _limits: Limits) -> Extraction:
    """Draw pages of a PDF, at most ``MOST_PAGES``.

    Args:
        data: The bytes of the file.
        pages: The first and the last page, as ``3-9``. It stands where other readers take a name.

    Returns:
        Each line as a page of its own, its place as the label: left, top, right and bottom as
        shares of the page. The pictures are members named by their page, and the words of the
        whole file a member named ``WORDS``. ``metadata["pages"]`` counts the pages of the file.

    Raises:
        RejectedError: the file cannot be opened.
    """
    first, last = map(int, pages.split("-"))
    budget.need(_SECONDS)
    try:
        words = pdf_words(data)
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise RejectedError("unreadable", "It is damaged and cannot be opened as a PDF.") from error
    with closing(document):
        document.init_forms()
        count = len(document)
        last = min(last, count, first + MOST_PAGES - 1)
        lines, images, notices = _drawn(document, range(first, last + 1))
    words_member = Member(WORDS, " ".join(words.elements()).encode())
    return Extraction(
        pages=tuple(lines),
        format="pdf",
        method=f"pypdfium2 {pdfium.PYPDFIUM_INFO}",
        metadata={"pages": str(count)},
        notices=tuple(notices),
        members=(words_member, *images),
    )


def _drawn(document: Any, numbers: range) -> tuple[list[ExtractedPage], list[Member], list[Notice]]:
    lines: list[ExtractedPage] = []
    images: list[Member] = []
    notices: list[Notice] = []
    end, remaining = time.monotonic() + _SECONDS, _MOST_BYTES
    for number in numbers:
        if remaining <= 0 or time.monotonic() > end:
            sentence = f"Pages {number} to {numbers[-1]} are not shown: drawing them is too much."
            notices.append(Notice("too-large", sentence))
            break
        try:
            with closing(document[number - 1]) as page:
                lines += _page_lines(page, number)
                image = _image(page)
        except pdfium.PdfiumError:
            sentence = f"Page {number} is damaged and cannot be opened."
            notices.append(Notice("page-unreadable", sentence, page=number))
            continue
        remaining -= len(image)
        images.append(Member(str(number), image))
    return lines, images, notices


def _image(page: Any) -> bytes:
    width, height = page.get_size()
    pixels = max(1.0, width * height * _SCALE * _SCALE)
    scale = _SCALE * min(1.0, (_MOST_PIXELS / pixels) ** 0.5)
    with closing(page.render(scale=scale, rev_byteorder=True)) as bitmap:
        pixels = bytes(bitmap.buffer)
        return png(pixels, bitmap.width, bitmap.height, bitmap.stride, colours=3, level=6)


def _page_lines(page: Any, number: int) -> Iterator[ExtractedPage]:
    with closing(page.get_textpage()) as textpage:
        for text, place in _lines(textpage.raw):
            label = " ".join(f"{share:.4f}" for share in _shares(page.raw, place))
            yield ExtractedPage(joined(text).strip(), number, label)


def _lines(textpage: Any) -> Iterator[tuple[str, Place]]:
    """Yield the lines of the text layer in PDFium's order, parted where they leave wide gaps."""
    text, places = "", list[Place]()
    for character, place in _characters(textpage):
        ends = character in _ENDS
        if places and (ends or (place is not None and _is_apart(places[-1], place))):
            yield text, _around(places)
            text, places = "", []
        if not ends:
            text += "-" if character in _HYPHENS else character
        if place is not None:
            places.append(place)
        if character in _HYPHENS and places:
            yield text, _around(places)
            text, places = "", []
    if places:
        yield text, _around(places)


def _characters(textpage: Any) -> Iterator[tuple[str, Place | None]]:
    """Yield each character, or half of a surrogate pair, with its place; white space has none."""
    rectangle = raw.FS_RECTF()
    for index in range(min(raw.FPDFText_CountChars(textpage), _MOST_CHARACTERS)):
        character = chr(raw.FPDFText_GetUnicode(textpage, index))
        if character.isspace() or not raw.FPDFText_GetLooseCharBox(
            textpage, index, byref(rectangle)
        ):
            yield character, None
            continue
        yield character, Place(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)


def _is_apart(one: Place, other: Place) -> bool:
    return other.left - one.right > _GAP * abs(one.high - one.low)


def _around(places: list[Place]) -> Place:
    lefts, lows, rights, highs = zip(*places, strict=True)
    return Place(min(lefts), min(lows), max(rights), max(highs))


def _shares(page: Any, place: Place) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom as shares of the page as it is drawn, 0 to 1."""
    corners = [_corner(page, place.left, place.low), _corner(page, place.right, place.high)]
    (left, right), (top, bottom) = (sorted(axis) for axis in zip(*corners, strict=True))
    return left, top, right, bottom


def _corner(page: Any, across: float, up: float) -> tuple[float, float]:
    x, y = c_int(), c_int()
    raw.FPDF_PageToDevice(page, 0, 0, _FINE, _FINE, 0, across, up, byref(x), byref(y))
    return tuple(min(1.0, max(0.0, n.value / _FINE)) for n in (x, y))  # type: ignore[return-value]  # two
