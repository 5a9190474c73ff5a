"""The stages of retrieval as one value."""

import dataclasses

import pytest

from chapterhouse.retrieval.fuse import best_scores, combine_scores
from chapterhouse.retrieval.method import Method, Thresholds


def test_what_is_not_said_is_the_plain_way() -> None:
    method = Method()
    assert method.fuse is combine_scores
    assert method.merge is best_scores
    assert method.rerank is None
    assert method.expand == ()
    assert method.recency is None
    assert method.thresholds == Thresholds(bm25=0.0, cosine=-1.0, score=0.0)
    assert method.shortlist <= min(method.lexical_depth, method.vector_depth)


def test_a_method_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Method().shortlist = 5  # type: ignore[misc]  # that it cannot be is what is tested
