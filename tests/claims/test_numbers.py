from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.numbers import Number, numbers
from chapterhouse.text.dates import dates


def _numbers(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [(form(number), number.unit) for number in numbers(text, language)]


def form(number: Number) -> str:
    """Return value, range and rank as one string."""
    high = "" if number.high is None else f"–{number.high.normalize():f}"
    return f"{number.value.normalize():f}{high}{'.' if number.ordinal else ''}"


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("1,234.5", "en", [("1234.5", "")]),
        ("1.234,5", "de", [("1234.5", "")]),
        ("3,5 Prozent", "de", [("3.5", "%")]),
        ("12 %", "en", [("12", "%")]),
        ("twelve", "en", [("12", "")]),
        ("two hundred and five people", "en", [("205", "")]),
        ("4 thousand", "en", [("4000", "")]),
        ("$3.2 million", "en", [("3200000", "usd")]),
        ("$5bn", "en", [("5000000000", "usd")]),
        ("5-10 km", "en", [("5–10", "km")]),
        ("a 14-day trial", "en", [("14", "d")]),
        ("14 and 30 days", "en", [("14", "d"), ("30", "d")]),
        ("the third try", "en", [("3.", "")]),
        ("one of the crew", "en", []),
        ("one goal", "en", [("1", "")]),
        ("einundzwanzig Tage", "de", [("21", "d")]),
        ("6½ sacks", "en", [("6.5", "")]),
        ("大约3.2万人", "zh", [("32000", "")]),
        ("百分之十二", "zh", [("12", "%")]),
        ("二十五个", "zh", [("25", "")]),
        ("第三", "zh", [("3.", "")]),
        ("the B-52 and GPT-4", "en", []),
    ],
)
def test_a_number_has_one_form(text: str, language: str, expected: list[tuple[str, str]]) -> None:
    assert _numbers(text, language) == expected


@given(st.integers(0, 999_999_999))
def test_thousands_marks_change_no_value(number: int) -> None:
    for text, language in ((f"{number:,}", "en"), (f"{number:,}".replace(",", "."), "de")):
        found = numbers(f"xx {text} yy", language), dates(f"xx {text} yy", language)
        values = [n.value for n in found[0]] or [Decimal(d.year) for d in found[1]]
        assert values == [Decimal(number)]
