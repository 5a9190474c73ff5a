import shutil
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHAPTERHOUSE_BACKGROUND", "0")
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(tmp_path / "home"))
    (tmp_path / "papers").mkdir()
    for name, text in (("fares", "Dogs travel free."), ("tides", "Slack water is short.")):
        (tmp_path / "papers" / f"{name}.md").write_text(f"# About {name}\n\n{text}\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "papers")
    return tmp_path / "home"


def test_remove_says_what_went_and_what_comes_back(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "papers" / "tides.md").unlink()
    result = chapterhouse("docs", "remove", "fares", "tides.md", "--yes")
    assert result.code == 0
    assert result.out.splitlines()[0] == "Removed 2 documents."
    assert "Nothing of it is left: searched " in result.out
    assert "1 file is in place" in result.out
    held = [path for path in home.rglob("*") if path.is_file() and _holds(path)]
    assert held == []


def _holds(path: Path) -> bool:
    data = path.read_bytes()
    return b"Dogs travel" in data or b"Slack water" in data


def test_nothing_is_removed_without_yes_and_what_is_left_is_named(
    chapterhouse: Any, home: Path
) -> None:
    assert chapterhouse("docs", "remove").code == 2
    refused = chapterhouse("docs", "remove", "fares")
    assert (refused.code, "chapterhouse export" in refused.err) == (10, True)
    shown = chapterhouse("docs", "remove", "fares", "--dry-run").out
    assert (shown.startswith("Would remove 1"), "papers/fares.md" in shown) == (True, True)
    assert len(chapterhouse("docs", "list", "--json").data) == 2
    copy = home / "workspaces" / "default" / "notes.txt"
    copy.write_text("copied: About fares\n\nDogs travel free.")
    result = chapterhouse("docs", "remove", "fares", "--yes")
    assert (result.code, "Some of it is left" in result.out) == (4, True)
    assert "Look into: notes.txt" in result.out


def test_what_a_meeting_said_of_a_document_goes_with_it(
    chapterhouse: Any, harbour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(harbour / "home", home)
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(home))
    monkeypatch.setenv("CHAPTERHOUSE_BACKGROUND", "0")
    (transcript,) = home.glob("councils/berths/meetings/*.ndjson")
    own = home / "workspaces" / "default"
    (own / "background").mkdir(exist_ok=True)
    (own / "background" / "embed.log").write_text("tides\nreading papers/tariffs.pdf\n")
    (own / "chat_history").write_text("+what does papers/tariffs.pdf say\n+when is slack water\n")
    asked = transcript.read_bytes().splitlines()[0]
    assert b"tariffs" in transcript.read_bytes()
    with Library.open(home) as library:
        document = library.documents.get("tariffs")
        chunks = library.documents.chunks(document.id)
    quoted = [line for chunk in chunks for line in chunk.text.splitlines() if len(line) >= 50]
    data = chapterhouse("docs", "remove", "tariffs", "--yes", "--json").data
    assert data["state"] == "removed", data["search"]
    left = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert document.id.encode() not in left
    assert document.sha256.encode() not in left
    assert b"tariffs.pdf" not in left
    assert [line for line in quoted if line.encode() in left] == []
    assert transcript.read_bytes().splitlines()[0] == asked
    assert (own / "background" / "embed.log").read_text() == "tides\n"
    assert (own / "chat_history").read_text() == "+when is slack water\n"
    assert str(transcript.relative_to(home)) in data["search"]["redacted"]
