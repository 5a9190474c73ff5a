"""A library with personas whose model says what a test tells it to."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.rooms import BERTHS, TIDES, Room, harbour, make_room, room
from tests.telemetry.conftest import exporter

from chapterhouse.agents.personas import Personas
from chapterhouse.connectors.fetched import Fetch
from chapterhouse.store.definitions import PERSONA_MARKS, Definitions

__all__ = ["exporter", "harbour", "make_room", "room"]


@pytest.fixture
def personas(tmp_path: Path) -> Definitions:
    """The personas of an empty folder."""
    return Definitions(tmp_path, PERSONA_MARKS)


@pytest.fixture
def registry(room: Room) -> Personas:
    """The personas of a library that may not ask the network."""

    def never() -> Fetch:
        pytest.fail("the network was asked for")

    return Personas(replace(room.library.personas._runtime, open_fetch=never))


@pytest.fixture
def maria(registry: Personas) -> Path:
    """The folder of a persona with two documents that were not read yet."""
    folder = registry.create("maria", display_name="Maria Keller")
    (folder.raw / "tides.md").write_text(TIDES)
    (folder.raw / "berths.txt").write_text(BERTHS)
    return folder.path


@pytest.fixture(scope="module", autouse=True)
def words_first(vectors_later: None) -> None:
    """Make no vectors while documents are added."""
