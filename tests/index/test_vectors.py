"""What only the vector index does."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from chapterhouse.index import vectors
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.store.sqlite import SqliteStore

Put = Callable[..., str]


def test_cosines_of_given_chunks_come_along(
    tmp_path: Path, store: SqliteStore, put: Put, embedder: StaticEmbedder
) -> None:
    put("a", "The ferry leaves at nine.")
    put("b", "Flour and eggs make dough.")
    index = VectorIndex(tmp_path / "index", embedder)
    index.catch_up(store)
    question = embedder.embed_question("ferry departure")
    best, other = index.search(question, (), 10)
    assert index.search(question, (), 1) == [best]
    assert list(index.search(question, (), 1, also=[other.key])) == [best, other]
    assert list(index.search(question, (), 1, also=[999_999])) == [best]


def test_scores_are_the_cosines(
    tmp_path: Path, store: SqliteStore, put: Put, embedder: StaticEmbedder
) -> None:
    name = put("a", "One text.\n\nAnother text about wind.")
    index = VectorIndex(tmp_path / "index", embedder)
    index.catch_up(store)
    question = embedder.embed_question("wind")
    keys, stored = store.vectors_of(name, embedder.fingerprint)
    expected = dict(zip(keys, np.round(stored @ question, 5), strict=True))
    for hit in index.search(question, (), 10):
        assert hit.score == pytest.approx(expected[hit.key], abs=2e-5)


def test_dead_rows_are_compacted(
    tmp_path: Path,
    store: SqliteStore,
    put: Put,
    embedder: StaticEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vectors, "_COMPACT_FROM", 4)
    index = VectorIndex(tmp_path / "index", embedder)
    reader = VectorIndex(tmp_path / "index", embedder)
    for number in range(6):
        put("a", f"Version {number} about the harbour.")
        put("b", "Always the same wind.")
        index.catch_up(store)
        assert len(reader.search(embedder.embed_question("harbour"), (), 10)) == 2
    assert index.size() == 2
    sizes = [path.stat().st_size for path in (tmp_path / "index").glob("vectors.*")]
    assert min(sizes) <= 4 * 256 * 4


def test_a_torn_append_is_cut_off(
    tmp_path: Path, store: SqliteStore, put: Put, embedder: StaticEmbedder
) -> None:
    index = VectorIndex(tmp_path / "index", embedder)
    put("a", "The harbour gate.")
    index.catch_up(store)
    (path,) = (tmp_path / "index").glob("vectors.*")
    with path.open("ab") as stream:
        stream.write(b"torn")
    put("b", "The wind rises.")
    index.catch_up(store)
    question = embedder.embed_question("wind")
    best = index.search(question, (), 1)[0]
    assert store.chunks([best.key])[best.key].document_id == "b"
    assert best.score > 0.3


def test_a_new_fingerprint_starts_anew(
    tmp_path: Path, store: SqliteStore, put: Put, embedder: StaticEmbedder
) -> None:
    class Other(StaticEmbedder):
        @property
        def fingerprint(self) -> str:
            return "other"

    put("a", "The harbour gate.")
    VectorIndex(tmp_path / "index", embedder).catch_up(store)
    other = VectorIndex(tmp_path / "index", Other())
    assert other.sequence() == 0
    other.catch_up(store)
    assert other.size() == 0  # the store has no vectors of that model
