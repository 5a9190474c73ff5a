"""E-books of Mobipocket and Kindle (``.mobi``, ``.azw3``): their HTML, which is in a Palm database.

A file may hold a book twice, for old devices and for new ones; the first is read. In the newer
one the HTML of all chapters stands in order, the frame of each before what belongs into it.
"""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from chapterhouse.errors import RejectedError
from chapterhouse.reading.html import whole_markdown
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.members import too_large
from chapterhouse.reading.palm import Huffman, damaged, inflate, records
from chapterhouse.reading.plain import METHOD, first_heading
from chapterhouse.types import ExtractedPage, Extraction, Notice

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
    metadata = {_NAMES[kind]: said for kind, said in header.stated.items() if kind in _NAMES}
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
