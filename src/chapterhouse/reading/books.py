"""E-books of Mobipocket and Kindle (``.mobi``, ``.azw3``): their HTML, which is in a Palm database.

A file may hold a book twice, for old devices and for new ones; the first is read. In the newer
one the HTML of all chapters stands in order, the frame of each before what belongs into it.
"""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from chapterhouse.errors import RejectedError
from chapterhouse.reading.html.page import whole_markdown
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.members import too_large
from chapterhouse.reading.plain import METHOD, first_heading
from chapterhouse.types import ExtractedPage, Extraction, Notice

_RECORDS: Final = 76  # where their number stands, and behind it their places
_LONGEST_PHRASE: Final = 1_000_000
_DEEPEST_PHRASE: Final = 32  # phrases in phrases
_LITERAL: Final = re.compile(rb"[\0\x09-\x7f]+")
_PLAIN, _PALMDOC, _HUFFMAN = 1, 2, 17480
_ENCODINGS: Final = {1252: "cp1252", 65001: "utf-8"}
_KINDLE_8: Final = 8  # version of the newer format
_LONG_HEADER: Final = 228  # bytes from which a header says what trails each record
_PRINT_REPLICA: Final = b"%MOP"
_NEARLY_ALL: Final = 0.99  # of the stated length, which not every program counts alike
_TITLE: Final = 503
_NAMES: Final = {100: "author", 106: "date", 524: "language"}
_AROUND: Final = re.compile(
    r"<head\b.*?</head\s*>|</?(?:html|body|mbp:[a-z]+)\b[^>]*>|<\?xml[^>]*>|<!doctype[^>]*>",
    re.IGNORECASE | re.DOTALL,
)


def records(data: bytes) -> tuple[bytes, ...]:
    """Return the records of a database; of one that is cut off, the last ones are empty.

    Raises:
        RejectedError: ``unreadable``.
    """
    try:
        (count,) = struct.unpack_from(">H", data, _RECORDS)
        places = struct.unpack_from(">" + "I4x" * count, data, _RECORDS + 2)
    except struct.error as error:
        raise damaged("its list of records is cut off") from error
    return tuple(data[start:end] for start, end in pairwise((*places, len(data))))


def damaged(what: str) -> RejectedError:
    """Return why a book is not read."""
    return RejectedError("unreadable", f"The e-book is damaged: {what}.")


def inflate(record: bytes) -> bytes:
    """Return what a record of PalmDOC's compression holds; less than eight times its size.

    Raises:
        RejectedError: ``unreadable``.
    """
    text = bytearray()
    place = 0
    while place < len(record):
        if literal := _LITERAL.match(record, place):
            text += literal[0]
            place = literal.end()
            continue
        byte = record[place]
        place += 1
        if byte < 0x09:  # noqa: PLR2004 - that many bytes as they are
            text += record[place : place + byte]
            place += byte
        elif byte >= 0xC0:  # noqa: PLR2004 - a space and a letter
            text += bytes((0x20, byte ^ 0x80))
        else:
            pair = (byte << 8 | (record[place] if place < len(record) else 0)) & 0x3FFF
            place += 1
            distance, length = pair >> 3, (pair & 7) + 3
            if not 0 < distance <= len(text):
                raise damaged("its compressed text refers to what is not there")
            for _ in range(length):
                text.append(text[-distance])
    return bytes(text)


class Huffman:
    """The other compression: codes of 1 to 32 bits stand for phrases, themselves compressed."""

    def __init__(self, table: bytes, dictionaries: Sequence[bytes]) -> None:
        """Read the tables.

        Args:
            table: The record that begins with ``HUFF``.
            dictionaries: Those that begin with ``CDIC``.

        Raises:
            RejectedError: ``unreadable``.
        """
        try:
            first, second = struct.unpack_from(">8xII", table)
            short = struct.unpack_from(">256I", table, first)
            pairs = struct.unpack_from(">64I", table, second)
            self._phrases: list[tuple[bool, bytes]] = []
            for content in dictionaries:
                self._phrases += _phrases(content, len(self._phrases))
        except struct.error as error:
            raise damaged("its tables of compression are cut off") from error
        self._short = [_short_code(value) for value in short]
        # By the length of a code, the smallest and the largest one with zeros or ones behind it.
        self._least = [0, *(low << 32 - n for n, low in enumerate(pairs[::2], 1))]
        self._most = [0, *((high + 1 << 32 - n) - 1 for n, high in enumerate(pairs[1::2], 1))]
        self._known: dict[int, bytes] = {}

    def inflate(self, record: bytes, depth: int = 0) -> bytes:
        """Return what a record or phrase holds.

        Raises:
            RejectedError: ``unreadable``, or ``archive-too-large`` where it grows without end.
        """
        if depth > _DEEPEST_PHRASE:
            raise damaged("phrases of its compression hold themselves")
        found: list[bytes] = []
        size = place = 0
        total = 8 * len(record)  # bits
        while place < total:
            ahead = record[place >> 3 : (place >> 3) + 8].ljust(8, b"\0")
            code = int.from_bytes(ahead) >> 32 - (place & 7) & 0xFFFFFFFF
            length, number = self._lookup(code)
            place += length
            if place > total:
                break
            phrase = self._phrase(number, depth)
            size += len(phrase)
            if size > _LONGEST_PHRASE:
                raise RejectedError("archive-too-large", "The e-book's text grows without end.")
            found.append(phrase)
        return b"".join(found)

    def _lookup(self, code: int) -> tuple[int, int]:
        """Return how long the code at the head of 32 bits is, and the number of its phrase."""
        length, final, most = self._short[code >> 24]
        if not final:
            while length < 32 and code < self._least[length]:  # noqa: PLR2004 - bits
                length += 1
            most = self._most[length]
        number = most - code >> 32 - length
        if not length or not 0 <= number < len(self._phrases):
            raise damaged("a code of its compression has no phrase")
        return length, number

    def _phrase(self, number: int, depth: int) -> bytes:
        is_plain, content = self._phrases[number]
        if is_plain:
            return content
        if number not in self._known:
            self._known[number] = self.inflate(content, depth + 1)
        return self._known[number]


def _short_code(value: int) -> tuple[int, bool, int]:
    """Return length, whether the first eight bits decide, and the largest code of that length."""
    length = value & 0x1F
    return length, bool(value & 0x80), ((value >> 8) + 1 << 32 - length) - 1


def _phrases(content: bytes, before: int) -> list[tuple[bool, bytes]]:
    """Return the phrases of one dictionary, each with whether it is plain."""
    total, bits = struct.unpack_from(">II", content, 8)
    count = min(max(0, total - before), 1 << min(bits, 16))
    found = []
    for place in struct.unpack_from(f">{count}H", content, 16):
        (length,) = struct.unpack_from(">H", content, 16 + place)
        start = 16 + place + 2
        found.append((bool(length & 0x8000), content[start : start + (length & 0x7FFF)]))
    return found


class _Header(NamedTuple):
    """What the first record says."""

    compression: int
    length: int  # of the text, in bytes
    texts: int  # records
    encoding: str
    version: int
    tables: tuple[int, int]  # first and number of the records for the second compression
    trailing: int
    flows: int  # the record that says where the HTML ends and other texts begin
    name: str
    stated: dict[int, str]


def read_mobi(data: bytes, limits: Limits) -> Extraction:
    """Read an e-book.

    Raises:
        RejectedError: ``encrypted``, ``unreadable``, ``unsupported-format`` or
            ``archive-too-large``.
    """
    found = records(data)
    try:
        header = _header(found[0] if found else b"")
        text, notices = _text(found, header, limits)
    except (struct.error, IndexError) as error:
        raise damaged("it is shorter than it says") from error
    if text.startswith(_PRINT_REPLICA):
        raise RejectedError(
            "unsupported-format", "The e-book holds pictures of pages (Print Replica) and no text."
        )
    html = text.decode(header.encoding, "replace").replace("\0", "")
    markdown = whole_markdown(_AROUND.sub("", html))
    metadata = {_NAMES[kind]: value for kind, value in header.stated.items() if kind in _NAMES}
    return Extraction(
        (ExtractedPage(f"{markdown}\n" if markdown else ""),),
        "mobi",
        METHOD,
        title=header.stated.get(_TITLE) or header.name or first_heading(markdown),
        metadata=metadata,
        notices=notices,
    )


def _header(record: bytes) -> _Header:
    compression, length_of_text, texts, _, encryption = struct.unpack_from(">HxxI3H", record)
    if encryption:
        raise RejectedError(
            "encrypted",
            "The e-book is protected by rights management (DRM).",
            hint="Add a copy without protection.",
        )
    if record[16:20] != b"MOBI":
        raise damaged("its header is missing")
    length, encoding = struct.unpack_from(">I4xI", record, 20)
    (version,) = struct.unpack_from(">I", record, 36)
    place, size = struct.unpack_from(">2I", record, 84)
    first, tables, has_fields = struct.unpack_from(">2I8xI", record, 112)
    encoded = _ENCODINGS.get(encoding, "cp1252")
    return _Header(
        compression,
        length_of_text,
        texts,
        encoded,
        version,
        (first, tables),
        struct.unpack_from(">H", record, 242)[0] if length >= _LONG_HEADER else 0,
        struct.unpack_from(">I", record, 192)[0] if version >= _KINDLE_8 else 0,
        _line(record[place : place + size], encoded),
        dict(_stated(record[16 + length :], encoded)) if has_fields & 0x40 else {},
    )


def _stated(fields: bytes, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of the fields behind the header, where there are some."""
    if not fields.startswith(b"EXTH"):
        return
    (count,) = struct.unpack_from(">I", fields, 8)
    place = 12
    for _ in range(count):
        if place + 8 > len(fields):
            return
        kind, length = struct.unpack_from(">2I", fields, place)
        if kind == _TITLE or kind in _NAMES:
            yield kind, _line(fields[place + 8 : place + length], encoding)
        place += max(8, length)


def _line(text: bytes, encoding: str) -> str:
    return " ".join(text[:1_000].decode(encoding, "replace").replace("\0", "").split())


def _text(
    found: Sequence[bytes], header: _Header, limits: Limits
) -> tuple[bytes, tuple[Notice, ...]]:
    """Return the text up to where it is damaged, and what is to be said of that."""
    unpack = _unpacker(found, header)
    pieces: list[bytes] = []
    left = limits.archive_entry_bytes
    for number in range(1, header.texts + 1):
        record = found[number] if number < len(found) else b""
        try:
            piece = unpack(_without_trailing(record, header.trailing))
        except RejectedError as error:
            if error.code != "unreadable":
                raise
            break
        left -= len(piece)
        if left < 0:
            raise too_large(limits.archive_entry_bytes)
        pieces.append(piece)
    text = b"".join(pieces)
    if not text:
        raise damaged("none of its text can be read")
    notices: tuple[Notice, ...] = ()
    if len(pieces) < header.texts or len(text) < _NEARLY_ALL * header.length:
        sentence = f"It is damaged: {len(text):,} of {header.length:,} bytes of text were read."
        notices = (Notice("part-unreadable", sentence),)
    return text[: _html_end(found, header.flows)], notices


def _unpacker(found: Sequence[bytes], header: _Header) -> Callable[[bytes], bytes]:
    if header.compression == _HUFFMAN:
        first, count = header.tables
        return Huffman(found[first], found[first + 1 : first + count]).inflate
    if header.compression == _PALMDOC:
        return inflate
    if header.compression == _PLAIN:
        return bytes
    raise damaged(f"it is compressed in an unknown way ({header.compression})")


def _without_trailing(record: bytes, flags: int) -> bytes:
    """Return a record without what other programs need of it; its size stands at its end."""
    for _ in range((flags >> 1).bit_count()):
        size = 0
        for byte in record[-4:]:
            size = (0 if byte & 0x80 else size << 7) | byte & 0x7F
        record = record[: max(0, len(record) - size)]
    if flags & 1 and record:
        record = record[: -((record[-1] & 3) + 1)]
    return record


def _html_end(found: Sequence[bytes], flows: int) -> int | None:
    """Return where the HTML ends; style sheets and pictures as text stand behind it."""
    if not 0 < flows < len(found) or not found[flows].startswith(b"FDST"):
        return None
    count, _, end = struct.unpack_from(">3I", found[flows], 8)
    return int(end) if count > 1 else None
