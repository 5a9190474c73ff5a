"""What verify looks at in documents, bytes and folders; indexes in ``tests/index``."""

import os
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ingest.verify import verify_library
from chapterhouse.store.sqlite import INLINE_MAXIMUM
from chapterhouse.types import Difference, Finding, Remedy

LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


@pytest.fixture
def filled(home: Any) -> Any:
    home.write("large.md", LARGE)
    home.write("small.md", "# Title\n\nSmall text, with a few words in English.\n")
    home.add()
    return home


class Stated:
    """An index that says how far it is, and what is wrong with it."""

    def __init__(self, sequence: int, *found: Difference, error: Exception | None = None) -> None:
        self._sequence = sequence
        self._found = found
        self._error = error
        self.was_thorough: list[bool] = []

    def differences(self, store: Any, *, thorough: bool) -> Any:
        assert store
        self.was_thorough.append(thorough)
        if self._error:
            raise self._error
        return iter(self._found)

    def sequence(self) -> int:
        return self._sequence

    def catch_up(self, store: Any) -> int:
        raise AssertionError(f"verify wrote to an index of {store}")

    rebuild = catch_up


def _findings(home: Any, *, quick: bool = False, **indexes: Any) -> tuple[Finding, ...]:
    return verify_library(home.store, home.blobs, indexes, quick=quick).findings


def _spoil(home: Any, statement: str) -> None:
    writer = home.store._connections._writer
    writer.pragma("foreign_keys", 0)
    writer.execute(statement)
    writer.pragma("foreign_keys", 1)


def test_a_sound_library_has_no_findings(filled: Any) -> None:
    found = verify_library(filled.store, filled.blobs, {"lexical": Stated(2)})
    assert found.findings == ()
    assert found.counts == {"documents": 2, "chunks": found.counts["chunks"], "blobs": 1} | {
        "indexes": 1
    }


@pytest.mark.parametrize(
    ("statement", "part", "remedy"),
    [
        ("UPDATE chunk SET text = 'x' || text WHERE ordinal = 0", "chunks", Remedy.REREAD),
        ("UPDATE chunk SET page = 9", "rows", Remedy.REREAD),
        ("UPDATE body SET text = text || '.'", "text", Remedy.REREAD),
        ("UPDATE document SET characters = 1", "text", Remedy.REREAD),
        ("UPDATE document SET title = 'Odd'", "rows", Remedy.REREAD),
        ("UPDATE document SET status = 'odd'", "rows", Remedy.REREAD),
        ("UPDATE document SET metadata = '[]'", "rows", Remedy.REREAD),
        ('UPDATE section SET "end" = "end" + 9', "text", Remedy.REREAD),
        ("UPDATE embedding SET vectors = substr(vectors, 17)", "vectors", Remedy.REREAD),
        ("UPDATE embedding SET vectors = substr(vectors, 2)", "rows", Remedy.REREAD),
        ("UPDATE embedding SET vectors = CAST(x'007e' || substr(vectors, 3) AS BLOB)",
         "vectors", Remedy.REREAD),
        ("DELETE FROM content", "bytes", Remedy.RESTORE),
        ("UPDATE content SET bytes = x'00'", "bytes", Remedy.RESTORE),
        ("INSERT INTO content VALUES ('odd', x'00')", "orphans", Remedy.DROP),
        ("INSERT INTO page VALUES (99, 0, 1, '', 0, 1)", "orphans", Remedy.DROP),
        ("DELETE FROM membership", "shelves", Remedy.DROP),
        ("DELETE FROM counter", "sequences", Remedy.DROP),
        ("UPDATE counter SET sequence = 1", "sequences", Remedy.DROP),
        ("UPDATE file SET document_id = 'nothing'", "files", Remedy.FORGET),
        ("DELETE FROM file", "files", Remedy.REREAD),
        ("DELETE FROM root", "folders", Remedy.DROP),
        ("INSERT INTO cached_answer VALUES ('k', 1, '{}')", "orphans", Remedy.DROP),
    ],
)  # fmt: skip
def test_what_is_spoilt_is_found_with_what_helps(
    filled: Any, statement: str, part: str, remedy: Remedy
) -> None:
    _spoil(filled, statement)
    found = _findings(filled)
    assert (part, remedy) in {(one.part, one.remedy) for one in found}
    assert all(one.sentence for one in found)


def test_one_document_that_cannot_be_read_hides_no_other(filled: Any) -> None:
    first, second = filled.store.examination().document_ids()
    _spoil(filled, f"UPDATE document SET notices = '{{' WHERE id = '{first}'")
    _spoil(
        filled,
        "UPDATE body SET text = '' WHERE document ="
        f" (SELECT key FROM document WHERE id = '{second}')",
    )
    assert {one.target for one in _findings(filled)} == {first, second}


def test_only_the_long_look_reads_the_bytes(filled: Any) -> None:
    (sha256,) = filled.blobs.hashes()
    path = filled.blobs._path(sha256)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    index = Stated(2)
    assert _findings(filled, quick=True, lexical=index) == ()
    assert {one.remedy for one in _findings(filled, lexical=index)} == {Remedy.RESTORE}
    assert index.was_thorough == [False, True]
    path.unlink()
    assert [one.part for one in _findings(filled, quick=True)] == ["bytes"]


def test_blobs_that_nobody_needs_and_strange_files_are_found(filled: Any, tmp_path: Path) -> None:
    sha256 = filled.blobs.put(b"nobody needs this")
    assert _findings(filled) == ()  # it may be on its way
    os.utime(filled.blobs._path(sha256), (1, 1))
    strange = filled.blobs._root / "notes.txt"
    strange.write_text("mine")
    (tmp_path / "index" / "lexical").mkdir(parents=True)
    (tmp_path / "index" / "mine").mkdir()
    found = verify_library(filled.store, filled.blobs, {}, tmp_path).findings
    assert [(one.remedy, one.target) for one in found] == [
        (Remedy.DROP, sha256), (Remedy.NONE, "notes.txt"), (Remedy.NONE, "mine")
    ]  # fmt: skip


def test_a_spoilt_page_of_the_database_ends_the_look_and_no_more(filled: Any) -> None:
    filled.store._connections._writer.pragma("wal_checkpoint", "TRUNCATE")
    root = filled.store._connections._writer.execute(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'removal'"
    ).get
    with (filled.folder.parent / "home" / "library.db").open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 64)
    del filled.store._connections._local.reader  # a new one has no page in memory
    assert {one.remedy for one in _findings(filled)} == {Remedy.REBUILD}


@pytest.mark.parametrize(
    ("index", "remedy", "words"),
    [
        (Stated(3), Remedy.REINDEX, "1 change ahead"),
        (Stated(0), Remedy.REINDEX, "is not there"),
        (Stated(2, error=CorruptLibraryError("magic byte")), Remedy.REINDEX, "magic byte"),
        (Stated(2, Difference("lacks 1 chunk")), Remedy.REINDEX, "lacks 1 chunk"),
        (Stated(2, Difference("has others", Remedy.REREAD, "d")), Remedy.REREAD, "has others"),
    ],
)
def test_an_index_that_differs_is_found(
    filled: Any, index: Stated, remedy: Remedy, words: str
) -> None:
    (found,) = _findings(filled, lexical=index)
    assert (found.part, found.remedy) == ("lexical index", remedy)
    assert words in found.sentence


def test_an_index_that_is_behind_is_no_fault(filled: Any) -> None:
    assert _findings(filled, lexical=Stated(1)) == ()
    assert _findings(filled, quick=True, lexical=Stated(0)) == ()
