"""Lines of a page as Markdown: which are joined, which are headings, and what is escaped."""

import pytest

from chapterhouse.reading.pdf.blocks import (
    Block,
    Style,
    blocks,
    escaped,
    joined,
    markdown,
    outline_key,
    style_of,
)
from chapterhouse.reading.pdf.page import Line
from chapterhouse.reading.pdf.text import Box

PLAIN = Style(10.0, {20.0: 1, 14.0: 2}, bold=True, vocabulary=frozenset())


def line(text: str, number: int = 0, size: float = 10.0, **more: bool) -> Line:
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


@pytest.mark.parametrize(
    ("text", "is_mark"),
    [
        ("# 7", True),
        ("####### seven", False),
        ("#7", False),
        ("| a", True),
        ("---", True),
        ("== a", False),
        ("```", True),
        ("- a", False),
    ],
)
def test_what_markdown_would_take_for_a_mark_is_escaped(text: str, *, is_mark: bool) -> None:
    assert escaped(text) == (f"\\{text}" if is_mark else text)


def test_a_bookmark_is_known_by_its_letters_and_digits() -> None:
    assert outline_key(" 2.1  Fees, & Tariffs ") == outline_key("FEES & tariffs") == "feestariffs"
    assert outline_key("2025") == "2025"


def test_only_a_tight_block_follows_without_an_empty_line() -> None:
    found = [Block("A", 2), Block("- b"), Block("- c", tight=True), Block("D")]
    assert markdown(found) == "## A\n\n- b\n- c\n\nD"
    assert markdown([]) == ""


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
