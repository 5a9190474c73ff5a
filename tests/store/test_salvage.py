from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.salvage import salvage
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Memory, Scope

PAGE = 4096
ALL = Scope.everything()


@pytest.fixture
def path(tmp_path: Path, blobs: FolderBlobs, make_parts: Callable[..., Any]) -> Path:
    path = tmp_path / "library.db"
    with SqliteStore(path, blobs=blobs) as store:
        for number in range(40):
            store.put(*make_parts(f"note-{number:02}", f"Text {number} of it.\n" * 60))
        store.memories().remember(
            Memory("", "", 1, 0, "Where is it?", "Here.", found=True, method="extractive")
        )
        store.remove("note-39-0001")
    return path


def _noise(path: Path, table: str) -> None:
    connection = apsw.Connection(str(path))
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    pages = connection.execute(
        "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", (table,)
    ).fetchall()
    connection.close()
    (number,) = pages[len(pages) // 2]
    with path.open("r+b") as stream:
        stream.seek((int(str(number)) - 1) * PAGE)
        stream.write(b"\xff" * 64)


def _sizes(path: Path) -> dict[str, int]:
    connection = apsw.Connection(str(path))
    tables = ("document", "body", "section", "page", "chunk", "embedding", "membership", "memory")
    return {
        name: connection.execute(f"SELECT count(*) FROM {name}").get
        for name in (*tables, "file", "removal", "checksum", "memory_terms")
    }


def test_a_sound_database_is_copied_whole(path: Path, blobs: FolderBlobs) -> None:
    before = _sizes(path)
    damaged, lost = salvage(path)
    assert lost == {}
    assert damaged.name == "library.db.damaged"
    assert damaged.stat().st_mode & 0o077 == 0
    assert _sizes(path) == before
    with SqliteStore(path, blobs=blobs) as store:
        assert all(one.part == "folders" for one in store.examination().findings())
        assert store.sequence() == 41
        assert [one.id for one in store.memories().memories([""], 5, 0)] == ["m1"]
    assert salvage(path)[0].name == "library.db.damaged1"


@pytest.mark.parametrize("table", ["chunk", "document", "body", "embedding"])
def test_what_is_not_on_the_damaged_page_is_there_again(
    path: Path, blobs: FolderBlobs, table: str
) -> None:
    before = _sizes(path)
    _noise(path, table)
    _, lost = salvage(path)
    assert lost[table]
    after = _sizes(path)
    assert 0 < after[table] < before[table]
    assert {name for name in after if after[name] == 0} == set()
    with SqliteStore(path, blobs=blobs) as store:
        parts = {one.part for one in store.examination().findings()}
    assert "database" not in parts


def test_keys_are_never_given_again(path: Path, blobs: FolderBlobs, make_parts: Any) -> None:
    highest = apsw.Connection(str(path)).execute("SELECT max(key) FROM chunk").get
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM document WHERE key > 30")
    connection.close()
    salvage(path)
    with SqliteStore(path, blobs=blobs) as store:
        store.put(*make_parts("new"))
        assert min(chunk.key for chunk in store.chunks_of("new-0001", ALL)) > highest


def test_a_text_that_is_none_costs_its_row_alone(path: Path) -> None:
    before = _sizes(path)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE body SET text = CAST(x'ff' AS TEXT) WHERE document = 7")
    connection.close()
    _, lost = salvage(path)
    assert lost == {"body": 1}
    assert _sizes(path)["body"] == before["body"] - 1


def test_a_file_without_a_header_is_left_as_it_is(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.write(b"\0" * 100)
    data = path.read_bytes()
    with pytest.raises(CorruptLibraryError, match="Nothing of the database"):
        salvage(path)
    assert path.read_bytes() == data
    assert not list(path.parent.glob(".unfinished*"))


def test_nobody_may_be_writing(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ChapterhouseError, match="writing"):
        salvage(path)
    assert not list(path.parent.glob("*.damaged*"))
