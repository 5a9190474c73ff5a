"""How far words are apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.spelling import edit_cost, most_edits, words_of

WORDS = st.text(alphabet="abcde", min_size=4, max_size=9)


@pytest.mark.parametrize(
    ("written", "meant", "cost"),
    [
        ("waranty", "warranty", 0.6),  # a doubled letter
        ("hosptial", "hospital", 0.7),  # two letters swapped
        ("reqest", "request", 0.8),  # a vowel
        ("univercity", "university", 1.1),
        ("wich", "which", 1.0),
        ("expariment", "experiment", 0.8),
        ("confidanciels", "confidentiels", 1.9),
        ("nowledge", "knowledge", 1.3),  # the first letter
    ],
)
def test_common_misspellings_are_near(written: str, meant: str, cost: float) -> None:
    assert edit_cost(written, meant) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("poach", "roach"),  # a consonant for another in a short word
        ("breaking", "bearing"),
        ("house", "horses"),  # two edits in a short word
        ("orraires", "horaires"),  # two edits, one at the first letter
        ("cat", "cats"),
    ],
)
def test_other_words_are_not(written: str, meant: str) -> None:
    assert edit_cost(written, meant) is None


@given(WORDS, WORDS)
def test_what_is_near_differs_by_few_letters(written: str, meant: str) -> None:
    cost = edit_cost(written, meant)
    if cost is not None:
        assert abs(len(written) - len(meant)) <= most_edits(written)
        assert (cost == 0) == (written == meant)


def test_words_are_folded() -> None:
    text = "The Harbour gate-keeper's café, 2nd form; 港口的大门 ok"
    assert words_of(text) == {"the", "harbour", "gate", "keeper", "café", "nd", "form", "ok"}
