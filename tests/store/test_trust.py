"""How far a document is trusted follows from what its source begins with."""

from pathlib import Path

import pytest

from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.store.trust import TrustLevels, read_trust
from chapterhouse.types import Source, SourceKind, Trust

FOLDER, LINKS, CLOUD = SourceKind.FOLDER, SourceKind.LINKS, SourceKind.CLOUD


def levels(folder: Path, *sources: Source, roots: dict[str, str]) -> TrustLevels:
    with SqliteStore(folder / "library.db", blobs=FolderBlobs(folder / "blobs")) as store:
        for source in sources:
            store.sources().save(source)
        for location, label in roots.items():
            assert store.label_root(location, label) == label
        with store._connections.read() as connection:
            return read_trust(connection)


def test_nothing_is_looked_up_where_all_is_the_users_own(tmp_path: Path) -> None:
    found = levels(tmp_path, Source("a", FOLDER, "/a"), roots={"/a": "a"})
    assert found == TrustLevels()
    assert found.of("a/x.md") is Trust.OWN


@pytest.mark.parametrize(
    ("source", "trust"),
    [
        ("papers/x.md", Trust.SHARED),
        ("papers/mail/x.md", Trust.WEB),
        ("papers/mailing/x.md", Trust.SHARED),
        ("papers-2/x.md", Trust.OWN),
        ("reading-2/a.md", Trust.WEB),
        ("reading/a.md", Trust.OWN),
        ("Drive/a.md", Trust.EXTERNAL),
        ("upload/note-12345678.md", Trust.OWN),
        ("", Trust.OWN),
    ],
)
def test_the_innermost_source_counts(tmp_path: Path, source: str, trust: Trust) -> None:
    found = levels(
        tmp_path,
        Source("papers", FOLDER, "/home/papers", trust=Trust.SHARED),
        Source("mail", FOLDER, "/home/papers/mail", trust=Trust.WEB),
        Source("reading", LINKS, "/home/reading.links", trust=Trust.WEB),
        Source("Drive", CLOUD, "gdrive:Drive", trust=Trust.EXTERNAL),
        roots={"/home/papers": "papers", "/w/pages/reading": "reading-2"},
    )
    assert found.of(source) is trust
