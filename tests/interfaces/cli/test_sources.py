"""Going on from the last question: its sources are opened, and more passages are shown."""

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.interfaces.cli import sources
from chapterhouse.types import Document


@pytest.fixture
def original(tmp_path: Path) -> Path:
    path = tmp_path / "a tariff.pdf"
    path.write_bytes(b"%PDF-1.7")
    return path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Give every command that would have been started, on a terminal with a screen."""
    found: list[tuple[str, ...]] = []

    def popen(command: tuple[str, ...], **_: object) -> None:
        found.append(command)

    def which(name: str) -> str:
        return f"/bin/{name}"

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(shutil, "which", which)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    return found


def document_at(library: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> Document:
    document: Document = replace(
        library.get(""),
        location=str(path),
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )
    monkeypatch.setattr(library, "get", lambda _: document)
    return document


def test_a_source_is_shown_where_it_stands(chapterhouse: Any, script: Any, tmp_path: Path) -> None:
    library = script(folder=tmp_path)
    assert chapterhouse("ask", "x").code == 0
    out = chapterhouse("open", "1").out
    assert "/papers/tariffs.md" in out
    assert "page 2 · characters 11–42" in out
    assert "»A berth costs 80 euros a metre.«" in out
    assert "\x1b" not in out
    data = chapterhouse("open", "1", "--json").data
    assert (data["number"], data["place"]["start"]) == (1, 11)
    kept = (tmp_path / "last.json").read_text()
    assert "80 euros" not in kept  # no text of a document outlives it
    assert json.loads(kept)["question"] == library.answer.question


def test_after_a_search_its_hits_are_opened(chapterhouse: Any, script: Any, tmp_path: Path) -> None:
    script(folder=tmp_path)
    assert chapterhouse("search", "x").code == 0
    assert "»A berth costs" in chapterhouse("open").out


def test_more_shows_passages_for_the_last_question(
    chapterhouse: Any, script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = script(folder=tmp_path)
    assert chapterhouse("ask", "x", "--shelf", "papers", "--tag", "fees").code == 0
    asked: list[tuple[str, dict[str, object]]] = []
    found = library.hits("x")

    def search(text: str, **options: object) -> object:
        asked.append((text, options))
        return found

    monkeypatch.setattr(library, "hits", search)
    assert "A berth costs 80 euros" in chapterhouse("more").out
    options = {"shelves": ("papers",), "limit": 8, "tags": ("fees",)}
    assert asked == [(library.answer.question, options)]


def test_where_no_shelf_was_named_more_looks_everywhere(chapterhouse: Any, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "tariffs.md").write_text(
        "# Tariffs\n\nA berth costs 80 euros a metre.\n"
    )
    home = tmp_path / "home"
    assert chapterhouse("add", tmp_path / "papers", "--home", home).code == 0
    assert chapterhouse("ask", "What does a berth cost?", "--home", home).code == 0
    shown = chapterhouse("more", "--home", home)
    assert (shown.code, "A berth costs 80 euros a metre." in shown.out) == (0, True)


def test_what_a_persona_was_asked_stays_on_their_shelves(
    chapterhouse: Any, script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = script(folder=tmp_path)
    library.answer = replace(library.answer, persona="maria")
    assert chapterhouse("ask", "x", "--persona", "maria").code == 0
    asked: list[object] = []
    found = library.hits("x")

    def search(_: str, *, shelves: object, **__: object) -> object:
        asked.append(shelves)
        return found

    monkeypatch.setattr(library, "hits", search)
    assert chapterhouse("more").code == 0
    assert chapterhouse("more").code == 0  # what it remembered is the persona's still
    assert asked == [("maria",)] * 2


def test_what_cannot_be_opened_is_explained(
    chapterhouse: Any, script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = script(folder=tmp_path)

    def refused(*arguments: str) -> str:
        result = chapterhouse(*arguments)
        assert result.code == 3
        return str(result.err)

    assert "Nothing was asked here yet." in refused("open")
    assert "Nothing was asked here yet." in refused("more")
    assert chapterhouse("ask", "x").code == 0
    assert "There is no source 7. Sources of the last question: 1 to 1." in refused("open", "7")
    assert "There is no source -1." in refused("open", "--", "-1")
    changed = replace(library.get(""), text_sha256="00")
    monkeypatch.setattr(library, "get", lambda _: changed)
    assert "has changed since it was cited" in refused("open")
    (tmp_path / "last.json").write_text('{"sources": 1}')
    assert "cannot be read" in refused("open")


def test_nothing_is_remembered_where_that_is_not_wanted(
    chapterhouse: Any, script: Any, tmp_path: Path
) -> None:
    script(folder=tmp_path)
    assert chapterhouse("ask", "x", "--no-memory").code == 0
    assert not (tmp_path / "last.json").exists()
    assert chapterhouse("ask", "x").code == 0
    assert chapterhouse("memory", "forget", "--all", "--yes").code == 0
    assert not (tmp_path / "last.json").exists()


def test_on_a_terminal_the_file_itself_is_opened(
    chapterhouse: Any,
    script: Any,
    original: Path,
    started: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = script(folder=original.parent)
    document_at(library, original, monkeypatch)
    browser = subprocess.CompletedProcess((), 0, stdout="firefox.desktop\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: browser)
    assert chapterhouse("ask", "x").code == 0
    assert chapterhouse("open").code == 0
    assert started == []  # no terminal
    monkeypatch.setattr(sys.stdout.__class__, "isatty", lambda _: True)
    assert chapterhouse("open", "--print").code == 0
    assert chapterhouse("open", "--json").code == 0
    assert started == []
    assert "Opened " in chapterhouse("open").out
    assert started == [("/bin/xdg-open", f"{original.as_uri()}#page=2")]


def test_a_viewer_is_given_one_file(
    original: Path, started: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess((), 0, stdout="evince.desktop")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    assert sources.viewer_command(original, 2) == ("/bin/xdg-open", str(original))
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert sources.viewer_command(original, 2) == ()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert sources.viewer_command(original, 2) == ("/bin/open", str(original))
    assert started == []


@pytest.mark.parametrize("name", ["x.sh", "x.html", "x.desktop", "x.py", "x.command", "x", "x.csv"])
def test_what_could_run_is_never_opened(
    script: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text("#!/bin/sh\n")
    assert sources.original_of(document_at(script(), path, monkeypatch)) is None


def test_only_the_bytes_that_were_read_are_opened(
    script: Any, original: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = document_at(script(), original, monkeypatch)
    assert sources.original_of(document) == original
    original.write_bytes(b"another")
    assert sources.original_of(document) is None
    original.unlink()
    assert sources.original_of(document) is None
    assert sources.original_of(replace(document, location="relative.pdf")) is None


def test_a_folder_that_cannot_be_written_to_still_answers(tmp_path: Path, script: Any) -> None:
    sources.remember_answer(tmp_path / "gone", script().answer, (), ())
    assert not (tmp_path / "gone").exists()
