"""What only the vector index does."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.embedders import LetterEmbedder

from chapterhouse.index import nearest, vector_files, vectors
from chapterhouse.index.vector_files import LOGS
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Scope

EVERYTHING = Scope.everything()

Put = Callable[..., str]


def test_scores_are_the_cosines_and_those_of_given_chunks_come_along(
    tmp_path: Path, store: Store, put: Put, embedder: LetterEmbedder
) -> None:
    put("a", "The ferry leaves at nine.")
    put("b", "Flour and eggs make dough.")
    index = VectorIndex(tmp_path / "index", embedder)
    index.catch_up(store)
    question = embedder.embed_question("ferry departure")
    best, other = index.search(question, EVERYTHING, 10)
    for hit, name in ((best, "a"), (other, "b")):
        ((key,), stored) = store.vectors_of(name, embedder.fingerprint)
        assert hit.key == key
        assert hit.score == pytest.approx((stored @ question)[0], abs=3e-5)
    assert index.search(question, EVERYTHING, 1) == [best]
    assert list(index.search(question, EVERYTHING, 1, also=[other.key])) == [best, other]
    assert list(index.search(question, EVERYTHING, 1, also=[999_999])) == [best]


def test_dead_rows_are_compacted(
    tmp_path: Path,
    store: Store,
    put: Put,
    embedder: LetterEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vectors, "_COMPACT_FROM", 4)
    index = VectorIndex(tmp_path / "index", embedder)
    reader = VectorIndex(tmp_path / "index", embedder)
    for number in range(6):
        put("a", f"Version {number} about the harbour.")
        put("b", "Always the same wind.")
        index.catch_up(store)
        assert len(reader.search(embedder.embed_question("harbour"), EVERYTHING, 10)) == 2
    assert index.size(EVERYTHING) == 2
    sizes = [path.stat().st_size for path in (tmp_path / "index").glob("vectors.*")]
    assert min(sizes) <= 4 * 256 * 4


def test_a_new_fingerprint_starts_anew(
    tmp_path: Path, store: Store, put: Put, embedder: LetterEmbedder
) -> None:
    class Other(LetterEmbedder):
        fingerprint = "other"

    put("a", "The harbour gate.")
    VectorIndex(tmp_path / "index", embedder).catch_up(store)
    other = VectorIndex(tmp_path / "index", Other())
    assert other.sequence() == 0
    other.catch_up(store)
    assert other.size(EVERYTHING) == 0  # the store has no vectors of that model


@pytest.mark.parametrize("seed", range(6))
def test_any_history_searches_like_a_fresh_build(
    tmp_path: Path,
    store: Store,
    put: Put,
    embedder: LetterEmbedder,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Vectors have no statistics: not even a rebuild is needed for the same answer."""
    monkeypatch.setattr(vectors, "_COMPACT_FROM", 8)
    monkeypatch.setattr(vectors, "_BATCH_CHANGES", 3)
    monkeypatch.setattr(nearest, "_EXACT_ROWS", 4)
    monkeypatch.setattr(nearest, "_BLOCK", 5)
    monkeypatch.setattr(vector_files, "_PIECES", 3)
    chance = random.Random(seed)
    words = ("harbour", "gate", "wind", "ferry", "ticket", "crew", "storm", "berth")
    index = VectorIndex(tmp_path / "index", embedder)
    reader = VectorIndex(tmp_path / "index", embedder)
    for step in range(50):
        name = f"d{chance.randrange(9)}"
        kind = chance.random()
        if kind < 0.5:
            texts = [" ".join(chance.choices(words, k=3)) for _ in range(chance.randint(1, 4))]
            put(name, "\n\n".join(texts), shelves=(chance.choice(("crew", "guests")),))
        elif kind < 0.65:
            store.remove(name)
        elif kind < 0.8:
            store.set_shelves(name, [chance.choice(("crew", "guests"))])
        else:
            index.catch_up(store)
            fresh = VectorIndex(tmp_path / f"fresh{step}", embedder)
            fresh.catch_up(store)
            question = embedder.embed_question(chance.choice(words))
            for scope in (EVERYTHING, Scope.of(["crew"]), Scope.of(["guests", "crew"])):
                found, wanted = (
                    one.search(question, scope, 5, also=range(1, 60, 7)) for one in (reader, fresh)
                )
                assert found == wanted
            assert reader.size(EVERYTHING) == fresh.size(EVERYTHING)


@pytest.mark.parametrize("name", LOGS)
def test_torn_and_lost_logs(
    tmp_path: Path, store: Store, put: Put, embedder: LetterEmbedder, name: str
) -> None:
    index = VectorIndex(tmp_path / "index", embedder)
    put("a", "The harbour gate.\n\nThe wind rises.")
    index.catch_up(store)
    (path,) = (tmp_path / "index").glob(f"{name}.*")
    with path.open("ab") as stream:
        stream.write(b"torn!")
    put("b", "The ferry sails.", shelves=("crew",))
    VectorIndex(tmp_path / "index", embedder).catch_up(store)
    fresh = VectorIndex(tmp_path / "fresh", embedder)
    fresh.catch_up(store)
    question = embedder.embed_question("ferry in the harbour")
    for scope in (EVERYTHING, Scope.of(["crew"])):
        assert index.search(question, scope, 10) == fresh.search(question, scope, 10)
    with path.open("r+b") as stream:
        stream.truncate(3)
    again = VectorIndex(tmp_path / "index", embedder)
    assert again.sequence() == 0
    again.catch_up(store)
    assert again.search(question, EVERYTHING, 10) == fresh.search(question, EVERYTHING, 10)


def _some_vectors(seed: int, rows: int, dimensions: int) -> NDArray[np.float32]:
    """Return unit vectors around a few centres, some of them twice and one of them null."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(5, dimensions))
    found = centres[chance.integers(5, size=rows)] + chance.normal(size=(rows, dimensions))
    found[rows // 2 :: 7] = found[: len(found[rows // 2 :: 7])]
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    found[rows // 3] = 0.0
    return found.astype(np.float32)


@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 400),
    dimensions=st.sampled_from([3, 16, 64, 100]),
    limit=st.integers(1, 60),
    share=st.sampled_from([0.1, 0.7, 1.0]),
)
def test_the_scan_of_codes_leaves_no_best_row_out(
    seed: int, rows: int, dimensions: int, limit: int, share: float
) -> None:
    vectors = _some_vectors(seed, rows, dimensions)
    question = _some_vectors(seed + 1, 1, dimensions)[0] if seed % 9 else vectors[-1]
    mask = np.random.default_rng(seed).random(rows) <= share
    exact = nearest.cosines(vectors, question)[mask]
    scope = None if share == 1.0 else mask
    found = nearest.candidates(nearest.encode(vectors), question, limit, scope)
    assert mask[found].all()
    cut = np.sort(exact)[-limit] if limit < len(exact) else -2.0
    must = np.flatnonzero(mask & (nearest.cosines(vectors, question) >= cut))
    assert set(must) <= set(found)
