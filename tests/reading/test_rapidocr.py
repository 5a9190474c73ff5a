"""Text recognition by RapidOCR: lines in their order, and how sure it is of them."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.text import Box
from chapterhouse.reading.pool import ReadingPool

from .conftest import SOAK, picture, png, saved
from .pdf_writer import Page

rapidocr = pytest.importorskip("chapterhouse.reading.rapidocr", exc_type=ImportError)
LEFT = [
    "The evening ferry leaves the harbour",
    "at half past seven and takes",
    "bicycles on board.",
]
PLACES = st.tuples(st.integers(0, 40), st.integers(0, 60))
LINES = st.lists(st.tuples(PLACES, st.floats(0, 1)), max_size=12)


def line(text: str, left: float, top: float, score: float = 1.0) -> tuple[Box, str, float]:
    return Box(left, top, left + 9.0 * len(text), top + 10.0), text, score


@given(LINES)
def test_every_line_is_written_once_wherever_it_stands(
    found: list[tuple[tuple[int, int], float]],
) -> None:
    lines = [line(f"line{n}", 30 * x, 20 * y) for n, ((x, y), _) in enumerate(found)]
    assert sorted(rapidocr._text(lines).split()) == sorted(text for _, text, _ in lines)


def test_a_wide_gap_parts_paragraphs_and_what_stands_level_is_one_line() -> None:
    lines = [line("one", 0, 0), line("two", 40, 1), line("three", 0, 14), line("four", 0, 60)]
    assert rapidocr._text(lines) == "one two\nthree\n\nfour"


def test_a_line_speaks_for_each_of_its_words() -> None:
    assert rapidocr._confidence([]) == 0.0
    lines = [line("a b c", 0, 0, 1.0), line("d", 0, 20, 0.6)]
    assert rapidocr._confidence(lines) == pytest.approx(0.9)


def test_pages_are_bounded_and_an_animation_is_its_first_picture() -> None:
    pictures = [png(20, 20)] * 3
    limits = Limits(image_pages=2)
    assert len(list(rapidocr._pictures(saved(pictures, "TIFF"), limits))) == 2
    assert len(list(rapidocr._pictures(saved(pictures, "GIF"), limits))) == 1
    with pytest.raises(RejectedError) as caught:
        list(rapidocr._pictures(png(20, 20), Limits(image_pixels=399)))
    assert caught.value.code == "image-too-large"


def test_what_is_transparent_is_paper() -> None:
    from PIL import Image  # noqa: PLC0415 - comes with the extra

    written = io.BytesIO()
    Image.new("RGBA", (3, 2), (0, 0, 0, 0)).save(written, "PNG")
    (pixels,) = rapidocr._pictures(written.getvalue(), Limits())
    assert pixels.shape == (2, 3, 3)
    assert pixels.min() == 255


@pytest.mark.large
@SOAK
def test_columns_of_a_picture_are_read_one_after_the_other(pool: ReadingPool) -> None:
    left, right = [f"{line} there" for line in LEFT * 3], [f"{line} back" for line in LEFT * 3]
    page = Page().lines(60, 100, left, 10).lines(330, 100, right, 10)

    text = pool.read(picture(page), "a.png").pages[0].text

    assert [line for line in text.split("\n") if line] == left + right


@pytest.mark.large
@SOAK
def test_the_cells_of_a_row_stay_on_its_line(pool: ReadingPool) -> None:
    page = Page()
    for row, (name, value) in enumerate((("Glucose", "118"), ("Iron", "14.2"), ("Zinc", "0.9"))):
        page.text(72, 100 + 16 * row, name).text(300, 100 + 16 * row, value)

    text = pool.read(picture(page), "a.png").pages[0].text

    assert text.split("\n") == ["Glucose 118", "Iron 14.2", "Zinc 0.9"]


@pytest.mark.large
@SOAK
def test_an_upside_down_picture_is_turned(pool: ReadingPool) -> None:
    page = Page()
    for number, line in enumerate(LEFT):
        page.turned(500, 700 - 20 * number, line, 12, (-1, 0, 0, -1))

    assert pool.read(picture(page), "a.png").pages[0].text.split("\n") == LEFT


@pytest.mark.large
@SOAK
def test_every_page_of_a_tiff_is_read(pool: ReadingPool) -> None:
    scans = [picture(Page().text(72, 100, text, 14)) for text in ("One page.", "Two pages.")]
    pages = pool.read(saved(scans, "TIFF"), "a.tif").pages

    assert [(page.text, page.number) for page in pages] == [("One page.", 1), ("Two pages.", 2)]


@pytest.mark.parametrize("length", [40, 60])
def test_a_damaged_image_is_unreadable(pool: ReadingPool, length: int) -> None:
    with pytest.raises(RejectedError) as caught:
        pool.read(png(100, 100)[:length], "a.png")
    assert caught.value.code == "unreadable"
