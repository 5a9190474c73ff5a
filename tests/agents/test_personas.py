"""The house over a real library, real files and real readers."""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.agents.listing import IndexState
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import PersonaConfigError
from chapterhouse.connectors.fetch import Fetched
from chapterhouse.connectors.fetched import Fetch
from chapterhouse.errors import NotFoundError, RejectedError, UsageError
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.types import Progress

TIDES = "# Tides\n\nSlack water at Osk pier lasts eleven minutes. Slack water is short in spring.\n"
BERTHS = "# Berths\n\nA berth at the quay costs 80 euros a metre. A berth has shore power.\n"


@pytest.fixture(scope="module")
def pool() -> Iterator[ReadingPool]:
    opened = ReadingPool(1, Limits())  # of all tests: its process takes long to start
    yield opened
    opened.close()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "home") as opened:
        yield opened


def offline(house: Personas) -> Personas:
    def never() -> Fetch:
        pytest.fail("the network was asked for")

    return Personas(replace(house._runtime, open_fetch=never))


@pytest.fixture
def house(library: Library, pool: ReadingPool) -> Personas:
    house = offline(library.personas)
    return Personas(replace(house._runtime, read=pool.submit))


@pytest.fixture
def maria(house: Personas) -> Path:
    folder = house.create("maria", display_name="Maria Keller")
    (folder.raw / "tides.md").write_text(TIDES)
    (folder.raw / "berths.txt").write_text(BERTHS)
    return folder.path


def listed(house: Personas, name: str = "maria") -> dict[str, IndexState]:
    return {entry.source: entry.status for entry in house.documents(name)}


def online(
    house: Personas, pages: Callable[[str], bytes]
) -> tuple[Personas, list[tuple[str, str]]]:
    asked: list[tuple[str, str]] = []

    def fetch(url: str, *, etag: str, last_modified: str) -> Fetched:
        asked.append((url, etag))
        return Fetched(
            url=url, final_url=url, content=b"" if etag else pages(url), content_type="text/html",
            charset="utf-8", etag='"v1"', last_modified="", not_modified=bool(etag), name="x.html",
        )  # fmt: skip

    return Personas(replace(house._runtime, open_fetch=lambda: fetch)), asked


# --- who there is ---


def test_names_are_resolved_like_those_of_documents(house: Personas) -> None:
    for slug, name in (("maria", "Maria Keller"), ("marlene", "Marlene"), ("tom", "Old Tom")):
        house.create(slug, display_name=name)
    assert house.names() == ("maria", "marlene", "tom")
    for name, slug in (("maria", "maria"), ("mari", "maria"), ("TOM", "tom"), ("old tom", "tom")):
        assert house.resolve(name) == slug
    with pytest.raises(UsageError, match="fits 2 personas"):
        house.resolve("mar")
    with pytest.raises(UsageError, match="empty"):
        house.resolve(" ")
    for name in ("anna", "../maria", "maria/", ".", "*"):
        with pytest.raises(NotFoundError):
            house.resolve(name)


def test_a_broken_persona_is_listed_with_its_problem(house: Personas, maria: Path) -> None:
    house.create("tom").config_path.write_text('{"slug": "tom", "tags": 1}')
    good, broken = house.all()
    assert good.folder
    assert broken.folder is None
    assert broken.problems[0].place == "tags"
    with pytest.raises(PersonaConfigError):
        house.refresh("tom")
    assert house.refresh("maria").changed
    assert house.change("tom", {"tags": "tides, fog"}).config.tags == ("tides", "fog")
    assert not [problem for problem in house.validate() if problem.severity == "error"]


def test_validation_knows_the_library(house: Personas, maria: Path, library: Library) -> None:
    house.change("maria", {"shelves": "library"})
    assert [p.place for p in house.validate("maria") if p.severity == "error"] == ["shelves[0]"]
    (maria.parent.parent / "x.md").write_text("# X\n\nSome text.\n")
    library.documents.add(maria.parent.parent / "x.md")
    assert [p.place for p in house.validate("maria") if p.severity == "error"] == []
    (maria / "RAW-DOCS" / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    house.refresh("maria")
    torn = [p for p in house.validate("maria") if p.file == "maria/RAW-DOCS/torn.pdf"]
    assert len(torn) == 1


# --- documents ---


def test_a_folder_is_read_once_and_again_when_it_changes(house: Personas, maria: Path) -> None:
    assert not house.is_current("maria")
    assert listed(house) == {"RAW-DOCS/berths.txt": "new", "RAW-DOCS/tides.md": "new"}
    told: list[Progress] = []
    first = house.refresh("mar", on_progress=told.append)
    assert first
    assert told
    assert first.sentence == "The documents of Maria Keller had changed: 2 read."
    assert house.is_current("maria")
    second = house.refresh("maria")
    assert (second.changed, second.curation, second.sync, second.sentence) == (
        False,
        None,
        None,
        "",
    )
    assert set(listed(house).values()) == {IndexState.INDEXED}
    assert house.census("maria").documents == 2
    (maria / "RAW-DOCS" / "berths.txt").unlink()
    third = house.refresh("maria")
    assert third.sentence == "The documents of Maria Keller had changed: 1 removed."
    assert listed(house) == {"RAW-DOCS/tides.md": "indexed"}


def test_a_dry_run_changes_nothing(house: Personas, maria: Path, library: Library) -> None:
    before = sorted(path for path in maria.rglob("*"))
    report = house.refresh("maria", dry_run=True)
    assert report.curation
    assert len(report.curation.outcomes) == 2
    training = house.update("maria", dry_run=True)
    assert "no documents yet" in training.proposal.warnings[0]
    assert sorted(path for path in maria.rglob("*")) == before
    assert not list(library.documents.list())


def test_a_persona_reads_any_folder(house: Personas, maria: Path, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "fog.md").write_text("# Fog\n\nIn fog the horn sounds every two minutes.\n")
    house.change("maria", {"folders": f"{papers},{tmp_path / 'gone'}"})
    report = house.refresh("maria")
    assert "gone is not there" in report.warnings[0]
    assert listed(house)["papers/fog.md"] == "indexed"
    shutil.rmtree(papers)
    assert house.refresh("maria").warnings
    assert house.census("maria").documents == 3  # a disk may be away


def test_every_reason_why_something_is_not_indexed(
    house: Personas, maria: Path, library: Library
) -> None:
    (maria / "RAW-DOCS" / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    (maria / "RAW-DOCS" / "empty.txt").write_text("   ")
    (maria / "RAW-DOCS" / "pages.links").write_text("https://example.org/")
    house.create("tom")
    (maria / "RAG" / "shared.md").write_text(
        "---\nid: shared\npersonas: [maria, tom]\n---\n\n# Shared\n\nThe gate closes at nine.\n"
    )
    house.refresh("maria")
    (maria / "RAG" / "tides.md").unlink()
    (maria / "RAW-DOCS" / "later.md").write_text("# Later\n\nNot yet.\n")
    house.refresh("tom")
    entries = {entry.source: entry for entry in house.documents("maria")}
    assert {source: entry.status.value for source, entry in entries.items()} == {
        "RAG/shared.md": "indexed",
        "RAW-DOCS/berths.txt": "indexed",
        "RAW-DOCS/empty.txt": "rejected",
        "RAW-DOCS/later.md": "new",
        "RAW-DOCS/tides.md": "removed",
        "RAW-DOCS/torn.pdf": "rejected",
    }
    assert all(entry.reason and entry.code for entry in entries.values() if not entry.chunks)
    assert entries["RAG/shared.md"].shared_with == ("tom",)
    (told,) = house.documents("tom")
    with pytest.raises(UsageError, match="shared with them"):
        house.remove("tom", told.source)
    assert (told.document_id, told.shared_with) == (
        entries["RAG/shared.md"].document_id,
        ("maria",),
    )


def test_what_was_removed_stays_out_until_it_is_restored(house: Personas, maria: Path) -> None:
    house.refresh("maria")
    removed = house.remove("maria", "berths.txt")
    assert removed.source == "RAW-DOCS/berths.txt"
    assert house.load("maria").config.exclude == ("RAG/berths.md",)
    for _ in range(2):
        assert listed(house) == {"RAW-DOCS/berths.txt": "removed", "RAW-DOCS/tides.md": "indexed"}
        house.refresh("maria")
    (maria / "RAW-DOCS" / "berths.txt").write_text(BERTHS + "\nNew words.\n")
    house.refresh("maria")
    assert listed(house)["RAW-DOCS/berths.txt"] == "removed"
    assert house.census("maria").documents == 1
    house.update("maria")
    assert listed(house)["RAW-DOCS/berths.txt"] == "removed"
    house.restore("maria", "berths.txt")
    assert set(listed(house).values()) == {IndexState.INDEXED}
    assert house.load("maria").config.exclude == ()
    with pytest.raises(UsageError, match="not removed by hand"):
        house.restore("maria", "berths.txt")
    for name, error in (("nothing", NotFoundError), ("", UsageError)):
        with pytest.raises(error):
            house.remove("maria", name)


def test_a_file_of_any_name_can_be_removed(house: Personas, maria: Path) -> None:
    name = os.fsdecode(b"a\x1b[2J\xffb.md")
    (maria / "RAG" / name).write_text("---\nid: a\n---\n\n# A\n\nWords.\n")
    house.refresh("maria")
    shown = "RAG/a\\u001b[2J\\xffb.md"
    assert listed(house)[shown] == "indexed"
    house.remove("maria", shown)
    assert listed(house)[shown] == "removed"
    house.restore("maria", shown)
    assert listed(house)[shown] == "indexed"


def test_a_person_may_exclude_by_the_name_in_raw_docs(house: Personas, maria: Path) -> None:
    house.change("maria", {"exclude": "RAW-DOCS/berths.txt"})
    house.refresh("maria")
    house.refresh("maria")
    assert listed(house) == {"RAW-DOCS/berths.txt": "removed", "RAW-DOCS/tides.md": "indexed"}
    assert house.census("maria").documents == 1
    house.restore("maria", "berths.txt")
    assert house.census("maria").documents == 2


def test_a_file_of_a_shared_folder_leaves_one_shelf_only(house: Personas, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "fog.md").write_text("# Fog\n\nIn fog the horn sounds every two minutes.\n")
    for slug in ("maria", "tom"):
        house.create(slug, folders=[str(papers)])
        house.refresh(slug)
    house.remove("maria", "fog.md")
    assert (house.census("maria").documents, house.census("tom").documents) == (0, 1)
    house.refresh("tom")
    house.refresh("maria")
    assert (house.census("maria").documents, house.census("tom").documents) == (0, 1)


# --- training ---


def test_training_proposes_and_writes_only_what_is_accepted(house: Personas, maria: Path) -> None:
    config = (maria / "persona.config.json").read_bytes()
    training = house.update("maria")
    assert training.proposal
    assert "slack water" in [tag.casefold() for tag in training.proposal.after.tags]
    assert (maria / "persona.config.json").read_bytes() == config
    accepted = house.accept("maria", training.proposal)
    assert accepted.config == training.proposal.after
    assert not house.update("maria").proposal
    with pytest.raises(UsageError, match="has changed since"):
        house.accept("maria", training.proposal)


def test_training_reads_everything_anew(house: Personas, maria: Path) -> None:
    first = house.update("maria")
    assert first.again is not None
    assert first.again.outcomes == ()
    second = house.update("maria")
    assert second.again is not None
    assert second.again.changed == 2
    assert second.refresh.curation is not None


def test_a_model_words_the_profile_where_one_is_set(house: Personas, maria: Path) -> None:
    model = ScriptedModel(lambda *_: '{"expertise": "Slack water at Osk pier."}')
    asked: list[str] = []

    def named(name: str) -> ScriptedModel:
        asked.append(name)
        return model

    modelled = Personas(replace(house._runtime, language_model=named))
    proposal = modelled.update("maria").proposal
    assert proposal.after.profile.expertise == "Slack water at Osk pier."
    assert (proposal.method, asked) == ("scripted", [""])
    modelled.change("maria", {"model": "none"})
    assert modelled.update("maria").proposal.method == "statistics"
    assert asked == [""]


def test_files_are_taken_in(house: Personas, maria: Path, tmp_path: Path) -> None:
    (tmp_path / "fog.md").write_text("# Fog\n\nIn fog the horn sounds every two minutes.\n")
    training = house.update("maria", files=[tmp_path / "fog.md"])
    assert training.copied == ("RAW-DOCS/fog.md",)
    assert training.again is None
    assert listed(house)["RAW-DOCS/fog.md"] == "indexed"
    with pytest.raises(UsageError):
        house.update("maria", files=[tmp_path])


def test_pages_are_fetched_listed_and_asked_for_by_their_etag(house: Personas, maria: Path) -> None:
    page = b"<html><body><h1>Fog</h1><p>The horn sounds every two minutes.</p></body></html>"
    connected, asked = online(house, lambda _: page)
    training = connected.update("maria", urls=["https://example.org/fog"])
    assert [outcome.status for outcome in training.fetched.outcomes] == ["fetched"]  # type: ignore[union-attr] # pages were fetched
    assert (maria / "RAW-DOCS" / "links.links").read_text() == "https://example.org/fog\n"
    assert listed(house)["https://example.org/fog"] == "indexed"
    assert not house.refresh("maria")  # offline: fails if it fetches
    connected.update("maria")
    assert asked == [("https://example.org/fog", ""), ("https://example.org/fog", '"v1"')]
    (maria / "RAW-DOCS" / "links.links").write_text("")
    connected.update("maria")
    assert "https://example.org/fog" not in listed(house)
    assert len(asked) == 2


def test_an_address_that_is_refused_is_not_kept(house: Personas, maria: Path) -> None:
    def refuse(url: str) -> bytes:
        code = "url-refused" if "private" in url else "url-unreachable"
        raise RejectedError(code, "No.", hint="Do something else.")

    connected, _ = online(house, refuse)
    urls = ["https://private.example/", "https://away.example/"]
    training = connected.update("maria", urls=urls)
    assert [outcome.status for outcome in training.fetched.outcomes] == ["failed"] * 2  # type: ignore[union-attr] # pages were asked for
    assert (maria / "RAW-DOCS" / "links.links").read_text() == "https://away.example/\n"
    with pytest.raises(UsageError):
        connected.update("maria", urls=["not an address"])


def test_an_interrupt_goes_up_and_the_next_run_does_the_rest(house: Personas, maria: Path) -> None:
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            house.refresh("maria", on_progress=stop)
    house.refresh("maria")
    assert set(listed(house).values()) == {IndexState.INDEXED}


def test_two_that_read_at_once_read_once(house: Personas, maria: Path) -> None:
    with ThreadPoolExecutor(3) as threads:
        reports = list(threads.map(lambda _: house.refresh("maria"), range(3)))
    assert sorted(report.changed for report in reports) == [False, False, True]
    assert house.is_current("maria")
    assert house.census("maria").documents == 2


def test_workspaces_have_personas_of_their_own(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library, Library.open(tmp_path / "home", "w") as other:
        library.personas.create("maria")
        other.personas.create("tom")
        assert library.personas.names() == ("maria",)
        assert other.personas.names() == ("tom",)
