import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.answering.bundle import (
    ANSWER,
    bundle_json,
    file_text,
    json_fields,
    read_bundle,
    read_held,
)
from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.interfaces.cli.options import destination, is_marked, marked

RULES = "# Rules\n\nInside the harbour no vessel may exceed 4 knots.\n"
QUESTION = "How fast may a vessel go inside the harbour?"
ASKED = "What does a berth cost?"


@pytest.fixture
def rules(chapterhouse: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    (folder / "papers").mkdir(parents=True)
    (folder / "papers" / "rules.md").write_text(RULES)
    add(chapterhouse, folder)
    home = ("--home", folder / "home")
    asked = chapterhouse("ask", QUESTION, *home, "--json", "--bundle", folder / "answer.bundle")
    assert asked.code == 0
    (folder / "answer.json").write_text(asked.out)
    return folder


def add(chapterhouse: Any, folder: Path) -> None:
    assert chapterhouse("add", folder / "papers", "--home", folder / "home").code == 0


def test_what_ask_wrote_is_checked_and_verified(chapterhouse: Any, home: Path) -> None:
    (home / "printed.json").write_text(chapterhouse("ask", "Who won?", "--json").out)
    result = chapterhouse("verify", home / "printed.json")
    assert (result.code, "cites nothing" in result.out) == (0, True)
    for file in ("ANSWER", "BUNDLE"):
        result = chapterhouse("verify", file)
        assert result.code == 0, result
        assert "is as it was cited; the quotation stands" in result.out
        assert "chapterhouse docs show tariffs-" in result.out
    assert result.out.count("ok  ") == 5


def test_a_bundle_is_verified_alone_where_there_is_no_library(
    chapterhouse: Any, harbour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere, bundle = tmp_path / "elsewhere", harbour / "BUNDLE"
    result = chapterhouse("verify", bundle, "--alone", "--home", elsewhere)
    assert result.code == 0
    assert "Checked by itself: the documents were not looked at." in result.out
    assert not elsewhere.exists()
    stream = io.TextIOWrapper(io.BytesIO(bundle.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    data = chapterhouse("verify", "-", "--alone", "--json").data
    assert data["trusted"] is True
    assert data["citations"] is None
    against = chapterhouse("verify", bundle, "--home", elsewhere)
    assert against.code == 3
    assert "There is no library" in against.err


@pytest.mark.parametrize(
    ("text", "told", "state", "synced"),
    [
        (RULES.replace("4", "5"), "the quotation is not there any more", "lost", False),
        (f"# Preface\n\nNew.\n\n{RULES}", "the quotation stands at another place", "moved", False),
        (f"{RULES}\n# Preface\n\nNew.\n", "the quotation stands\n", "stands", True),
    ],
)
def test_what_became_of_a_quotation_is_told_of_the_file_itself(
    chapterhouse: Any, rules: Path, text: str, told: str, state: str, *, synced: bool
) -> None:
    (rules / "papers" / "rules.md").write_text(text)
    if synced:
        add(chapterhouse, rules)
    home = ("--home", rules / "home")
    for file in ("answer.json", "answer.bundle"):
        result = chapterhouse("verify", rules / file, *home)
        assert result.code == (4 if state == "lost" else 0), result
        assert ("has changed since; " if synced else "has changed on the disk since") in result.out
        assert told in result.out
    data = chapterhouse("verify", rules / "answer.json", *home, "--json").data
    assert data["holds"] is (state != "lost")
    (citation,) = data["citations"]
    source = "changed" if synced else "changed-on-disk"
    assert (citation["source"], citation["quotation"]) == (source, state)
    if not synced:
        (rules / "papers" / "rules.md").write_bytes(b"\0\1\2")
        unreadable = chapterhouse("verify", rules / "answer.json", *home)
        assert (unreadable.code, "not there any more" in unreadable.out) == (4, True)


def test_an_altered_bundle_ends_with_1_also_where_quotations_are_lost(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    bundle = tmp_path / "bundle"
    bundle.write_text(Path("BUNDLE").read_text().replace("80 euros", "90 euros"))
    assert chapterhouse("docs", "remove", "tariffs", "--yes").code == 0
    for options in ((), ("--alone",)):
        result = chapterhouse("verify", bundle, *options)
        assert result.code == 1, result
        assert "BAD " in result.out
        assert "Trust nothing in this file." in result.out
    assert chapterhouse("verify", bundle, "--alone", "--json").data["trusted"] is False


def test_a_bundle_is_written_whole_or_not_at_all(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    bundle = folder / "answer.bundle"
    bundle.write_bytes(Path("BUNDLE").read_bytes())
    assert chapterhouse("ask", ASKED, "--bundle", bundle).code == 0
    assert bundle.read_bytes() == Path("BUNDLE").read_bytes()
    for nowhere in (folder / "no" / "such" / "x", folder, "-"):
        assert chapterhouse("ask", ASKED, "--bundle", nowhere).code == 2
    mine = folder / "mine.md"
    mine.write_text("# Mine", "utf-8")
    assert chapterhouse("ask", ASKED, "--bundle", mine).code == 5
    assert mine.read_text("utf-8") == "# Mine"
    assert sorted(path.name for path in folder.iterdir()) == ["answer.bundle", "mine.md"]


def test_a_file_that_holds_no_answer_is_refused_in_two_lines(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    contents = {
        "": 2,
        "junk": 2,
        "[1]": 2,
        '{"ok": false, "error": {"message": "x"}}': 2,
        '{"format": "chapterhouse-answer/99", "answer": {}}': 2,
        None: 3,
    }
    for command in (("verify",), ("verify", "--alone")):
        path = tmp_path / "file.json"
        for content, code in contents.items():
            path.write_text(content) if content is not None else path.unlink()
            result = chapterhouse(*command, path)
            assert (result.code, result.out) == (code, ""), content
            assert 1 <= len(result.err.splitlines()) <= 2
            assert chapterhouse(*command, path, "--json").envelope["ok"] is False


def test_a_hostile_bundle_is_shown_without_effect(
    chapterhouse: Any, harbour: Path, hostile: str, tmp_path: Path
) -> None:
    answer = read_held((harbour / "ANSWER").read_bytes(), ANSWER)
    citation = replace(
        answer.citations[0], title=hostile, source=hostile, document_id="x; rm -rf /"
    )
    forged = replace(answer, question=hostile, citations=(citation,))
    bundle = replace(read_bundle((harbour / "BUNDLE").read_bytes(), ANSWER), held=forged)
    (tmp_path / "ANSWER").write_text(file_text(json_fields(forged)))
    (tmp_path / "BUNDLE").write_text(bundle_json(bundle))
    for command in (("BUNDLE", "--alone"), ("BUNDLE",), ("ANSWER",)):
        result = chapterhouse("verify", tmp_path / command[0], *command[1:])
        assert result.out
        assert not set(result.out + result.err) & set("\x1b\x07\u202e")


@pytest.mark.parametrize("is_there", [True, False])
def test_a_database_that_is_empty_or_missing_is_damage_and_its_blobs_are_named(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CHAPTERHOUSE_BACKGROUND", "0")
    own = tmp_path / "home" / "workspaces" / "default"
    own.mkdir(parents=True)  # as a start that was killed leaves it
    (own / "library.db").touch()
    (tmp_path / "tides.md").write_text("# Tides\n\n" + "Slack water is short. " * 4_000)
    assert chapterhouse("add", str(tmp_path / "tides.md")).code == 0
    (blob,) = (path for path in (own / "blobs").rglob("*") if path.is_file())
    for path in own.glob("library.db*"):
        path.unlink()
    if is_there:
        (own / "library.db").touch()
    for command in (
        ("status",),
        ("search", "slack water"),
        ("ask", "What is slack water?"),
        ("add", str(tmp_path / "tides.md")),
        ("docs", "list"),
        ("reindex",),
        ("doctor",),
    ):
        result = chapterhouse(*command)
        assert result.code not in {0, 6}, command
        assert "library.db is" in result.err + result.out, command
        assert "its library are there" in " ".join((result.err + result.out).split()), command
        assert blob.name in result.out + result.err, command
    assert blob.exists()
    for path in (own / "library.db", own / "library.db-wal"):
        assert not path.exists() or not path.stat().st_size


def test_a_mark_holds_for_the_whole_file_alone() -> None:
    text = marked("# Minutes\n")
    assert is_marked(text.encode())
    for other in ("", "# Minutes\n", f" {text}", f"{text}\n", text.replace("M", "m", 1)):
        assert not is_marked(other.encode())
    twice = marked(text)
    assert is_marked(twice.encode())


def test_a_file_is_named_in_a_folder_that_is_there_and_only_ours_is_written_over(
    tmp_path: Path,
) -> None:
    def named(path: Path | str) -> Path:
        return destination(str(path), "The minutes", "--out m.md", is_marked)

    for name in ("-", tmp_path, tmp_path / "missing" / "a.md", " "):
        with pytest.raises(UsageError):
            named(name)
    path = tmp_path / "a.md"
    assert named(path) == path
    path.write_text(marked("# Minutes\n"))
    assert named(path) == path
    path.write_text("# Mine\n")
    with pytest.raises(RefusedError, match="would be lost"):
        named(path)
