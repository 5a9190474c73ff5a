import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.rooms import Room

from chapterhouse import Library
from chapterhouse.agents import registry
from chapterhouse.agents.council import CouncilFolder, council_from
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.listing import IndexState
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import PersonaConfigError
from chapterhouse.agents.registry import Entry
from chapterhouse.answering.runtime import Runtime
from chapterhouse.connectors.fetch import FetchResult
from chapterhouse.errors import NotFoundError, ReadOnlyError, RejectedError, UsageError
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import Progress


@pytest.fixture
def library(room: Room) -> Library:
    return room.library


def listed(registry: Personas, name: str = "maria") -> dict[str, IndexState]:
    return {entry.source: entry.status for entry in registry.documents(name)}


def online(
    registry: Personas, pages: Callable[[str], bytes]
) -> tuple[Personas, list[tuple[str, str]]]:
    asked: list[tuple[str, str]] = []

    def fetch(url: str, *, etag: str, last_modified: str) -> FetchResult:
        asked.append((url, etag))
        return FetchResult(
            url=url, final_url=url, content=b"" if etag else pages(url), content_type="text/html",
            charset="utf-8", etag='"v1"', last_modified="", not_modified=bool(etag), name="x.html",
        )  # fmt: skip

    return Personas(replace(registry._runtime, open_fetch=lambda: fetch)), asked


def test_a_broken_persona_is_listed_with_its_problem(registry: Personas, maria: Path) -> None:
    registry.create("tom").path.joinpath("persona.config.json").write_text(
        '{"slug": "tom", "tags": 1}'
    )
    good, broken = registry.all()
    assert good.folder
    assert broken.folder is None
    assert broken.problems[0].place == "tags"
    with pytest.raises(PersonaConfigError):
        registry.refresh("tom")
    assert registry.refresh("maria").changed
    assert registry.change("tom", {"tags": "tides, fog"}).config.tags == ("tides", "fog")
    assert not [problem for problem in registry.validate() if problem.severity == "error"]


def test_validation_knows_the_library(registry: Personas, maria: Path, library: Library) -> None:
    registry.change("maria", {"shelves": "library"})
    assert [p.place for p in registry.validate("maria") if p.severity == "error"] == ["shelves[0]"]
    (maria.parent.parent / "x.md").write_text("# X\n\nSome text.\n")
    library.documents.add(maria.parent.parent / "x.md")
    assert [p.place for p in registry.validate("maria") if p.severity == "error"] == []
    (maria / "RAW-DOCS" / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    registry.refresh("maria")
    torn = [p for p in registry.validate("maria") if p.file == "maria/RAW-DOCS/torn.pdf"]
    assert len(torn) == 1


def test_a_folder_is_read_once_and_again_when_it_changes(registry: Personas, maria: Path) -> None:
    assert not registry.is_current("maria")
    assert listed(registry) == {"RAW-DOCS/berths.txt": "new", "RAW-DOCS/tides.md": "new"}
    told: list[Progress] = []
    first = registry.refresh("mar", on_progress=told.append)
    assert first
    assert told
    assert first.sentence == "The documents of Maria Keller had changed: 2 read."
    assert registry.is_current("maria")
    second = registry.refresh("maria")
    assert (second.changed, second.curation, second.sync, second.sentence) == (
        False,
        None,
        None,
        "",
    )
    assert set(listed(registry).values()) == {IndexState.INDEXED}
    assert registry.census("maria").documents == 2
    (maria / "RAW-DOCS" / "berths.txt").unlink()
    third = registry.refresh("maria")
    assert third.sentence == "The documents of Maria Keller had changed: 1 removed."
    assert listed(registry) == {"RAW-DOCS/tides.md": "indexed"}


def test_a_shared_file_leaves_one_shelf_only(registry: Personas, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "fog.md").write_text("# Fog\n\nIn fog the horn sounds every two minutes.\n")
    for slug in ("maria", "tom"):
        registry.create(slug, folders=[str(papers)])
        registry.refresh(slug)
    registry.remove("maria", "fog.md")
    assert (registry.census("maria").documents, registry.census("tom").documents) == (0, 1)
    registry.refresh("tom")
    registry.refresh("maria")
    assert (registry.census("maria").documents, registry.census("tom").documents) == (0, 1)


def test_training_writes_only_what_is_accepted(registry: Personas, maria: Path) -> None:
    config = (maria / "persona.config.json").read_bytes()
    assert "Without a language model" in registry.update("maria").proposal.warnings[0]
    assert not registry.update("maria").proposal
    model = ScriptedModel(lambda *_: '{"tags": ["Slack water"]}')
    registry = Personas(replace(registry._runtime, language_model=lambda _: model))
    training = registry.update("maria")
    assert training.proposal.after.tags == ("Slack water",)
    assert (maria / "persona.config.json").read_bytes() == config
    accepted = registry.accept("maria", training.proposal)
    assert accepted.config == training.proposal.after
    assert not registry.update("maria").proposal
    with pytest.raises(UsageError, match="has changed since"):
        registry.accept("maria", training.proposal)


def test_training_takes_files_in(registry: Personas, maria: Path, tmp_path: Path) -> None:
    (tmp_path / "fog.md").write_text("# Fog\n\nIn fog the horn sounds every two minutes.\n")
    training = registry.update("maria", files=[tmp_path / "fog.md"])
    assert training.copied == ("RAW-DOCS/fog.md",)
    assert training.again is None
    assert listed(registry)["RAW-DOCS/fog.md"] == "indexed"
    with pytest.raises(UsageError):
        registry.update("maria", files=[tmp_path])
    again = registry.update("maria").again
    assert again is not None
    assert again.changed == 3


def test_pages_are_fetched_listed_and_asked_for_by_etag(registry: Personas, maria: Path) -> None:
    page = b"<html><body><h1>Fog</h1><p>The horn sounds every two minutes.</p></body></html>"
    connected, asked = online(registry, lambda _: page)
    training = connected.update("maria", urls=["https://example.org/fog"])
    assert [outcome.status for outcome in training.fetched.outcomes] == ["fetched"]  # type: ignore[union-attr] # pages were fetched
    assert (maria / "RAW-DOCS" / "links.links").read_text() == "https://example.org/fog\n"
    assert listed(registry)["https://example.org/fog"] == "indexed"
    assert not registry.refresh("maria")  # offline: fails if it fetches
    connected.update("maria")
    assert asked == [("https://example.org/fog", ""), ("https://example.org/fog", '"v1"')]
    (maria / "RAW-DOCS" / "links.links").write_text("")
    connected.update("maria")
    assert "https://example.org/fog" not in listed(registry)
    assert len(asked) == 2


def test_an_address_that_is_refused_is_not_kept(registry: Personas, maria: Path) -> None:
    def refuse(url: str) -> bytes:
        code = "url-refused" if "private" in url else "url-unreachable"
        raise RejectedError(code, "No.", hint="Do something else.")

    connected, _ = online(registry, refuse)
    urls = ["https://private.example/", "https://away.example/"]
    training = connected.update("maria", urls=urls)
    assert [outcome.status for outcome in training.fetched.outcomes] == ["failed"] * 2  # type: ignore[union-attr] # pages were asked for
    assert (maria / "RAW-DOCS" / "links.links").read_text() == "https://away.example/\n"
    with pytest.raises(UsageError):
        connected.update("maria", urls=["not an address"])


def test_a_page_is_stored_under_a_name_that_is_given(registry: Personas, maria: Path) -> None:
    page = b"<html><body><h1>Fog</h1><p>The horn sounds every two minutes.</p></body></html>"
    connected, _ = online(registry, lambda _: page)
    connected.update("maria", urls=["https://example.org/fog | fog-rules.md"])
    text = (maria / "RAG" / "fog-rules.md").read_text()
    assert "two minutes" in text
    assert "title: Fog\n" in text
    connected.update("maria")  # the list remembers the name
    assert (maria / "RAG" / "fog-rules.md").exists()


def test_after_an_interrupt_the_next_run_does_the_rest(registry: Personas, maria: Path) -> None:
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            registry.refresh("maria", on_progress=stop)
    registry.refresh("maria")
    assert set(listed(registry).values()) == {IndexState.INDEXED}


def test_two_that_read_at_once_read_once(registry: Personas, maria: Path) -> None:
    with ThreadPoolExecutor(3) as threads:
        reports = list(threads.map(lambda _: registry.refresh("maria"), range(3)))
    assert sorted(report.changed for report in reports) == [False, False, True]
    assert registry.is_current("maria")
    assert registry.census("maria").documents == 2


def test_workspaces_have_personas_of_their_own(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library, Library.open(tmp_path / "home", "w") as other:
        library.personas.create("maria")
        other.personas.create("tom")
        assert library.personas.names() == ("maria",)
        assert other.personas.names() == ("tom",)


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


def test_what_cannot_be_written_is_as_it_was(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ReadOnlyError("The library can only be read.")

    monkeypatch.setattr(registry, "mirror_shelf", refuse)
    refresh = made[0].refresh("maria")
    assert not refresh
    assert refresh.warnings == (
        "What has changed in their folders was not read: The library can only be read.",
    )
