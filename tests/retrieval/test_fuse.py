"""Laws of fusion."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chapterhouse.retrieval.fuse import COSINE_ALONE, combine_scores, ranks, reciprocal_ranks
from chapterhouse.types import Scored

LISTS = st.dictionaries(st.integers(1, 30), st.floats(0, 50), max_size=12).map(
    lambda scores: [Scored(k, s) for k, s in sorted(scores.items(), key=lambda i: (-i[1], i[0]))]
)


@example([Scored(2, 2.2250738585e-313)], [Scored(2, 1.0)])  # too small to be divided late
@given(LISTS, LISTS)
def test_combined_scores_lie_between_zero_and_one(
    lexical: list[Scored], vector: list[Scored]
) -> None:
    fused = combine_scores(lexical, vector)
    near = {hit.key for hit in vector if hit.score >= COSINE_ALONE}
    assert set(fused) == {hit.key for hit in lexical} | near
    assert all(0 <= score <= 1 for score in fused.values())


@given(LISTS)
def test_without_vectors_the_order_is_that_of_bm25(lexical: list[Scored]) -> None:
    fused = combine_scores(lexical, [])
    assert [hit.key for hit in sorted(lexical, key=lambda h: (-fused[h.key], -h.score, h.key))] == [
        hit.key for hit in lexical
    ]


@given(st.permutations([0, 1, 2]), LISTS, LISTS, LISTS)
def test_rank_fusion_ignores_the_order_of_its_lists(
    order: list[int], one: list[Scored], two: list[Scored], three: list[Scored]
) -> None:
    lists, weights = [one, two, three], [1.0, 0.5, 2.0]
    expected = reciprocal_ranks(lists, weights)
    shuffled = reciprocal_ranks([lists[i] for i in order], [weights[i] for i in order])
    assert shuffled == pytest.approx(expected)


def test_rank_fusion_counts_ranks_from_one() -> None:
    fused = reciprocal_ranks([[Scored(7, 9.0), Scored(8, 1.0)], [Scored(8, 3.0)]])
    assert fused == {7: pytest.approx(1 / 61), 8: pytest.approx(1 / 62 + 1 / 61)}


@given(LISTS)
def test_ranks_count_from_one(hits: list[Scored]) -> None:
    assert sorted(ranks(hits).values()) == list(range(1, len(hits) + 1))


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="weights"):
        reciprocal_ranks([[]], [1.0, 2.0])
    with pytest.raises(ValueError, match="negative"):
        reciprocal_ranks([[]], k=-1)
