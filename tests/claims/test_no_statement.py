"""Which sentences state no fact: none that does must pass for one that does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.no_statement import bare, essence, states_nothing

SILENT = [
    "Thank you!",
    "Is the ferry late?",
    "¿Es así?",
    "## Opening hours",
    "**Fees**",
    "Sources:",
    "The documents do not say.",
    "...",
    "",
]
CLAIMS = [
    "The fee is 80 euros.",
    "The ferry leaves at nine.",
    "Thank you, the ferry leaves at nine from the pier today.",
    "The documents do not say, but the fee is 80 euros a metre.",
    "Fee: 80 euros",
    "渡轮在冬天开航。",
]
LONG = CLAIMS[:-1]  # behind a greeting, up to four words may be part of it


@pytest.mark.parametrize("sentence", SILENT)
def test_talk_and_headings_state_nothing(sentence: str) -> None:
    assert states_nothing(sentence)


@pytest.mark.parametrize("sentence", CLAIMS)
def test_a_claim_is_one_however_it_is_wrapped(sentence: str) -> None:
    assert not states_nothing(sentence)
    assert not states_nothing(f"- **{sentence}** [1]")


@given(st.sampled_from(LONG), st.sampled_from(["Well, ", "Hello! ", "Thanks. ", "- ", "> "]))
def test_politeness_in_front_hides_no_claim(claim: str, before: str) -> None:
    assert not states_nothing(before + claim)


def test_markup_is_no_part_of_a_sentence() -> None:
    assert bare("- **The** fee is `80` [^a:b] [1]【2】.") == "The fee is 80."
    assert bare("1. The berth_no is *not* free.[1, 2]") == "The berth_no is not free."


@pytest.mark.parametrize("frame", ["According to the documents, ", "The documents state that ", ""])
def test_the_frame_is_no_part_of_a_claim(frame: str) -> None:
    assert essence(f"{frame}the fee is 80 euros.") == "the fee is 80 euros."
    assert essence("") == ""
