"""Pages of a PDF as PNG: grey for text recognition, in their colours for people."""

import ctypes
import struct
import zlib
from typing import Any, Final

from pypdfium2 import raw

_POINTS_AN_INCH: Final = 72
_RESOLUTION: Final = 200  # dots an inch; both engines read letters 20 pixels high well
_MOST_PIXELS: Final = 25_000_000
_SHOWN: Final = 110  # dots an inch on a screen
_LONGEST_SIDE: Final = 4_000  # pixels
_LEVEL: Final = 3  # of compression: more makes pages hardly smaller, and takes twice as long


def rendered(page: Any, size: tuple[float, float]) -> bytes:
    """Return a loaded page, whose size is in points, as a grey PNG for text recognition."""
    scale = _RESOLUTION / _POINTS_AN_INCH
    pixels = max(1.0, size[0] * size[1] * scale * scale)
    scale *= min(1.0, (_MOST_PIXELS / pixels) ** 0.5)
    width, height = max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
    return png(_drawn(page, width, height, channels=1), width, height, channels=1, level=1)


def page_image(page: Any, form: Any) -> bytes:
    """Return a page as people see it, as a PNG; grey where it has no other colours.

    Args:
        page: As pypdfium2 has it.
        form: The handle of the document's form, which draws its fields; or None.
    """
    size = page.get_size()
    scale = min(_SHOWN / _POINTS_AN_INCH, _LONGEST_SIDE / max(1.0, *size))
    width, height = (max(1, round(side * scale)) for side in size)
    pixels = _drawn(page.raw, width, height, channels=3, form=form)
    grey = pixels[::3]
    if grey == pixels[1::3] == pixels[2::3]:
        return png(grey, width, height, channels=1, level=_LEVEL)
    return png(pixels, width, height, channels=3, level=_LEVEL)


def _drawn(page: Any, width: int, height: int, *, channels: int, form: Any = None) -> bytes:
    """Return the pixels of a page, row by row: one byte each, or red, green and blue."""
    kind = raw.FPDFBitmap_Gray if channels == 1 else raw.FPDFBitmap_BGR
    colours = raw.FPDF_GRAYSCALE if channels == 1 else raw.FPDF_REVERSE_BYTE_ORDER
    bitmap = raw.FPDFBitmap_CreateEx(width, height, kind, None, 0)
    place = (0, 0, width, height, 0, raw.FPDF_ANNOT | colours)
    try:
        raw.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        raw.FPDF_RenderPageBitmap(bitmap, page, *place)
        if form is not None:
            raw.FPDF_FFLDraw(form, bitmap, page, *place)
        stride, length = raw.FPDFBitmap_GetStride(bitmap), width * channels
        pixels = ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        raw.FPDFBitmap_Destroy(bitmap)
    rows = (pixels[start : start + length] for start in range(0, stride * height, stride))
    return pixels if stride == length else b"".join(rows)


def png(pixels: bytes, width: int, height: int, *, channels: int, level: int) -> bytes:
    """Return 8-bit pixels, grey or of three colours, as a PNG (RFC 2083)."""
    length = width * channels
    rows = b"".join(b"\0" + pixels[row * length : (row + 1) * length] for row in range(height))
    header = struct.pack(">2I5B", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, level)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
