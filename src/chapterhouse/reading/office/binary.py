"""What the all-in-one library gets wrong in Word and Excel files of before 2007, and in RTF."""

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Final

from chapterhouse.reading.markdown import escaped, lowered, raised, running_text
from chapterhouse.reading.office.cell_facts import CellFacts, NumberFormats, xls_cells
from chapterhouse.reading.office.excel import SheetExtras, header_text
from chapterhouse.reading.office.number_formats import BUILT_IN
from chapterhouse.reading.ole import CompoundFile
from chapterhouse.types import Range

WORD_97 = 0xC1
_SECOND_TABLE = 0x0200
_COMPRESSED = 0x40000000
# Places in the header of the main stream ([MS-DOC] 2.5.4, 2.5.6).
_LENGTHS, _HEADERS, _RUNS, _PIECES = 0x4C, 0xF2, 0xFA, 0x1A2
PAGE = 512  # bytes of a page of properties
PAGE_NUMBER = 0x3FFFFF
_DELETED = 0x0800  # the property of a run that a tracked change deleted ([MS-DOC] 2.6.1)
_OPERANDS = (1, 1, 2, 4, 2, 2, 0, 3)  # bytes, by the kind of a property; the seventh says it
# Order of the parts of a document; the lengths stand in it.
_PARTS = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "header boxes")
_SEPARATORS = 6  # of notes; after them six texts a section
_KINDS = ("Header", "Header", "Footer", "Footer", "Header", "Footer")
_FIELD = re.compile(r"\x13([^\x13\x14\x15]*)(?:\x14([^\x13\x14\x15]*))?\x15")
_COUNTING = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|DATE|TIME)\b", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x1f]+")
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_SHIFTED: Final = re.compile(rb"\\(super|sub)[ \r\n]+([0-9+-]{1,20})(?=[}\\])")
_MAC: Final = re.compile(rb"\A(\{\\rtf\d?)\\mac\b")
_TOKEN: Final = re.compile(
    rb"\\(?P<word>[a-zA-Z]+)(?P<number>-?\d+)? ?|\\'[0-9a-fA-F]{2}|\\[^a-zA-Z]|[{}]|[^\\{}]+|\\",
    re.DOTALL,
)
# Deleted by a tracked change, or moved away ([RTF 1.9.1], Track Changes).
_DELETED_IN_RTF: Final = frozenset({b"deleted", b"mvf"})
_SIGNS: Final = frozenset(
    b"u par line tab emdash endash emspace enspace qmspace bullet lquote rquote ldblquote"
    b" rdblquote".split()
)
# Numbers of records ([MS-XLS] 2.3).
_START, _SHEET, _SHAPE_TEXT, _CONTINUE = 0x809, 0x85, 0x1B6, 0x3C
_END = 0x0A
_FORMAT, _STYLE, _FROM_1904 = 0x41E, 0xE0, 0x22
_RUNNING = {0x14: "Header", 0x15: "Footer"}
_VERSION = 0x600  # of files in Unicode
_HIDDEN = 0x03


def without_deleted(data: bytes) -> bytes:
    """Return a file with zeros for the text that tracked changes deleted; readers drop these."""
    file = CompoundFile(data)
    try:
        main, table, version = streams(file)
        spans = list(_deleted(main, table)) if version >= WORD_97 else []
    except (struct.error, IndexError):
        return data
    return file.blanked("WordDocument", spans) if spans else data


def streams(file: CompoundFile) -> tuple[bytes, bytes, int]:
    """Return the main stream, the one of tables, and the version of the format."""
    main = file.read("WordDocument")
    version, flags = struct.unpack_from("<H6xH", main, 2)
    return main, file.read("1Table" if flags & _SECOND_TABLE else "0Table"), version


def _deleted(main: bytes, table: bytes) -> Iterator[Range]:
    """Yield where in the main stream deleted runs stand ([MS-DOC] 2.8.5, 2.9.33)."""
    place, size = struct.unpack_from("<2I", main, _RUNS)
    count = max(size - 4, 0) // 8
    for number in struct.unpack_from(f"<{count}I", table, place + 4 * (count + 1)):
        start = (number & PAGE_NUMBER) * PAGE
        page = main[start : start + PAGE]
        runs = page[PAGE - 1]
        bounds = struct.unpack_from(f"<{runs + 1}I", page)
        for index in range(runs):
            own = 2 * page[4 * (runs + 1) + index]
            if own and property_of(page[own + 1 : own + 1 + page[own]], _DELETED) == 1:
                yield bounds[index], bounds[index + 1]


def property_of(properties: bytes, wanted: int) -> int | None:
    """Return the first byte of a property, or None where it is not stated ([MS-DOC] 2.2.5)."""
    place, found = 0, None
    while place + 2 < len(properties):
        (name,) = struct.unpack_from("<H", properties, place)
        if name == wanted:
            found = properties[place + 2]
        place += 2 + (_OPERANDS[name >> 13] or 1 + properties[place + 2])
    return found


def headers_and_endnotes(data: bytes) -> list[str] | None:
    """Return headers and footers, each once, text boxes in them, and endnotes.

    None for files of earlier versions and where the tables contradict themselves.
    """
    try:
        main, table, version = streams(CompoundFile(data))
        if version < WORD_97:
            return None
        text = "".join(text for _, _, text in pieces(main, table))
        lengths = struct.unpack_from(f"<{len(_PARTS)}I", main, _LENGTHS)
        starts = accumulate(lengths, initial=0)
        ranges = zip(_PARTS, starts, lengths, strict=False)
        parts = {name: text[start : start + length] for name, start, length in ranges}
        return list(dict.fromkeys([*_running(main, table, parts["headers"]), *_others(parts)]))
    except (struct.error, ValueError):
        return None


def pieces(main: bytes, table: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield where in the main stream each piece of the text begins, its width, and its text.

    In order ([MS-DOC] 2.9.38, 2.9.178); the width is the bytes of a character.
    """
    place, size = struct.unpack_from("<2I", main, _PIECES)
    pieces = table[place : place + size]
    while pieces[:1] == b"\x01":  # formatting in front of them
        pieces = pieces[3 + struct.unpack_from("<H", pieces, 1)[0] :]
    (length,) = struct.unpack_from("<I", pieces, 1)
    count = (length - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", pieces, 5)
    for index in range(count):
        (start,) = struct.unpack_from("<I", pieces, 5 + 4 * (count + 1) + 8 * index + 2)
        characters = ends[index + 1] - ends[index]
        if start & _COMPRESSED:
            start = (start & ~_COMPRESSED) // 2
            yield start, 1, main[start : start + characters].decode("cp1252", "replace")
        else:
            yield start, 2, main[start : start + 2 * characters].decode("utf-16-le", "replace")


def _running(main: bytes, table: bytes, text: str) -> Iterator[str]:
    """Yield headers and footers ([MS-DOC] 2.8.13): after the separators, six texts a section."""
    place, size = struct.unpack_from("<2I", main, _HEADERS)
    ends = struct.unpack_from(f"<{size // 4}I", table, place)
    for index in range(_SEPARATORS, len(ends) - 1):
        if shown := _shown(text[ends[index] : ends[index + 1]]):
            yield f"{_KINDS[(index - _SEPARATORS) % len(_KINDS)]}: {shown}"


def _others(parts: dict[str, str]) -> Iterator[str]:
    for note in parts["endnotes"].split("\x02"):  # the mark that each begins with
        if shown := _shown(note):
            yield f"Endnote: {shown}"
    if shown := _shown(parts["header boxes"]):
        yield f"Header: {shown}"


def _shown(text: str) -> str:
    """Return text on one line without fields that count; nothing where no letter is left."""
    text = text.replace("\0", "")  # deleted
    before = ""
    while before != text:  # one within another
        before = text
        text = _FIELD.sub(lambda f: "" if _COUNTING.match(f[1]) else f[2] or "", text)
    cells = (cell for cell in text.split("\a") if cell.strip())  # the sign behind each
    return running_text(_CONTROLS.sub(" ", " | ".join(cells)))


def prepare_rtf(data: bytes) -> bytes:
    """Return a file with bytes beyond ASCII written as RTF should, and tracked changes accepted.

    The library drops such bytes, does not know Mac Roman, shows deleted text, and reads raised
    numbers as if they stood in the line.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        data = _BEYOND_ASCII.sub(lambda byte: b"\\'%02x" % byte[0][0], data)
    data = _MAC.sub(rb"\1\\ansi\\ansicpg10000", data, count=1)
    data = _SHIFTED.sub(_in_line, data)
    if any(b"\\" + word in data for word in _DELETED_IN_RTF):
        data = b"".join(_without_deleted(data))
    return data


def _in_line(run: re.Match[bytes]) -> bytes:
    text = run[2].decode("ascii")
    written = raised(text, "") if run[1] == b"super" else lowered(text)
    return b"".join(b"\\u%d?" % ord(character) for character in written)


def _without_deleted(data: bytes) -> Iterator[bytes]:
    """Yield the file piece by piece without the text of deleted runs; formatting stays."""
    deleted, groups = False, list[bool]()
    place = 0
    while token := _TOKEN.match(data, place):
        place, text, word = token.end(), token[0], token["word"]
        if text == b"{":
            groups.append(deleted)
        elif text == b"}":
            deleted = groups.pop() if groups else False
        elif word in _DELETED_IN_RTF:
            deleted = token["number"] != b"0"
        elif word == b"plain":
            deleted = False
        elif word == b"bin":  # so many bytes of anything
            end = place + max(int(token["number"] or 0), 0)
            text, place = b"" if deleted else text + data[place:end], end
        elif deleted and (word in _SIGNS or (not word and text != b"\\*")):
            continue
        yield text


def xls_sheet_extras(data: bytes) -> dict[str, SheetExtras]:
    """Return what stands beside the cells, by the sheet's name; nothing of earlier versions."""
    book = CompoundFile(data).read("Workbook")
    try:
        if struct.unpack_from("<3H", book)[::2] != (_START, _VERSION):
            return {}
        return dict(_sheets(book))
    except (struct.error, IndexError):
        return {}


def _sheets(book: bytes) -> Iterator[tuple[str, SheetExtras]]:
    formats = _formats(book)
    for kind, content in _records(book, 0):
        if kind == _SHEET:
            place, state = struct.unpack_from("<IB", content)
            name = _string(content, 6, content[6], 1)
            blocks = tuple(dict.fromkeys(_blocks(book, place)))
            cells = CellFacts()
            with suppress(struct.error, IndexError):  # a record that is cut off
                cells = xls_cells(_records(book, place), formats)
            yield name, SheetExtras(hidden=bool(state & _HIDDEN), blocks=blocks, cells=cells)


def _formats(book: bytes) -> NumberFormats:
    """Return how the numbers of cells are shown, by the number of a cell's style."""
    codes, styles, from_1904 = dict(BUILT_IN), list[int](), False
    for kind, content in _records(book, 0):
        if kind == _FORMAT:
            number, length = struct.unpack_from("<2H", content)
            codes[number] = _string(content, 2, length, 2)
        elif kind == _STYLE:
            styles.append(struct.unpack_from("<H", content, 2)[0])
        elif kind == _FROM_1904:
            from_1904 = content[:1] == b"\x01"
    return NumberFormats(tuple(codes.get(style, "") for style in styles), from_1904)


def _blocks(book: bytes, place: int) -> Iterator[str]:
    """Yield the texts of one sheet's shapes, and what is printed above and below it."""
    running: list[str] = []
    awaited = 0  # characters of a shape's text, which the next record holds
    for kind, content in _records(book, place):
        if kind in _RUNNING and content:
            (length,) = struct.unpack_from("<H", content)
            if text := header_text(_string(content, 0, length, 2)):
                running.append(f"{_RUNNING[kind]}: {text}")
        elif kind == _SHAPE_TEXT:
            (awaited,) = struct.unpack_from("<H", content, 10)
        elif kind == _CONTINUE and awaited:
            if text := " ".join(_string(content, 0, awaited, 0).split()):
                yield escaped(text)
            awaited = 0
    yield from running


def _records(book: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """Yield the records of the part of the stream that begins there; parts inside it too."""
    depth = 0
    while place + 4 <= len(book):
        kind, length = struct.unpack_from("<2H", book, place)
        depth += (kind == _START) - (kind == _END)
        if depth <= 0:
            return
        yield kind, book[place + 4 : place + 4 + length]
        place += 4 + length


def _string(content: bytes, place: int, length: int, width: int) -> str:
    """Return a text behind its length of so many bytes and a byte that says how it is stored."""
    start = place + width + 1
    if content[start - 1] & 1:
        return content[start : start + 2 * length].decode("utf-16-le", "replace")
    return content[start : start + length].decode("latin-1")
