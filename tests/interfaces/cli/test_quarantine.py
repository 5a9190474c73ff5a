"""Files in quarantine on the command line."""

from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.types import FileRecord, Status


@pytest.fixture
def parked(tmp_path: Path) -> Path:
    """Give a file that is in quarantine."""
    folder = tmp_path / "notes"
    folder.mkdir()
    path = folder / "bad.md"
    path.write_text("# Bad\n\nA text that is harmless by now.")
    stamp = path.stat()
    record = FileRecord(
        location=str(path),
        source="notes/bad.md",
        size=stamp.st_size,
        mtime_ns=stamp.st_mtime_ns,
        sha256="00",
        status=Status.QUARANTINED,
        code="process-died",
        sentence="The process that worked on it died three times.",
        attempts=3,
    )
    with Library.open() as library:
        library._runtime.store.record_file(record)
    return path


def test_listed_with_the_reason(chapterhouse: Any, parked: Path) -> None:
    listed = chapterhouse("docs", "quarantine", "list")
    assert "notes/bad.md" in listed.out
    assert "died three times. (process-died)" in listed.out
    assert "quarantined" in chapterhouse("docs", "list", "--problems").out


def test_not_read_until_it_is_released(chapterhouse: Any, parked: Path) -> None:
    again = chapterhouse("add", parked.parent)
    assert again.code == 4
    assert "1 quarantined earlier" in again.out
    released = chapterhouse("docs", "quarantine", "retry", "bad.md")
    assert released.out == "The next add or update reads 1 file again.\n  notes/bad.md\n"
    assert chapterhouse("docs", "quarantine", "list").out == "No files are in quarantine.\n"
    assert "1 ready" in chapterhouse("add", parked.parent).out
    assert chapterhouse("docs", "quarantine", "retry", "bad.md").code == 3


def test_dropped_when_somebody_agrees(chapterhouse: Any, parked: Path) -> None:
    assert chapterhouse("docs", "quarantine", "drop", "bad.md").code == 10
    looked = chapterhouse("docs", "quarantine", "drop", "bad.md", "--dry-run", "--json")
    assert [one["source"] for one in looked.data["files"]] == ["notes/bad.md"]
    dropped = chapterhouse("docs", "quarantine", "drop", "bad.md", "--yes")
    assert dropped.out == "Forgot 1 file in quarantine.\n  notes/bad.md\n"
    assert chapterhouse("docs", "list", "--files", "--json").data == []
    assert chapterhouse("docs", "quarantine", "drop", "bad.md", "--yes").code == 3
    assert parked.exists()
