"""Which sources a library has."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors.fetch import FetchResult
from chapterhouse.connectors.fetched import fetch_pages, pages_folder
from chapterhouse.errors import NotFoundError, RejectedError, UsageError
from chapterhouse.ingest.sources import (
    find_source,
    free_name,
    look_from_outside,
    mark_synced,
    remember_folders,
    stale_folders,
)
from chapterhouse.types import DEFAULT_SHELF, Source, SourceKind
from chapterhouse.types.analytics import day_of


def test_a_folder_that_was_added_is_a_source_and_one_below_on_another_shelf(home: Any) -> None:
    home.write("sub/a.md", "Text of a note.")
    home.add()
    below = home.folder / "sub"
    remember_folders([home.folder, below / "a.md", below], DEFAULT_SHELF, home.store, 7)
    (source,) = home.store.sources().sources()
    assert (source.name, source.location, source.shelf) == ("docs", str(home.folder), DEFAULT_SHELF)
    assert (source.synced, source.kind) == (7, SourceKind.FOLDER)
    assert source.state == look_from_outside([home.folder])
    assert free_name("docs", home.store) == "docs-2"
    remember_folders([below], "other", home.store, 7)
    (_, other) = home.store.sources().sources()
    assert (other.name, other.location, other.shelf) == ("docs/sub", str(below), "other")


def test_adding_again_leaves_what_its_owner_set(home: Any) -> None:
    home.add()
    source = Source("docs", SourceKind.FOLDER, str(home.folder), exclude=("*.log",))
    home.store.sources().save(source)
    remember_folders([home.folder], DEFAULT_SHELF, home.store, 9)
    (found,) = home.store.sources().sources()
    assert (found.exclude, found.synced) == (("*.log",), 9)


def test_a_failure_leaves_the_time_of_the_last_success(home: Any) -> None:
    source = Source("docs", SourceKind.FOLDER, str(home.folder))
    mark_synced(source, [home.folder], home.store, 5)
    (good,) = home.store.sources().sources()
    mark_synced(good, [home.folder], home.store, 9, "It is away.")
    (bad,) = home.store.sources().sources()
    assert (bad.synced, bad.problem, bad.state) == (5, "It is away.", good.state)
    mark_synced(bad, [home.folder], home.store, 11)
    assert home.store.sources().sources()[0].problem == ""


def test_a_source_is_found_by_name_path_and_beginning(tmp_path: Path) -> None:
    one = Source("minutes", SourceKind.FOLDER, str(tmp_path / "m"))
    two = Source("manuals", SourceKind.FOLDER, str(tmp_path / "n"))
    maria = Source("persona/maria", SourceKind.PERSONA, str(tmp_path / "p"))
    sources = (one, two, maria)
    assert find_source("minutes", sources) is one
    assert find_source("man", sources) is two
    assert find_source("maria", sources) is maria
    assert find_source(str(tmp_path / "n"), sources) is two
    with pytest.raises(UsageError, match="fits 2"):
        find_source("m", sources)
    with pytest.raises(NotFoundError) as caught:
        find_source("other", sources)
    assert caught.value.hint == "There are: minutes, manuals, persona/maria"
    with pytest.raises(UsageError, match="empty"):
        find_source(" ", sources)


def test_folders_that_changed_are_named_for_those_who_read_them(home: Any) -> None:
    home.add()
    remember_folders([home.folder], "minutes", home.store, 86_400)
    sources = home.store.sources().sources()
    assert list(stale_folders(sources, None)) == []
    os.utime(home.folder, ns=(0, 1))
    (stale,) = stale_folders(sources, None)
    assert (stale.name, day_of(stale.synced)) == ("docs", "1970-01-02")
    assert list(stale_folders(sources, ("minutes",))) == [stale]
    assert list(stale_folders(sources, ("library",))) == []


DAY = "2026-11-28"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "pages.links"
    path.write_text("https://a.example/one\nhttps://a.example/two\n")
    return Source("pages", SourceKind.LINKS, str(path))


def answering(*failing: str) -> Callable[..., FetchResult]:
    def fetch(url: str, *, etag: str, last_modified: str) -> FetchResult:
        if url in failing:
            raise RejectedError("http-error", "The server answered 503.")
        return FetchResult(url, url, f"<p>{url}</p>".encode(), "text/html", name=f"{url[-3:]}.html")

    return fetch


def run(source: Source, folder: Path, fetch: Any, *, delete: bool = True) -> str:
    return fetch_pages(source, folder, fetch, DAY, lambda _: None, delete=delete)


def pages_in(folder: Path) -> list[str]:
    """Return the last part of each page's address, sorted."""
    return sorted(path.read_text()[-7:-4] for path in folder.glob("*.html"))


def test_pages_become_files_and_go_with_their_lines(source: Source, tmp_path: Path) -> None:
    folder = pages_folder(tmp_path, source)
    assert run(source, folder, answering()) == ""
    assert pages_in(folder) == ["one", "two"]
    Path(source.location).write_text("https://a.example/two\n")
    run(source, folder, answering(), delete=False)
    assert pages_in(folder) == ["one", "two"]
    run(source, folder, answering())
    assert pages_in(folder) == ["two"]


def test_a_page_that_fails_is_named_and_the_others_come(source: Source, tmp_path: Path) -> None:
    folder = pages_folder(tmp_path, source)
    problem = run(source, folder, answering("https://a.example/one"))
    assert problem.startswith("1 of 2 pages could not be fetched. https://a.example/one:")
    assert pages_in(folder) == ["two"]
    Path(source.location).unlink()
    with pytest.raises(OSError, match=r"pages\.links"):
        run(source, folder, answering())
