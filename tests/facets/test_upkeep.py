"""A whole library that is damaged, verified and repaired."""

from pathlib import Path

import apsw
import pytest

from chapterhouse import Library
from chapterhouse.errors import CorruptLibraryError, NotFoundError
from chapterhouse.types import Remedy, RepairReport

QUESTION = "When does the harbour gate close?"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "gate.md").write_text("# Gate\n\nThe harbour gate closes at nine every evening.\n")
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at eight and at five.\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        library.answers.ask(QUESTION)
    return tmp_path / "home"


def _database(home: Path) -> Path:
    return home / "workspaces" / "default" / "library.db"


def test_a_sound_library_is_verified_and_left_as_it_is(home: Path) -> None:
    with Library.open(home) as library:
        found = library.upkeep.verify()
        assert found.findings == ()
        assert found.counts == {"documents": 2, "chunks": 2, "blobs": 0, "indexes": 3}
        assert library.upkeep.repair() == RepairReport(())
        assert all(check.passed for check in library.doctor())
        report = library.upkeep.bug_report()
        assert (report["documents"], report["findings"]) == (2, {})


def test_progress_is_told_for_documents_and_indexes(home: Path) -> None:
    seen: list[str] = []
    with Library.open(home) as library:
        library.upkeep.verify(on_progress=lambda progress: seen.append(progress.current))
    assert len(seen) == 5


@pytest.mark.parametrize("name", ["lexical", "vectors", "names"])
def test_a_lost_index_is_found_and_built_again(home: Path, name: str) -> None:
    folder = _database(home).parent / "index" / name
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert {one.remedy for one in Library.verify(home).findings} == {Remedy.REINDEX}
    assert not Library.repair(home).left
    assert Library.verify(home).findings == ()


def test_a_database_with_a_damaged_page_answers_again(home: Path) -> None:
    connection = apsw.Connection(str(_database(home)))
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chunk'").get
    connection.close()
    with _database(home).open("r+b") as stream:
        stream.seek((int(str(page)) - 1) * 4096)
        stream.write(b"\xff" * 64)
    assert {one.remedy for one in Library.verify(home).findings} == {Remedy.REBUILD}
    report = Library.repair(home)
    assert not report.left
    assert Path(report.damaged_copy).exists()
    assert Library.verify(home).findings == ()
    with Library.open(home) as library:
        assert "nine" in library.answers.ask(QUESTION).text
        assert len(library.memory.memories([""], 5, 0)) == 2  # and the one of before


def test_what_is_no_database_is_said_and_never_replaced(home: Path) -> None:
    _database(home).write_bytes(b"this is no database at all " * 200)
    (found,) = Library.verify(home).findings
    assert (found.part, found.remedy) == ("database", Remedy.REBUILD)
    with pytest.raises(CorruptLibraryError, match="Nothing"):
        Library.repair(home)
    assert _database(home).read_bytes().startswith(b"this is no database")


def test_a_library_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Library.verify(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
