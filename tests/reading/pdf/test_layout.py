import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reading.pdf_writer import HEIGHT, WIDTH, Page, write_pdf

from chapterhouse.reading.pdf.document import png, read_pdf

LEFT = [f"left column line {number} goes on and on" for number in range(12)]
RIGHT = [f"right column line {number} goes on as well" for number in range(12)]


def text_of(page: Page) -> str:
    return read_pdf(write_pdf([page]), "x.pdf").pages[0].text


def test_columns_drawn_row_by_row_are_read_one_after_the_other() -> None:
    page = Page().text(72, 72, "A title across both columns of the page", 20)
    for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        page.text(72, 120 + 14 * number, left).text(330, 120 + 14 * number, right)
    text = text_of(page)

    assert text.startswith("# A title across both columns of the page\n\n")
    assert " ".join(LEFT) in text
    assert text.endswith(" ".join(RIGHT))


def test_columns_drawn_one_after_the_other_stay_so() -> None:
    page = Page().lines(330, 120, RIGHT).lines(72, 120, LEFT)
    text = text_of(page)

    assert text.index("left column line 11") < text.index("right column line 0") or text.index(
        "right column line 11"
    ) < text.index("left column line 0")


def test_three_columns() -> None:
    page = Page()
    texts = [
        [f"{name} column {number} of words" for number in range(10)]
        for name in ("one", "two", "six")
    ]
    for number in range(10):
        for column, lines in enumerate(texts):
            page.text(40 + 180 * column, 100 + 14 * number, lines[number])

    assert text_of(page).split() == " ".join(" ".join(lines) for lines in texts).split()


def test_a_sideways_note_does_not_tear_the_text() -> None:
    page = Page().lines(72, 120, LEFT[:6]).turned(30, 600, "archive stamp 1987", 9, (0, 1, -1, 0))
    page.lines(72, 204, LEFT[6:])
    text = text_of(page)

    assert "archive stamp 1987" in text
    assert " ".join(LEFT[:6]) in text


def test_dot_leaders_shrink_and_entries_keep_their_lines() -> None:
    page = Page().lines(
        72, 120, [f"Chapter {number} {'. ' * 40}{number * 7}" for number in range(1, 4)]
    )

    assert text_of(page).split("\n") == ["Chapter 1 ... 7", "Chapter 2 ... 14", "Chapter 3 ... 21"]


@settings(max_examples=settings().max_examples // 2)
@given(st.integers(0, 2**32))
def test_no_word_is_lost_wherever_it_stands(seed: int) -> None:
    chance = random.Random(seed)
    page = Page()
    words = [f"word{number}" for number in range(chance.randrange(1, 60))]
    for word in words:
        place = chance.randrange(20, WIDTH - 80), chance.randrange(120, HEIGHT - 120)
        page.text(*place, word, chance.choice([8, 11, 11, 16]), bold=chance.random() < 0.2)
    for _ in range(chance.randrange(6)):
        x, y = chance.randrange(WIDTH), chance.randrange(HEIGHT)
        page.grid([x, x + 90, x + 180], [y, y + 40, y + 80])
    text = text_of(page)

    assert all(word in text for word in words)


def test_a_grey_png_has_its_size_in_the_header() -> None:
    made = png(bytes(range(20)), 4, 2, 10)

    assert made[12:16] == b"IHDR"
    assert int.from_bytes(made[16:20], "big") == 4
    assert int.from_bytes(made[20:24], "big") == 2
