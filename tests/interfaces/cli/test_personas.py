import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from chapterhouse.models.opening import LanguageModels
from chapterhouse.models.scripted import ScriptedModel


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = ScriptedModel(lambda *_: '{"tags": ["Slack water"]}')
    monkeypatch.setattr(LanguageModels, "named", lambda *_: scripted)


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    # In the test itself: capturing changes the streams after the fixtures.
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)


@pytest.mark.usefixtures("model")
def test_the_whole_way(chapterhouse: Any, tmp_path: Path) -> None:
    def persona(*arguments: object) -> Any:
        return chapterhouse("persona", *arguments, "--home", tmp_path / "own")

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
    assert "error   maria/persona.config.json: folders[0]  (" in wrong.out
    assert (wrong.code, "\n1 error, 2 warnings\n" in wrong.out) == (1, True)
    config = tmp_path / "own/personas/maria/persona.config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "folders": []}))
    trained = persona("train", "maria", "--file", file)  # what another system calls update
    assert (trained.code, trained.err) == (0, "")
    assert "Copied in: RAW-DOCS/tides.md" in trained.out
    assert "+ Slack water\n" in trained.out
    assert "Not written. Accept it: chapterhouse persona update maria --yes" in trained.out
    assert persona("show", "maria", "--json").data["config"]["tags"] == []
    accepted = persona("update", "maria", "--yes", "--json").data
    assert accepted["accepted"]
    assert "Slack water" in persona("show", "maria", "--json").data["config"]["tags"]
    assert "The profile stays as it is." in persona("update", "maria").out
    assert "indexed   RAW-DOCS/tides.md" in persona("docs", "maria").out
    removed = persona("docs", "maria", "--remove", "tides.md", "--yes")
    assert "--restore RAW-DOCS/tides.md --home" in removed.out
    assert persona("docs", "maria", "--json").data["counts"]["removed"] == 1
    assert persona("docs", "maria", "--restore", "tides.md").code == 0
    assert persona("docs", "maria", "--json").data["counts"]["indexed"] == 1
    (tmp_path / "own/personas/maria/RAW-DOCS/torn.pdf").write_bytes(b"%PDF-1.7 torn")
    assert persona("update", "maria").code == 4
    fetched = persona("update", "maria", "--url", "http://127.0.0.1/x")
    assert (fetched.code, "(url-" in fetched.out) == (4, True)
    assert persona("validate", "maria").code == 0
    assert "torn.pdf" in persona("validate", "maria").out
    config.write_text('{"slug": "maria",}')
    assert "(cannot be used)" in persona("list").out
    assert "line 1, column 18" in persona("show", "maria").err


def tags(chapterhouse: Any) -> list[str]:
    found: list[str] = chapterhouse("persona", "show", "maria", "--json").data["config"]["tags"]
    return found


@pytest.mark.usefixtures("model")
def test_a_profile_is_written_only_where_someone_says_yes(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)
    asked: list[str] = []
    said = [False, True]

    def confirm(question: str, **_: object) -> bool:
        asked.append(question)
        return said[len(asked) - 1]

    monkeypatch.setattr(typer, "confirm", confirm)
    assert chapterhouse("persona", "update", "maria", "--json").data["accepted"] is False
    assert asked == []
    refused = chapterhouse("persona", "update", "maria")
    assert "+ Slack water" in refused.err
    assert "+ Slack water" not in refused.out
    assert "Not written." in refused.out
    assert tags(chapterhouse) == []
    assert chapterhouse("persona", "update", "maria").code == 0
    assert "Slack water" in tags(chapterhouse)
    assert len(asked) == 2


@pytest.mark.usefixtures("model")
def test_ctrl_c_at_the_question_writes_nothing(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_terminal(monkeypatch)

    def interrupted(*_: object, **__: object) -> bool:
        raise typer.Abort

    monkeypatch.setattr(typer, "confirm", interrupted)
    assert chapterhouse("persona", "update", "maria").code == 0
    assert chapterhouse("persona", "docs", "maria", "--remove", "tides").code == 10
    assert tags(chapterhouse) == []
    assert chapterhouse("persona", "docs", "maria", "--json").data["counts"]["removed"] == 0
