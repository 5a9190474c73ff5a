"""A question as the things that it asks, in three languages; and whether it asks for a choice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.positions.aspects import (
    MOST_ASPECTS,
    asks_decision,
    aspects_of,
    options_in,
)
from chapterhouse.types import AspectKind

LAMP, BRIDGE = "a second lamp on the north quay", "a bridge over the harbour mouth"
OPTIONS = (LAMP, BRIDGE)
VALUE, YES_NO, REASON = AspectKind.VALUE, AspectKind.YES_NO, AspectKind.REASON


@pytest.mark.parametrize(
    ("question", "language", "asked"),
    [
        ("How long should confidentiality last?", "en", ["How long should confidentiality last"]),
        (
            "What is the notice period, and who may terminate?",
            "en",
            ["What is the notice period", "who may terminate"],
        ),
        (
            "Which court decides? Which law governs?",
            "en",
            ["Which court decides", "Which law governs"],
        ),
        ("Give me an overview of who owns what.", "en", ["who owns what"]),
        ("Harbour fees", "en", ["Harbour fees"]),
        (
            "Wie lange gilt die Vertraulichkeit, und wer darf kündigen?",
            "de",
            ["Wie lange gilt die Vertraulichkeit", "wer darf kündigen"],
        ),
        (
            "Combien de temps dure la confidentialité et qui peut résilier ?",
            "fr",
            ["Combien de temps dure la confidentialité", "qui peut résilier"],
        ),
    ],
)
def test_what_a_question_asks(question: str, language: str, asked: list[str]) -> None:
    assert [one.text for one in aspects_of(question, {language: 1})] == asked


@pytest.mark.parametrize(
    ("question", "language", "context", "asked"),
    [
        (
            "Two companies share data: who owns it and how long is it kept?",
            "en",
            "Two companies share data",
            ["who owns it", "how long is it kept"],
        ),
        (
            "We want to hire two people. May they start in May?",
            "en",
            "We want to hire two people",
            ["May they start in May"],
        ),
        (
            "If a supplier is late, what may we do?",
            "en",
            "If a supplier is late",
            ["what may we do"],
        ),
        (
            "Wenn der Verein aufgelöst wird, wer bekommt das Vermögen?",
            "de",
            "Wenn der Verein aufgelöst wird",
            ["wer bekommt das Vermögen"],
        ),
    ],
)
def test_what_asks_nothing_is_context_of_all_that_does(
    question: str, language: str, context: str, asked: list[str]
) -> None:
    found = aspects_of(question, {language: 1})
    assert [one.text for one in found] == asked
    assert {one.context for one in found} == {context}


@pytest.mark.parametrize(
    ("question", "language", "kind"),
    [
        ("May we share it?", "en", YES_NO),
        ("Must I give notice?", "en", YES_NO),
        ("Was the gate closed?", "en", YES_NO),
        ("Was ist erlaubt?", "de", VALUE),  # asks in German, is a verb in English
        ("Darf ich Fotos verwenden?", "de", YES_NO),
        ("Faut-il un accord écrit ?", "fr", YES_NO),
        ("Peut-on résilier ?", "fr", YES_NO),
        ("Why was it closed?", "en", REASON),
        ("How long is it kept?", "en", VALUE),
    ],
)
def test_what_kind_of_answer_is_asked_for(question: str, language: str, kind: AspectKind) -> None:
    (aspect,) = aspects_of(question, {language: 1})
    assert aspect.kind is kind


def test_no_more_than_a_table_can_show() -> None:
    many = " ".join(f"Who owns part {number}?" for number in range(3 * MOST_ASPECTS))
    assert len(aspects_of(many, {"en": 1})) == MOST_ASPECTS


@given(st.text(max_size=300))
def test_any_question_has_numbered_aspects_of_its_own_words(question: str) -> None:
    found = aspects_of(question, {"en": 1})
    assert [one.id for one in found] == [f"a{n}" for n in range(1, len(found) + 1)]
    assert 1 <= len(found) <= MOST_ASPECTS
    flat = " ".join(question.split())
    assert all(one.text in flat or one.text in question for one in found)
    assert aspects_of(question, {"en": 1}) == found


# --- whether a choice is asked for ------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        f"Should we build {LAMP} or {BRIDGE}?",
        "A second lamp on the north quay, or a bridge over the harbour mouth?",
        "Should we build the bridge?",
        "Which option should we choose for the quay?",
        pytest.param(
            "What should be built in the harbour, a lamp or a bridge?",
            marks=pytest.mark.xfail(strict=True, reason="options in fewer words are not known"),
        ),
    ],
)
def test_a_question_that_asks_to_choose(question: str) -> None:
    assert asks_decision(question, OPTIONS)


@pytest.mark.parametrize(
    "question",
    [
        "What is the biggest risk of the bridge?",
        "Who built the bridge?",
        "How much does the lamp cost?",
        "Should the crane be painted?",  # of something else
        "Welches Risiko hat die Brücke?",
    ],
)
def test_a_question_that_asks_for_no_choice(question: str) -> None:
    assert not asks_decision(question, OPTIONS)


def test_a_choice_in_german() -> None:
    options = ("eine zweite Lampe am Nordkai", "eine Brücke über die Einfahrt")
    assert asks_decision(f"Sollen wir {options[0]} oder {options[1]} bauen?", options)
    assert not asks_decision("Welches Risiko hat die Brücke?", options)


def test_without_options_there_is_nothing_to_choose() -> None:
    assert not asks_decision("What should we choose?", ())


def test_a_part_that_only_names_the_options_is_no_aspect() -> None:
    question = f"Should we build {LAMP} or {BRIDGE}? What does it cost?"
    assert [one.text for one in aspects_of(question, {"en": 1}, OPTIONS)] == ["What does it cost"]
    assert aspects_of(f"{LAMP} or {BRIDGE}?", {"en": 1}, OPTIONS) == ()


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Should we agree to two years or to five years?", ("agree to two years", "five years")),
        ("Sollen wir den Steg bauen oder die Lampe?", ("den Steg bauen", "die Lampe")),
        ("Should the ferry start in April?", ()),
        ("Which is cheaper, a lamp or a bridge?", ()),
        ("Should we build a lamp or a bridge? What does it cost?", ()),
    ],
)
def test_the_two_things_between_which_a_question_asks_to_choose(
    question: str, options: tuple[str, ...]
) -> None:
    assert options_in(question) == options


def test_behind_a_comma_and_a_verb_begins_another_question() -> None:
    found = aspects_of("Which law applies, and may copies be made?", {"en": 1})
    assert [aspect.text for aspect in found] == ["Which law applies", "may copies be made"]
