"""Where two documents give different values for what was asked."""

import dataclasses

import pytest
from tests.answering.test_extractive import HOPELESS, Shelf

from chapterhouse.answering.conflicts import SIGNS, WEIGHTS, Signs, chance
from chapterhouse.types import Conflict, ConflictKind

RULES = "Dogs stay outside. A passenger may claim the fare back within 14 days of the sailing."
MEMO = "Since March you have 30 days after the sailing to claim the fare back."
ASKED = "Within how many days may a passenger claim the fare back?"


def told(*texts: str, question: str = ASKED) -> tuple[Conflict, ...]:
    names = ("a", "b", "c")
    return Shelf(dict(zip(names, texts, strict=False)), meaning=True).ask(question).conflicts


def test_both_values_are_told_with_their_sentences() -> None:
    (conflict,) = told(RULES, MEMO)
    assert conflict.kind is ConflictKind.NUMBER
    assert {side.value for side in conflict.sides} == {"14 days", "30 days"}
    for side in conflict.sides:
        text = {"a": RULES, "b": MEMO}[side.span.document_id]
        assert text[side.span.start : side.span.end] == side.span.quote


def test_neither_is_newer_where_no_date_is_stated() -> None:
    (conflict,) = told(RULES, MEMO)
    assert conflict.newer is None


@pytest.mark.parametrize(
    "other",
    [
        "You have two weeks after the sailing to claim the fare back.",  # the same
        "Umbrellas that were left on board are kept for 30 days.",  # another thing
        "At Nordsee Line a passenger may claim the fare back within 30 days of the sailing.",
    ],
)
def test_what_does_not_contradict(other: str) -> None:
    assert not told(RULES, other)


def test_one_document_does_not_contradict_itself() -> None:
    assert not told(f"{RULES} {MEMO}")


def test_where_hardly_anything_answers_nothing_is_at_issue() -> None:
    assert not Shelf({"a": RULES, "b": MEMO}, meaning=True).ask(ASKED, HOPELESS).conflicts


def test_the_same_question_is_told_the_same() -> None:
    assert told(RULES, MEMO) == told(RULES, MEMO)


def test_every_sign_has_a_weight_and_the_chance_is_one() -> None:
    assert set(WEIGHTS) == set(SIGNS)
    none = Signs(**dict.fromkeys(SIGNS, 0.0))
    for value in (-1e6, 0.0, 1e6):
        assert 0 <= chance(dataclasses.replace(none, words=value)) <= 1
