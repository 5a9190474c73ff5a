"""Minimal e-books for tests, from the public descriptions of their format."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

PAGE: Final = 4_096
LONG: Final = 200  # phrases with a code of one byte; the others have two


def database(records: Sequence[bytes], kind: bytes = b"BOOKMOBI") -> bytes:
    place = 78 + 8 * len(records) + 2
    entries = b""
    for number, record in enumerate(records):
        entries += struct.pack(">II", place, number)
        place += len(record)
    head = b"A_book".ljust(32, b"\0") + bytes(28) + kind + bytes(8)
    return head + struct.pack(">H", len(records)) + entries + b"\0\0" + b"".join(records)


def deflate(text: bytes) -> bytes:
    """PalmDOC's compression, in all of its four ways."""
    out = bytearray()
    place = 0
    while place < len(text):
        length, distance = max(((n, place - at) for n, at in _matches(text, place)), default=(0, 0))
        byte = text[place]
        if length:
            out += struct.pack(">H", 0x8000 | distance << 3 | length - 3)
            place += length
        elif byte == 0x20 and 0x40 <= text[place + 1 : place + 2][:1].ljust(1)[0] < 0x80:
            out.append(text[place + 1] ^ 0x80)
            place += 2
        elif byte == 0 or 9 <= byte < 0x80:
            out.append(byte)
            place += 1
        else:
            out += bytes((1, byte))
            place += 1
    return bytes(out)


def _matches(text: bytes, place: int) -> Iterator[tuple[int, int]]:
    for length in range(min(10, len(text) - place), 2, -1):
        at = text.rfind(text[place : place + length], max(0, place - 2_047), place + length - 1)
        if at >= 0:
            yield length, at


def huffman(
    text: bytes, phrases: Sequence[bytes] = (), nested: Sequence[int] = ()
) -> tuple[bytes, list[bytes]]:
    """A text in the other compression, byte by byte, and the records of its tables.

    The phrases with the numbers in ``nested`` are themselves compressed.
    """
    letters = [bytes([n]) for n in range(256)]
    known = letters + list(phrases)
    short = [8 | 0x80 | 255 << 8 if byte >= 256 - LONG else 9 for byte in range(256)]
    pairs: list[int] = []
    for length in range(1, 33):
        least = (1 << length) - 1 if length < 16 else 0
        pairs += [least, (256 - LONG) * 256 - 1 + LONG if length == 16 else 0]
    table = b"HUFF" + struct.pack(">3I", 24, 24, 24 + 1_024) + bytes(8)
    table += struct.pack(">256I", *short) + struct.pack(">64I", *pairs)

    def coded(content: bytes) -> bytes:
        return b"".join(code(byte) for byte in content)

    stored = [
        (struct.pack(">H", len(coded(one))) + coded(one))
        if number in nested
        else struct.pack(">H", 0x8000 | len(one)) + one
        for number, one in enumerate(known)
    ]
    dictionaries = [
        _dictionary(stored[at : at + 128], len(known)) for at in range(0, len(known), 128)
    ]
    return coded(text), [table, *dictionaries]


def code(phrase: int) -> bytes:
    """What stands for a phrase."""
    if phrase < LONG:
        return bytes([255 - phrase])
    return struct.pack(">H", (256 - LONG) * 256 - 1 + LONG - phrase)


def _dictionary(stored: Sequence[bytes], total: int) -> bytes:
    places, place = [], 2 * len(stored)
    for one in stored:
        places.append(place)
        place += len(one)
    head = b"CDIC" + struct.pack(">3I", 16, total, 7)
    return head + struct.pack(f">{len(places)}H", *places) + b"".join(stored)


def mobi(
    html: str,
    *,
    compression: int = 2,
    encryption: int = 0,
    version: int = 6,
    encoding: str = "utf-8",
    name: str = "The ferry",
    stated: Mapping[int, str] | None = None,
    trailing: int = 0,
    flows: Sequence[str] = (),
) -> bytes:
    """A book; ``flows`` are texts behind the HTML, as style sheets of the newer format."""
    whole = "".join((html, *flows)).encode(encoding)
    pieces = [whole[at : at + PAGE] for at in range(0, len(whole), PAGE)]
    tables: list[bytes] = []
    if compression == 2:
        pieces = [deflate(piece) for piece in pieces]
    elif compression == 17480:
        tables = huffman(b"")[1]
        pieces = [huffman(piece)[0] for piece in pieces]
    for bit in range(16):
        if trailing >> bit & 1:
            pieces = [piece + (b"x\x01" if bit == 0 else b"junk\x85") for piece in pieces]
    fields = b""
    if stated:
        rows = [
            struct.pack(">II", kind, 8 + len(said.encode(encoding))) + said.encode(encoding)
            for kind, said in stated.items()
        ]
        size = 12 + sum(map(len, rows))
        fields = b"EXTH" + struct.pack(">II", size, len(rows)) + b"".join(rows)
    head = bytearray(16 + 232)
    struct.pack_into(">HxxI4H", head, 0, compression, len(whole), len(pieces), PAGE, encryption, 0)
    head[16:20] = b"MOBI"
    codes = {"utf-8": 65001, "cp1252": 1252}
    struct.pack_into(">3I", head, 20, 232, 2, codes[encoding])
    struct.pack_into(">I", head, 36, version)
    title = name.encode(encoding)
    struct.pack_into(">II", head, 84, len(head) + len(fields), len(title))
    struct.pack_into(">I", head, 104, version)
    struct.pack_into(">II", head, 112, len(pieces) + 1, len(tables))
    struct.pack_into(">I", head, 128, 0x40 if stated else 0)
    struct.pack_into(">II", head, 192, len(pieces) + len(tables) + 1, 1 + len(flows))
    struct.pack_into(">H", head, 242, trailing)
    ends = [len("".join((html, *flows[:n])).encode(encoding)) for n in range(len(flows) + 1)]
    table = b"FDST" + struct.pack(">II", 12, len(ends))
    for start, end in zip([0, *ends], ends, strict=False):
        table += struct.pack(">II", start, end)
    return database([bytes(head) + fields + title, *pieces, *tables, table])
