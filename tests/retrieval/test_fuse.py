"""Laws of fusion."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chapterhouse.retrieval.candidates import Fuse, Merge
from chapterhouse.retrieval.fuse import (
    WORDS_ALONE,
    RankedList,
    best_scores,
    combine_scores,
    lexical_scores,
    rank_scores,
    reciprocal_ranks,
    variant_ranks,
)
from chapterhouse.types import Fusion, Scored

LISTS = st.dictionaries(st.integers(1, 30), st.floats(0, 50), max_size=12).map(
    lambda scores: [Scored(k, s) for k, s in sorted(scores.items(), key=lambda i: (-i[1], i[0]))]
)

FUSION = Fusion(weight=0.3, floor=0.1, ceiling=0.7, alone=0.25)


def both(
    lexical: Sequence[Scored], vector: Sequence[Scored], fusion: Fusion = FUSION
) -> tuple[RankedList, RankedList]:
    return RankedList("bm25", lexical), RankedList("cosine", vector, fusion)


@example([Scored(2, 2.2250738585e-313)], [Scored(2, 1.0)])  # too small to be divided late
@given(LISTS, LISTS)
def test_combined_scores_lie_between_zero_and_one(
    lexical: list[Scored], vector: list[Scored]
) -> None:
    fused = combine_scores(both(lexical, vector))
    near = {hit.key for hit in vector if hit.score >= FUSION.alone}
    assert set(fused) == {hit.key for hit in lexical} | near
    assert all(0 <= score <= 1 for score in fused.values())


@given(LISTS)
def test_without_vectors_the_order_is_that_of_bm25(lexical: list[Scored]) -> None:
    fused = combine_scores(both(lexical, []))
    assert [hit.key for hit in sorted(lexical, key=lambda h: (-fused[h.key], -h.score, h.key))] == [
        hit.key for hit in lexical
    ]


@given(LISTS.filter(bool), LISTS, st.floats(1, 100))
def test_the_farther_the_best_is_from_all_words_the_less_words_count(
    lexical: list[Scored], vector: list[Scored], full: float
) -> None:
    words, near = both(lexical, vector)
    fused = combine_scores([words, near])
    fuller = combine_scores([replace(words, full=full), near])
    alone = [RankedList("bm25", lexical, full=full)]
    assert combine_scores(alone) == combine_scores([words])  # alone they are as they were
    known = {hit.key for hit in vector}
    for hit in lexical:
        if hit.key in known:
            assert fuller[hit.key] <= fused[hit.key] + 1e-9


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


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="weights"):
        reciprocal_ranks([[]], [1.0, 2.0])
    with pytest.raises(ValueError, match="negative"):
        reciprocal_ranks([[]], k=-1)


SCORES = st.dictionaries(st.integers(1, 12), st.floats(0, 1), max_size=8)
VARIANTS = st.lists(st.tuples(SCORES, st.floats(0.05, 1)), min_size=1, max_size=4)


@given(LISTS)
def test_without_vectors_words_alone_decide(lexical: list[Scored]) -> None:
    without = replace(FUSION, weight=0.0)
    words = lexical_scores(both(lexical, [Scored(99, 1.0)]))
    assert words == combine_scores(both(lexical, [Scored(99, -1.0)], without))


@given(st.permutations([0, 1, 2, 3]), LISTS, LISTS, LISTS, LISTS)
def test_any_number_of_lists_is_fused_and_their_order_says_nothing(
    order: list[int], one: list[Scored], two: list[Scored], near: list[Scored], other: list[Scored]
) -> None:
    small = replace(FUSION, weight=0.1)
    lists = [*both(one, near), RankedList("names", two), RankedList("other", other, small)]
    turned = [lists[place] for place in order]
    words = {hit.key for each in (one, two) for hit in each}
    fused = combine_scores(lists)
    assert words <= set(fused)
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())
    for fuse in (rank_scores, lexical_scores):
        assert fuse(turned) == pytest.approx(fuse(lists))
    assert {k: s for k, s in combine_scores(turned).items() if k in words} == pytest.approx(
        {k: s for k, s in fused.items() if k in words}
    )


@pytest.mark.parametrize("merge", [best_scores, variant_ranks])
@given(variants=VARIANTS)
def test_merged_scores_lie_between_zero_and_one_for_every_chunk_of_any_variant(
    merge: Merge, variants: list[tuple[dict[int, float], float]]
) -> None:
    merged = merge([scores for scores, _ in variants], [weight for _, weight in variants])
    assert set(merged) == set().union(*(scores for scores, _ in variants))
    assert all(0 <= score <= 1 + 1e-9 for score in merged.values())


@pytest.mark.parametrize("merge", [best_scores, variant_ranks])
@given(variants=VARIANTS, data=st.data())
def test_the_order_of_the_variants_does_not_matter(
    merge: Merge, variants: list[tuple[dict[int, float], float]], data: st.DataObject
) -> None:
    turned = data.draw(st.permutations(variants))
    one, other = (merge([s for s, _ in each], [w for _, w in each]) for each in (variants, turned))
    assert one == pytest.approx(other)


@pytest.mark.parametrize("merge", [best_scores, variant_ranks])
@given(scores=SCORES)
def test_a_question_alone_keeps_its_scores(merge: Merge, scores: dict[int, float]) -> None:
    assert merge([scores], [1.0]) == scores


@given(SCORES, SCORES, st.floats(0.05, 1))
def test_another_variant_takes_nothing_away(
    own: dict[int, float], other: dict[int, float], weight: float
) -> None:
    merged = best_scores([own, other], [1.0, weight])
    assert all(merged[key] >= score for key, score in own.items())
    assert all(merged[key] >= weight * score for key, score in other.items())


def test_weights_must_be_as_many_as_variants() -> None:
    for merge in (best_scores, variant_ranks):
        with pytest.raises(ValueError, match=r"."):
            merge([{1: 1.0}, {2: 1.0}], [1.0])


def test_ranks_of_both_sides_lie_between_zero_and_one() -> None:
    found = [Scored(7, 9.0), Scored(8, 1.0)]
    fused = rank_scores(both(found, [Scored(7, 0.9), Scored(9, 0.2), Scored(8, 0.1)]))
    assert fused[7] == pytest.approx(1.0)
    assert 0 < fused[9] < fused[8] < 1


@pytest.mark.parametrize("fuse", [combine_scores, rank_scores])
@given(lexical=LISTS, vector=LISTS)
def test_chunks_without_a_vector_stand_in_the_order_of_their_words(
    fuse: Fuse, lexical: list[Scored], vector: list[Scored]
) -> None:
    known = {hit.key for hit in vector}
    fused = fuse(both(lexical, vector))
    unknown = [fused[hit.key] for hit in lexical if hit.key not in known]
    assert all(0 <= score <= 1 + 1e-9 for score in unknown)
    assert all(one >= other - 1e-9 for one, other in pairwise(unknown))


@given(LISTS)
def test_without_vectors_the_scale_is_the_same_whatever_they_would_weigh(
    lexical: list[Scored],
) -> None:
    """The confidence of what is found by words alone was fitted on it."""
    heavy = combine_scores(both(lexical, [], replace(FUSION, weight=0.7)))
    assert heavy == combine_scores(both(lexical, []))
    assert heavy == combine_scores([RankedList("bm25", lexical)])
    assert heavy == pytest.approx(
        {k: WORDS_ALONE * s for k, s in lexical_scores(both(lexical, [])).items()}
    )


def test_the_best_by_words_without_a_vector_stands_before_what_only_lies_near() -> None:
    fusion = Fusion(weight=0.7, floor=0.1, ceiling=0.7, alone=0.25)
    near = [Scored(key, 0.5) for key in range(2, 12)]
    fused = combine_scores(both([Scored(1, 9.0), Scored(2, 4.0), Scored(3, 4.0)], near, fusion))
    assert max(fused, key=lambda key: fused[key]) == 1
