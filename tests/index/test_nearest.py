from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chapterhouse.index import nearest
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Scope

Put = Callable[..., str]


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


def test_many_rows_are_searched_exactly_and_shelves_kept(
    tmp_path: Path,
    store: SqliteStore,
    put: Put,
    embedder: StaticEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ("harbour", "gate", "wind", "ferry", "ticket", "crew", "storm", "berth")
    for number in range(40):
        texts = [f"{words[(number + n) % 8]} {words[(number * n) % 8]} {n}" for n in range(6)]
        put(f"d{number}", "\n\n".join(texts), shelves=("crew",) if number % 3 else ("guests",))
    index = VectorIndex(tmp_path / "index", embedder)
    index.catch_up(store)
    for number in range(0, 40, 5):
        store.remove(f"d{number}")
    index.catch_up(store)
    questions = [embedder.embed_question(word) for word in words]
    scopes: list[tuple[str, ...]] = [(), ("crew",), ("guests",)]
    exact = [index.search(q, Scope(s or None), 12, also=[3, 50]) for q in questions for s in scopes]
    monkeypatch.setattr(nearest, "_EXACT_ROWS", 0)
    coded = [index.search(q, Scope(s or None), 12, also=[3, 50]) for q in questions for s in scopes]
    assert coded == exact
    assert all(len(hits) >= 12 for hits in coded)
