import struct

import pytest

from chapterhouse.reading.signatures import image_size

from .conftest import png


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
