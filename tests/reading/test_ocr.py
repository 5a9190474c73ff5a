import struct
import zlib

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading import ocr
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.image_size import image_size
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool

from .conftest import png

needs_tesseract = pytest.mark.skipif(not ocr.tesseract(), reason="tesseract is not installed")
# Five by seven dots a letter, as on a line printer.
LETTERS = {
    "F": ("#####", "#....", "#....", "####.", "#....", "#....", "#...."),
    "E": ("#####", "#....", "#....", "####.", "#....", "#....", "#####"),
    "R": ("####.", "#...#", "#...#", "####.", "#.#..", "#..#.", "#...#"),
    "Y": ("#...#", "#...#", ".#.#.", "..#..", "..#..", "..#..", "..#.."),
}


def written(word: str, dot: int = 6) -> bytes:
    """A PNG of a word in black on white."""
    rows = []
    for line in range(7):
        dots = "..".join(LETTERS[letter][line] for letter in word)
        pixels = b"".join((b"\0" if mark == "#" else b"\xff") * dot for mark in f"....{dots}....")
        rows += [b"\0" + pixels] * dot
    width = len(rows[0]) - 1
    blank = [b"\0" + b"\xff" * width] * (4 * dot)
    content = b"".join([*blank, *rows, *blank])
    size = struct.pack(">2I", width, len(rows) + 2 * len(blank))
    empty = png(1, 1)
    start, stop = empty.find(b"IHDR"), empty.find(b"IEND") - 4
    header = b"IHDR" + size + empty[start + 12 : start + 17]

    def chunk(data: bytes) -> bytes:
        return struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))

    return (
        empty[: start - 4] + chunk(header) + chunk(b"IDAT" + zlib.compress(content)) + empty[stop:]
    )


@needs_tesseract
def test_an_image_of_a_word_is_read_in_a_worker(pool: ReadingPool) -> None:
    extraction = pool.read(written("FERRY"), "a.png")
    assert extraction.pages[0].text.strip() == "FERRY"
    assert extraction.method.startswith("tesseract ")
    assert extraction.notices == ()
    assert not extraction.markdown


@needs_tesseract
def test_an_image_without_words_says_so(pool: ReadingPool) -> None:
    assert [notice.code for notice in pool.read(png(100, 100), "a.png").notices] == ["no-text"]


@needs_tesseract
def test_a_damaged_image_is_unreadable() -> None:
    with pytest.raises(RejectedError) as caught:
        ocr.ocr_image(png()[:40])
    assert caught.value.code == "unreadable"


@needs_tesseract
def test_a_flood_of_pixels_is_never_decoded() -> None:
    with pytest.raises(RejectedError) as caught:
        ocr.ocr_image(png(claimed=(10_000, 10_000)))
    assert caught.value.code == "image-too-large"


def test_without_tesseract_an_image_is_empty_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "tesseract", lambda: "")
    extraction = read(png(), "a.png", Limits())
    assert ocr.ocr_image(png()) is None
    assert [notice.code for notice in extraction.notices] == ["ocr-not-installed"]
    assert not any(page.text for page in extraction.pages)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(3, 5), (3, 5)),
        (b"GIF89a\x03\0\x05\0", (3, 5)),
        (b"BM" + bytes(12) + struct.pack("<I2i", 40, 3, -5), (3, 5)),
        (
            b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x0b\x08\0\x05\0\x03",
            (3, 5),
        ),
        (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x02\0\0\x04\0\0", (3, 5)),
        (b"RIFF\0\0\0\0WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 2 | 4 << 14), (3, 5)),
        (b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + b"\x03\0\x05\0", (3, 5)),
        (
            b"II*\0\x08\0\0\0\x02\0"
            + struct.pack("<2H2I", 256, 3, 1, 3)
            + struct.pack("<2H2I", 257, 4, 1, 5),
            (3, 5),
        ),
        (
            b"MM\0*\0\0\0\x08\0\x02"
            + struct.pack(">2HI2H", 256, 3, 1, 3, 0)
            + struct.pack(">2H2I", 257, 4, 1, 5),
            (3, 5),
        ),
        (b"\x89PNG\r\n", None),
        (b"\xff\xd8\xff\xe0\0\x04", None),
        (b"II*\0\xff\xff\xff\xff", None),
        (b"no image", None),
    ],
)
def test_sizes_are_read_from_headers(data: bytes, size: tuple[int, int] | None) -> None:
    assert image_size(data) == size
