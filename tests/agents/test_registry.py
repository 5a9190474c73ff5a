"""Both registries find, load and refresh alike."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.agents import registry
from chapterhouse.agents.council import CouncilFolder, council_from
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.registry import Entry
from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import NotFoundError, ReadOnlyError, UsageError

NOTE = "# Tides\n\nThe tide turns at noon.\n"


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Library.open(tmp_path / "home") as library:
        yield library._runtime


@pytest.fixture(params=["persona", "council"])
def made(
    request: pytest.FixtureRequest, runtime: Runtime
) -> tuple[Personas | Councils, PersonaFolder | CouncilFolder]:
    """A registry of either kind, and a definition in it with one document."""
    folder: PersonaFolder | CouncilFolder
    if request.param == "persona":
        personas = Personas(runtime)
        folder = personas.create("maria", display_name="María K.")
        (folder.rag / "tides.md").write_text(NOTE)
        return personas, folder
    councils = Councils(runtime)
    folder = councils.create(council_from("decision", "maria", display_name="María K."))
    (folder.docs / "tides.md").write_text(NOTE)
    return councils, folder


Made = tuple[Personas | Councils, PersonaFolder | CouncilFolder]


def test_what_was_made_is_found_by_each_of_its_names(made: Made) -> None:
    found, folder = made
    assert found.names() == ("maria",)
    assert {found.resolve(name) for name in ("maria", "mar", "MARÍA k.")} == {"maria"}
    assert found.load("mar") == folder
    assert found.all() == (Entry("maria", folder),)
    assert found.folder("mar") == folder.path
    for name in ("tom", "../maria", "maria/", ".", "*"):
        with pytest.raises(NotFoundError, match=f"There is no {found.kind} '{re.escape(name)}'"):
            found.resolve(name)
    (config,) = folder.path.glob("*.json")
    (folder.path.parent / "marlene").mkdir()
    (folder.path.parent / "marlene" / config.name).write_text("{")
    with pytest.raises(UsageError, match=f"fits 2 {found.kind}s"):
        found.resolve("mar")
    with pytest.raises(UsageError, match=f"name of a {found.kind} is empty"):
        found.resolve(" ")


def test_its_documents_are_read_once_under_a_lock(made: Made) -> None:
    found, _ = made
    assert not found.is_current("maria")
    assert found.refresh("maria").sentence == "The documents of María K. had changed: 1 read."
    assert found.is_current("maria")
    assert not found.refresh("maria")
    assert found.census("maria").documents == 1


def test_what_cannot_be_written_is_asked_as_it_was(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ReadOnlyError("The library can only be read.")

    monkeypatch.setattr(registry, "mirror_shelf", refuse)
    refresh = made[0].refresh("maria")
    assert not refresh
    assert refresh.warnings == (
        "What has changed in their folders was not read: The library can only be read.",
    )
