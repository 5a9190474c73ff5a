import threading
from pathlib import Path
from typing import Any

import pytest
from tests.clouds import Drive

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.ingest.mirror import Options
from chapterhouse.library.source_sync import all_sources, sync_sources
from chapterhouse.types import Progress, SourceKind, SyncReport


def by_name(reports: tuple[SyncReport, ...]) -> dict[str, SyncReport]:
    return {report.source: report for report in reports}


def test_a_folder_that_was_added_is_followed(library: Library, folder: Path) -> None:
    (source,) = library.sources.list()
    assert (source.name, source.location) == ("documents", str(folder))
    assert not library.sources.is_stale(source)
    (folder / "weather.txt").rename(folder / "storms.txt")
    assert library.sources.is_stale(source)
    (report,) = library.sources.sync()
    assert (report.source, report.changed) == ("documents", 1)
    assert (
        "storms.txt" in library.answers.ask("When is the crossing suspended?").citations[0].source
    )
    assert library.sources.sync()[0].changed == 0
    assert not library.sources.is_stale(library.sources.get("documents"))
    (folder / "storms.txt").unlink()
    assert library.search.hits("loudspeaker").hits
    (report,) = library.sources.sync("documents")
    assert report.removed == ("documents/storms.txt",)
    assert not library.search.hits("loudspeaker").hits


def test_an_answer_says_that_its_folder_has_changed(library: Library, folder: Path) -> None:
    assert library.answers.ask("When is the crossing suspended?").warnings == ()
    (folder / "new.md").write_text("# New\n\nThe pier has a lamp.\n")
    (warning,) = library.answers.ask("When is the crossing suspended?").warnings
    assert "chapterhouse sync documents" in warning
    library.sources.sync()
    assert library.answers.ask("When is the crossing suspended?").warnings == ()


def test_a_source_can_be_changed_and_removed(library: Library, folder: Path) -> None:
    changed = library.sources.add(str(folder), include=["*.txt"])
    assert (changed.name, changed.include) == ("documents", ("*.txt",))
    removed = [name for report in library.sources.sync() for name in report.removed]
    assert removed
    assert all(not name.endswith(".txt") for name in removed)
    library.sources.remove("documents")
    assert library.sources.list() == ()
    # What is left is looked after file by file.
    (folder / "weather.txt").unlink()
    (report,) = library.sources.sync()
    assert (report.source, report.removed) == ("(files)", ("documents/weather.txt",))


def test_what_is_no_source_is_refused(library: Library, folder: Path) -> None:
    for location in ("/a\0b", "drive:\0", f"/{'a' * 300}", "~nobody-here/papers"):
        with pytest.raises(UsageError, match="cannot be opened"):
            library.sources.add(location)
    with pytest.raises(NotFoundError):
        library.sources.add(str(folder / "none"))
    with pytest.raises(UsageError, match="neither a folder nor a list"):
        library.sources.add(str(next(folder.glob("*.md"))))
    source = library.sources.add(str(folder), name="a\0b\u202e", shelf="other")
    assert source.name == "a\\u0000b\\u202e"
    assert library.sources.get(source.name) == source


def test_a_list_of_pages_says_why_none_came(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "pages.links"
    path.write_text("http://127.0.0.1:9/one\n")
    source = library.sources.add(str(path))
    assert source.kind is SourceKind.LINKS
    (report,) = library.sources.sync("pages")
    assert report.problem.startswith("Line 1 of the list gives no page:")
    assert library.sources.get("pages").problem == report.problem


@pytest.mark.parametrize("kind", ["persona", "council"])
def test_a_folder_is_given_and_taken_away(library: Library, tmp_path: Path, kind: str) -> None:
    tides, name = tmp_path / "tides", f"{kind}/maria"
    tides.mkdir()
    (tides / "tides.md").write_text("# Tides\n\nThe spring tide rises four metres at the pier.\n")
    library.personas.create("maria")
    library.councils.create(Council("maria"))
    owner: Any = library.personas if kind == "persona" else library.councils
    source = library.sources.give(str(tides), owner, "maria")
    assert (source.name, source.synced) == (name, 0)
    assert by_name(library.sources.sync())[name].changed == 1
    assert library.sources.get(name).synced
    (tides / "tides.md").rename(tides / "spring.md")
    assert library.sources.is_stale(library.sources.get(name))
    assert by_name(library.sources.sync(name))[name].changed == 1
    with pytest.raises(UsageError, match="in its own configuration"):
        library.sources.remove(name)
    with pytest.raises(NotFoundError, match=r"maria does not read .*nothing"):
        library.sources.take(str(tmp_path / "nothing"), owner, "maria")
    library.sources.take(f"{tides}/../tides", owner, "maria")
    removed = by_name(library.sources.sync(confirmed=True))[name].removed
    assert removed == ("tides/spring.md",)
    assert tides.is_dir()


def test_a_question_reads_no_folder_but_the_first(library: Library, tmp_path: Path) -> None:
    tides = tmp_path / "tides"
    tides.mkdir()
    (tides / "tides.md").write_text("# Tides\n\nThe spring tide rises four metres at the pier.\n")
    library.personas.create("maria", display_name="Maria Keller", folders=[str(tides)])
    question = "How far does the spring tide rise?"
    first = library.answers.ask(question, persona="maria")
    assert "four metres" in first.text
    assert first.refreshed
    (tides / "tides.md").rename(tides / "spring.md")
    second = library.answers.ask(question, persona="maria")
    assert second.citations[0].source == "tides/tides.md"
    assert any("chapterhouse sync persona/maria" in warning for warning in second.warnings)
    library.sources.sync("maria")
    third = library.answers.ask(question, persona="maria")
    assert third.citations[0].source == "tides/spring.md"
    assert third.warnings == ()


def test_what_changes_before_folders_are_watched_is_seen(library: Library, folder: Path) -> None:
    library.sources.sync()
    (folder / "buoys.md").write_text("# Buoys\n\nThey are red.")  # nobody watches yet
    first = next(library.sources.watch(stop=threading.Event()))
    assert [report.changed for report in first] == [1]
    library.sources.remove("documents")
    with pytest.raises(NotFoundError, match="nothing to watch"):
        next(library.sources.watch(stop=threading.Event()))


def test_a_watch_waits_for_a_folder_that_goes_away(library: Library, folder: Path) -> None:
    stop = threading.Event()
    library.sources.sync()
    away = folder.with_name("away")

    def move() -> None:
        folder.rename(away)
        stop.wait(2.5)
        (away / "buoys.md").write_text("# Buoys\n\nThey are red.")
        away.rename(folder)

    mover = threading.Timer(0.5, move)
    mover.start()
    for reports in library.sources.watch(stop=stop):
        if any(report.files.changed for report in reports):
            stop.set()
    mover.join()
    assert library.search.hits("buoys").hits[0].document.source == "documents/buoys.md"


@pytest.mark.parametrize("again", ["add", "add a file", "add below", "later", "source", "links"])
def test_what_is_added_again_without_a_shelf_stays_on_its_shelf(tmp_path: Path, again: str) -> None:
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\nThe pier has a lamp.\n")
    (folder / "old" / "b.md").write_text("# B\n\nThe pier had a lamp.\n")
    (tmp_path / "loose.md").write_text("# C\n\nThe lamp is out.\n")
    pages = tmp_path / "pages.links"
    pages.write_text("")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder, tmp_path / "loose.md", shelf="papers")
        library.sources.add(str(pages), shelf="papers")
        followed = library.sources.list()
        if again == "add":
            (folder / "new.md").write_text("# New\n\nA new lamp.\n")
            library.documents.add(folder)
        elif again == "add a file":
            (tmp_path / "loose.md").write_text("# C\n\nThe lamp is lit.\n")
            library.documents.add(tmp_path / "loose.md", folder / "a.md")
        elif again == "add below":
            library.documents.add(folder / "old")
        elif again == "later":
            library.documents.add_later(folder)
            library.jobs.work(idle_seconds=0)
        elif again == "source":
            library.sources.add(str(folder))
        else:
            library.sources.add(str(pages))
        found = [(one.name, one.location, one.shelf) for one in library.sources.list()]
        assert found == [(one.name, one.location, one.shelf) for one in followed]
        assert {one.shelves for one in library.documents.list()} == {("papers",)}
        library.documents.add(folder, shelf="library")  # by its name it is put there, too
        assert ("library", "papers") in {one.shelves for one in library.documents.list()}


def test_one_pass_syncs_every_kind(library: Library, drive: Drive, tmp_path: Path) -> None:
    drive.write("Papers/a.md", "# Lamps\n\nThe lamp on the pier is lit at dusk.\n")
    library.sources.add("webdav:Papers")
    tides = tmp_path / "tides"
    tides.mkdir()
    (tides / "t.md").write_text("# Tides\n\nThe spring tide rises four metres.\n")
    library.personas.create("maria", display_name="Maria", folders=[str(tides)])
    runtime = library.documents._runtime
    seen: list[Progress] = []
    reports = sync_sources((), Options(), runtime, seen.append)
    assert [(one.source, one.changed) for one in reports] == [
        ("Papers", 1), ("documents", 0), ("persona/maria", 1),
    ]  # fmt: skip
    assert {progress.current for progress in seen} >= {"Papers/a.md", "tides/t.md"}
    assert [one.name for one in all_sources(runtime) if not one.synced] == []


def test_a_folder_on_two_shelves_that_are_not_the_default_one_needs_a_name(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    with Library.open(tmp_path / "home") as library:
        for shelf in ("one", "two"):
            library.sources.add(str(tmp_path / "papers"), shelf=shelf)
        with pytest.raises(UsageError, match="several shelves"):
            library.sources.add(str(tmp_path / "papers"))
