"""Taking questions apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.retrieval.expand import MOST_PARTS, parts_of
from chapterhouse.retrieval.question import parse_question


@pytest.mark.parametrize(
    ("language", "text", "parts"),
    [
        (
            "en",
            "Who founded A and when was B built?",
            ("Who founded A", "when was B built"),
        ),
        (
            "en",
            "Who is the captain and when does the ferry leave?",
            ("Who is the captain", "when does the ferry leave"),
        ),
        (
            "en",
            "When does the ferry leave and is the bar open?",
            ("When does the ferry leave", "is the bar open"),
        ),
        ("en", "harbour fee; opening hours", ("harbour fee", "opening hours")),
        ("en", "- harbour fee\n- opening hours", ("harbour fee", "opening hours")),
        (
            "en",
            "Please tell me: 1. the harbour fee 2. the opening hours",
            ("the harbour fee", "the opening hours"),
        ),
        (
            "en",
            "How wide is the gate?\nHow deep is the lock?",
            ("How wide is the gate", "How deep is the lock"),
        ),
        (
            "de",
            "Wer gründete die Werft und wann wurde der Hafen gebaut?",
            ("Wer gründete die Werft", "wann wurde der Hafen gebaut"),
        ),
        ("de", "Wer fährt das Schiff und darf man rauchen?",
         ("Wer fährt das Schiff", "darf man rauchen")),
        (
            "es",
            "¿Quién es el capitán y cuándo sale el barco?",
            ("Quién es el capitán", "cuándo sale el barco"),
        ),
        ("fr", "Qui est le capitaine et quand part le bateau ?",
         ("Qui est le capitaine", "quand part le bateau")),
        ("zh", "人口是多少？面积是多少？", ("人口是多少", "面积是多少")),
    ],
)  # fmt: skip
def test_several_things_are_taken_apart(language: str, text: str, parts: tuple[str, ...]) -> None:
    assert parts_of(parse_question(text, {language: 1})) == parts


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "what is X and Y"),
        ("en", "What do fares and tickets cost?"),
        ("en", "How and when was Rome built?"),
        ("en", "How wide is the gate and how high?"),
        ("en", "Which company makes pumps and is based in Berlin?"),
        ("en", "harbour fee? Harbour fee"),
        ("en", "Varnholm Ostby - ferry times winter"),
        ("en", "Who won in 3. Liga football?"),
        ("en", "What are the rules for\ncarrying dangerous goods on\nthe night ferry in winter?"),
        ("en", "What is the fee?"),
        ("en", "???"),
        ("de", "Was kosten Fahrräder und Autos?"),
        ("xx", "Was kosten Fahrräder und Autos?"),
    ],
)
def test_one_thing_stays_whole(language: str, text: str) -> None:
    assert parts_of(parse_question(text, {language: 1})) == ()


def test_a_part_with_a_pronoun_carries_what_it_means() -> None:
    question = parse_question("Who wrote the plan and when did they publish it?", {"en": 1})
    assert parts_of(question) == ("Who wrote the plan", "when did they publish it wrote plan")


def test_a_copula_is_no_pronoun() -> None:
    question = parse_question("¿Qué es la grúa y quién es el capitán?", {"es": 1})
    assert parts_of(question) == ("Qué es la grúa", "quién es el capitán")


@given(
    st.lists(
        st.sampled_from(
            ["who", "is", "the", "and", "?", ";", "\n", "1.", "2)", "-", "und", "harbour", "gate"]
        ),
        max_size=40,
    )
)
def test_parts_are_few_distinct_and_made_of_the_question(words: list[str]) -> None:
    text = " ".join(words)
    parts = parts_of(parse_question(text, {"en": 1}))
    assert len(parts) != 1
    assert len(parts) <= MOST_PARTS
    assert len(set(parts)) == len(parts)
    said = {word.strip(".?;") for word in words}
    assert all({word.strip(".?;") for word in part.split()} <= said for part in parts)


@pytest.mark.parametrize("unit", [" ", "\n", "and what ", "1. ", "? ", "- ", "((1) ", "is the "])
@pytest.mark.timeout(60)  # what grows with the square of the length takes longer
def test_hostile_questions_are_taken_apart_quickly(unit: str) -> None:
    text = "x" + (unit * 10_000)[:9_990] + "y"
    question = parse_question(text, {"en": 1})
    assert all(part in text for part in parts_of(question))
