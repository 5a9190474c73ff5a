import os
from pathlib import Path

import pytest

from chapterhouse.agents.curated import base_folder
from chapterhouse.agents.persona_folder import read_raw
from chapterhouse.agents.problems import PersonaConfigError
from chapterhouse.agents.reminders import reminders


def test_nothing_waits_in_folders_that_are_not_there(tmp_path: Path) -> None:
    assert reminders(tmp_path / "RAW-DOCS", tmp_path / "RAG") == ()


def test_a_merge_to_be_decided_and_a_bad_line_are_told(tmp_path: Path) -> None:
    raw, rag = tmp_path / "RAW-DOCS", tmp_path / "RAG"
    raw.mkdir()
    base_folder(rag).mkdir(parents=True)
    (base_folder(rag) / "tides.new.md").write_text("x", "utf-8")
    (raw / "pages.links").write_text("https://example.org/a\nfile:///etc/passwd\n", "utf-8")

    waiting, line = reminders(raw, rag)

    assert "tides" in waiting
    assert "persona docs" in waiting
    assert "pages.links, line 2" in line


def test_a_pipe_in_place_of_a_configuration_keeps_nobody_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "persona.config.json"
    os.mkfifo(pipe)

    with pytest.raises(PersonaConfigError, match="regular file"):
        read_raw(tmp_path)
