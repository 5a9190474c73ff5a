"""Values in words."""

import pytest
from tests.steps import assert_in_proportion

from chapterhouse.council.minutes import wording


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


@pytest.mark.parametrize("unit", ["**a", "*", "“- "])
def test_it_takes_work_in_proportion(unit: str) -> None:
    assert_in_proportion(wording.legible, unit, 2_000)
