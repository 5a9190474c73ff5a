import hashlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.interfaces.cli import search
from chapterhouse.types import Document

ASKED = "What does a berth cost?"


@pytest.fixture
def original(tmp_path: Path) -> Path:
    path = tmp_path / "a tariff.pdf"
    path.write_bytes(b"%PDF-1.7")
    return path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
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


def document_at(path: Path) -> Document:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return Document("t-1", "t", str(path), "T", "pdf", "m", sha256, "", 1, 1)


def last(home: Path) -> Path:
    return home / "workspaces" / "default" / "last.json"


def test_a_source_is_shown_where_it_stands(chapterhouse: Any, home: Path) -> None:
    assert chapterhouse("ask", ASKED).code == 0
    out = chapterhouse("open", "1").out
    assert "/papers/tariffs.pdf" in out
    assert "page 2 · characters 53–84" in out
    assert "»A berth costs 80 euros a metre.«" in out
    data = chapterhouse("open", "1", "--json").data
    assert (data["number"], data["place"]["start"]) == (1, 53)
    kept = last(home).read_text()
    assert "80 euros" not in kept  # no text of a document outlives it
    assert json.loads(kept)["question"] == ASKED


def test_what_cannot_be_opened_is_explained(chapterhouse: Any, home: Path) -> None:
    def refused(*arguments: str) -> str:
        result = chapterhouse(*arguments)
        assert result.code == 3
        return str(result.err)

    assert "No question is kept here" in refused("open")
    assert "No question is kept here" in refused("more")
    assert chapterhouse("ask", ASKED).code == 0
    assert "There is no source 7. Sources of the last question: 1 to 1." in refused("open", "7")
    assert "There is no source -1." in refused("open", "--", "-1")
    changed = re.sub('"text_sha256": "[0-9a-f]+"', '"text_sha256": "00"', last(home).read_text())
    last(home).write_text(changed)
    assert "has changed since it was cited" in refused("open")
    last(home).write_text('{"sources": 1}')
    assert "cannot be read" in refused("open")


def test_nothing_is_remembered_where_that_is_not_wanted(chapterhouse: Any, home: Path) -> None:
    assert chapterhouse("ask", ASKED, "--no-memory").code == 0
    assert not last(home).exists()
    assert chapterhouse("ask", ASKED).code == 0
    assert chapterhouse("memory", "forget", "--all", "--yes").code == 0
    assert not last(home).exists()


def test_on_a_terminal_the_file_itself_is_opened(
    chapterhouse: Any,
    harbour: Path,
    home: Path,
    started: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    browser = subprocess.CompletedProcess((), 0, stdout="firefox.desktop\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: browser)
    assert chapterhouse("ask", ASKED).code == 0
    assert chapterhouse("open").code == 0
    assert started == []  # no terminal
    monkeypatch.setattr(sys.stdout.__class__, "isatty", lambda _: True)
    assert chapterhouse("open", "--print").code == 0
    assert chapterhouse("open", "--json").code == 0
    assert started == []
    assert "Opened " in chapterhouse("open").out
    file = (harbour / "papers" / "tariffs.pdf").as_uri()
    assert started == [("/bin/xdg-open", f"{file}#page=2")]


def test_what_could_run_is_never_opened(tmp_path: Path) -> None:
    for name in ("x.sh", "x.html", "x.desktop", "x.py", "x.command", "x", "x.csv"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n")
        assert search.original_of(document_at(path)) is None, name


def test_only_the_bytes_that_were_read_are_opened(original: Path) -> None:
    document = document_at(original)
    assert search.original_of(document) == original
    original.write_bytes(b"another")
    assert search.original_of(document) is None
    original.unlink()
    assert search.original_of(document) is None
    assert search.original_of(replace(document, location="relative.pdf")) is None


def test_more_shows_passages_for_the_last_question(chapterhouse: Any, home: Path) -> None:
    assert chapterhouse("ask", ASKED, "--shelf", "library", "--tag", "fees").code == 0
    assert "A berth costs 80 euros" in chapterhouse("more").out
    query = chapterhouse("more", "--json").data["query"]
    assert (query["text"], query["scope"]["shelves"]) == (ASKED, ["library"])
    assert (query["limit"], query["tags"]) == (8, ["fees"])


def test_a_viewer_is_given_one_file(
    original: Path, started: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess((), 0, stdout="evince.desktop")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    assert search.viewer_command(original, 2) == ("/bin/xdg-open", str(original))
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert search.viewer_command(original, 2) == ()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert search.viewer_command(original, 2) == ("/bin/open", str(original))
    assert started == []
