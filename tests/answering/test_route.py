"""A question is answered where the documents hold it, else it is theirs or it is not."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.question_kind import QuestionKind, kind_of
from chapterhouse.answering.route import (
    FIELD_SHARE,
    NEAR,
    deferral,
    field_share,
    needs_model,
    notice,
    route,
)
from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import Persona, Question, Route

MARIA = Persona(
    "maria",
    "Maria Keller",
    tags=("eye-tracking",),
    key_terms=("stereo display", "latency"),
    aliases=("HMD",),
    expertise="She knows displays and Hafenregeln.",
)


def asked(text: str) -> tuple[Question, Sequence[float]]:
    question = parse_question(text, {"en": 1})
    return question, [1.0] * len(question.words)


def routed(
    text: str, confidence: float, persona: Persona | None = MARIA, *, found: bool = False
) -> Route:
    question, weights = asked(text)
    return route(question, persona, weights, confidence, found=found)


@given(st.floats(0, 1), st.sampled_from([None, MARIA]), st.text(max_size=30))
def test_what_answers_is_an_answer_whatever_the_profile_says(
    confidence: float, persona: Persona | None, text: str
) -> None:
    assert routed(text or "x", confidence, persona, found=True) is Route.ANSWERED


@given(st.floats(0, 1), st.text(max_size=30))
def test_no_question_is_foreign_to_the_library(confidence: float, text: str) -> None:
    assert routed(text or "x", confidence, None) is Route.INSUFFICIENT


@pytest.mark.parametrize(
    ("text", "confidence", "way"),
    [
        ("Which vaccines do parrots need?", 0.01, Route.OUT_OF_SCOPE),
        ("Which vaccines do parrots need?", NEAR, Route.INSUFFICIENT),
        ("Which vaccines do parrots need?", NEAR - 0.001, Route.OUT_OF_SCOPE),
        ("What latency do stereo displays have?", 0.0, Route.INSUFFICIENT),
        ("Does tracking of eyes work?", 0.0, Route.INSUFFICIENT),
        ("What is an HMD?", 0.0, Route.INSUFFICIENT),
        ("Who is Maria Keller?", 0.0, Route.INSUFFICIENT),
        ("", 0.0, Route.OUT_OF_SCOPE),
        ("?!", 0.0, Route.OUT_OF_SCOPE),
    ],
)
def test_a_question_without_an_answer_is_theirs_by_words_or_by_what_is_near(
    text: str, confidence: float, way: Route
) -> None:
    assert routed(text, confidence) is way


def test_the_share_is_that_of_the_weight_of_words() -> None:
    question, weights = asked("parrot latency")
    assert field_share(question, MARIA, weights) == 0.5
    heavy = [9.0 if word == "parrot" else 1.0 for word, _ in question.words]
    assert field_share(question, MARIA, heavy) == pytest.approx(0.1) != FIELD_SHARE
    assert field_share(question, Persona("x", "X"), weights) == 0.0
    assert field_share(*_nothing()) == 0.0


def _nothing() -> tuple[Question, Persona, Sequence[float]]:
    question, weights = asked("?")
    return question, MARIA, weights


def test_the_deferral_is_worded_as_agreed() -> None:
    assert deferral(MARIA, "the general assistant") == (
        "This question is outside Maria Keller's expertise; switching to the general assistant."
    )
    assert deferral(MARIA) == "This question is outside Maria Keller's expertise."


HALL = "The hall has 120 seats. All 12 contracts were signed for three years."


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        ("How many seats does the hall have?", False),
        ("How many of the contracts were signed?", False),  # the text says it
        ("How many of the agreements end this year?", True),
        ("How many policies mention seats?", True),
        ("Wie viele der Berichte nennen die Halle?", True),
        ("Combien de rapports mentionnent la salle ?", True),
        ("Which of the two halls is better?", True),
        ("Should I sign the lease?", True),
        ("Welche der beiden Hallen ist besser?", True),
        ("Que pensez-vous de la salle ?", True),
        ("Summarise the hall rules", True),
        ("Fasse die Hallenordnung zusammen", True),
        ("Résumez le règlement", True),
        ("Why was the hall closed?", False),
        ("Who runs the hall?", False),
    ],
)
def test_what_is_counted_weighed_or_summed_up_needs_a_model(asked: str, needed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    kind = kind_of(asked, ())
    assert needs_model(kind, HALL, asked) is needed
    assert notice(kind, HALL, asked).endswith(":") is needed
    assert notice(kind, "", asked) == ""


def test_the_beginning_of_a_document_is_named_as_such() -> None:
    told = notice(QuestionKind.SUMMARY, "x", "Sum it up", beginning="Rules")
    assert told == "A summary needs a model. This is how “Rules” begins:"
