"""What the doctor sees in database, documents, bytes, indexes and surroundings."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ingest.doctor import check_library, check_surroundings
from chapterhouse.store.connections import INLINE_MAXIMUM
from chapterhouse.types import Check, EncoderStatus, Source, SourceKind

LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


@pytest.fixture
def filled(home: Any) -> Any:
    home.write("large.md", LARGE)
    home.write("small.md", "# Title\n\nSmall text, with a few words in English.\n")
    home.add()
    assert home.embed() == 2
    return home


class Stated:
    """An index that says how far it is, and what it has otherwise each time it is asked."""

    def __init__(self, sequence: int, *found: set[str], error: Exception | None = None) -> None:
        self._sequence = sequence
        self._found = list(found)
        self._error = error
        self.was_thorough: list[bool] = []

    def differing(self, store: Any, *, thorough: bool) -> set[str]:
        assert store
        self.was_thorough.append(thorough)
        if self._error:
            raise self._error
        return self._found.pop(0) if self._found else set()

    def sequence(self) -> int:
        return self._sequence

    def catch_up(self, store: Any) -> int:
        assert store
        return self._sequence


def _failed(home: Any, *, thorough: bool = True, **indexes: Any) -> dict[str, Check]:
    checks = check_library(home.store, home.blobs, indexes, thorough=thorough)
    assert all(check.sentence for check in checks)
    assert all(check.hint for check in checks if not check.passed)
    return {check.name: check for check in checks if not check.passed}


def _spoil(home: Any, statement: str) -> None:
    writer = home.store._connections._writer
    writer.pragma("foreign_keys", 0)
    writer.execute(statement)
    writer.pragma("foreign_keys", 1)
    assert writer.changes()


@pytest.mark.parametrize("thorough", [False, True])
def test_a_sound_library_passes_and_every_document_is_looked_at(
    filled: Any, *, thorough: bool
) -> None:
    seen: list[int] = []
    index: Any = Stated(2)
    checks = check_library(
        filled.store, filled.blobs, {"lexical": index}, thorough=thorough,
        on_progress=lambda progress: seen.append(progress.done),
    )  # fmt: skip
    assert [(one.name, one.passed) for one in checks] == [
        ("database", True), ("documents", True), ("indexes", True)
    ]  # fmt: skip
    assert checks[1].sentence.startswith("2 documents")
    assert (seen, index.was_thorough) == ([1, 2], [thorough])


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("UPDATE chunk SET text = 'x' || text WHERE ordinal = 0", "documents"),
        ("UPDATE chunk SET page = 9", "documents"),
        ("DELETE FROM chunk WHERE key = 1", "documents"),
        ("UPDATE body SET text = text || '.'", "documents"),
        ("DELETE FROM body", "documents"),
        ("UPDATE document SET characters = 1", "documents"),
        ("UPDATE document SET title = 'Odd'", "documents"),
        ("UPDATE document SET status = 'odd'", "documents"),
        ("UPDATE document SET notices = '{'", "documents"),
        ('UPDATE section SET "end" = "end" + 9', "documents"),
        ("UPDATE embedding SET vectors = substr(vectors, 17)", "documents"),
        ("UPDATE embedding SET vectors = substr(vectors, 2)", "documents"),
        ("UPDATE embedding SET vectors = CAST(x'007e' || substr(vectors, 3) AS BLOB)", "documents"),
        ("DELETE FROM content", "documents"),
        ("UPDATE content SET bytes = x'00'", "documents"),
        ("INSERT INTO content VALUES ('odd', x'00')", "database"),
        ("INSERT INTO page VALUES (99, 0, 1, '', 0, 1)", "database"),
        ("DELETE FROM membership", "database"),
        ("UPDATE membership SET shelf = 'odd'", "database"),
        ("DELETE FROM counter", "database"),
        ("UPDATE counter SET sequence = 1", "database"),
        ("UPDATE file SET document_id = 'nothing'", "database"),
        ("UPDATE file SET status = 'odd'", "database"),
        ("DELETE FROM file", "database"),
    ],
)
def test_what_is_spoilt_is_found(filled: Any, statement: str, part: str) -> None:
    _spoil(filled, statement)
    assert part in _failed(filled)


def test_one_document_that_cannot_be_read_hides_no_other(filled: Any) -> None:
    first, second = filled.store.examination().document_ids()
    _spoil(filled, f"UPDATE document SET notices = '{{' WHERE id = '{first}'")
    _spoil(
        filled,
        "UPDATE body SET text = '' WHERE document ="
        f" (SELECT key FROM document WHERE id = '{second}')",
    )
    documents = _failed(filled)["documents"]
    assert documents.sentence.startswith("2 faults")
    assert f"docs reprocess {first} {second}" in documents.hint


def test_only_the_thorough_look_reads_the_bytes(filled: Any) -> None:
    (sha256,) = filled.blobs.hashes()
    path = filled.blobs._path(sha256)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert _failed(filled, thorough=False) == {}
    assert set(_failed(filled)) == {"documents"}
    path.unlink()
    assert set(_failed(filled, thorough=False)) == {"documents"}


@pytest.mark.parametrize("thorough", [False, True])
def test_a_spoilt_page_of_the_database_ends_the_look(filled: Any, *, thorough: bool) -> None:
    filled.store._connections._writer.pragma("wal_checkpoint", "TRUNCATE")
    root = filled.store._connections._writer.execute(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'removal'"
    ).get
    with (filled.folder.parent / "home" / "library.db").open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 64)
    (check,) = check_library(filled.store, filled.blobs, {}, thorough=thorough)
    assert (check.name, check.passed) == ("database", False)
    assert "chapterhouse import FILE" in check.hint


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (Stated(3), "1 change ahead"),
        (Stated(2, error=CorruptLibraryError("magic byte")), "magic byte"),
        (Stated(2, {"d"}, {"d"}, {"d"}), "1 document: d"),
    ],
)
def test_an_index_that_differs_is_found(filled: Any, index: Stated, words: str) -> None:
    found = _failed(filled, lexical=index)["indexes"]
    assert words in found.sentence
    assert "chapterhouse reindex" in found.hint


def test_an_index_that_is_behind_or_followed_meanwhile_is_no_fault(filled: Any) -> None:
    assert _failed(filled, lexical=Stated(1, {"a"})) == {}
    assert _failed(filled, lexical=Stated(2, {"a"}, {"b"})) == {}


# --- what it runs on ---


def _surroundings(home: Any, place: Path, *encoders: EncoderStatus) -> dict[str, Check]:
    checks = check_surroundings("0.1.0", place, place, home.store, encoders)
    return {check.name: check for check in checks}


def test_every_part_of_the_surroundings_is_told(
    home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.store.sources().save(Source("docs", SourceKind.FOLDER, str(home.folder)))
    tmp_path.chmod(0o700)
    encoder = EncoderStatus("active", "small", "openai/small/1", 1, 2, "it is away")
    told = _surroundings(home, tmp_path, encoder)
    assert all(check.passed and check.sentence for check in told.values())
    for name, words in (
        ("versions", "Chapterhouse 0.1.0"),
        ("formats", "formats can be read here"),
        ("folders", "1 folder followed, 0 of them away"),
        ("encoders", "1 of 2 documents"),
    ):
        assert words in told[name].sentence
    assert told["encoders"].hint == "it is away"
    shutil.rmtree(home.folder)
    usage = shutil.disk_usage(tmp_path)._replace(free=5)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    told = _surroundings(home, tmp_path)
    assert str(home.folder) in told["folders"].hint
    assert (told["disk"].passed, bool(told["disk"].hint)) == (False, True)
