"""Chunks of one size."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.chunking.fixed import chunk_by_size
from chapterhouse.types import Body

SIZES = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@given(st.text(max_size=500), SIZES)
def test_without_the_overlap_the_chunks_are_the_text(text: str, sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    spans = chunk_by_size(Body(text), size, overlap)
    pieces = [text[span.start : span.end] for span in spans]
    assert "".join(pieces[:1] + [piece[overlap:] for piece in pieces[1:]]) == text


@given(st.text(max_size=500), SIZES)
def test_neighbours_share_exactly_the_overlap(text: str, sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    spans = chunk_by_size(Body(text), size, overlap)
    for one, other in itertools.pairwise(spans):
        assert one.end - other.start == overlap
        assert one.end - one.start == size
        assert other.end > one.end  # something new


def test_a_short_text_is_one_chunk() -> None:
    assert [(s.start, s.end) for s in chunk_by_size(Body("short"))] == [(0, 5)]
    assert chunk_by_size(Body("")) == ()


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, -1), (0, 0)])
def test_an_impossible_overlap_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        chunk_by_size(Body("text"), size, overlap)
