"""From a sentence to a position: a value, yes or no, or that it only speaks of what is asked.

In English, German and French.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.positions.position import polarity, stated
from chapterhouse.types import Aspect, AspectKind, PositionKind

YES, NO, CONDITIONAL = PositionKind.YES, PositionKind.NO, PositionKind.CONDITIONAL
STATED = PositionKind.STATED
SHARE = "May we share it with contractors"
BARS = "Do they stop us from hiring their people"


@pytest.mark.parametrize(
    ("question", "sentence", "language", "kind"),
    [
        (SHARE, "You may share it with contractors.", "en", YES),
        (SHARE, "You may not share it with anyone.", "en", NO),
        (SHARE, "Sharing it is prohibited.", "en", NO),
        (SHARE, "You may share it only with our prior written consent.", "en", CONDITIONAL),
        (SHARE, "You may not share it unless the owner agrees.", "en", CONDITIONAL),
        ("Is it open on Sunday", "Yes, from nine.", "en", YES),
        ("Is it open on Sunday", "No.", "en", NO),
        ("Is it open on Sunday", "It is closed on Sunday.", "en", NO),
        ("Must we give notice", "You must give notice of 30 days.", "en", YES),
        ("Must we give notice", "You need not give notice.", "en", NO),
        pytest.param(
            "Do we have to give notice",
            "No notice is required.",
            "en",
            NO,
        ),
        (BARS, "The Recipient shall not hire employees of the Discloser.", "en", YES),
        (BARS, "You may hire anyone.", "en", NO),
        ("Darf ich die Bilder verwenden", "Die Verwendung der Bilder ist erlaubt.", "de", YES),
        ("Darf ich die Bilder verwenden", "Sie dürfen nicht verwendet werden.", "de", NO),
        ("Darf ich die Bilder verwenden", "Nur mit Zustimmung des Vereins.", "de", CONDITIONAL),
        ("Muss ich kündigen", "Eine Kündigung ist nicht erforderlich.", "de", NO),
        ("Peut-on utiliser les images", "L'utilisation est permise.", "fr", YES),
        ("Peut-on utiliser les images", "Elles ne peuvent pas être utilisées.", "fr", NO),
        ("Peut-on utiliser les images", "C'est interdit, sauf accord écrit.", "fr", CONDITIONAL),
        ("Faut-il un accord écrit", "Un accord n'est pas obligatoire.", "fr", NO),
        (
            SHARE,
            "No sharing is allowed without the prior written consent of the owner.",
            "en",
            CONDITIONAL,
        ),
        (BARS, "No party may hire the people of the other.", "en", YES),
        (
            "Can the terms be changed",
            "We may change these terms at any time without notice.",
            "en",
            YES,
        ),
    ],
)
def test_what_a_sentence_says_to_a_question(
    question: str, sentence: str, language: str, kind: PositionKind
) -> None:
    assert polarity(question, sentence, language)[0] is kind


@pytest.mark.parametrize(
    ("sentence", "condition"),
    [
        ("You may share it only with our prior written consent.", "only with our prior written"),
        ("You may not share it unless the owner agrees; no fee is due.", "unless the owner agrees"),
        ("It is allowed as long as it is cited.", "as long as it is cited"),
    ],
)
def test_the_condition_is_told_in_the_sentence_s_own_words(sentence: str, condition: str) -> None:
    kind, told = polarity(SHARE, sentence, "en")
    assert kind is CONDITIONAL
    assert told.startswith(condition)
    assert told in sentence


def test_a_heading_decides_nothing() -> None:
    assert polarity("Is there a code of conduct?", "Code Of Conduct", "en") == (STATED, "")
    assert polarity("Is there a code of conduct?", "There is one.", "en")[0] is YES


@given(st.text(max_size=120), st.text(max_size=300), st.sampled_from(["en", "de", "fr", ""]))
def test_any_sentence_says_one_of_four(question: str, sentence: str, language: str) -> None:
    kind, condition = polarity(question, sentence, language)
    assert kind in {YES, NO, CONDITIONAL, STATED}
    assert condition in sentence
    assert kind is CONDITIONAL or not condition


# --- positions --------------------------------------------------------------------------------


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
