"""What is counted of a question, and the figures of many."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marking import (
    Passage,
    Reply,
    calibration_error,
    first_words,
    has_documents,
    has_facts,
    mark,
    share,
)
from questions import Evidence, Question

FACTS = (("30 days", "thirty days"), ("written notice",))


def question(**more: object) -> Question:
    evidence = (Evidence("a.md", "30 days"), Evidence("b.md", "written notice"))
    fields: dict[str, object] = {"evidence": evidence, "facts": FACTS} | more
    return Question("q", "folder", "when", "How long?", other_words=True, **fields)  # type: ignore[arg-type]  # fields differ


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Within **30\ndays** of a *written* notice", True),
        ("Thirty days after written notice", True),
        ("130 days of written notice", False),
        ("30 days", False),
        ("", False),
    ],
)
def test_every_fact_is_needed_as_whole_words(text: str, found: bool) -> None:  # noqa: FBT001 - a parameter
    assert has_facts(text, FACTS) is found


def test_a_question_without_facts_is_never_answered_right() -> None:
    assert not has_facts("anything", ())


def test_hits_words_and_documents_are_counted() -> None:
    filler = [Passage("c.md", "word " * 200)] * 3
    passages = [Passage("a.md", "in 30 days"), *filler, Passage("b.md", "by written notice")]
    made = mark(question(), "30 days, written notice", passages, Reply("", 0.2))
    assert made.readable
    assert made.in_hits == (False, True)
    assert made.in_words == (False, True)
    assert made.documents == (False, True)
    assert made.words == (403, 606)
    assert not made.answered
    assert not made.right


def test_an_answer_is_right_by_its_own_text() -> None:
    made = mark(question(), "", [], Reply("Within thirty days, by written notice.", 0.9))
    assert (made.answered, made.right, made.answer_words) == (True, True, 6)
    wrong = mark(question(), "", [], Reply("Within thirty days.", 0.9))
    assert (wrong.answered, wrong.right) == (True, False)
    foreign = mark(question(evidence=(), facts=(), miss="near"), "", [], Reply("Yes.", 0.9))
    assert (foreign.answered, foreign.right) == (True, False)


def test_all_documents_are_wanted() -> None:
    passages = [Passage("a", ""), Passage("b", "")]
    assert has_documents(passages, ("a", "b"))
    assert not has_documents(passages, ("a", "c"))
    assert not has_documents(passages, ())


@given(st.lists(st.text("ab \n")), st.integers(0, 50))
def test_first_words_are_a_beginning(texts: list[str], count: int) -> None:
    words = [word for text in texts for word in text.split()]
    assert first_words(texts, count).split() == words[:count]


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_a_share_lies_in_its_interval(values: list[bool]) -> None:
    found = share(values)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found == share(values)


def test_a_share_of_nothing_is_a_dash() -> None:
    assert str(share([])) == "–"
    assert str(share([True, True])) == "100.0 (100–100)"


def test_calibration_is_the_distance_of_claim_and_truth() -> None:
    assert calibration_error([1.0, 1.0], [True, True]) == 0
    assert calibration_error([1.0, 1.0], [True, False]) == pytest.approx(0.5)
    assert calibration_error([0.95, 0.15], [True, False]) == pytest.approx(0.1)
    assert math.isnan(calibration_error([], []))
