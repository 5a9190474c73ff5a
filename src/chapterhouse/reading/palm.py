"""Palm databases: their records, and the two ways in which e-books compress text in them.

Sources: the MobileRead wiki on PDB, PalmDOC and MOBI, and the notes on Huffman records of the
Rust library mobi; the formats' makers describe none of them.
"""

import re
import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from chapterhouse.errors import RejectedError

_RECORDS: Final = 76  # where their number stands, and behind it their places
_LONGEST_PHRASE: Final = 1_000_000
_DEEPEST_PHRASE: Final = 32  # phrases in phrases
_LITERAL: Final = re.compile(rb"[\0\x09-\x7f]+")


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
