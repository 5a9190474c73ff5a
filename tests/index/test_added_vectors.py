"""The vector index of an encoder, whose vectors come after their documents."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chapterhouse.index.state import read_state
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Scope

EVERYTHING = Scope.everything()

Put = Callable[..., str]


class Letters:
    """Unit vectors of how often each of four letters is said."""

    fingerprint = "letters:4"
    dimensions = 4

    def serves(self, language: str) -> bool:
        return bool(language)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = np.asarray([[1.0 + text.count(c) for c in "aeio"] for text in texts])
        rows: NDArray[np.float32] = (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(
            np.float32
        )
        return rows

    def embed_question(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector


EMBEDDER = Letters()


def embed(store: Store, document_id: str) -> None:
    chunks = store.chunks_of(document_id, EVERYTHING)
    rows = EMBEDDER.embed_passages([chunk.text for chunk in chunks])
    keys = [chunk.key for chunk in chunks]
    assert store.embeddings().put(document_id, keys, EMBEDDER.fingerprint, rows)


def found(index: VectorIndex, shelves: Sequence[str] = ()) -> list[tuple[int, float]]:
    hits = index.search(EMBEDDER.embed_question("aaaa oo"), Scope(tuple(shelves) or None), 100)
    return [(hit.key, hit.score) for hit in hits]


@pytest.fixture
def filled(store: Store, put: Put) -> Store:
    for number in range(6):
        put(f"note-{number}", f"{'a' * number} one\n\n{'o' * number} two")
    return store


def test_it_learns_vectors_that_come_later(filled: Store, tmp_path: Path, put: Put) -> None:
    index = VectorIndex(tmp_path / "letters", EMBEDDER)
    index.catch_up(filled)
    assert index.sequence() == filled.sequence()
    assert index.size(EVERYTHING) == 0
    for number in (3, 0, 5):
        embed(filled, f"note-{number}")
        index.catch_up(filled)
    assert index.size(EVERYTHING) == 6
    filled.set_shelves("note-3", ["other"])
    index.catch_up(filled)
    assert len(found(index, ["other"])) == 2
    put("note-3", "aaa again")  # changed: its vectors are pending again
    index.catch_up(filled)
    assert index.size(EVERYTHING) == 4
    embed(filled, "note-3")
    filled.remove("note-0")
    index.catch_up(filled)
    assert index.size(EVERYTHING) == 3


def test_any_order_gives_the_index_that_a_rebuild_gives(filled: Store, tmp_path: Path) -> None:
    grown = VectorIndex(tmp_path / "grown", EMBEDDER)
    for number in (4, 1, 0, 5, 2):
        grown.catch_up(filled)
        embed(filled, f"note-{number}")
    filled.remove("note-1")
    grown.catch_up(filled)
    fresh = VectorIndex(tmp_path / "fresh", EMBEDDER)
    fresh.catch_up(filled)
    assert found(fresh) == found(grown)
    assert len(found(fresh)) == 8
    grown.rebuild(filled)
    assert found(grown) == found(fresh)


def test_the_tables_index_does_not_look_at_them(filled: Store, tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    index = VectorIndex(folder, EMBEDDER)
    index.catch_up(filled)
    before = read_state(folder)
    rows = np.ones((2, 2), dtype=np.float32)
    keys = [chunk.key for chunk in filled.chunks_of("note-1", EVERYTHING)]
    filled.embeddings().put("note-1", keys, "another:2", rows)
    index.catch_up(filled)
    assert read_state(folder) == before


def test_vectors_that_wait_to_be_added_are_no_differences(filled: Store, tmp_path: Path) -> None:
    index = VectorIndex(tmp_path / "letters", EMBEDDER)
    index.catch_up(filled)
    embed(filled, "note-2")
    assert not index.differing(filled, thorough=True)
    index.catch_up(filled)
    assert not index.differing(filled, thorough=True)
