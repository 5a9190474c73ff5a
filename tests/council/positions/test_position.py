"""From a sentence to a position: a value, a yes or no, or that it only speaks of it."""

import pytest

from chapterhouse.council.positions.position import stated
from chapterhouse.types import Aspect, AspectKind, PositionKind


def value(text: str) -> Aspect:
    return Aspect("a1", text, AspectKind.VALUE)


@pytest.mark.parametrize(
    ("question", "sentence", "language", "values"),
    [
        ("How long does it last", "It lasts five years.", "en", ["five years"]),
        ("Wie lange gilt es", "Es gilt zwei Jahre.", "de", ["zwei Jahre"]),
        ("Pendant combien de temps", "Elle dure cinq ans.", "fr", ["cinq ans"]),
    ],
)
def test_a_value(question: str, sentence: str, language: str, values: list[str]) -> None:
    found = stated(value(question), sentence, language)
    assert found.kind is PositionKind.VALUE
    assert [one.text for one in found.values] == values
    assert found.condition == ""


def test_a_sentence_without_a_value_of_that_kind_only_speaks_of_it() -> None:
    found = stated(value("How long does it last"), "It lasts as the parties agree.", "en")
    assert (found.kind, found.values) == (PositionKind.STATED, ())


def test_a_yes_or_no_has_no_value_and_may_have_a_condition() -> None:
    asked = Aspect("a1", "May we keep it for five years", AspectKind.YES_NO)
    yes = stated(asked, "You may keep it for five years.", "en")
    assert (yes.kind, yes.values, yes.condition) == (PositionKind.YES, (), "")
    perhaps = stated(asked, "You may keep it unless we object.", "en")
    assert (perhaps.kind, perhaps.condition) == (PositionKind.CONDITIONAL, "unless we object")


@pytest.mark.parametrize("kind", [AspectKind.LIST, AspectKind.REASON])
def test_a_reason_is_stated_and_not_compared_as_a_value(kind: AspectKind) -> None:
    found = stated(Aspect("a1", "Why is it closed", kind), "It is closed for repairs.", "en")
    assert found.kind is PositionKind.STATED
