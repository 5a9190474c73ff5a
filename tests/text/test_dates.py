import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.dates import Date, dateline, dates


def form(date: Date) -> str:
    """Return all that is stated as one string."""
    minute = date.minute - 1
    return " ".join(
        (
            f"{date.year}-{date.month}-{date.day}",
            *([date.period] if date.period else []),
            *([f"w{date.weekday}"] if date.weekday else []),
            *([f"{minute // 60}:{minute % 60:02d}"] if date.minute else []),
        )
    ).removeprefix("0-0-0 ")


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("2024-05-03", "", ["2024-5-3"]),
        ("on 3 May 2024", "en", ["2024-5-3"]),
        ("on May 3, 2024", "en", ["2024-5-3"]),
        ("am 3. Mai 2024", "de", ["2024-5-3"]),
        ("03.05.2024", "de", ["2024-5-3"]),
        ("le 3 mai 2024", "fr", ["2024-5-3"]),
        ("el 3 de mayo de 2024", "es", ["2024-5-3"]),
        ("il 3 maggio 2024", "it", ["2024-5-3"]),
        ("2024年5月3日", "zh", ["2024-5-3"]),
        ("in May", "en", ["0-5-0"]),
        ("He may go", "en", []),
        ("1914–1918", "en", ["1914-0-0", "1918-0-0"]),
        ("the 1990s", "en", ["1990s"]),
        ("at 10:30 on Monday", "en", ["10:30", "w1"]),
        ("at 3 pm", "en", ["15:00"]),
    ],
)
def test_a_date_has_one_form(text: str, language: str, expected: list[str]) -> None:
    assert [form(date) for date in dates(text, language)] == expected


def test_less_of_a_date_agrees_and_more_does_not() -> None:
    month = dates("in May 2024", "en")[0]
    day = dates("on 3 May 2024", "en")[0]
    assert month.agrees(day)
    assert not day.agrees(month)


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("# Finance\n\nAuthor: H. Okoro, treasurer. Dated 20 November 2025.\n", "en", "2025-11-20"),
        ("Date: 2024-03-07\n\nDear all,", "en", "2024-03-07"),
        ("**Date:** March 7, 2024", "en", "2024-03-07"),
        ("# Regeln\n\nStand: 3. Mai 2024", "de", "2024-05-03"),
        ("日期：2024年3月7日", "zh", "2024-03-07"),
        ("Published on 7 March 2024 by the board.", "en", "2024-03-07"),
        ("Dated 1 May 2023.\nDate: 2 June 2024", "en", "2023-05-01"),
        ("# Pool\n\nMinutes of 12 October 2023.\n\nMore.", "en", "2023-10-12"),
        ("# Ordnung\n\nGültig ab 1. Januar 2021\n\nMehr.", "de", "2021-01-01"),
        ("The pool of 12 October 2023 was full.", "en", ""),  # goes on: not a line of its own
        ("The meeting takes place on 20 November 2025.", "en", ""),
        ("Backdated 20 November 2025.", "en", ""),
        ("The update 20 November 2025 failed.", "en", ""),
        ("Dated in November 2025.", "en", ""),
        ("Date of birth: see the annex of 20 November 2025.", "en", ""),
        ("Stand 12 is taken on 20 November 2025.", "en", ""),
        ("x" * 1_000 + "\nDated 20 November 2025.", "en", ""),
        ("", "en", ""),
    ],
)
def test_the_first_dateline_is_read_and_no_other_date(text: str, language: str, day: str) -> None:
    assert dateline(text, language) == day


@given(st.text(max_size=300))
def test_any_text_is_read_to_its_end(text: str) -> None:
    day = dateline(f"Dated {text}", "en")
    assert day == "" or len(day) == len("2025-11-20")
