"""Definitions as folders: what is one, what can be read, and how it is written."""

import os
from pathlib import Path

import pytest

from chapterhouse.store.definitions import Definitions


@pytest.fixture
def definitions(tmp_path: Path) -> Definitions:
    return Definitions(tmp_path / "personas", ("persona.md", "RAG"))


def test_what_has_no_mark_is_no_definition(definitions: Definitions) -> None:
    assert definitions.names() == ()
    for name in ("tom", "maria", ".hidden", "_template"):
        definitions.make(name, ("RAG",))
    definitions.make("empty", ("elsewhere",))
    definitions.folder("note.txt").write_text("x")
    assert definitions.names() == ("maria", "tom")


def test_files_are_read_and_written_whole_and_locked(definitions: Definitions) -> None:
    assert not definitions.has("maria", "persona.md")
    with definitions.lock("maria") as held:
        assert not held  # there is no folder
    definitions.make("maria", ("RAG", "RAW-DOCS"))
    definitions.write("maria", "persona.md", "Tides ö")
    assert definitions.has("maria", "persona.md")
    assert definitions.read("maria", "persona.md", 5) == b"Tides"
    names = sorted(path.name for path in definitions.folder("maria").iterdir())
    assert names == ["RAG", "RAW-DOCS", "persona.md"]
    with definitions.lock("maria") as held:
        assert held


def test_what_cannot_be_read_keeps_nobody_waiting(definitions: Definitions) -> None:
    definitions.make("maria", ("RAG",))
    os.mkfifo(definitions.folder("maria") / "persona.md")
    for file in ("persona.md", "RAG", "gone.md"):
        with pytest.raises(OSError, match=r"regular file|Is a directory|No such file"):
            definitions.read("maria", file, 10)
