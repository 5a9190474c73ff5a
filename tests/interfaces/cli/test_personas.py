"""The commands about personas: over a scripted house, and once over a real one."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from chapterhouse.agents.curated import Curated, CurationReport, Outcome
from chapterhouse.agents.listing import IndexState
from chapterhouse.agents.problems import Code, Problem
from chapterhouse.agents.profile import Generated
from chapterhouse.connectors.fetched import FetchReport, LinkOutcome
from chapterhouse.connectors.links import Link
from chapterhouse.interfaces.cli.render_personas import STANDINGS


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    # In the test itself: capturing changes the streams after the fixtures.
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)


def test_a_new_user_is_told_what_to_do_next(chapterhouse: Any, tmp_path: Path) -> None:
    home = tmp_path / "my home"
    result = chapterhouse("persona", "new", "maria", "--name", "Maria Keller", "--home", home)
    assert result.code == 0
    assert result.out.startswith(f"Made Maria Keller in {home}/personas/maria\nNext:\n")
    for step in ("edit maria", "update maria --file PATH", "update maria"):
        assert f"chapterhouse persona {step} --home '{home}'\n" in result.out
    again = chapterhouse("persona", "new", "maria", "--home", home)
    assert (again.code, "already" in again.err) == (5, True)
    data = chapterhouse("persona", "show", "maria", "--home", home, "--json").data
    assert (data["display_name"], data["census"]["documents"]) == ("Maria Keller", 0)
    assert data["config"]["retrieval"]["max_chunks"] == 12


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("new", "Maria"), 2),
        (("new", "library"), 2),
        (("new", "maria", "--template", "expret"), 3),
        (("show", "nobody"), 3),
        (("docs", "nobody"), 3),
        (("update", "nobody"), 3),
        (("validate", "nobody"), 3),
        (("edit", "nobody", "--set", "x=1"), 3),
    ],
)
def test_what_cannot_be_done_says_so(
    chapterhouse: Any, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    assert chapterhouse("init", "--home", tmp_path).code == 0
    result = chapterhouse("persona", *arguments, "--home", tmp_path)
    assert (result.code, result.out) == (code, "")
    assert len(result.err.splitlines()) == 2


def test_folders_of_personas_are_enough(chapterhouse: Any, tmp_path: Path) -> None:
    folder = tmp_path / "personas" / "maria"
    folder.mkdir(parents=True)
    (folder / "persona.config.json").write_text('{"slug": "maria", "tags": ["tides"]}')
    assert "maria" in chapterhouse("persona", "list", "--home", tmp_path).out
    assert chapterhouse("persona", "list", "--home", tmp_path / "none").code == 3
    assert not (tmp_path / "none").exists()


def test_the_whole_way_over_a_real_house(chapterhouse: Any, tmp_path: Path) -> None:
    def persona(*arguments: object) -> Any:
        return chapterhouse("persona", *arguments, "--home", tmp_path / "home")

    file = tmp_path / "tides.md"
    file.write_text(
        "# Tides\n\nSlack water at Osk pier lasts eleven minutes. Slack water is short.\n"
    )
    assert persona("list").code == 3  # there is no library yet
    folder = tmp_path / "tables"
    gone = persona("new", "maria", "--folder", folder)
    assert (gone.code, gone.out, f"There is no folder {folder}." in gone.err) == (3, "", True)
    assert persona("list").code == 3  # nothing was made
    folder.mkdir()
    assert persona("new", "maria", "--folder", folder).code == 0
    folder.rmdir()
    wrong = persona("validate")
    assert (wrong.code, "folders[0]" in wrong.out) == (1, True)
    assert persona("edit", "mar", "--set", "folders=", "--set", "display_name=Maria").code == 0
    trained = persona("update", "maria", "--file", file)
    assert (trained.code, trained.err) == (0, "")
    assert "Copied in: RAW-DOCS/tides.md" in trained.out
    assert "+ Slack water  in 1 of 1 document\n" in trained.out
    assert "Not written. Accept it: chapterhouse persona update maria --yes" in trained.out
    assert persona("show", "maria", "--json").data["config"]["tags"] == []
    accepted = persona("update", "maria", "--yes", "--json").data
    assert accepted["accepted"]
    assert "Slack water" in persona("show", "maria", "--json").data["config"]["tags"]
    assert "nothing to change" in persona("update", "maria").out
    assert "indexed   RAW-DOCS/tides.md" in persona("docs", "maria").out
    removed = persona("docs", "maria", "--remove", "tides.md", "--yes")
    assert "--restore RAW-DOCS/tides.md --home" in removed.out
    assert persona("docs", "maria", "--json").data["counts"]["removed"] == 1
    assert persona("docs", "maria", "--restore", "tides.md").code == 0
    assert persona("docs", "maria", "--json").data["counts"]["indexed"] == 1
    (tmp_path / "home/personas/maria/RAW-DOCS/torn.pdf").write_bytes(b"%PDF-1.7 torn")
    assert persona("update", "maria").code == 4
    assert persona("validate", "maria").code == 0
    assert "torn.pdf" in persona("validate", "maria").out
    (tmp_path / "home/personas/maria/persona.config.json").write_text('{"slug": "maria",}')
    assert "(cannot be used)" in persona("list").out
    assert "line 1, column 18" in persona("show", "maria").err


def test_a_profile_is_written_only_where_someone_says_yes(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)
    library = script()
    asked: list[str] = []
    said = [False, True]

    def confirm(question: str, **_: object) -> bool:
        asked.append(question)
        return said[len(asked) - 1]

    monkeypatch.setattr(typer, "confirm", confirm)
    assert chapterhouse("persona", "update", "maria", "--dry-run").code == 0
    assert chapterhouse("persona", "update", "maria", "--json").data["accepted"] is False
    assert asked == []
    refused = chapterhouse("persona", "update", "maria")
    assert "+ tides" in refused.err
    assert "+ tides" not in refused.out
    assert "Not written." in refused.out
    assert library.personas.accepted == []
    assert chapterhouse("persona", "update", "maria").code == 0
    assert len(library.personas.accepted) == 1
    assert len(asked) == 2


def test_off_a_terminal_a_profile_is_only_shown(chapterhouse: Any, script: Any) -> None:
    library = script()
    assert chapterhouse("persona", "update", "maria").code == 0
    assert library.personas.accepted == []
    assert chapterhouse("persona", "update", "maria", "--yes").code == 0
    assert len(library.personas.accepted) == 1
    library.personas.generated = Generated()
    assert "nothing to change" in chapterhouse("persona", "update", "maria", "--yes").out
    assert len(library.personas.accepted) == 1


def test_ctrl_c_at_the_question_writes_nothing(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)

    def interrupted(*_: object, **__: object) -> bool:
        raise typer.Abort

    library = script()
    monkeypatch.setattr(typer, "confirm", interrupted)
    assert chapterhouse("persona", "update", "maria").code == 0
    assert chapterhouse("persona", "docs", "maria", "--remove", "x").code == 10
    assert (library.personas.accepted, library.personas.moved) == ([], [])


def test_ctrl_c_while_reading_ends_with_130(chapterhouse: Any, script: Any) -> None:
    library = script()
    library.personas.failure = KeyboardInterrupt()
    result = chapterhouse("persona", "update", "maria")
    assert (result.code, library.closed) == (130, True)


def test_removing_needs_a_yes_off_a_terminal(chapterhouse: Any, script: Any) -> None:
    library = script()
    assert chapterhouse("persona", "docs", "maria", "--remove", "x").code == 10
    assert chapterhouse("persona", "docs", "maria", "--remove", "x", "--dry-run").code == 0
    assert library.personas.moved == []
    assert chapterhouse("persona", "docs", "maria", "--remove", "x", "--yes", "--json").code == 0
    assert chapterhouse("persona", "docs", "maria", "--restore", "x").code == 0
    assert [way for way, _ in library.personas.moved] == ["out", "in"]
    assert chapterhouse("persona", "docs", "maria", "--remove", "x", "--restore", "y").code == 2


def test_what_could_not_be_read_or_fetched_ends_with_4(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = script()
    whole = library.personas.update("maria", files=(), urls=(), on_progress=print, dry_run=True)
    link = Link("https://example.org/\x1b[2J", 1)
    pages = FetchReport(
        (LinkOutcome(link, "failed", None, "url-timeout", "Too late.", "Again."),), ()
    )
    torn = CurationReport((Curated("x.pdf", "", Outcome.FAILED, "damaged", "It is torn."),))
    for training, told in (
        (replace(whole, fetched=pages), "Too late. Again. (url-timeout)"),
        (replace(whole, refresh=replace(whole.refresh, curation=torn)), "It is torn. (damaged)"),
    ):
        monkeypatch.setattr(library.personas, "update", lambda *_, value=training, **__: value)
        result = chapterhouse("persona", "update", "maria")
        assert (result.code, told in result.out) == (4, True)
        assert "\x1b" not in result.out


def test_errors_in_a_folder_end_with_1(chapterhouse: Any, script: Any) -> None:
    library = script()
    library.personas.problems = (
        Problem(("tags", 1), Code.EMPTY, "It is empty.", "Fill it.", file="maria/x"),
    )
    for command in (("validate",), ("edit", "maria", "--set", "x=1")):
        result = chapterhouse("persona", *command)
        assert result.code == 1
        assert (
            "error   maria/x: tags[1]  (empty)\n        It is empty.\n        Fill it.\n"
            in result.out
        )
        assert "1 error, 0 warnings" in result.out
    data = chapterhouse("persona", "validate", "--json").data
    assert data["counts"] == {"error": 1, "warning": 0}


@pytest.mark.parametrize(
    ("editor", "code"), [("true", 0), ("false", 1), ("no-such-editor-anywhere", 1), ("", 2)]
)
def test_the_editor_is_the_users_own(
    chapterhouse: Any,
    script: Any,
    monkeypatch: pytest.MonkeyPatch,
    editor: str,
    code: int,
) -> None:
    on_a_terminal(monkeypatch)
    script()
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    assert chapterhouse("persona", "edit", "maria").code == code
    assert chapterhouse("persona", "edit", "maria", "--json").code == 2


def test_the_editor_opens_the_file_that_was_asked_for(
    chapterhouse: Any, script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    on_a_terminal(monkeypatch)
    script()
    note = tmp_path / "note"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "$@" >> {note}\n')
    editor.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{editor} --wait")
    chapterhouse("persona", "edit", "maria")
    chapterhouse("persona", "edit", "maria", "--config")
    assert note.read_text().splitlines() == [
        "--wait /papers/persona.md",
        "--wait /papers/persona.config.json",
    ]
    assert chapterhouse("persona", "edit", "maria", "--config", "--set", "x=1").code == 2
    assert os.environ["EDITOR"].startswith(str(editor))


@pytest.mark.parametrize("change", ["x", "=1", ""])
def test_a_change_is_a_key_and_a_value(chapterhouse: Any, script: Any, change: str) -> None:
    script()
    assert chapterhouse("persona", "edit", "maria", "--set", change).code == 2


def test_every_standing_of_a_file_has_a_colour() -> None:
    assert tuple(STANDINGS) == tuple(standing.value for standing in IndexState)
