from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.route import (
    FIELD_SHARE,
    NEAR,
    QuestionKind,
    deferral,
    field_share,
    kind_of,
    needs_model,
    notice,
    offers,
    route,
    states_count,
    value_asked,
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
    text: str,
    confidence: float,
    persona: Persona | None = MARIA,
    *,
    absent: float = 0.0,
    found: bool = False,
) -> Route:
    question, weights = asked(text)
    return route(question, persona, weights, absent, confidence, found=found)


@given(st.floats(0, 1), st.sampled_from([None, MARIA]), st.text(max_size=30))
def test_what_answers_is_an_answer(confidence: float, persona: Persona | None, text: str) -> None:
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
def test_without_an_answer_it_is_theirs_or_foreign(
    text: str, confidence: float, way: Route
) -> None:
    assert routed(text, confidence) is way


def test_the_field_of_who_names_none_is_what_their_documents_speak_of() -> None:
    tom = Persona("tom", "Tom")
    for absent, way in ((0.0, Route.INSUFFICIENT), (0.9, Route.OUT_OF_SCOPE)):
        assert routed("Which vaccines do parrots need?", 0.1, tom, absent=absent) is way
        assert routed("Which vaccines do parrots need?", 0.1, absent=absent) is Route.OUT_OF_SCOPE


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


K = QuestionKind


@pytest.mark.parametrize(
    ("language", "question", "kind"),
    [
        ("en", "When does the gate close?", K.DATE),
        ("en", "How much does a berth cost?", K.NUMBER),
        ("en", "Who signs the contract?", K.PERSON),
        ("en", "Where is the office?", K.PLACE),
        ("en", "Why was it closed?", K.REASON),
        ("en", "How do I reset my password?", K.STEPS),
        ("en", "List all fees.", K.ALL),
        ("en", "What is the difference between plan A and plan B?", K.COMPARISON),
        ("en", "Is smoking allowed?", K.DECISION),
        ("en", "Summarise the contract.", K.SUMMARY),
        ("en", "How many of the contracts end in May?", K.COUNT),
        ("en", "Which of the two is fairer?", K.WEIGHING),
        ("en", "What was in short supply?", K.OPEN),
        ("en", "What is a berth?", K.OPEN),
        ("de", "Wie viele der Verträge enden im Mai?", K.COUNT),
        ("de", "Was hältst du von dem Vertrag?", K.WEIGHING),
        ("de", "Fass den Vertrag zusammen.", K.SUMMARY),
        ("fr", "Combien de contrats finissent en mai ?", K.COUNT),
        ("fr", "Faut-il signer le bail ?", K.WEIGHING),
        ("fr", "Résumez le bail.", K.SUMMARY),
        ("de", "Wann schließt das Tor?", K.DATE),
        ("de", "Wie viel kostet ein Liegeplatz?", K.NUMBER),
        ("de", "Wie kann ich mein Passwort ändern?", K.STEPS),
        ("de", "Worin liegt der Unterschied zwischen A und B?", K.COMPARISON),
        ("fr", "Quand ferme le port ?", K.DATE),
        ("fr", "Combien coûte une place ?", K.NUMBER),
        ("fr", "Où se trouve le bureau ?", K.PLACE),
        ("zh", "大门什么时候关？", K.DATE),
        ("zh", "停泊费是多少？", K.NUMBER),
        ("zh", "谁签合同？", K.PERSON),
    ],
)
def test_the_kind_of_a_question(language: str, question: str, kind: QuestionKind) -> None:
    assert kind_of(question, (language,)) is kind
    if kind is not K.OPEN:
        assert kind_of(question.upper(), (language,)) is kind


def test_a_question_in_another_language_than_guessed_has_its_kind() -> None:
    assert kind_of("Wann schließt das Tor?", ("en",)) is K.DATE
    assert kind_of("Wann schließt das Tor?", ("", "xx")) is K.DATE


@pytest.mark.parametrize(
    ("kind", "text", "question", "offered"),
    [
        (K.NUMBER, "It costs 40 euros.", "What does it cost?", True),
        (K.NUMBER, "It costs forty euros.", "What does it cost?", True),
        (K.NUMBER, "In 2024 it was dear.", "What did it cost in 2024?", False),
        (K.NUMBER, "It is dear.", "What does it cost?", False),
        (K.NUMBER, "四十个泊位", "有多少泊位？", True),
        (K.DATE, "It closes at 18:00.", "When does it close?", True),
        (K.DATE, "It closes on Monday.", "When does it close?", True),
        (K.DATE, "It closes early.", "When does it close?", False),
        (K.PERSON, "The contract is signed by Mary Keller.", "Who signs it?", True),
        (K.PERSON, "The contract is signed.", "Who signs it?", False),
        (K.PLACE, "The office is in Bremen.", "Where is the office?", True),
        (K.PLACE, "The office in Bremen is white.", "Where in Bremen is the office?", False),
        (K.REASON, "It was closed because of fog.", "Why was it closed?", True),
        (K.REASON, "It was closed.", "Why was it closed?", False),
        (K.OPEN, "It costs 40 euros.", "What is it?", False),
    ],
)
def test_a_text_may_offer(kind: QuestionKind, text: str, question: str, *, offered: bool) -> None:
    assert offers(kind, text, question) is offered


@given(st.sampled_from(QuestionKind), st.text(max_size=60))
def test_no_text_offers_anything_that_the_question_has(kind: QuestionKind, text: str) -> None:
    if kind is not K.REASON:
        assert not offers(kind, "", text)


@given(st.text(max_size=80), st.lists(st.sampled_from(["", "en", "de", "zh", "xx"]), max_size=3))
def test_every_text_has_one_kind(text: str, languages: list[str]) -> None:
    assert kind_of(text, languages) in QuestionKind


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("All 12 contracts end in May.", True),
        ("Three of these contracts end in May.", True),
        ("A contract ends after 12 months.", False),
        ("The contracts end in May.", False),
    ],
)
def test_a_count_may_be_stated(text: str, stated: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert states_count(text, "How many of the contracts end in May?") is stated


def test_the_value_that_a_question_asks_for_is_told_of_a_text() -> None:
    stating = {
        "How long is the notice?": ("two (2) weeks before", "in two parts"),
        "Wie lange gilt der Ausweis?": ("für drei Jahre", "an drei Orten"),
        "What does a berth cost?": ("80 euros a metre", "2. See the tariff"),
        "When was it signed?": ("on 5 May 2024", "by both sides"),
    }
    for asked, (stated, other) in stating.items():
        question = parse_question(asked, {"en": 1, "de": 1})
        states = value_asked(question)
        assert states, asked
        assert states(stated, question.languages[0]), asked
        assert not states(other, question.languages[0]), asked


def test_a_question_for_a_person_or_no_value_asks_for_none() -> None:
    for asked in ("Who signed it?", "Why is it closed?"):
        assert value_asked(parse_question(asked, {"en": 1})) is None
