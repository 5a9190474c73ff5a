"""Pages of a PDF that are pictures of text: told apart, rendered and given to OCR."""

import ctypes
import struct
import zlib
from typing import Any

import pypdfium2.raw as pdfium

from chapterhouse.errors import RejectedError
from chapterhouse.reading.ocr import Recognised, how_to_install, ocr_image, ocr_notice
from chapterhouse.reading.pdf_page import PageLayout
from chapterhouse.types import Notice

_FEW_CHARACTERS = 30  # a page with less beside a large picture has a stamp, no text layer
_LARGE = 0.5  # share of the page that such a picture covers
_RESOLUTION = 200  # dots an inch; both engines read letters 20 pixels high well
_MOST_PIXELS = 25_000_000
_POINTS_AN_INCH = 72


def is_scan(layout: PageLayout, width: float, height: float) -> bool:
    """Whether a page shows something where its text should be.

    A page that draws nothing at all is blank, and there is nothing to miss on it.
    """
    if layout.plain or layout.characters >= _FEW_CHARACTERS:
        return False
    if not layout.lines:
        return layout.drawn.objects > 0
    largest = max((image.width * image.height for image in layout.drawn.images), default=0.0)
    return largest >= _LARGE * width * height


def recognised(
    page: Any, size: tuple[float, float], number: int
) -> tuple[Recognised | None, Notice | None]:
    """Return what OCR finds on a loaded page (None where it failed), and what to tell of it.

    Args:
        page: A loaded ``FPDF_PAGE``.
        size: Width and height of the page in points.
        number: Number of the page, for the notice.
    """
    try:
        found = ocr_image(rendered(page, size))
    except RejectedError as error:
        sentence = f"Page {number} has no text, and OCR failed on it: {error.message}"
        return None, Notice("ocr-failed", sentence, page=number)
    if found is None:
        sentence = f"Page {number} has no text, and {how_to_install()}"
        return None, Notice("ocr-not-installed", sentence, page=number)
    return found[0], ocr_notice(found[0], number)


def rendered(page: Any, size: tuple[float, float]) -> bytes:
    """Return a loaded page, whose size is in points, as a grey PNG."""
    scale = _RESOLUTION / _POINTS_AN_INCH
    pixels = max(1.0, size[0] * size[1] * scale * scale)
    scale *= min(1.0, (_MOST_PIXELS / pixels) ** 0.5)
    width, height = max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_Gray, None, 0)
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_GRAYSCALE
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        start = pdfium.FPDFBitmap_GetBuffer(bitmap)

        return png(ctypes.string_at(start, stride * height), width, height, stride)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)


def png(
    pixels: bytes, width: int, height: int, stride: int, *, colours: int = 1, level: int = 1
) -> bytes:
    """Return 8-bit pixels, rows ``stride`` bytes apart, as a PNG (RFC 2083).

    Args:
        pixels: Grey, or red, green and blue in turn.
        width: In pixels.
        height: Likewise.
        stride: Bytes, at least ``width * colours``.
        colours: 1 for grey, 3 for colours.
        level: How hard zlib tries, 1 to 9.
    """
    wide = width * colours
    rows = b"".join(b"\0" + pixels[row * stride : row * stride + wide] for row in range(height))
    header = struct.pack(">2I5B", width, height, 8, 2 if colours > 1 else 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, level)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
