"""Measures of a chunk."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.chunking.quality import Quality, mean_quality, measure_quality

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


def test_repetition_makes_density() -> None:
    (repeated,) = measure_quality(["Gate, gate, wind; gate and wind."], "en")
    assert repeated.density == pytest.approx(1 - 2 / 5)


def test_a_mean_of_none_is_nothing() -> None:
    one, other = Quality(4.0, 0.5, 0.0, 0.6), Quality(2.0, 0.1, 0.5, 0.2)
    assert mean_quality([one, other]) == Quality(3.0, 0.3, 0.25, 0.4)
    assert mean_quality([]) == Quality(0.0, 0.0, 0.0, 0.0)


def test_chinese_is_counted_by_pairs() -> None:
    (quality,) = measure_quality(["港口开放港口关闭"], "zh")
    assert quality.entropy > 2
    assert quality.density > 0


def test_a_chunk_alone_has_no_coherence_but_the_best_position() -> None:
    (quality,) = measure_quality(["gate"], "en")
    assert (quality.entropy, quality.coherence) == (0.0, 0.0)
    assert quality.importance == pytest.approx(0.25)
    assert measure_quality([], "en") == ()
