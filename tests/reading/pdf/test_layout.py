"""What stands on a page: columns and lines in reading order, headings, what is escaped."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.pdf_writer import HEIGHT, WIDTH, Page, opened, write_pdf

from chapterhouse.reading.markdown import escaped
from chapterhouse.reading.pdf.document import read_pdf
from chapterhouse.reading.pdf.fields import PageMarks
from chapterhouse.reading.pdf.page import (
    Line,
    PageLayout,
    Style,
    blocks,
    joined,
    outline_key,
    page_layout,
    style_of,
)
from chapterhouse.reading.pdf.text import (
    Box,
    Word,
    page_words,
)
from chapterhouse.reading.pdf.text import joined as joined_units

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


@given(st.integers(0, 2**32))
def test_no_word_is_lost_wherever_it_stands(seed: int) -> None:
    chance = random.Random(seed)
    page = Page()
    words = [f"word{number}" for number in range(chance.randrange(1, 60))]
    columns, lines = range(20, WIDTH - 80, 60), range(120, HEIGHT - 120, 20)
    places = chance.sample([(x, y) for x in columns for y in lines], len(words))
    for place, word in zip(places, words, strict=True):  # words over one another are one word
        page.text(*place, word, chance.choice([8, 11, 11, 16]), bold=chance.random() < 0.2)
    for _ in range(chance.randrange(6)):
        x, y = chance.randrange(WIDTH), chance.randrange(HEIGHT)
        page.grid([x, x + 90, x + 180], [y, y + 40, y + 80])
    text = text_of(page)
    assert all(word in text for word in words)


NO_MARKS = PageMarks((), ())


def layout(page: Page, most: int = 9_000, marks: PageMarks = NO_MARKS) -> PageLayout:
    with opened(page) as (loaded, textpage):
        return page_layout(loaded, textpage, (WIDTH, HEIGHT), most, marks)


def test_parts_of_one_line_are_joined_and_known() -> None:
    line, below = layout(
        Page()
        .text(72, 100, "Quay three")
        .text(200, 100, "page 7")
        .text(72, 130, "Below", bold=True)
    ).lines
    assert (line.text, line.parts) == ("Quay three page 7", ("Quay three", "page 7"))
    assert not line.bold
    assert (below.text, below.bold, below.size) == ("Below", True, 11)
    assert line.box.bottom < below.box.top


def test_a_crowded_page_keeps_its_text_as_drawn_with_its_notes() -> None:
    page = Page().lines(72, 100, ["one line", "another"])
    crowded = layout(page, 10, PageMarks((), ("A note.",)))
    assert (crowded.lines, crowded.plain) == ((), "one line\nanother\nA note.")
    assert crowded.characters == layout(page).characters == 17
    assert layout(page).plain == ""


def test_notes_are_paragraphs_below_all_others_in_the_size_of_the_text() -> None:
    found = layout(Page().text(72, 700, "Text", 9), marks=PageMarks((), ("One.", "Two."))).lines
    assert [(line.text, line.size) for line in found] == [("Text", 9), ("One.", 9), ("Two.", 9)]
    assert found[0].box.bottom < found[1].box.top < found[1].box.bottom < found[2].box.top


PLAIN = Style(10.0, {20.0: 1, 14.0: 2}, bold=True, vocabulary=frozenset())


def line(text: str, number: int = 0, size: float = 10.0, **more: Any) -> Line:
    top = number * 12.0
    return Line(text, Box(72, top, 500, top + size), size, parts=(text,), **more)


@pytest.mark.parametrize(
    ("lines", "vocabulary", "text"),
    [
        (["The har-", "bour."], (), "The harbour."),
        (["The well-", "known bay."], ("well-known",), "The well-known bay."),
        (["The well-", "known bay."], ("well-known", "wellknown"), "The wellknown bay."),
        (["Pages 7-", "9."], (), "Pages 7- 9."),
        (["The Baden-", "Powell hut."], (), "The Baden-Powell hut."),
        (["soft\u00ad", "ware"], (), "software"),
        (["北码头在", "冬季关闭。"], (), "北码头在冬季关闭。"),
        (["하늘이", "푸르다"], (), "하늘이 푸르다"),
    ],
)
def test_lines_are_joined_as_they_were_parted(
    lines: list[str], vocabulary: tuple[str, ...], text: str
) -> None:
    assert joined([line(one) for one in lines], frozenset(vocabulary)) == text


def test_contents_without_dots_are_lines_and_no_headings() -> None:
    names = ("1 Boats", "1.1 Nets of the boats", "2 Quays", "3 Lamps")
    page = Page().text(72, 60, "Contents", 16, bold=True)
    for number, name in enumerate(names):
        page.text(72, 100 + 22 * number, name, bold=True)
        page.text(460, 100 + 22 * number, f"{3 + number}", bold=True)
    page.lines(72, 300, [line * 2 for line in LEFT])
    entries = [f"{name} {3 + number}" for number, name in enumerate(names)]
    assert text_of(page).split("\n\n")[0] == "\n".join(["# Contents", *entries])


def test_what_markdown_would_take_for_a_mark_is_escaped() -> None:
    for text in ("# 7", "| a", "---", "```", "> 5 %"):
        assert escaped(text) == f"\\{text}"
    for text in ("####### seven", "#7", "== a", "- a"):
        assert escaped(text) == text


def test_a_bookmark_is_known_by_its_letters_and_digits() -> None:
    assert outline_key(" 2.1  Fees, & Tariffs ") == outline_key("FEES & tariffs") == "feestariffs"
    assert outline_key("2025") == "2025"


def test_most_text_is_the_body_and_a_cover_opens_no_level() -> None:
    page = [line("word " * 20), line("Heading", 2, 14.0)]
    cover = [line("Report", 0, 40.0)]
    style = style_of([cover, page, page, page])
    assert style.body == 10.0
    assert style.levels == {40.0: 1, 14.0: 1}
    assert style_of([cover, page]).levels == {40.0: 1, 14.0: 2}
    assert style_of([]).body == 0.0


def test_bold_marks_no_headings_where_much_is_bold() -> None:
    assert style_of([[line("word " * 20), line("Fees", bold=True)]]).bold
    assert not style_of([[line("word " * 20), line("word " * 20, bold=True)]]).bold


def test_a_bold_heading_stands_below_those_by_size_unless_a_bookmark_says_otherwise() -> None:
    bold = line("Winter fees", bold=True)
    assert [block.level for block in blocks([bold], PLAIN, {})] == [3]
    assert [block.level for block in blocks([bold], PLAIN, {"winterfees": 5})] == [5]
    sentence = line("They are due in May.", bold=True)
    assert [block.level for block in blocks([sentence], PLAIN, {})] == [0]


# --- Words of a page as PDFium gives them: joined, placed, turned, and with their style ----


def words_of(page: Page) -> tuple[Word, ...]:
    with opened(page) as (_, textpage):
        return page_words(textpage, WIDTH, HEIGHT).words


def units(characters: str) -> str:
    """Characters as UTF-16 units, one a character."""
    data = characters.encode("utf-16-le")
    return "".join(
        chr(int.from_bytes(data[place : place + 2], "little")) for place in range(0, len(data), 2)
    )


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Co", "Cs"))))
def test_pairs_of_units_become_their_characters(characters: str) -> None:
    plain = characters.replace("\r", "")  # no line
    assert joined_units(units(plain)) == plain


@pytest.mark.parametrize(
    ("given_units", "wanted"),
    [
        ("a\r\nb", "a\nb"),
        ("é\r\nb", "é\nb"),
        ("a\ud83d b", "a\ufffd b"),  # half of a pair
        ("\uf8eb\uf8fe", "⎛⎭"),
    ],
)
def test_what_is_mended(given_units: str, wanted: str) -> None:
    assert joined_units(given_units) == wanted


def test_arabic_is_read_in_the_order_in_which_it_is_spoken() -> None:
    letters = {"a": "ا", "l": "ل", "k": "ك", "d": "د", "X": "لا", "Y": "لإ"}
    page = Page().lines(72, 100, ["Xk", "dYa", "dla", "dk kRom kk"])
    text = read_pdf(write_pdf([page], mapped=letters), "x.pdf").pages[0].text
    assert text.split() == ["كلا", "الإد", "الد", "كك", "Rom", "ك", "كد"]


def test_words_stand_where_they_are_drawn_in_their_style() -> None:
    first, second, below = words_of(
        Page().text(72, 100, "Quay three").text(72, 130, "Bold", 16, bold=True)
    )
    assert [(w.text, w.line, w.order) for w in (first, second, below)] == [
        ("Quay", 0, 0), ("three", 0, 1), ("Bold", 1, 2),
    ]  # fmt: skip
    assert [(w.size, w.bold, w.sideways) for w in (first, below)] == [
        (11, False, False), (16, True, False),
    ]  # fmt: skip
    assert first.box.left == pytest.approx(72, abs=1)
    assert first.box.top < 100 < first.box.bottom < below.box.top
    assert first.box.right < second.box.left


@pytest.mark.parametrize("matrix", [(0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0)])
def test_a_turned_page_is_read_upright(matrix: tuple[int, int, int, int]) -> None:
    found = words_of(Page().turned(300, 400, "The ferry leaves", 11, matrix))
    assert [word.text for word in found] == ["The", "ferry", "leaves"]
    assert all(word.box.height < 20 and not word.sideways for word in found)
    assert found[0].box.right <= found[1].box.left < found[1].box.right <= found[2].box.left
    beside = words_of(Page().lines(72, 100, ["a longer line"] * 3).turned(30, 400, "x", 9, matrix))
    assert [word.text for word in beside if word.sideways] == ["x"]
