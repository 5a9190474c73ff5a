"""Cuts by topic, meaning, information and sections, and the measures of a chunk."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chapterhouse.chunking.content import (
    Quality,
    chunk_by_density,
    chunk_by_meaning,
    chunk_by_topic,
    jaccard,
    mean_quality,
    measure_quality,
)
from chapterhouse.chunking.strategies import chunk_by_hierarchy, with_parents
from chapterhouse.chunking.units import Limits
from chapterhouse.types import Body, Section, Span

from .bodies import body_of

SEA = "The boat left the harbour and the captain watched the harbour light. "
FOOD = "Knead dough with flour and yeast until the dough rises in flour. "
LIMITS = Limits(400, 100, 900)
TWO_SUBJECTS = Body(SEA * 6 + FOOD * 6)


def cut_texts(body: Body, spans: Sequence[Span]) -> list[str]:
    return [body.text[span.start : span.end] for span in spans]


def test_jaccard_is_the_share_of_what_is_in_both() -> None:
    one, other = frozenset("abc"), frozenset("bcd")
    assert jaccard(one, other) == jaccard(other, one) == 0.5
    assert jaccard(one, one) == 1
    assert jaccard(frozenset(), frozenset()) == jaccard(one, frozenset()) == 0


def test_a_cut_stands_where_the_keywords_change() -> None:
    assert TWO_SUBJECTS.text.index("Knead") in {
        span.start for span in chunk_by_topic(TWO_SUBJECTS, LIMITS)
    }


def test_a_cut_stands_where_the_vectors_turn_whatever_the_words_are() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        half = len(texts) // 2
        return np.array([[1, 0]] * half + [[0, 1]] * half, dtype=np.float32)

    body = Body(SEA * 12)
    spans = chunk_by_meaning(body, embed, LIMITS)
    assert "".join(asked) == body.text
    assert len(SEA) * 6 in {span.start for span in spans}


def test_an_empty_text_has_no_chunks_and_asks_for_no_vectors() -> None:
    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError(texts)

    empty = Body("")
    assert not chunk_by_meaning(empty, embed)
    assert not chunk_by_topic(empty)
    assert not chunk_by_density(empty)


def test_one_word_over_and_over_has_no_information_and_is_cut_by_length() -> None:
    body = Body("Harbour. " * 200)
    texts = cut_texts(body, chunk_by_density(body, LIMITS))
    assert "".join(texts) == body.text
    lengths = [len(text) for text in texts]
    assert len(texts) > 1
    assert max(lengths) - min(lengths) <= 2 * len("Harbour. ")


SMALL = Limits(10, 1, 40)
# What stands before the first heading, A with A.1 below it, then B.
BODY = Body(
    "x" * 100,
    (
        Section(0, 0, (), 0, 10),
        Section(1, 1, ("A",), 10, 30),
        Section(2, 2, ("A", "A.1"), 30, 60),
        Section(3, 1, ("B",), 60, 100),
    ),
)


def spans(*borders: int) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in pairwise(borders))


def test_a_section_holds_all_sections_below_it_and_nothing_else() -> None:
    cut = with_parents(BODY, spans(0, 10, 30, 60, 100), SMALL)
    assert [one.parents for one in cut] == [(), ((10, 60),), ((10, 60),), ()]


def test_neighbours_under_one_heading_are_a_passage_up_to_three_targets() -> None:
    cut = with_parents(BODY, spans(60, 70, 80, 90, 100), SMALL)
    assert [one.parents[0] for one in cut] == [(60, 90)] * 3 + [(60, 100)]
    assert all(one.parents[-1] == (60, 100) for one in cut)
    long = with_parents(Body("x" * 100), spans(0, 50, 100), SMALL)  # two, however long they are
    assert [one.parents for one in long] == [((0, 100),)] * 2


def test_a_heading_is_cut_before_though_both_parts_would_fit_one_chunk() -> None:
    part = "Boats wait. " * 20
    body = body_of(f"# A\n\n{part}\n\n# B\n\n{part}")
    starts = [one.start for one in chunk_by_hierarchy(body, Limits(600, 100, 900))]
    assert starts == [0, body.text.index("# B")]


WORDS = st.lists(st.sampled_from(["gate", "wind", "the", "港", "Boat's", "x"]), max_size=40)


@given(st.lists(WORDS.map(" ".join), max_size=6), st.sampled_from(["en", "", "zh", "xx"]))
def test_every_measure_stays_in_its_range(texts: list[str], language: str) -> None:
    found = measure_quality(texts, language)
    assert len(found) == len(texts)
    for quality, text in zip(found, texts, strict=True):
        assert 0 <= quality.entropy <= math.log2(max(len(text), 1)) + 1e-9
        assert 0 <= quality.coherence <= 1
        assert 0 <= quality.density < 1
        assert 0 <= quality.importance <= 1


def test_the_measures_on_an_example_by_hand() -> None:
    first, second = measure_quality(["The gate, the wind.", "Gate and boat."], "en")
    # shares of its words: 2/4, 1/4, 1/4
    assert first.entropy == pytest.approx(1.5)
    # of three keywords one is common
    assert first.coherence == second.coherence == pytest.approx(1 / 3)
    assert first.density == 0.0
    assert first.importance == pytest.approx(0.4 * 1.5 / 8 + 0.25 + 0.25)
    assert second.importance == pytest.approx(0.4 * math.log2(3) / 8 + 0.25 + 0.125)


def test_measures_of_repetition_of_pairs_and_of_a_chunk_alone() -> None:
    (repeated,) = measure_quality(["Gate, gate, wind; gate and wind."], "en")
    assert repeated.density == pytest.approx(1 - 2 / 5)
    (chinese,) = measure_quality(["港口开放港口关闭"], "zh")
    assert chinese.entropy > 2
    assert chinese.density > 0
    (alone,) = measure_quality(["gate"], "en")
    assert (alone.entropy, alone.coherence) == (0.0, 0.0)
    assert alone.importance == pytest.approx(0.25)
    assert measure_quality([], "en") == ()


def test_a_mean_of_none_is_nothing() -> None:
    one, other = Quality(4.0, 0.5, 0.0, 0.6), Quality(2.0, 0.1, 0.5, 0.2)
    assert mean_quality([one, other]) == Quality(3.0, 0.3, 0.25, 0.4)
    assert mean_quality([]) == Quality(0.0, 0.0, 0.0, 0.0)
