from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from chapterhouse import Library
from chapterhouse.library.documents import Documents
from chapterhouse.types import Progress


def interrupted_at_the_first_file(add: Callable[..., object]) -> Callable[..., object]:
    def interrupted(
        self: Documents, *paths: Path, on_progress: Callable[[Progress], None], **options: Any
    ) -> object:
        def follow(progress: Progress) -> None:
            on_progress(progress)
            raise KeyboardInterrupt

        return add(self, *paths, on_progress=follow, **options)

    return interrupted


def test_an_interrupted_add_says_what_is_safe(
    chapterhouse: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"# {name}\n\nA note.\n")
    files = (tmp_path / "a.md", tmp_path / "b.md")
    with monkeypatch.context() as patched:
        patched.setattr(Documents, "add", interrupted_at_the_first_file(Documents.add))
        result = chapterhouse("add", *files)
        assert (result.code, result.out) == (130, "")
        assert "1 of 2 files are done and safe on disk" in result.err
        assert "same command again" in result.err
    assert chapterhouse("add", *files, "--json").data["changed"] <= 1


def test_text_is_added_from_standard_input(say: Any, chapterhouse: Any, tmp_path: Path) -> None:
    home = ("--home", tmp_path / "home")
    text = "The mill grinds 4 tonnes of rye a day.\n"
    first = say(text, "add", "-", "--title", "The mill", "--json", *home).data
    assert first["changed"] == 1
    again = say(text, "add", "-", "--title", "The mill", "--json", *home).data
    assert (again["changed"], again["counts"]["skipped"]) == (0, 1)
    (document,) = chapterhouse("docs", "list", "--json", *home).data
    assert document["title"] == "The mill"
    assert "4 tonnes" in chapterhouse("ask", "How much rye does the mill grind?", *home).out
    assert chapterhouse("docs", "reprocess", "--json", *home).data["counts"]["ready"] == 1
    removed = chapterhouse("docs", "remove", "--missing", "--yes", "--json", *home).data
    assert removed["documents"] == []
    assert chapterhouse("doctor", *home).code == 0
    assert say(text, "add", "-", "--shelf", "notes", "--json", *home).data["changed"] == 1
    assert say("", "add", "-", *home).code == 2
    assert say(text, "add", "-", "--dry-run", *home).code == 2
    assert say(text, "add", tmp_path, "--title", "T", *home).code == 2


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gate.md").write_text("# Gate\n\nThe harbour gate closes at nine.\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "docs")
    return tmp_path / "home"


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
    for thorough in ((), ("--thorough",)):
        result = chapterhouse("doctor", *thorough, "--home", place)
        assert (result.code, "10 checks, 0 problems" in result.out) == (0, True)
        assert len([line for line in result.out.splitlines() if line.startswith("ok ")]) == 10
