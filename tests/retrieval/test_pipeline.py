"""Choosing among ordered chunks."""

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.retrieval.pipeline import choose
from chapterhouse.types import Chunk

CHUNKS = st.lists(st.sampled_from("abc"), max_size=20).map(
    lambda names: [
        Chunk(name, ordinal, 0, 1, "x", key=ordinal + 1) for ordinal, name in enumerate(names)
    ]
)


@given(CHUNKS, st.sets(st.integers(1, 20), max_size=4), st.integers(1, 10), st.integers(0, 3))
def test_the_choice_keeps_order_limit_cap_and_guarantees(
    ordered: list[Chunk], wanted: set[int], limit: int, cap: int
) -> None:
    guaranteed = {key: "x" for key in wanted if key <= len(ordered)}
    chosen = choose(ordered, guaranteed, limit, cap)
    keys = [chunk.key for chunk in chosen]
    assert len(chosen) <= limit
    assert keys == sorted(keys)  # the order they came in
    first = sorted(guaranteed)[:limit]
    assert set(first) <= set(keys)
    for name in "abc":
        of_document = [chunk for chunk in chosen if chunk.document_id == name]
        must = sum(chunk.key in guaranteed for chunk in of_document)
        assert not cap or len(of_document) <= max(cap, must)


@given(CHUNKS, st.integers(1, 10))
def test_without_cap_and_guarantees_it_is_the_beginning(ordered: list[Chunk], limit: int) -> None:
    assert choose(ordered, {}, limit, 0) == ordered[:limit]
