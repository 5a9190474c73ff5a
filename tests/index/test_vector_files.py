from collections.abc import Callable
from pathlib import Path

import pytest

from chapterhouse.index.vector_files import LOGS
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Scope

EVERYTHING = Scope.everything()
Put = Callable[..., str]


@pytest.mark.parametrize("name", LOGS)
def test_torn_and_lost_logs(
    tmp_path: Path, store: SqliteStore, put: Put, embedder: StaticEmbedder, name: str
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
    assert index.search(question, EVERYTHING, 10) == fresh.search(question, EVERYTHING, 10)
    assert index.search(question, Scope.of(["crew"]), 10) == fresh.search(
        question, Scope.of(["crew"]), 10
    )
    with path.open("r+b") as stream:
        stream.truncate(3)
    again = VectorIndex(tmp_path / "index", embedder)
    assert again.sequence() == 0
    again.catch_up(store)
    assert again.search(question, EVERYTHING, 10) == fresh.search(question, EVERYTHING, 10)
