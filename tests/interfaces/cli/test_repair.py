"""The commands verify without a file, repair, and doctor --report."""

import json
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest


@pytest.fixture
def place(chapterhouse: Any, tmp_path: Path) -> tuple[str, Path]:
    """A home with one document."""
    folder, home = tmp_path / "papers", tmp_path / "home"
    folder.mkdir()
    (folder / "gate.md").write_text("# Gate\n\nThe harbour gate closes at nine.\n")
    assert chapterhouse("add", folder, "--home", home).code == 0
    return "--home", home


def _spoil(home: Path, statement: str) -> None:
    connection = apsw.Connection(str(home / "workspaces/default/library.db"))
    connection.execute(statement)
    connection.close()


def test_a_sound_library_is_said_to_be(chapterhouse: Any, place: Any) -> None:
    result = chapterhouse("verify", *place)
    assert result.code == 0
    assert "The library is sound." in result.out
    assert "Hashes of bytes were left out" in chapterhouse("verify", "--quick", *place).out
    data = chapterhouse("verify", "--json", *place).data
    assert (data["sound"], data["findings"], data["counts"]["documents"]) == (True, [], 1)
    assert "The library is sound." in chapterhouse("repair", *place).out


def test_faults_are_listed_and_repaired_once_confirmed(chapterhouse: Any, place: Any) -> None:
    _spoil(place[1], "UPDATE body SET text = ''")
    found = chapterhouse("verify", *place)
    assert found.code == 1
    assert "FAULT text: papers/gate.md: the text does not have its hash" in found.out
    assert "chapterhouse repair --dry-run" in found.out
    planned = chapterhouse("repair", "--dry-run", *place)
    assert planned.code == 0
    assert "Would try to repair" in planned.out
    refused = chapterhouse("repair", *place)
    assert refused.code == 10
    assert chapterhouse("verify", *place).code == 1
    repaired = chapterhouse("repair", "--yes", *place)
    assert repaired.code == 0
    assert "repaired text" in repaired.out
    assert chapterhouse("verify", *place).code == 0


def test_what_is_left_has_its_reason(chapterhouse: Any, place: Any) -> None:
    _spoil(place[1], "DELETE FROM content")
    shutil.rmtree(place[1].parent / "papers")
    result = chapterhouse("repair", "--yes", *place)
    assert result.code == 4
    assert "LEFT bytes" in result.out
    assert "is gone" in result.out
    data = chapterhouse("repair", "--yes", "--json", *place).data
    assert len(data["left"]) == 1


def test_a_library_that_cannot_be_opened_is_a_fault_and_no_crash(
    chapterhouse: Any, place: Any
) -> None:
    (place[1] / "workspaces/default/library.db").write_bytes(b"no database " * 900)
    result = chapterhouse("verify", *place)
    assert result.code == 1
    assert "FAULT database" in result.out
    assert chapterhouse("repair", "--yes", *place).code == 1


def test_options_that_do_not_go_together_are_refused(chapterhouse: Any, place: Any) -> None:
    for wrong in (["--alone"], ["FILE", "--quick"]):
        assert chapterhouse("verify", *wrong, *place).code == 2
    assert chapterhouse("verify", "--home", place[1].parent / "nowhere").code == 3


def test_a_report_is_the_owners_alone_and_names_nothing(chapterhouse: Any, place: Any) -> None:
    path = place[1].parent / "report.json"
    result = chapterhouse("doctor", "--report", path, *place)
    assert result.code == 0
    assert "versions: Chapterhouse" in result.out
    assert path.stat().st_mode & 0o077 == 0
    text = path.read_text("utf-8")
    assert json.loads(text)["documents"] == 1
    for name in ("gate", "papers", "harbour", str(place[1])):
        assert name not in text.casefold()
    assert chapterhouse("doctor", "--report", path, *place).code == 0  # its own is replaced
    path.write_text("mine")
    assert chapterhouse("doctor", "--report", path, *place).code == 5
    assert path.read_text() == "mine"
