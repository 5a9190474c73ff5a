"""Which questions go on from the one before, and what is carried over to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.retrieval import follow_up
from chapterhouse.retrieval.question import parse_question

LANGUAGES = {"en": 5, "de": 2, "zh": 1}


def no_frequencies(terms: object) -> list[int]:
    return []


@pytest.mark.parametrize(
    "text", ["and in winter?", "But who pays?", "Und im Winter?", "那冬天的票价是多少钱?"]
)
def test_a_question_that_begins_so_goes_on(text: str) -> None:
    assert follow_up.begins_as_follow_up(parse_question(text, LANGUAGES))


@pytest.mark.parametrize(
    "text", ["What does the ferry cost?", "Android?", "Was kostet die Fähre?", "?!", "and/or"]
)
def test_others_do_not_begin_so(text: str) -> None:
    assert not follow_up.begins_as_follow_up(parse_question(text, LANGUAGES))


def test_a_question_without_a_subject_says_little() -> None:
    assert follow_up.says_little(parse_question("what about Google Cloud?", LANGUAGES))
    long = "Which countries does Fireworks AI handle our personal data in?"
    assert not follow_up.says_little(parse_question(long, LANGUAGES))


def test_the_subject_is_the_rarest_words_in_their_order() -> None:
    counts = {"harbour": 90, "berth": 4, "marina": 2, "cost": 70, "guest": 3}
    before = parse_question(
        "What does a berth cost a guest in the marina of the harbour?", {"en": 1}
    )

    def frequencies(terms: object) -> list[int]:
        assert isinstance(terms, tuple)
        return [counts[next(name for name in counts if term.startswith(name))] for term in terms]

    assert follow_up.subject(before, frequencies) == "berth guest marina"


@given(st.text(min_size=1, max_size=200))
def test_whatever_was_asked_its_subject_is_among_its_words(text: str) -> None:
    before = parse_question(text, LANGUAGES)
    own = {word for word, _ in before.words}
    subject = follow_up.subject(before, no_frequencies)
    assert not own or subject
    assert len(follow_up.content_words(before).split()) <= 32
