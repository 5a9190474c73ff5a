"""Values in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.council.minutes import wording
from chapterhouse.types import Stance


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("- **Red**: wind above 21 m/s.", "Red: wind above 21 m/s."),
        ("* one", "one"),
        ("  • one", "one"),
        ("Which holds: “- **a** b” or “- c”?", "Which holds: “a b” or “c”?"),
        ("2*3 is 2 * 3, 2**3 is 8", "2*3 is 2 * 3, 2**3 is 8"),
        ("-5 degrees", "-5 degrees"),
        ("a - b", "a - b"),
        ("** **", "** **"),
        ("1. first", "1. first"),
        ("snake_case _x_", "snake_case _x_"),
    ],
)
def test_marks_of_markdown_are_left_out_and_nothing_else(text: str, shown: str) -> None:
    assert wording.legible(text) == shown


@given(st.text(alphabet="a*-•“ ", max_size=60))
def test_only_marks_are_ever_left_out(text: str) -> None:
    shown = wording.legible(text)
    assert shown.count("a") == text.count("a")
    assert len(shown) <= len(text)


@pytest.mark.parametrize("unit", ["**a", "*", "“- "])
def test_it_takes_work_in_proportion(unit: str) -> None:
    assert_in_proportion(wording.legible, unit, 2_000)


def test_every_value_has_its_words() -> None:
    assert set(wording.STANCES) == set(Stance)
    assert len({told[0] for told in wording.STANCES.values()}) == len(Stance)


def test_rounds_have_names() -> None:
    assert wording.round_title("cross_examination") == "Cross-examination"
    assert wording.round_title("cost_check") == "Cost check"
