"""Remembered answers of real documents that change, move and go."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.answering.stale import StaleAnswer, remembered
from chapterhouse.types import Citation

GATE = "# Gate\n\nThe harbour gate closes at nine every evening in summer.\n"
FERRY = "# Ferry\n\nThe ferry to the island leaves twice a day, at eight and at five.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "gate.md").write_text(GATE)
    (folder / "ferry.md").write_text(FERRY)
    return folder


@pytest.fixture
def library(tmp_path: Path, folder: Path) -> Iterator[Any]:
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        library.answers.ask("When does the harbour gate close?")
        library.answers.ask("When does the ferry leave?")
        yield library


def _stale(library: Any) -> tuple[StaleAnswer, ...]:
    return tuple(one for one in library.upkeep.stale_answers() if one.is_stale)


def _states(one: StaleAnswer) -> set[tuple[str, str]]:
    return {(check.source.value, check.quote.value) for check in one.checks}


def test_nothing_is_stale_while_nothing_changes(library: Any) -> None:
    memories = library.memory.memories([""], 5, 0)
    assert all(one.citations for one in memories)
    assert library.upkeep.stale_answers() == ()


def test_a_source_that_changed_keeps_or_loses_the_quotation(library: Any, folder: Path) -> None:
    (folder / "gate.md").write_text(f"# Gate\n\nA new line before it.\n\n{GATE[8:]}")
    (folder / "ferry.md").write_text("# Ferry\n\nThere is no ferry any more.\n")
    library.documents.add(folder)
    ferry, gate = _stale(library)
    assert _states(gate) == {("changed", "moved")}
    assert _states(ferry) == {("changed", "lost")}
    assert gate.memory.question == "When does the harbour gate close?"


def test_a_source_with_another_name_is_stale_and_its_quotation_is_there(
    library: Any, folder: Path
) -> None:
    (folder / "gate.md").rename(folder / "door.md")
    library.documents.add(folder)
    with library._runtime.store._connections.write() as connection:  # as a sync would do
        connection.execute("DELETE FROM document WHERE source LIKE '%gate.md'")
    (found,) = _stale(library)
    assert _states(found) == {("moved", "stands")}
    assert found.checks[0].source_now.endswith("door.md")


def test_the_same_document_under_another_name_is_moved(library: Any) -> None:
    with library._runtime.store._connections.write() as connection:
        connection.execute(
            "UPDATE document SET source = 'docs/new.md' WHERE source LIKE '%gate.md'"
        )
    library._runtime.store._known_documents = (-1, {})
    (found,) = _stale(library)
    assert _states(found) == {("moved", "stands")}


def test_a_source_that_went_is_stale(library: Any) -> None:
    with library._runtime.store._connections.write() as connection:
        connection.execute("DELETE FROM document WHERE source LIKE '%gate.md'")
    (found,) = _stale(library)
    assert _states(found) == {("gone", "lost")}


def test_of_older_memories_it_is_not_known(library: Any) -> None:
    with library._runtime.store._connections.write() as connection:
        connection.execute("UPDATE memory SET citations = 'null'")
    found = library.upkeep.stale_answers()
    assert [one.is_known for one in found] == [False, False]
    assert not any(one.is_stale for one in found)
    with library._runtime.store._connections.write() as connection:
        connection.execute("DELETE FROM document WHERE source LIKE '%gate.md'")
    (stale,) = _stale(library)
    assert len(stale.missing) == 1


def test_what_a_tool_returned_is_not_remembered_as_a_citation() -> None:
    plain = Citation(1, "gate-1", "", "s", (), None, "", "", 0, 3, "The", "x")
    (one,) = remembered([plain])
    assert (one.document_id, one.start, one.end, one.quote) == ("gate-1", 0, 3, "The")
