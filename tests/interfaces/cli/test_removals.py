"""``docs remove``, ``removed``, ``undo`` and ``purge`` over a real library."""

import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from chapterhouse import Library

DAY = 86_400


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


def test_remove_says_what_is_retained_and_what_comes_back(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "papers" / "tides.md").unlink()
    result = chapterhouse("docs", "remove", "fares", "tides.md", "--yes")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "Removed 2 documents."
    assert "Nothing was found of it: 0 of " in result.out
    until = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 7 * DAY))
    assert f"are retained until {until}" in " ".join(result.out.split())
    assert "1 file is in place" in result.out
    assert "original bytes that stay" not in result.out
    listed = chapterhouse("docs", "removed", "--json").data
    assert [(entry["source"], entry["days_left"]) for entry in listed] == [
        ("papers/fares.md", 7),
        ("papers/tides.md", 7),
    ]
    assert listed[0]["until"] == until
    assert "papers/tides.md" in chapterhouse("docs", "removed").out


def test_json_has_the_counts_of_every_path(chapterhouse: Any, home: Path) -> None:
    data = chapterhouse("docs", "remove", "fares", "--yes", "--json").data
    assert set(data) == {"documents", "retained", "in_place", "receipt", "dry_run"}
    receipt = data["receipt"]
    assert receipt["found"] == 0
    assert receipt["retained"] == data["in_place"] == ["papers/fares.md"]
    for path in ("phrases", "terms", "vectors", "names", "ids", "passages"):
        assert receipt[path]["searched"] > 0
        assert (receipt[path]["found"], receipt[path]["places"]) == (0, [])
    assert data["retained"][0]["source"] == "papers/fares.md"


@pytest.mark.parametrize(("option", "days"), [("--now", []), ("--retain-original", [None])])
def test_the_grace_period_can_be_left_out_or_be_without_end(
    chapterhouse: Any, home: Path, option: str, days: list[object]
) -> None:
    assert chapterhouse("docs", "remove", "fares", option, "--yes").code == 0
    listed = chapterhouse("docs", "removed", "--json").data
    assert [entry["days_left"] for entry in listed] == days
    assert ("no end" in chapterhouse("docs", "removed").out) == bool(days)
    wrong = chapterhouse("docs", "remove", "tides", "--now", "--retain-original")
    assert wrong.code == 2


def test_the_setting_says_for_how_long(chapterhouse: Any, home: Path) -> None:
    (home / "chapterhouse.toml").write_text("[removal]\ngrace_days = 0\n")
    assert "retained" not in chapterhouse("docs", "remove", "fares", "--yes").out
    assert chapterhouse("docs", "removed").out == "No removed document is retained.\n"


def test_undo_brings_back_or_says_why_not(chapterhouse: Any, home: Path, tmp_path: Path) -> None:
    assert chapterhouse("docs", "undo").code == 3
    before = chapterhouse("docs", "list", "--json").data
    chapterhouse("docs", "remove", "fares", "tides", "--yes")
    result = chapterhouse("docs", "undo", "fares.md")
    assert (result.code, result.out.splitlines()[0]) == (0, "Brought back 1 document.")
    assert chapterhouse("search", "dogs").code == 0
    chapterhouse("add", tmp_path / "papers")
    refused = chapterhouse("docs", "undo", "--json")
    assert refused.code == 5
    (one,) = refused.data["refused"]
    assert "has a document again" in one["reason"]
    assert "Not back: papers/tides.md." in chapterhouse("docs", "undo").out
    after = chapterhouse("docs", "list", "--json").data
    assert after == before


def test_purge_asks_and_leaves_nothing(chapterhouse: Any, home: Path) -> None:
    chapterhouse("docs", "remove", "fares", "--yes")
    chapterhouse("docs", "remove", "tides", "--yes")
    assert chapterhouse("docs", "purge").code == 10
    assert "Would drop the bytes of 2" in chapterhouse("docs", "purge", "--dry-run").out
    none = chapterhouse("docs", "purge", "--expired", "--yes")
    assert none.out == "Dropped the bytes of 0 removed documents.\n"
    result = chapterhouse("docs", "purge", "fares", "--yes")
    assert (result.code, result.out.splitlines()[0]) == (
        0,
        "Dropped the bytes of 1 removed document.",
    )
    assert "Nothing was found of it" in result.out
    data = chapterhouse("docs", "purge", "--yes", "--json").data
    assert [entry["source"] for entry in data["documents"]] == ["papers/tides.md"]
    assert data["receipt"]["retained"] == []
    assert data["receipt"]["passages"]["searched"] > 1
    held = [path for path in home.rglob("*") if path.is_file() and _holds(path)]
    assert held == []
    assert chapterhouse("docs", "purge", "nothing", "--yes").code == 3


def _holds(path: Path) -> bool:
    data = path.read_bytes()
    return b"Dogs travel" in data or b"Slack water" in data


@pytest.mark.parametrize("command", [("add", "PAPERS"), ("docs", "remove", "tides"), ("reindex",)])
def test_what_has_expired_goes_with_the_next_command_that_writes(
    chapterhouse: Any, home: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    chapterhouse("docs", "remove", "fares", "--yes")
    connection = apsw.Connection(str(home / "workspaces" / "default" / "library.db"))
    connection.execute("UPDATE removed SET until = 1")
    connection.close()
    (tmp_path / "papers" / "fares.md").unlink()
    words = [str(tmp_path / "papers") if word == "PAPERS" else word for word in command]
    yes = ["--yes"] if "remove" in words else []
    assert chapterhouse(*words, *yes).code == 0
    listed = chapterhouse("docs", "removed", "--json").data
    assert "papers/fares.md" not in [entry["source"] for entry in listed]


def test_something_found_ends_with_a_code_of_its_own(chapterhouse: Any, home: Path) -> None:
    own = home / "workspaces" / "default"
    (own / "notes.txt").write_text("copied: About fares\n\nDogs travel free.")
    result = chapterhouse("docs", "remove", "fares", "--now", "--yes")
    assert result.code == 4
    assert "Some was found of it" in result.out
    assert "Look into: notes.txt" in result.out


def test_nothing_is_removed_without_yes(chapterhouse: Any, home: Path) -> None:
    assert chapterhouse("docs", "remove").code == 2
    assert chapterhouse("docs", "remove", "fares").code == 10
    assert chapterhouse("docs", "remove", "fares", "--dry-run").out.startswith("Would remove 1")
    assert len(chapterhouse("docs", "list", "--json").data) == 2
