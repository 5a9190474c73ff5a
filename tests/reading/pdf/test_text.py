"""Words of a page as PDFium gives them: joined, placed, turned, and with their style."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.pdf_writer import HEIGHT, WIDTH, Page, opened

from chapterhouse.reading.pdf import text
from chapterhouse.reading.pdf.text import (
    Place,
    Word,
    character_count,
    joined,
    page_text,
    page_words,
)


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
    plain = characters.replace("\u0627", "").replace("\r", "")  # no ligature taken apart, no line
    assert joined(units(plain)) == plain


@pytest.mark.parametrize(
    ("given_units", "wanted"),
    [
        ("a\r\nb", "a\nb"),
        ("é\r\nb", "é\nb"),
        ("a\ud83d b", "a\ufffd b"),  # half of a pair
        ("\u0627\u0623\u0644", "\u0627\u0644\u0623"),  # alef, hamza, lam: the ligature's order
        ("\uf8eb\uf8fe", "⎛⎭"),
    ],
)
def test_what_is_mended(given_units: str, wanted: str) -> None:
    assert joined(given_units) == wanted


@pytest.mark.parametrize(
    ("sample", "right_to_left", "wide"),
    [("Quay 3", False, False), ("רציף", True, False), ("رصيف", True, False), ("码头", False, True)],
)
def test_scripts_are_told_apart(sample: str, *, right_to_left: bool, wide: bool) -> None:
    assert (text.is_right_to_left(sample), text.is_wide(sample)) == (right_to_left, wide)


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


@given(st.tuples(*[st.integers(0, 500)] * 4), st.integers(0, 3))
def test_turning_keeps_what_a_place_measures(edges: tuple[int, int, int, int], turns: int) -> None:
    (left, right), (low, high) = sorted(edges[:2]), sorted(edges[2:])
    box = text._turner(turns, WIDTH, HEIGHT)(Place(left, low, right, high))
    sides = (right - left, high - low)
    assert (box.width, box.height) == (sides if turns % 2 == 0 else sides[::-1])
    assert min(box) >= 0


def test_the_plain_text_keeps_its_lines() -> None:
    with opened(Page().lines(72, 100, ["one line", "another"])) as (_, textpage):
        assert page_text(textpage) == "one line\nanother"
        assert character_count(textpage) == len("one line\r\nanother")
    with opened(Page()) as (_, textpage):
        assert (page_text(textpage), character_count(textpage)) == ("", 0)
