"""Width and height of an image from its header, so that a pixel flood is never decoded."""

import struct
from collections.abc import Callable


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels, or None where the header does not tell.

    Of a TIFF it is the first page.
    """
    for signature, measure in _MEASURES:
        if data.startswith(signature):
            try:
                return measure(data)
            except struct.error:
                return None
    return None


def _png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">2I", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<2H", data, 6)
    return width, height


def _bmp(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<2i", data, 18)
    return abs(width), abs(height)


def _jpeg(data: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 4 <= len(data):
        if data[place] != 0xFF:  # noqa: PLR2004 - every marker begins so
            return None
        marker = data[place + 1]
        if marker == 0xFF:  # noqa: PLR2004 - fill
            place += 1
            continue
        # Start of frame; C4, C8 and CC are tables.
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:  # noqa: PLR2004
            height, width = struct.unpack_from(">2H", data, place + 5)
            return width, height
        place += 2 + int(struct.unpack_from(">H", data, place + 2)[0])
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return (
            1 + int.from_bytes(data[24:27], "little"),
            1 + int.from_bytes(data[27:30], "little"),
        )
    if kind == b"VP8L":
        bits = int(struct.unpack_from("<I", data, 21)[0])
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<2H", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _tiff(data: bytes) -> tuple[int, int] | None:
    order = "<" if data.startswith(b"II") else ">"
    (start,) = struct.unpack_from(order + "I", data, 4)
    (count,) = struct.unpack_from(order + "H", data, start)
    found: dict[int, int] = {}
    for index in range(min(count, 1_000)):
        place = start + 2 + 12 * index
        tag, kind = struct.unpack_from(order + "2H", data, place)
        short = kind == 3  # noqa: PLR2004 - SHORT; otherwise LONG
        (found[tag],) = struct.unpack_from(order + ("H" if short else "I"), data, place + 8)
    width, height = found.get(256), found.get(257)
    return (width, height) if width is not None and height is not None else None


_MEASURES: tuple[tuple[bytes, Callable[[bytes], tuple[int, int] | None]], ...] = (
    (b"\x89PNG", _png),
    (b"GIF8", _gif),
    (b"BM", _bmp),
    (b"\xff\xd8", _jpeg),
    (b"RIFF", _webp),
    (b"II*\0", _tiff),
    (b"MM\0*", _tiff),
)
