import os
from typing import Any

import pytest

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ingest.doctor import examine
from chapterhouse.ingest.look import Work
from chapterhouse.ingest.reprocess import reprocess
from chapterhouse.store.sqlite import INLINE_MAXIMUM

LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


@pytest.fixture
def filled(home: Any) -> Any:
    home.write("large.md", LARGE)
    home.write("small.md", "# Title\n\nSmall text, with a few words in English.\n")
    home.add()
    return home


class Told:
    """An index that says how far it is, and what is wrong with it."""

    def __init__(self, sequence: int, fault: str = "", error: Exception | None = None) -> None:
        self._sequence = sequence
        self._fault = fault
        self._error = error

    def fault(self, chunks: int) -> str:
        if self._error:
            raise self._error
        assert chunks
        return self._fault

    def sequence(self) -> int:
        return self._sequence

    def catch_up(self, store: Any) -> int:
        raise AssertionError(f"the doctor wrote to an index of {store}")

    rebuild = purge = catch_up


def _failed(home: Any, **indexes: Any) -> dict[str, str]:
    checks = examine(home.store, home.blobs, indexes)
    assert all(check.sentence for check in checks)
    assert all(check.hint for check in checks if not check.passed)
    return {check.name: check.sentence for check in checks if not check.passed}


def test_a_sound_library_has_no_faults(filled: Any) -> None:
    assert _failed(filled, lexical=Told(2), vector=Told(0)) == {}


@pytest.mark.parametrize(
    ("statement", "name", "words"),
    [
        ("UPDATE chunk SET text = 'x' || text WHERE ordinal = 0", "chunks", "not its stretch"),
        ("UPDATE body SET text = text || '.'", "text", "does not have its hash"),
        ("UPDATE document SET characters = 1", "text", "1 characters are stated"),
        ('UPDATE section SET "end" = "end" + 9', "text", "sections overlap"),
        ("UPDATE embedding SET vectors = substr(vectors, 17)", "vectors", "vectors for"),
        ("UPDATE embedding SET vectors = CAST(x'007e' || substr(vectors, 3) AS BLOB)",
         "vectors", "not finite"),
        ("UPDATE embedding SET vectors = CAST(x'003c003c' || substr(vectors, 5) AS BLOB)",
         "vectors", "not of length 1"),
        ("DELETE FROM content", "bytes", "not kept"),
        ("UPDATE content SET bytes = x'00'", "bytes", "no longer those"),
        ("UPDATE document SET chunks = 9 WHERE source LIKE '%small%'", "parts", "9 chunks"),
        ("DELETE FROM membership", "parts", "no shelf"),
        ("UPDATE file SET document_id = 'nothing'", "files", "not there"),
        ("UPDATE counter SET sequence = 1", "sequences", "beyond the counter"),
    ],
)  # fmt: skip
def test_what_is_spoilt_is_found(filled: Any, statement: str, name: str, words: str) -> None:
    with filled.store._connections.write() as connection:
        connection.execute(statement)
    assert words in _failed(filled)[name]


def test_a_reference_to_nothing_is_found(filled: Any) -> None:
    writer = filled.store._connections._writer
    writer.pragma("foreign_keys", 0)
    writer.execute("INSERT INTO page VALUES (99, 0, 1, '', 0, 1)")
    writer.pragma("foreign_keys", 1)
    assert "page" in _failed(filled)["references"]


def test_a_spoilt_blob_is_found(filled: Any) -> None:
    (sha256,) = filled.blobs.hashes()
    path = filled.blobs._path(sha256)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert sha256 in _failed(filled)["bytes"]
    filled.blobs.delete(sha256)
    assert "not kept" in _failed(filled)["bytes"]


def test_a_spoilt_page_of_the_database_is_found(filled: Any) -> None:
    filled.store._connections._writer.pragma("wal_checkpoint", "TRUNCATE")
    path = filled.folder.parent / "home" / "library.db"
    root = filled.store._connections._writer.execute(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'removal'"
    ).get
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 64)
        os.fsync(file.fileno())
    del filled.store._connections._local.reader  # a new one has no page in memory
    assert set(_failed(filled)) >= {"database"}


def test_an_index_ahead_of_its_library_is_found(filled: Any) -> None:
    assert set(_failed(filled, lexical=Told(3))) == {"lexical index"}
    checks = {check.name: check for check in examine(filled.store, filled.blobs, {"v": Told(1)})}
    assert "1 change behind" in checks["v index"].sentence


@pytest.mark.parametrize(
    ("name", "index", "words"),
    [
        ("lexical", Told(2, error=CorruptLibraryError("Footer magic byte mismatch")), "magic byte"),
        ("vector", Told(2, "holds 1,000,000 chunks"), "holds 1,000,000 chunks"),
    ],
)
def test_an_index_that_cannot_be_searched_is_found(
    filled: Any, name: str, index: Told, words: str
) -> None:
    assert words in _failed(filled, **{name: index})[f"{name} index"]


def test_the_hint_about_lost_bytes_helps(filled: Any) -> None:
    (sha256,) = filled.blobs.hashes()
    filled.blobs.delete(sha256)
    (check,) = (check for check in examine(filled.store, filled.blobs, {}) if not check.passed)
    assert check.sentence.startswith("1 fault: ")
    assert "docs reprocess" in check.hint
    reprocess((), Work(filled.store, filled.read, filled.prepare))
    assert _failed(filled) == {}
