"""A question as the things that it asks, in three languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.passages import MOST_ASPECTS, aspects_of


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
    ("question", "asked"),
    [
        ("Who approves it? When?", ["Who approves it? When"]),
        (
            "What would it cost, and when? And who pays it?",
            ["What would it cost, and when", "who pays it"],
        ),
        ("When? And who pays?", ["When? And who pays"]),
        ("May we, and do we have to warn the owner?", ["May we, and do we have to warn the owner"]),
        ("When?", ["When"]),
    ],
)
def test_it_is_cut_only_where_each_part_is_a_whole_question(
    question: str, asked: list[str]
) -> None:
    assert [one.text for one in aspects_of(question, {"en": 1})] == asked


def test_a_part_has_the_part_before_it_as_context() -> None:
    one, other = aspects_of("Who keeps the papers, and where are they kept?", {"en": 1})
    assert (one.context, other.context) == ("", one.text)


def test_no_more_than_a_table_can_show() -> None:
    many = " ".join(f"Who owns part {number}?" for number in range(3 * MOST_ASPECTS))
    assert len(aspects_of(many, {"en": 1})) == MOST_ASPECTS


@given(st.text(max_size=300))
def test_any_question_has_aspects_of_its_own_words(question: str) -> None:
    found = aspects_of(question, {"en": 1})
    assert 1 <= len(found) <= MOST_ASPECTS
    flat = " ".join(question.split())
    assert all(one.text in flat or one.text in question for one in found)
    assert aspects_of(question, {"en": 1}) == found
