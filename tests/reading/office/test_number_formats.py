from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.office.number_formats import BUILT_IN, show_number

ACCOUNTING = r'_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-'
AMOUNTS = st.decimals(-(10**9), 10**9, places=4, allow_nan=False)


@pytest.mark.parametrize(
    ("stored", "code", "shown"),
    [
        ("0.25", "0%", "25%"),
        ("0.1234", "0.00%", "12.34%"),
        ("1234567.891", "#,##0.00", "1234567.89"),
        ("3.14159", "0.00", "3.14"),
        ("1.0049999999999999", "0.00", "1.01"),  # 1.005 in fifteen digits
        ("1.5E3", "0", "1500"),
        ("0.5", ".00", ".50"),
        ("5.25", "0.0##", "5.25"),
        ("1234", "00000", "01234"),
        ("5551234", "000-0000", "555-1234"),
        ("12", '0 "kg"', "12 kg"),
        ("12345678", '#,##0.0,,"M"', "12.3M"),
        ("1234.5", r"#,##0.00\ [$€-407]", "1234.50 €"),
        ("-1234.5", r'"$"#,##0.00_);[Red]\("$"#,##0.00\)', "($1234.50)"),
        ("1234.5", ACCOUNTING, "1234.50 €"),
        ("-1234.5", ACCOUNTING, "-1234.50 €"),
        ("-12", "0;[Red]0", "-12"),  # red says it on a screen
        ("0", '0;-0;"none"', "none"),
        ("5", '[<10]"low "0;[>=10]"high "0', "low 5"),
        ("50", '[<10]"low "0;[>=10]"high "0', "high 50"),
    ],
)
def test_numbers_are_shown_by_their_format(stored: str, code: str, shown: str) -> None:
    assert show_number(stored, code) == shown


@pytest.mark.parametrize(
    ("stored", "code", "shown"),
    [
        ("45356", BUILT_IN[14], "2024-03-05"),
        ("45356.5625", "dd.mm.yyyy", "2024-03-05"),
        ("45356.5625", "[$-407]d. mmmm yyyy hh:mm", "2024-03-05 13:30"),
        ("45356", "yyyy-mm-dd hh:mm:ss", "2024-03-05"),
        ("45356.5625", BUILT_IN[20], "13:30"),
        ("0.5626736111111", "h:mm:ss AM/PM", "13:30:15"),
        ("1.5", "[h]:mm", "36:00"),
        ("0.0123", "mm:ss", "00:17:43"),
        ("1", "yyyy-mm-dd", "1900-01-01"),
        ("61", "yyyy-mm-dd", "1900-03-01"),
        ("60", "yyyy-mm-dd", ""),
    ],
)
def test_dates_and_times_are_shown_as_in_iso_8601(stored: str, code: str, shown: str) -> None:
    assert show_number(stored, code) == shown


def test_days_may_be_counted_from_1904() -> None:
    assert show_number("43894", "yyyy-mm-dd", from_1904=True) == "2024-03-05"


@pytest.mark.parametrize("code", ["General", "@", ";;;", "0.00E+00", "# ?/?", "", '""', "%" * 300])
def test_a_format_that_says_less_than_the_number_is_left(code: str) -> None:
    assert show_number("1234.5", code) == ""


@given(AMOUNTS, st.integers(0, 4))
def test_decimals_are_rounded_as_on_paper(amount: Decimal, places: int) -> None:
    code = "#,##0." + "0" * places if places else "#,##0"
    shown = show_number(str(amount), code)
    assert Decimal(shown) == amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


@given(st.text(max_size=20), st.text('0#?.,;%EymdhsGeneral"\\_*[]$<>=-/@ €', max_size=20))
def test_no_format_fails(stored: str, code: str) -> None:
    show_number(stored, code)
    show_number("-0.5", code)
    show_number("45356.5625", code)
