"""A list of web pages as a source."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors.fetch import Fetched
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.pages import fetch_pages, pages_folder
from chapterhouse.types import Source, SourceKind

DAY = "2026-11-28"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "pages.links"
    path.write_text("https://a.example/one\nhttps://a.example/two\n")
    return Source("pages", SourceKind.LINKS, str(path))


def answering(*failing: str) -> Callable[..., Fetched]:
    def fetch(url: str, *, etag: str, last_modified: str) -> Fetched:
        if url in failing:
            raise RejectedError("http-error", "The server answered 503.")
        return Fetched(
            url=url,
            final_url=url,
            content=f"<p>{url}</p>".encode(),
            content_type="text/html",
            charset="utf-8",
            name=f"{url[-3:]}.html",
            etag="",
            last_modified="",
            not_modified=False,
        )

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


def test_a_list_that_is_gone_is_an_error(source: Source, tmp_path: Path) -> None:
    Path(source.location).unlink()
    with pytest.raises(OSError, match=r"pages\.links"):
        run(source, tmp_path / "pages", answering())
