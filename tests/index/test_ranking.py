"""What is ranked in memory is ranked as in the index of a library."""

from collections.abc import Callable
from pathlib import Path

from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.ranking import rank_in_memory
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Scope, WeightedTerm

EVERYTHING = Scope.everything()
TEXTS = {
    "a": "The gate of the harbour closes at dusk, and the harbour is dark.",
    "b": "A harbour master keeps the log.",
    "c": "Wind and rain.",
    "d": "Harbour dues are paid at the gate.",
}


def test_it_ranks_as_the_index_of_a_library_does(
    tmp_path: Path, store: SqliteStore, put: Callable[..., str]
) -> None:
    for name, text in TEXTS.items():
        put(name, text)
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    documents = list(store.documents(EVERYTHING))
    entries = [(one, store.chunks_of(one.id, EVERYTHING)) for one in documents]
    chunks = [chunk for _, own in entries for chunk in own]
    rank = rank_in_memory(entries)
    for terms in ([WeightedTerm("harbour")], [WeightedTerm("harbour"), WeightedTerm("gate", 2.5)]):
        wanted = [(hit.key, hit.score) for hit in index.search(terms, EVERYTHING, 3)]
        assert [(chunks[hit.key].key, hit.score) for hit in rank(terms, 3)] == wanted
    assert rank([WeightedTerm("submarine")], 3) == []
    assert rank([], 3) == ()


def test_equal_scores_keep_their_order_across_the_cut() -> None:
    assert rank_in_memory(())([WeightedTerm("x")], 3) == []


def test_ties_are_ordered_by_place(store: SqliteStore, put: Callable[..., str]) -> None:
    for number in range(40):
        put(f"{number:02}", "The same words.", title="Same")
    documents = list(store.documents(EVERYTHING))
    entries = [(one, store.chunks_of(one.id, EVERYTHING)) for one in documents]
    found = rank_in_memory(entries)([WeightedTerm("word"), WeightedTerm("words")], 5)
    assert [hit.key for hit in found] == [0, 1, 2, 3, 4]
