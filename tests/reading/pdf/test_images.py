"""Pages as pictures, and the places of their lines."""

import struct
import zlib

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf import images
from chapterhouse.reading.pdf.images import WORDS, draw_pages
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.types import Extraction

LINES = ["The ferry leaves at nine.", "Dogs travel free."]


def drawn(pages: list[Page], wanted: str = "1-50") -> Extraction:
    return draw_pages(write_pdf(pages), wanted, Limits())


def pixels(png: bytes) -> tuple[int, int, list[bytes]]:
    """Return width, height and rows of an RGB picture with a single chunk of data."""
    width, height = struct.unpack_from(">2I", png, 16)
    start = png.index(b"IDAT")
    (length,) = struct.unpack_from(">I", png, start - 4)
    data = zlib.decompress(png[start + 4 : start + 4 + length])
    step = 3 * width + 1
    return width, height, [data[row * step + 1 : (row + 1) * step] for row in range(height)]


def test_each_line_has_its_place_and_all_ink_lies_in_one() -> None:
    found = drawn([Page().text(72, 100, LINES[0]).text(300, 600, LINES[1], 20)])
    images = {member.path: member.data for member in found.members}
    width, height, rows = pixels(images["1"])

    assert [(page.text, page.number) for page in found.pages] == [(line, 1) for line in LINES]
    boxes = [[float(part) for part in page.label.split()] for page in found.pages]
    inked = set()
    for y, row in enumerate(rows):
        for x in range(width):
            if row[3 * x] < 128:
                inside = [
                    number
                    for number, (left, top, right, bottom) in enumerate(boxes)
                    if left * width - 1 <= x <= right * width + 1
                    and top * height - 1 <= y <= bottom * height + 1
                ]
                assert len(inside) == 1
                inked.update(inside)
    assert inked == {0, 1}


def test_the_words_of_the_whole_file_come_with_a_few_of_its_pages() -> None:
    found = drawn([Page().text(72, 100, f"Page of day {n}") for n in range(1, 6)], "2-3")
    members = {member.path: member.data for member in found.members}

    assert [page.text for page in found.pages] == ["Page of day 2", "Page of day 3"]
    assert set(members) == {WORDS, "2", "3"}
    assert members[WORDS].decode().split().count("day") == 5
    assert found.metadata["pages"] == "5"


def test_what_stands_far_apart_is_a_line_each() -> None:
    found = drawn([Page().text(72, 100, "Total").text(480, 100, "17.20")])

    assert [page.text for page in found.pages] == ["Total", "17.20"]


def test_at_most_fifty_pages_are_drawn() -> None:
    found = drawn([Page().text(72, 100, "Day") for _ in range(53)], "2-53")

    numbers = [member.path for member in found.members if member.path != WORDS]
    assert numbers == [str(number) for number in range(2, 52)]


def test_pictures_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "_MOST_BYTES", 1)

    found = drawn([Page().text(72, 100, "Day") for _ in range(3)])

    assert [member.path for member in found.members] == [WORDS, "1"]
    assert [notice.sentence for notice in found.notices] == [
        "Pages 2 to 3 are not shown: drawing them is too much."
    ]


def test_a_huge_page_is_drawn_smaller() -> None:
    data = write_pdf([Page().text(72, 100, "Map")]).replace(b"0 0 612 792", b"0 0 9000 9e3")

    (_, image) = draw_pages(data, "1-1", Limits()).members

    width, height = struct.unpack_from(">2I", image.data, 16)
    assert width * height <= 2_510_000


def test_a_broken_file_is_refused_in_the_worker() -> None:
    reader = "chapterhouse.reading.pdf.images:draw_pages"
    with ReadingPool(1, reader=reader) as pool, pytest.raises(RejectedError) as caught:
        pool.read(b"%PDF-1.7\nnothing that is one", "1-50")

    assert caught.value.code == "unreadable"
    assert "cannot be opened as a PDF" in caught.value.message
