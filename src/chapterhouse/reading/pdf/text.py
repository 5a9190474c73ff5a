"""Words and ruling lines of a PDF page, taken from PDFium in as few calls as possible.

Coordinates are points with the origin at the top left of the page as it is read, y downwards: a
page whose text mostly runs sideways is turned first, whatever its ``/Rotate`` says.
"""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

# PDFium moves the space behind Latin letters in a line from right to left to before them.
_TOKEN = re.compile(
    r"[^\s\ufffe]+?(?:(?<=[A-Za-z])(?=[\u0590-\u08ff])|(?=[\s\ufffe]|\Z))\ufffe?|\ufffe|\r\n|\n"
)
_BOLD_NAME = re.compile(
    r"bold|black|heavy|semibold|demi(?!talic)|(?:cm|sf)bx|-medi\b|-bd|\.b\b", re.IGNORECASE
)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]")
_ALEF_LAM = re.compile("([\u0622\u0623\u0625\u0627])(\u0644)")
# Pieces of large brackets by Adobe's glyph list, which Unicode has by now.
PIECES = {0xF8EB + place: piece for place, piece in enumerate("⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭")}
_LOW = 0.8  # of a font's size: a box this low is that of the characters, not of the font
_BELOW = 0.2  # of a font's size: how far it usually reaches below its line
_BOLD_WEIGHT = 600
_FORCE_BOLD = 1 << 18  # font descriptor flag, ISO 32000-1 table 123


class Box(NamedTuple):
    """A rectangle in points, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Horizontal extent."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Vertical extent."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Vertical centre."""
        return (self.top + self.bottom) / 2

    @property
    def centre(self) -> float:
        """Horizontal centre."""
        return (self.left + self.right) / 2


class Word(NamedTuple):
    """Characters without white space, on PDFium's line ``line``, in place ``order`` of the page."""

    text: str
    box: Box
    size: float
    bold: bool
    line: int
    sideways: bool
    order: int


class PageWords(NamedTuple):
    """The words of a page, and what turns places on it the same way."""

    words: tuple[Word, ...]
    turn: "Callable[[Place], Box]"


class Place(NamedTuple):
    """A rectangle as PDF has it, y upwards."""

    left: float
    low: float
    right: float
    high: float


class _Style(NamedTuple):
    size: float
    bold: bool
    quarter: int  # quarter turns counter-clockwise


LEADERS = re.compile(r"(?:\s?[.·…_]){4,}")  # the dots between a title and its page


def is_right_to_left(text: str) -> bool:
    """Whether a text holds Hebrew, Arabic or another script written from right to left."""
    return bool(_RIGHT_TO_LEFT.search(text))


def is_wide(text: str) -> bool:
    """Whether a text holds Chinese, Japanese or Korean characters."""
    return bool(_WIDE.search(text))


def character_count(textpage: Any) -> int:
    """Return how many characters PDFium counts on a page, spaces and line ends included."""
    return max(0, int(pdfium.FPDFText_CountChars(textpage)))


def page_text(textpage: Any) -> str:
    """Return the text of a page in PDFium's order, lines parted by line feeds."""
    return joined(_units(textpage)).replace("\ufffe", "-\n")


def in_order(textpage: Any, text: str, index: Callable[[int], int]) -> str:
    """Return text of a page with ligatures of lam and alef in the order in which they are spoken.

    PDFium takes them apart the other way round. Both letters stand where the ligature does, and
    no two letters of their own stand in one place.

    Args:
        index: The number that PDFium gives the character at a place of the text.
    """
    place_of = _place_reader(textpage)

    def ordered(pair: re.Match[str]) -> str:
        one, other = (place_of(index(pair.start() + step)) for step in (0, 1))
        return pair[2] + pair[1] if one == other else pair[0]

    return _ALEF_LAM.sub(ordered, text)


def page_words(textpage: Any, width: float, height: float) -> PageWords:
    """Return the words of a page in PDFium's order; its size is in points, before it is turned."""
    found = list(_placed_words(textpage))
    quarter = _reading_direction(found)
    turn = _turner(quarter, width, height)
    words = tuple(
        Word(text, turn(place), style.size, style.bold, line, style.quarter != quarter, order)
        for order, (text, place, style, line) in enumerate(found)
    )
    return PageWords(words, turn)


def _units(textpage: Any) -> str:
    """Return the characters of the page as UTF-16 units, one a character of the string."""
    count = pdfium.FPDFText_CountChars(textpage)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(textpage, 0, count, buffer)
    units = "".join(map(chr, buffer[: max(0, written - 1)]))
    return in_order(textpage, units, _character_index(textpage, len(units)))


def joined(units: str) -> str:
    """Join surrogate pairs; a lone half becomes the replacement character."""
    if units.isascii():
        return units.replace("\r\n", "\n")
    if any("\ud800" <= unit <= "\udfff" for unit in units):
        units = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return units.translate(PIECES).replace("\r\n", "\n")


def _placed_words(textpage: Any) -> Iterator[tuple[str, Place, _Style, int]]:
    """Yield text, place, style and line of each word.

    The style is read for the first two words of a line (the first may be a bullet), and again
    where the height of the glyphs changes or after bold words: most words stand in the style of
    their line, and each reading is four calls.
    """
    units = _units(textpage)
    index = _character_index(textpage, len(units))
    style_of = _style_reader(textpage)
    place_of = _place_reader(textpage)
    line, style, height, before = 0, None, 0.0, 0
    for token in _TOKEN.finditer(units):
        text = token.group()
        if text in ("\r\n", "\n"):
            line, style, before = line + 1, None, 0
            continue
        first, last = index(token.start()), index(token.end() - 1)
        if text.endswith("\ufffe"):
            last = max(first, index(token.end() - 2)) if len(text) > 1 else first
        place = place_of(first)
        changed = abs(place.high - place.low - height) > 0.1 * height
        if style is None or style.bold or changed or before < 2:  # noqa: PLR2004
            style, height = style_of(first), place.high - place.low
        if last != first:
            left, low, right, high = place_of(last)
            place = Place(
                min(place.left, left),
                min(place.low, low),
                max(place.right, right),
                max(place.high, high),
            )
        if style.quarter == 0 and place.high - place.low < _LOW * style.size:
            place = _at_full_height(textpage, first, place, style.size)
        yield joined(text).replace("\ufffe", "-"), place, style, line
        before += 1
        if text.endswith("\ufffe"):  # PDFium swallows the break after a hyphen
            line, style, before = line + 1, None, 0


def _at_full_height(textpage: Any, index: int, place: Place, size: float) -> Place:
    """Return the place of a word as high as its font, which does not say how high it is."""
    x, base = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(textpage, index, x, base)
    low = min(place.low, base.value - _BELOW * size)
    return place._replace(low=low, high=max(place.high, low + size))


def _character_index(textpage: Any, length: int) -> "Callable[[int], int]":
    """Return the map from text position to character index; they differ where text was left out."""
    if length == pdfium.FPDFText_CountChars(textpage):
        return lambda position: position
    convert = pdfium.FPDFText_GetCharIndexFromTextIndex
    return lambda position: max(0, convert(textpage, position))


def _place_reader(textpage: Any) -> "Callable[[int], Place]":
    rectangle = pdfium.FS_RECTF()
    reference = ctypes.byref(rectangle)
    call = pdfium.FPDFText_GetLooseCharBox

    def read(index: int) -> Place:
        call(textpage, index, reference)
        return Place(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)

    return read


def _style_reader(textpage: Any) -> "Callable[[int], _Style]":
    matrix = pdfium.FS_MATRIX()
    flags = ctypes.c_int()
    name = ctypes.create_string_buffer(128)

    def read(index: int) -> _Style:
        size = pdfium.FPDFText_GetFontSize(textpage, index)
        quarter = 0
        if pdfium.FPDFText_GetMatrix(textpage, index, matrix):
            size *= math.hypot(matrix.c, matrix.d)
            quarter = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
        pdfium.FPDFText_GetFontInfo(textpage, index, name, len(name), flags)
        family = name.value.decode("utf-8", "replace")
        heavy = pdfium.FPDFText_GetFontWeight(textpage, index) >= _BOLD_WEIGHT
        bold = heavy or bool(flags.value & _FORCE_BOLD or _BOLD_NAME.search(family))
        return _Style(round(size, 1), bold, quarter)

    return read


def _reading_direction(found: list[tuple[str, Place, _Style, int]]) -> int:
    weights: Counter[int] = Counter()
    for text, _, style, _ in found:
        weights[style.quarter] += len(text)
    return max(weights, key=lambda quarter: (weights[quarter], -quarter), default=0)


def _turner(quarter: int, width: float, height: float) -> "Callable[[Place], Box]":
    """Return the function from a place with y upwards to a box as it is read, y downwards."""
    if quarter == 1:  # text runs up the page
        return lambda p: Box(p.low, p.left, p.high, p.right)
    if quarter == 2:  # noqa: PLR2004 - upside down
        return lambda p: Box(width - p.right, p.low, width - p.left, p.high)
    if quarter == 3:  # noqa: PLR2004 - text runs down the page
        return lambda p: Box(height - p.high, width - p.right, height - p.low, width - p.left)
    return lambda p: Box(p.left, height - p.high, p.right, height - p.low)
