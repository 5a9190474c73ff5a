"""Sources are kept as they are."""

from pathlib import Path

from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Source, SourceKind


def test_sources_are_saved_replaced_and_dropped(tmp_path: Path) -> None:
    one = Source("b", SourceKind.CLOUD, "drive:Papers", "other", ("*.pdf",), ("old/",), 5, 6, "x")
    two = Source("a", SourceKind.FOLDER, "/a", problem="It is away.")
    with SqliteStore(tmp_path / "library.db", blobs=FolderBlobs(tmp_path)) as store:
        sources = store.sources()
        sources.save(one)
        sources.save(two)
        assert sources.sources() == (two, one)
        sources.save(Source("a", SourceKind.FOLDER, "/b"))
        assert [entry.location for entry in sources.sources()] == ["/b", "drive:Papers"]
        sources.drop("a")
        sources.drop("none")
    with SqliteStore(tmp_path / "library.db", blobs=FolderBlobs(tmp_path)) as store:
        assert store.sources().sources() == (one,)
