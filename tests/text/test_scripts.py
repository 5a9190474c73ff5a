"""Scripts without spaces: what they are told by, and groups of letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.scripts import east_asian_letters, letter_groups, script_language


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("", set()),
        ("a", {" a"}),
        ("the", {" the"}),
        ("boats", {" boa", "boat", "oats"}),
        ("Boats,", {" boa", "boat", "oats"}),
        ("ＢＯＡＴＳ", {" boa", "boat", "oats"}),
        ("渡轮。", {"渡", "轮"}),
    ],
)
def test_known_groups(text: str, groups: set[str]) -> None:
    assert letter_groups(text) == groups


def test_words_of_one_family_share_most_groups() -> None:
    one, other = letter_groups("Garantiezeit"), letter_groups("Garantie")
    assert other <= one
    assert not letter_groups("Hafen") & other


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_text_has_the_groups_of_its_words(one: str, other: str) -> None:
    assert all(len(group) <= 4 for group in letter_groups(one))
    if one.isascii() and other.isascii():
        assert letter_groups(f"{one} {other}") == letter_groups(one) | letter_groups(other)


@pytest.mark.parametrize(
    ("text", "language", "letters"),
    [
        ("渡轮时刻表", "zh", 5),
        ("フェリーの時刻", "ja", 7),
        ("여객선 시간표", "ko", 6),
        ("𠮷野家", "zh", 3),  # the first is beyond the basic plane
        ("，。！", "", 0),
        ("เรือข้ามฟาก", "th", 0),
        ("ferry", "", 0),
        ("", "", 0),
    ],
)
def test_scripts_without_spaces(text: str, language: str, letters: int) -> None:
    assert script_language(text) == language
    assert east_asian_letters(text) == letters
