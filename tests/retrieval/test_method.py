"""The stages of retrieval as one value."""

import dataclasses

import pytest

from chapterhouse.retrieval.fuse import best_scores, combine_scores, lexical_scores
from chapterhouse.retrieval.method import Method, Thresholds, without_stages


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


def test_every_stage_taken_out_differs_in_nothing_else() -> None:
    full = Method(rerank=lambda shortlist: shortlist.scores, expand=(lambda *_: (),))
    fields = {
        "without reranking": {"rerank"},
        "without expansion": {"expand"},
        "without vectors": {"fuse"},
        "without the hop": {"hop"},
        "with duplicates": {"duplicates"},
        "BM25 alone": {"fuse", "rerank", "expand", "hop"},
    }
    taken = dict(without_stages(full))
    assert set(taken) == set(fields)
    for name, method in taken.items():
        changed = {
            field.name
            for field in dataclasses.fields(Method)
            if getattr(full, field.name) != getattr(method, field.name)
        }
        assert changed == fields[name]


def test_bm25_alone_is_always_shown() -> None:
    bare = Method(fuse=lexical_scores, duplicates=2.0, hop=None)
    assert without_stages(bare) == [("BM25 alone", bare)]
