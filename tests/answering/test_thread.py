import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.ask import ask, follow_up
from chapterhouse.answering.request import AskOptions
from chapterhouse.answering.thread import (
    begins_as_follow_up,
    content_words,
    leaves_open,
    says_little,
    subject,
)
from chapterhouse.errors import EngineError, NotFoundError, UsageError
from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import FollowUp, Turn

PRICE = Turn("What does a berth in the marina cost?", "80 euros a metre.")
SPEED = "How fast may a vessel go inside the harbour?"
WHOLE = "What does a guest pay for a berth in the marina?"


def followed(
    room: Any, question: str, *before: Turn, persona: str = "jonas", certain: bool = False
) -> FollowUp:
    choices = AskOptions(in_conversation=True)
    return asyncio.run(
        follow_up(question, before, persona, choices, room.runtime(), certain=certain)
    )


@pytest.fixture
def read(harbour: Any) -> Any:
    """A harbour whose personas have read their documents."""
    harbour.library.personas.refresh("maria")
    harbour.library.personas.refresh("jonas")
    return harbour


def test_a_first_question_and_another_subject_are_left_as_they_are(read: Any) -> None:
    assert followed(read, "  and guests? ") == FollowUp("and guests?", "and guests?")
    assert followed(read, SPEED, PRICE, persona="").question == SPEED
    known = followed(read, "duty officer exceptions?", PRICE, persona="")
    assert (known.question, known.method) == ("duty officer exceptions?", "")
    assert followed(read, SPEED, PRICE, persona="", certain=True).method == "rules"


def test_words_are_carried_over_without_a_model(read: Any) -> None:
    found = followed(read, "and guests?", PRICE)
    assert found.asked == "and guests?"
    assert found.question.startswith("and guests? (")
    assert found.method == "rules"
    assert "berth marina cost" in found.search_text
    choices = AskOptions(search_text=found.search_text)
    answer = asyncio.run(ask(found.question, "jonas", choices, read.runtime()))
    assert "20 euros a night" in answer.text
    assert answer.question == found.question


def test_a_model_says_how_it_is_meant(read: Any) -> None:
    model = read.says(json.dumps({"question": WHOLE}))
    found = followed(read, "and guests?", PRICE)
    assert (found.question, found.method) == (WHOLE, "scripted")
    assert found.usage is not None
    assert found.usage.calls == 1
    assert found.search_text.startswith(WHOLE)
    assert "80 euros" in model.asked[0][1]


def test_a_model_that_repeats_the_question_changes_nothing(read: Any) -> None:
    read.says(json.dumps({"question": SPEED.upper()}))
    found = followed(read, SPEED, PRICE)
    assert (found.question, found.search_text, found.method) == (SPEED, "", "")


def test_where_a_model_fails_words_are_carried_over(read: Any) -> None:
    read.says(EngineError("Asleep."))
    found = followed(read, "and guests?", PRICE)
    assert (found.method, found.warning) == ("rules", "Asleep.")
    read.says("I cannot.\nReally.")
    found = followed(read, "and guests?", PRICE)
    assert (found.method, found.warning) == ("rules", "")
    assert found.usage is not None


def test_a_conversation_recalls_what_the_same_persona_answered(read: Any) -> None:
    quoted = AskOptions(model="none")
    asyncio.run(ask(PRICE.question, "jonas", quoted, read.runtime()))
    asyncio.run(ask(SPEED, "maria", quoted, read.runtime()))
    read.says(*[json.dumps({"question": WHOLE})] * 3)
    recalled = followed(read, "and guests?", PRICE).recalled
    assert [memory.question for memory in recalled] == [PRICE.question]
    model = read.says("A guest pays 20 euros a night.", "No.")
    asyncio.run(ask(WHOLE, "jonas", AskOptions(in_conversation=True), read.runtime()))
    assert "[earlier answers" in model.asked[-1][1]
    asyncio.run(ask(f"{WHOLE} Why?", "jonas", AskOptions(), read.runtime()))
    assert "[earlier answers" not in model.asked[-1][1]


def test_a_setting_says_otherwise_and_the_same_question_is_no_reminder(read: Any) -> None:
    asyncio.run(ask(PRICE.question, "jonas", AskOptions(model="none"), read.runtime()))
    read.says(*["x"] * 3)
    assert followed(read, f"Please: {PRICE.question}").recalled == ()
    assert followed(read, "What does the marina cost?").recalled
    read.library.personas.change("jonas", {"memory.recall": "0"})
    assert followed(read, "What does the marina cost?").recalled == ()


def test_what_cannot_be_asked_is_refused(read: Any) -> None:
    with pytest.raises(UsageError):
        followed(read, "  ", PRICE)
    with pytest.raises(NotFoundError):
        followed(read, "and?", PRICE, persona="nobody")


LANGUAGES = {"en": 5, "de": 2, "zh": 1}


def no_frequencies(terms: object) -> list[int]:
    return []


def test_a_question_that_begins_so_goes_on() -> None:
    for text in ("and in winter?", "But who pays?", "Und im Winter?", "那冬天的票价是多少钱?"):
        assert begins_as_follow_up(parse_question(text, LANGUAGES)), text
    for text in ("What does the ferry cost?", "Android?", "Was kostet die Fähre?", "?!", "and/or"):
        assert not begins_as_follow_up(parse_question(text, LANGUAGES)), text


def test_a_question_without_a_subject_says_little() -> None:
    assert says_little(parse_question("what about Google Cloud?", LANGUAGES))
    long = "Which countries does Fireworks AI handle our personal data in?"
    assert not says_little(parse_question(long, LANGUAGES))


OPEN = {
    "en": ("is it free?", "what about Google Cloud?", "how long?", "at which site?", "that too?"),
    "de": ("Wie lange dauert das?", "Gilt sie?", "Auf welchen Konsolen?", "Was ist mit Bonn?"),
    "fr": ("combien ça coûte ?", "Qu'en est-il de Lyon ?", "dans quel dossier ?"),
    "es": ("¿cuándo termina eso?", "¿Qué hay de Cádiz?"),
    "it": ("quanto costa questo?",), "nl": ("wat kost dit?",), "pt": ("quanto custa isso?",),
    "da": ("Hvornår slutter denne?",), "no": ("Hva koster dette?",), "sv": ("Gäller detta här?",),
    "fi": ("Missä se on?",), "ru": ("Где она находится?",), "ar": ("كم سعر هذا؟",),
    "ja": ("それはいくらですか",), "zh": ("它多少钱?",),
}  # fmt: skip
WHOLE_BY_ITSELF = {
    "en": ("What does -L do?", "exit 60?", "selling a handle?", "In which bay is the Skarv?"),
    "de": ("Was kostet die Fähre?", "Auf welchem Kai liegt Skarv?"), "fr": ("prix du billet ?",),
    "es": ("¿Cuánto cuesta el billete?",), "zh": ("船票多少钱?",), "ru": ("Где находится паром?",),
}  # fmt: skip


def test_a_question_leaves_open_what_it_is_about_or_says_it() -> None:
    for texts, expected in ((OPEN, True), (WHOLE_BY_ITSELF, False)):
        for language, own in texts.items():
            for text in own:
                assert leaves_open(parse_question(text, {language: 1})) is expected, text


def test_a_question_with_a_subject_takes_no_words_of_the_one_before(read: Any) -> None:
    for text in ("What does -L do?", "selling a handle?"):
        assert followed(read, text, PRICE, persona="").search_text == ""


def test_the_subject_is_the_rarest_words_in_their_order() -> None:
    counts = {"harbour": 90, "berth": 4, "marina": 2, "cost": 70, "guest": 3}
    before = parse_question(
        "What does a berth cost a guest in the marina of the harbour?", {"en": 1}
    )

    def frequencies(terms: object) -> list[int]:
        assert isinstance(terms, tuple)
        return [counts[next(name for name in counts if term.startswith(name))] for term in terms]

    assert subject(before, frequencies) == "berth guest marina"


@given(st.text(min_size=1, max_size=200))
def test_whatever_was_asked_its_subject_is_among_its_words(text: str) -> None:
    before = parse_question(text, LANGUAGES)
    own = {word for word, _ in before.words}
    topic = subject(before, no_frequencies)
    assert not own or topic
    assert len(content_words(before).split()) <= 32
