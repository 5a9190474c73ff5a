"""Single values of what a model gives."""

import pytest

from chapterhouse.council.meeting.output_values import (
    LOOKED_AT,
    claim_ids,
    shorten,
    to_reason,
    to_stance,
    words_in,
)
from chapterhouse.types import DissentReason, Stance


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("C3", ("c3",)),
        ("[c3]", ("c3",)),
        ("claim 12", ("c12",)),
        ("Claim #c4", ("c4",)),
        ("c3, c5 and c3", ("c3", "c5")),
        ("c007", ("c7",)),
        (7, ("c7",)),
        ("7", ("c7",)),
        (["c1", "C2"], ("c1", "c2")),
        ("abc3", ()),
        ("the first", ()),
        ("c1234567", ()),
        (None, ()),
        (True, ()),
    ],
)
def test_ids_of_claims(written: object, ids: tuple[str, ...]) -> None:
    assert claim_ids(written) == ids


def test_the_words_of_what_should_be_a_text() -> None:
    assert words_in({"statement": "It is.", "citations": ["a:1"]}) == "It is. [^a:1]"
    assert words_in(["One.", 7, {"text": "Two."}]) == "One.\nTwo."
    assert words_in(["x"] * (LOOKED_AT + 5)).count("x") == LOOKED_AT
    assert words_in(7) == ""


@pytest.mark.parametrize(
    ("text", "most", "short"), [("a b", 3, "a b"), ("one two three", 9, "one two…")]
)
def test_a_text_is_cut_at_a_word(text: str, most: int, short: str) -> None:
    assert shorten(text, most) == short


def test_names_of_values_are_read_before_words_are() -> None:
    assert to_stance("Asks") is Stance.ASKS
    assert to_stance("I agree") is Stance.SUPPORTS
    assert to_stance(None) is Stance.SILENT
    assert to_reason("missing evidence") is DissentReason.MISSING_EVIDENCE
    assert to_reason("whim") is None
