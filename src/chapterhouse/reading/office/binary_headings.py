"""Which paragraphs of a Word file of before 2007 are headings, by their styles ([MS-DOC]).

The all-in-one library takes any short paragraph for one.
"""

import re
import struct
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from chapterhouse.reading.markdown import escaped
from chapterhouse.reading.office.binary import (
    PAGE,
    PAGE_NUMBER,
    WORD_97,
    pieces,
    property_of,
    streams,
)
from chapterhouse.reading.ole import CompoundFile

# Places in the header: of the styles, and of the pages with properties of paragraphs.
_STYLES, _PARAGRAPHS = 0xA2, 0x102
_ENTRY: Final = 13  # bytes that say where on its page the properties of a paragraph stand
_OUTLINE: Final = 0x2640  # the property that states a level; the tenth is that of text
_HEADINGS, _TITLE = range(1, 10), 62  # numbers of built-in styles
_OF_PARAGRAPHS: Final = 1  # a style, and not of characters
_MOST_BASES: Final = 12  # styles that are based on one another
_PARAGRAPH: Final = re.compile(r"([^\r\a\f]*)[\r\a\f]")
_MARKED: Final = re.compile(r"#{1,6} ")
_BULLET: Final = re.compile(r"\A\s*[-*] +")
_ITEM: Final = re.compile(r"\A\s*(?:(?:\d+[.)]|[-*]) +)+")  # how the library numbers is not Word's

Levels = dict[str, deque[int]]


def with_own_headings(text: str, data: bytes) -> str:
    """Return Markdown whose headings are those of the file that it was read from.

    As it is for files of earlier versions and where the tables contradict themselves.
    """
    try:
        main, table, version = streams(CompoundFile(data))
        levels = _paragraph_levels(main, table) if version >= WORD_97 else {}
    except (struct.error, IndexError):
        return text
    return "\n".join(_line(line, levels) for line in text.split("\n")) if levels else text


def _paragraph_levels(main: bytes, table: bytes) -> Levels:
    """Return the levels of paragraphs by their letters, in order; 0 is text."""
    headings = _heading_styles(table, main)
    runs = sorted(_paragraph_properties(main, table))
    starts = [start for start, _ in runs]
    text, ends, places = "", list[int](), list[tuple[int, int, int]]()
    for start, width, piece in pieces(main, table):
        places.append((start, width, len(text)))
        text += piece
        ends.append(len(text))
    levels: Levels = {}
    for found in _PARAGRAPH.finditer(text):
        at = found.end() - 1
        start, width, first = places[bisect_right(ends, at)]
        run = bisect_right(starts, start + width * (at - first)) - 1
        if run >= 0 and (letters := _letters(found[1])):
            levels.setdefault(letters, deque()).append(_level(runs[run][1], headings))
    return levels


def _line(line: str, levels: Levels) -> str:
    marked = _MARKED.match(line)
    own = line[marked.end() :] if marked else line
    text = own if _letters(own) in levels else _ITEM.sub("", own)
    known = levels.get(_letters(text))
    level = known.popleft() if known else 0
    if level:
        return f"{'#' * min(level, 6)} {_BULLET.sub('', text).removeprefix(chr(92))}"
    return escaped(own) if marked else line


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _paragraph_properties(main: bytes, table: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield where runs of paragraphs begin, and their properties behind the number of a style."""
    place, size = struct.unpack_from("<2I", main, _PARAGRAPHS)
    count = max(size - 4, 0) // 8
    for number in struct.unpack_from(f"<{count}I", table, place + 4 * (count + 1)):
        start = (number & PAGE_NUMBER) * PAGE
        page = main[start : start + PAGE]
        runs = page[PAGE - 1]
        bounds = struct.unpack_from(f"<{runs}I", page)
        for index, bound in enumerate(bounds):
            own = 2 * page[4 * (runs + 1) + _ENTRY * index]
            odd = page[own] != 0  # a size in words, less a byte, or behind a zero
            begin = own + (1 if odd else 2)
            end = own + 2 * page[own] if odd else begin + 2 * page[own + 1]
            yield bound, page[begin:end] if own else b""


def _level(properties: bytes, headings: dict[int, int]) -> int:
    if len(properties) < 2:  # noqa: PLR2004 - the number of a style
        return 0
    (style,) = struct.unpack_from("<H", properties)
    stated = property_of(properties[2:], _OUTLINE)
    return headings.get(style, 0) if stated is None else (stated + 1) % 10


def _heading_styles(table: bytes, main: bytes) -> dict[int, int]:
    """Return the levels of the styles that are headings, or are based on one."""
    place, size = struct.unpack_from("<2I", main, _STYLES)
    end = place + size
    header, count, fixed = struct.unpack_from("<3H", table, place)
    place += 2 + header
    styles: dict[int, _Style] = {}
    for number in range(count):
        if place + 2 > end:
            break
        (length,) = struct.unpack_from("<H", table, place)
        if length:
            styles[number] = _style(table[place + 2 : place + 2 + length], fixed)
        place += 2 + length + length % 2
    return {number: level for number in styles if (level := _level_of_style(number, styles))}


class _Style(NamedTuple):
    """The number of a built-in style, the level that it states, and on which it is based."""

    name: int
    outline: int | None
    base: int


def _style(stated: bytes, fixed: int) -> _Style:
    """Read a style ([MS-DOC] 2.9.259): so many bytes, its name, properties of paragraphs."""
    name, base = struct.unpack_from("<2H", stated)
    outline = None
    if base & 0xF == _OF_PARAGRAPHS:
        place = fixed + 4 + 2 * struct.unpack_from("<H", stated, fixed)[0]
        (size,) = struct.unpack_from("<H", stated, place)
        outline = property_of(stated[place + 4 : place + 2 + size], _OUTLINE)
    return _Style(name & 0xFFF, outline, base >> 4)


def _level_of_style(number: int, styles: dict[int, _Style]) -> int:
    for _ in range(_MOST_BASES):
        if (style := styles.get(number)) is None:
            return 0
        if style.name in _HEADINGS or style.name == _TITLE:
            return 1 if style.name == _TITLE else style.name
        if style.outline is not None:
            return (style.outline + 1) % 10
        number = style.base
    return 0
