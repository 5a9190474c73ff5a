"""Where passages of a document's text stand on the pages of its PDF.

A passage is looked for in PDFium's text of its page, without what reading changes or lays out
anew: white space, hyphens, bullets, dots that lead to a page's number, and marks of Markdown. It
is found whole or not at all, as a wrong mark is worse than none.
"""

import ctypes
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import pypdfium2
from pypdfium2 import raw

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.document import opened
from chapterhouse.reading.pdf.page import UNMAPPED
from chapterhouse.reading.pdf.page_images import page_image
from chapterhouse.reading.pdf.text import PIECES, Place, character_count, in_order
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import PageView, Passage, PassagePlace, Rectangle

ABSENT: Final = "The page shows these words in another order, or as a picture."
REPEATED: Final = "These words stand more than once on the page."
HIDDEN: Final = "These words stand outside of what is shown of the page."
CROWDED: Final = "The page shows other words in the same place."
UNREADABLE: Final = "The page cannot be opened."
_LEFT_OUT: Final = re.compile(r"[\s|#*\\:•·▪◦‣■□●○➢✓❖\-\u2010\u2013\u2014]+")
_NO_LEADERS: Final = re.compile(r"[^._]+|(?<![._])[._]{1,2}(?![._])")
_MOST_PLACES: Final = 1_000  # at which a passage is looked at on a page
_PLAINER: Final = 4  # characters by which the best surroundings fit better than the next
_NEAR: Final = 1.5  # heights of a line that two words of it may be apart
_DEVICE: Final = 1_000_000  # PDFium counts whole pixels


class _PageText(NamedTuple):
    """The text of a page by which passages are found, and PDFium's number of each character."""

    text: str
    numbers: tuple[int, ...]


def show_pages(data: bytes, request: str, _limits: Limits) -> PageView:
    """Return a page of a PDF as a picture, and where passages stand.

    Args:
        request: As ``reading.worker`` encodes it.
    """
    number, passages = json.loads(request)
    document = opened(data, "The file")
    try:
        form = document.formenv.raw if document.formenv is not None else None
        has_page = 1 <= number <= len(document)
        png = page_image(document[number - 1], form) if has_page else b""
        return PageView(png, tuple(_place(document, Passage(*one)) for one in passages))
    except pypdfium2.PdfiumError as error:
        raise RejectedError("unreadable", UNREADABLE) from error
    finally:
        document.close()


def _place(document: Any, passage: Passage) -> PassagePlace:
    try:
        page = document[passage.page - 1]
        textpage = page.get_textpage()  # which closes when nothing holds it
    except pypdfium2.PdfiumError:
        return PassagePlace(passage.page, reason=UNREADABLE)
    text = _page_text(textpage.raw)
    wanted = _plain(passage.text)
    starts = list(_starts(text.text, wanted)) if wanted else []
    if len(starts) > 1:
        starts = _best(text.text, starts, len(wanted), passage)
    if len(starts) != 1:
        return PassagePlace(passage.page, reason=REPEATED if starts else ABSENT)
    numbers = text.numbers[starts[0] : starts[0] + len(wanted)]
    own = range(min(numbers), max(numbers) + 1)
    boxes = tuple(_lines(textpage.raw, own))
    rectangles = tuple(_rectangle(page.raw, box) for box in boxes)
    if not all(left < right and top < bottom for left, top, right, bottom in rectangles):
        return PassagePlace(passage.page, reason=HIDDEN)
    if _holds_others(textpage.raw, boxes, own):
        return PassagePlace(passage.page, reason=CROWDED)
    return PassagePlace(passage.page, rectangles)


# --- the text ------------------------------------------------------------------------------------


def _page_text(textpage: Any) -> _PageText:
    count = character_count(textpage)
    characters = "".join(chr(raw.FPDFText_GetUnicode(textpage, one)) for one in range(count))
    shown = in_order(textpage, characters, int)
    folded = [(sign, number) for number, one in enumerate(shown) for sign in _folded(one)]
    text = "".join(sign for sign, _ in folded)
    places = [one for found in _NO_LEADERS.finditer(text) for one in range(*found.span())]
    return _PageText("".join(text[one] for one in places), tuple(folded[one][1] for one in places))


def _plain(text: str) -> str:
    return "".join(_NO_LEADERS.findall("".join(map(_folded, text))))


@cache
def _folded(character: str) -> str:
    """Return a character as it is compared; nothing where it is not."""
    shown = sanitise(unicodedata.normalize("NFKC", character.translate(PIECES))).text
    return UNMAPPED.sub("", _LEFT_OUT.sub("", shown))


def _starts(text: str, wanted: str) -> Iterator[int]:
    start = text.find(wanted)
    for _ in range(_MOST_PLACES):
        if start < 0:
            return
        yield start
        start = text.find(wanted, start + 1)


def _best(text: str, starts: list[int], length: int, passage: Passage) -> list[int]:
    """Return the place whose surroundings are clearly those of the passage, else all."""
    before, after = _plain(passage.before)[::-1], _plain(passage.after)

    def fits(start: int) -> int:
        behind = text[start + length : start + length + len(after)]
        ahead = text[max(0, start - len(before)) : start][::-1]
        return _common(before, ahead) + _common(after, behind)

    best, second = sorted(starts, key=fits, reverse=True)[:2]
    return [best] if fits(best) - fits(second) >= _PLAINER else starts


def _common(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


# --- its place -----------------------------------------------------------------------------------


def _lines(textpage: Any, numbers: range) -> Iterator[Place]:
    """Yield the boxes of characters, those of one line as one where no wide gap parts them."""
    box, line, is_upright = raw.FS_RECTF(), None, False
    for number in numbers:
        raw.FPDFText_GetLooseCharBox(textpage, number, ctypes.byref(box))
        place = Place(box.left, box.bottom, box.right, box.top)
        if chr(raw.FPDFText_GetUnicode(textpage, number)).isspace() or place.left >= place.right:
            continue
        turned = abs(math.sin(raw.FPDFText_GetCharAngle(textpage, number))) > math.sqrt(0.5)
        if line and turned == is_upright and _is_near(line, place, turned=turned):
            line = Place(*map(min, line[:2], place[:2]), *map(max, line[2:], place[2:]))
            continue
        if line:
            yield line
        line, is_upright = place, turned
    if line:
        yield line


def _holds_others(textpage: Any, boxes: Sequence[Place], own: range) -> bool:
    """Whether the middle of a character lies in boxes of others."""
    left, right, low, high = (ctypes.c_double() for _ in range(4))
    for number in range(character_count(textpage)):
        if number in own or not _folded(chr(raw.FPDFText_GetUnicode(textpage, number))):
            continue
        raw.FPDFText_GetCharBox(textpage, number, left, right, low, high)
        x, y = (left.value + right.value) / 2, (low.value + high.value) / 2
        if any(box.left < x < box.right and box.low < y < box.high for box in boxes):
            return True
    return False


def _is_near(line: Place, place: Place, *, turned: bool) -> bool:
    """Whether a character goes on with a line, which runs up or down the page if it is turned."""
    along, across = (1, 0) if turned else (0, 1)
    shared = min(line[across + 2], place[across + 2]) - max(line[across], place[across])
    height = min(line[across + 2] - line[across], place[across + 2] - place[across])
    gap = max(place[along] - line[along + 2], line[along] - place[along + 2])
    return shared > height / 2 and gap <= _NEAR * height


def _rectangle(page: Any, box: Place) -> Rectangle:
    """Return a box as shares of the page as it is shown: cropped, turned, from its top left."""
    x, y = ctypes.c_int(), ctypes.c_int()
    shares = []
    for corner in ((box.left, box.low), (box.right, box.high)):
        raw.FPDF_PageToDevice(page, 0, 0, _DEVICE, _DEVICE, 0, *corner, x, y)
        shares.append([min(max(one.value / _DEVICE, 0.0), 1.0) for one in (x, y)])
    (left, right), (top, bottom) = map(sorted, zip(*shares, strict=True))
    return left, top, right, bottom
