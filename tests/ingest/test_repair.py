"""What repair does against each finding, and what it leaves with its reason."""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.ingest.look import Work
from chapterhouse.ingest.repair import repair
from chapterhouse.ingest.verify import verify_library
from chapterhouse.store.sqlite import INLINE_MAXIMUM
from chapterhouse.types import DEFAULT_SHELF, RepairReport, Scope

ALL = Scope.everything()
LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


@pytest.fixture
def filled(home: Any) -> Any:
    home.write("large.md", LARGE)
    home.write("small.md", "# Title\n\nSmall text, with a few words in English.\n")
    home.write("other.md", "# Other\n\nAnother text, with other words.\n")
    home.add()
    return home


def _spoil(home: Any, statement: str) -> None:
    writer = home.store._connections._writer
    writer.pragma("foreign_keys", 0)
    writer.execute(statement)
    writer.pragma("foreign_keys", 1)
    assert writer.changes()


def _repair(home: Any) -> RepairReport:
    verify = partial(verify_library, home.store, home.blobs, {})
    work = Work(home.store, home.read, home.prepare)
    return repair(verify(), work, {}, verify, home.folder.parent / "home")


def _content(home: Any) -> list[Any]:
    return [
        (one, home.store.body(one.id, ALL), [c.text for c in home.store.chunks_of(one.id, ALL)])
        for one in home.store.documents(ALL)
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunk SET text = 'x' || text WHERE ordinal = 0",
        "DELETE FROM chunk WHERE key = 1",
        "UPDATE body SET text = text || '.'",
        "DELETE FROM body",
        "UPDATE document SET title = 'Odd'",
        "UPDATE document SET status = 'odd'",
        "UPDATE document SET metadata = '{'",
        "UPDATE document SET language = 'fr'",
        "UPDATE document SET source = 'docs/odd.md' WHERE source LIKE '%small.md'",
        "UPDATE document SET location = '/odd' WHERE source LIKE '%small.md'",
        "UPDATE section SET path = '[]'",
        "DELETE FROM section",
        "DELETE FROM embedding WHERE document = 1",
        "UPDATE embedding SET vectors = substr(vectors, 3)",
        "DELETE FROM content",
        "UPDATE content SET bytes = x'00'",
        "DELETE FROM membership",
        "UPDATE membership SET shelf = 'odd' WHERE shelf = 'crew'",
        "DELETE FROM file",
        "UPDATE file SET document_id = 'odd'",
        "UPDATE file SET status = 'odd'",
        "DELETE FROM root",
        "UPDATE root SET label = 'odd'",
        "DELETE FROM counter",
        "UPDATE counter SET sequence = 1",
        "INSERT INTO content VALUES ('odd', x'00')",
        "INSERT INTO membership VALUES (99, 'library')",
        "UPDATE checksum SET rows_sha256 = 'x'",
    ],
)
def test_what_is_spoilt_is_as_it_was(filled: Any, statement: str) -> None:
    for document in list(filled.store.documents(ALL)):
        filled.store.set_shelves(document.id, ("crew", "library"))
    before = _content(filled)
    _spoil(filled, statement)
    if "DELETE FROM embedding" not in statement:  # which only its index can miss
        assert _repair(filled).repaired
    assert _repair(filled) == RepairReport(())
    assert _content(filled) == before


def test_a_sound_library_is_left_alone(filled: Any) -> None:
    before = filled.store.sequence()
    assert _repair(filled) == RepairReport(())
    assert filled.store.sequence() == before


def test_the_stored_bytes_are_read_where_the_file_is_gone(filled: Any) -> None:
    before = _content(filled)
    shutil.rmtree(filled.folder)
    _spoil(filled, "UPDATE body SET text = ''")
    assert not _repair(filled).left
    assert _content(filled) == before


def test_a_blob_comes_from_the_file_if_it_has_that_hash_still(filled: Any) -> None:
    (sha256,) = filled.blobs.hashes()
    filled.blobs.delete(sha256)
    assert not _repair(filled).left
    assert filled.blobs.has(sha256)
    filled.blobs.delete(sha256)
    filled.write("large.md", LARGE + "And more.")
    (left,) = _repair(filled).left
    assert "has changed" in left.reason
    (filled.folder / "large.md").unlink()
    (left,) = _repair(filled).left
    assert "is gone" in left.reason


def test_a_document_without_bytes_and_file_is_left_with_the_reason(filled: Any) -> None:
    shutil.rmtree(filled.folder)
    _spoil(filled, "DELETE FROM content")
    _spoil(filled, "UPDATE body SET text = '' WHERE document > 1")
    report = _repair(filled)
    assert report.left
    assert all(one.reason for one in report.left)


def test_a_document_whose_row_is_lost_is_read_again(filled: Any, tmp_path: Path) -> None:
    before = {one.location for one in filled.store.documents(ALL)}
    _spoil(filled, "DELETE FROM document WHERE key = 1")
    assert not _repair(filled).left
    documents = list(filled.store.documents(ALL))
    assert {one.location for one in documents} == before
    assert {one.shelves for one in documents} == {(DEFAULT_SHELF,)}
    assert tmp_path.exists()


def test_strange_files_are_named_and_never_deleted(filled: Any) -> None:
    path = filled.blobs._root / "notes.txt"
    path.write_text("mine")
    (left,) = _repair(filled).left
    assert "does not delete it" in left.reason
    assert path.read_text() == "mine"
