"""What the best chunks have in common."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.retrieval.feedback import TERMS, feedback_terms
from chapterhouse.text.analyse import analyse

BEST = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["harbour", "gate", "storm", "x", "tide"]), max_size=9).map(
            " ".join
        ),
        st.just("en"),
        st.floats(0.01, 1),
    ),
    min_size=1,
    max_size=8,
)


def twice(terms: Sequence[str]) -> list[int]:
    return [2] * len(terms)


def test_rare_words_of_the_best_chunks_come_first() -> None:
    counts = {"harbour": 500, "quay": 3, "bollard": 3}
    found = feedback_terms(
        [("harbour quay bollard bollard", "en", 0.9), ("harbour bollard", "en", 0.8)],
        {"gate"},
        lambda terms: [counts.get(term, 2) for term in terms],
        1_000,
    )
    assert [term.term for term in found] == ["bollard", "quay"]
    assert found[0].weight > found[1].weight > 0


def test_words_of_the_question_of_one_letter_or_met_once_are_left_out() -> None:
    found = feedback_terms(
        [("gate x quay lonely", "en", 1.0)],
        {"gate"},
        lambda terms: [1 if term == "lone" else 2 for term in terms],
        1_000,
    )
    assert [term.term for term in found] == ["quay"]


def test_a_better_chunk_counts_more() -> None:
    (first, *_) = feedback_terms([("quay", "en", 0.1), ("bollard", "en", 0.9)], (), twice, 1_000)
    assert first.term == "bollard"


@given(BEST, st.sets(st.sampled_from(["harbour", "gate"])), st.integers(2, 10_000))
def test_terms_are_few_ordered_positive_and_not_asked_for(
    best: list[tuple[str, str, float]], asked: set[str], chunks: int
) -> None:
    found = feedback_terms(best, asked, twice, chunks)
    said = {term for text, language, _ in best for term in analyse(text, language)}
    assert len(found) <= TERMS
    assert {term.term for term in found} <= said - asked
    assert all(term.weight > 0 for term in found)
    assert list(found) == sorted(found, key=lambda term: (-term.weight, term.term))


@given(BEST)
def test_the_scale_of_the_scores_does_not_matter(best: list[tuple[str, str, float]]) -> None:
    halved = [(text, language, score / 2) for text, language, score in best]
    one, other = (feedback_terms(each, (), twice, 1_000) for each in (best, halved))
    assert {t.term: pytest.approx(t.weight, abs=1e-8) for t in one} == {
        t.term: t.weight for t in other
    }


def test_scores_of_zero_and_empty_texts_give_no_error() -> None:
    assert feedback_terms([("", "en", 0.0)], (), twice, 10) == ()
    assert feedback_terms([("quay", "en", 0.0)], (), twice, 1_000)[0].term == "quay"
