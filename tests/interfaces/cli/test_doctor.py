"""The doctor of a whole library: what it finds, and that what it says helps."""

import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from chapterhouse import Library


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gate.md").write_text("# Gate\n\nThe harbour gate closes at nine.\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "docs")
    return tmp_path / "home"


@pytest.mark.parametrize("name", ["lexical", "vectors", "names"])
def test_a_lost_index_is_made_again(place: Path, name: str) -> None:
    shutil.rmtree(place / "workspaces" / "default" / "index" / name)
    with Library.open(place) as library:
        assert library.faults() == ()
        assert library.search.hits("gate").hits


@pytest.mark.parametrize("thorough", [(), ("--thorough",)])
def test_the_command_says_what_holds_in_ten_lines(
    chapterhouse: Any, place: Path, thorough: tuple[str, ...]
) -> None:
    result = chapterhouse("doctor", *thorough, "--home", place)
    assert result.code == 0
    assert "10 checks, 0 problems" in result.out
    assert len([line for line in result.out.splitlines() if line.startswith("ok ")]) == 10


def test_a_library_that_cannot_be_opened_is_a_fault_and_no_crash(
    chapterhouse: Any, place: Path
) -> None:
    own = place / "workspaces" / "default"
    with apsw.Connection(str(own / "library.db")) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    (own / "library.db").write_bytes(b"no database " * 900)
    result = chapterhouse("doctor", "--home", place)
    assert result.code == 1
    assert "PROBLEM database" in result.out
    assert "chapterhouse import FILE" in result.out
    assert (own / "library.db").read_bytes().startswith(b"no database")


def test_a_document_that_is_damaged_is_whole_after_it_was_read_again(
    chapterhouse: Any, place: Path
) -> None:
    with apsw.Connection(str(place / "workspaces/default/library.db")) as connection:
        connection.execute("UPDATE body SET text = ''")
    found = chapterhouse("doctor", "--thorough", "--home", place)
    assert found.code == 1
    assert "its text is not the one that was written" in found.out
    (name,) = (line.split()[-1] for line in found.out.splitlines() if "docs reprocess" in line)
    assert chapterhouse("docs", "reprocess", name, "--home", place).code == 0
    assert chapterhouse("doctor", "--thorough", "--home", place).code == 0
