"""Pages as pictures, and passages found on them: by their ink, and whole or not at all."""

import io
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import show
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf import passages
from chapterhouse.reading.worker import encode_request
from chapterhouse.types import PageView, Passage, Rectangle


class Picture(NamedTuple):
    width: int
    height: int
    channels: int
    rows: tuple[bytes, ...]

    def ink(self) -> set[tuple[int, int]]:
        """Column and row of every pixel that is not white."""
        return {
            (place // self.channels, number)
            for number, row in enumerate(self.rows)
            for place, value in enumerate(row)
            if value < 128
        }


def decoded(png: bytes) -> Picture:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, place = {}, 8
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        kind, body = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        assert struct.unpack_from(">I", png, place + 8 + length)[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        place += 12 + length
    width, height, depth, colours, *rest = struct.unpack(">2I5B", chunks[b"IHDR"])
    assert (depth, rest) == (8, [0, 0, 0])
    channels = {0: 1, 2: 3}[colours]
    data, size = zlib.decompress(chunks[b"IDAT"]), width * channels + 1
    assert len(data) == size * height
    rows = tuple(data[start : start + size] for start in range(0, len(data), size))
    assert {row[0] for row in rows} == {0}
    return Picture(width, height, channels, tuple(row[1:] for row in rows))


def shown(data: bytes, page: int = 0, *asked: Passage) -> PageView:
    return show(data, encode_request(page, asked), Limits())


def changed(data: bytes, change: Callable[[Any], object]) -> bytes:
    """Return a PDF with something changed on each page."""
    document = pdfium.PdfDocument(data)
    for page in document:
        change(page)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def marked_ink(picture: Picture, rectangles: Sequence[Rectangle]) -> tuple[int, int]:
    """Count the dark pixels inside and outside of rectangles."""
    ink = picture.ink()
    inside = {
        (x, y)
        for left, top, right, bottom in rectangles
        for x, y in ink
        if left * picture.width - 1 <= x <= right * picture.width
        and top * picture.height - 1 <= y <= bottom * picture.height
    }
    return len(inside), len(ink - inside)


ONE = Page().text(72, 100, "Adults pay nine euros").text(72, 114, "in summer.")
OTHER = Page().text(72, 400, "Dogs travel free.")
ASKED = Passage(1, "Adults pay nine euros in summer.")
UP = Page().turned(100, 500, "Adults pay nine", 11, (0, 1, -1, 0))
UP.turned(114, 500, "euros in summer.", 11, (0, 1, -1, 0))
CROP = (50, 300, 300, 780)
TURNS: dict[str, tuple[Page, Callable[[Any], object]]] = {
    "as it is": (ONE, lambda _: None),
    "a quarter": (UP, lambda page: page.set_rotation(90)),
    "upside down": (ONE, lambda page: page.set_rotation(180)),
    "cropped": (ONE, lambda page: page.set_cropbox(*CROP)),
    "both": (ONE, lambda page: (page.set_cropbox(*CROP), page.set_rotation(270))),
    "sideways": (UP, lambda _: None),
}


@pytest.mark.parametrize(("page", "turn"), TURNS.values(), ids=TURNS)
def test_the_rectangles_hold_the_ink_of_the_passage_and_no_other(
    page: Page, turn: Callable[[Any], object]
) -> None:
    alone = shown(changed(write_pdf([page]), turn), 1, ASKED)
    picture = decoded(alone.png)
    (place,) = alone.places
    assert len(place.rectangles) == 2
    inside, outside = marked_ink(picture, place.rectangles)
    assert inside > 200
    assert outside == 0
    more = Page([*page.operators, *OTHER.operators])
    both = shown(changed(write_pdf([more]), turn), 1, ASKED)
    found = marked_ink(decoded(both.png), both.places[0].rectangles)
    assert found[0] == inside
    assert found[1] > 100


@pytest.mark.parametrize(
    ("size", "pixels"),
    [
        ((612, 792), (935, 1210)),
        ((20_000, 1_000), (4_000, 200)),
        ((3, 2), (5, 3)),
        ((0.5, 14_000), (1, 4_000)),
    ],
)
def test_a_picture_has_bounds(size: tuple[float, float], pixels: tuple[int, int]) -> None:
    data = changed(write_pdf([ONE]), lambda page: page.set_mediabox(0, 0, *size))
    picture = decoded(shown(data, 1).png)
    assert (picture.width, picture.height) == pixels


def test_a_page_has_colours_only_where_it_shows_some() -> None:
    red = Page([*ONE.operators, "1 0 0 rg 100 100 50 50 re f"])
    pages = [decoded(shown(write_pdf([ONE, red]), number).png) for number in (1, 2)]
    assert [one.channels for one in pages] == [1, 3]
    assert b"\xff\x00\x00" in pages[1].rows[1210 - 200]


def test_there_is_no_picture_of_a_page_that_is_none() -> None:
    assert [shown(write_pdf([ONE]), number).png for number in (0, 2, -1)] == [b""] * 3
    with pytest.raises(RejectedError) as caught:
        shown(b"PK\x03\x04", 1)
    assert caught.value.code == "unsupported-format"
    with pytest.raises(RejectedError) as caught:
        shown(write_pdf([ONE], password="x"), 1)
    assert caught.value.code == "encrypted"


def found(page: Page, passage: Passage) -> tuple[str, str]:
    """Return what stands in the rectangles of a passage, or why there are none."""
    data = write_pdf([page])
    (place,) = shown(data, 0, passage).places
    document = pdfium.PdfDocument(data)
    textpage = document[0].get_textpage()
    lines = [
        textpage.get_text_bounded(
            left=left * 612,
            right=right * 612,
            bottom=792 - (0.75 * bottom + 0.25 * top) * 792,
            top=792 - (0.25 * bottom + 0.75 * top) * 792,
        )
        for left, top, right, bottom in place.rectangles
    ]
    return "".join("".join(lines).replace("\x02", "-").split()), place.reason


TABLE = Page().grid([72, 200, 300, 400], [100, 120, 140])
for row, cells in enumerate((("Berth", "Length", "Owner"), ("B1", "24 m", "Ferry"))):
    for x, cell in zip((80, 210, 310), cells, strict=True):
        TABLE.text(x, 114 + 20 * row, cell)
TORN = Page().lines(72, 100, ["It is a well-known prom-", "ise of the well-", "known firm."])
CONTENTS = Page().text(72, 100, "Fees . . . . . . . . . . . . . . 12")


@pytest.mark.parametrize(
    ("page", "text", "wanted"),
    [
        (TORN, "well-known promise of the well-known", "well-knownprom-iseofthewell-known"),
        (ONE, "## pay\n\nnine", "paynine"),
        (Page().text(72, 100, "\u2022 oars"), "- oars", "oars"),
        (TABLE, "| B1 | 24 m | Ferry |", "B124mFerry"),
        (CONTENTS, "Fees ... 12", "Fees..............12"),
        (Page().text(72, 100, "# 5"), "\\# 5", "5"),
    ],
)
def test_what_reading_changes_is_no_hindrance(page: Page, text: str, wanted: str) -> None:
    assert found(page, Passage(1, text)) == (wanted, "")


def test_cells_of_a_row_are_marked_one_by_one() -> None:
    (place,) = shown(write_pdf([TABLE]), 0, Passage(1, "| B1 | 24 m | Ferry |")).places
    assert len(place.rectangles) == 3


TWICE = Page().lines(
    72, 100, ["Adults pay in summer", "nine euros.", "Children pay in winter", "nine euros."]
)


@pytest.mark.parametrize(
    ("passage", "lines"),
    [
        (Passage(1, "nine euros.", "in winter "), (3,)),
        (Passage(1, "nine euros.", "in summer ", " Children"), (1,)),
        (Passage(1, "nine euros."), passages.REPEATED),
        (Passage(1, "nine euros.", "er"), passages.REPEATED),
        (Passage(1, "ten euros."), passages.ABSENT),
        (Passage(1, "euros. nine"), passages.ABSENT),
        (Passage(1, "| --- |"), passages.ABSENT),
        (Passage(9, "nine"), passages.UNREADABLE),
    ],
)
def test_of_several_places_the_surroundings_tell_or_none_is_marked(
    passage: Passage, lines: tuple[int, ...] | str
) -> None:
    (place,) = shown(write_pdf([TWICE]), 0, passage).places
    if isinstance(lines, str):
        assert (place.rectangles, place.reason) == ((), lines)
        return
    middles = [(top + bottom) / 2 * 792 for _, top, _, bottom in place.rectangles]
    assert [round((middle - 97) / 14) for middle in middles] == list(lines)
    assert place.page == 1


def test_what_is_hidden_or_written_over_is_not_marked() -> None:
    cropped = changed(write_pdf([ONE]), lambda page: page.set_cropbox(50, 300, 300, 685))
    assert shown(cropped, 0, ASKED).places[0].reason == passages.HIDDEN
    over = Page([*ONE.operators, *Page().text(75, 101, "Xyz qrs").operators])
    assert shown(write_pdf([over]), 0, ASKED).places[0].reason in {
        passages.CROWDED, passages.ABSENT
    }  # fmt: skip
