"""The token estimate."""

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.models.static import StaticEmbedder
from chapterhouse.text.tokens import estimate_tokens

ENGLISH = (
    "The chapter house is the room in which a council met. It was named after the chapter that "
    "was read aloud before the members spoke, each from what he had read himself. "
) * 4


@given(st.text())
def test_an_estimate_is_never_negative_and_nothing_costs_nothing(text: str) -> None:
    assert estimate_tokens(text) >= 0
    assert estimate_tokens("") == 0


@given(st.text(), st.text())
def test_longer_texts_cost_no_less(one: str, other: str) -> None:
    assert (
        estimate_tokens(one + "\n" + other) >= max(estimate_tokens(one), estimate_tokens(other)) - 1
    )


def test_english_prose_is_estimated_within_a_fifth() -> None:
    exact = StaticEmbedder().count_tokens(ENGLISH)
    assert abs(estimate_tokens(ENGLISH) / exact - 1) < 0.2
