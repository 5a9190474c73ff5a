"""What lists of pages have brought: kept, brought up to date, forgotten."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors import fetched
from chapterhouse.connectors.fetch import Fetcher, FetchResult
from chapterhouse.connectors.fetched import (
    INDEX,
    Fetch,
    FetchReport,
    PageRecord,
    forget,
    remembered,
    sync_pages,
)
from chapterhouse.connectors.links import parse_links
from chapterhouse.errors import RefusedError, UsageError

MONDAY, TUESDAY = "2026-01-05", "2026-01-06"


class Pages:
    """What a server on loopback has: bytes by path; their hash is their ETag."""

    def __init__(self) -> None:
        self.of: dict[str, bytes] = {}
        self.kind = "text/html; charset=utf-8"
        self.answered: list[tuple[str, int]] = []


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Pages, int]]:
    pages = Pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.of.get(self.path)
            etag = f'"{hash(body)}"'
            status = 404 if body is None else 200
            if body is not None and self.headers["If-None-Match"] == etag:
                status = 304
            pages.answered.append((self.path, status))
            self.send_response(status)
            self.send_header("Content-Type", pages.kind)
            self.send_header("ETag", etag)
            self.end_headers()
            if status == 200 and body is not None:
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Say nothing."""

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=served.serve_forever, args=(0.02,), daemon=True).start()
    yield pages, served.server_port
    served.shutdown()
    served.server_close()


class House:
    """A list, the folder of what it brought, and the server that it names."""

    def __init__(self, pages: Pages, port: int, folder: Path) -> None:
        self.pages, self.folder = pages, folder
        self.site = f"http://site.example:{port}"
        fetcher = Fetcher(resolve=lambda *_: ["127.0.0.1"], permits=lambda _: True)
        self.fetch: Fetch = fetcher.fetch

    def bring(self, *paths: str, today: str = MONDAY) -> FetchReport:
        links = parse_links("\n".join(f"{self.site}{path}" for path in paths)).links
        self.pages.answered.clear()
        return sync_pages(links, self.folder, self.fetch, today)

    def page(self, path: str) -> PageRecord:
        return {page.url: page for page in remembered(self.folder)}[self.site + path]

    def content(self, path: str) -> bytes:
        return (self.folder / self.page(path).name).read_bytes()

    def snapshot(self) -> dict[str, tuple[int, bytes]]:
        return {
            path.name: (path.stat().st_mtime_ns, path.read_bytes())
            for path in sorted(self.folder.iterdir())
        }


@pytest.fixture
def house(server: tuple[Pages, int], tmp_path: Path) -> House:
    pages, port = server
    pages.of = {"/a": b"<p>a</p>", "/b": b"<p>b</p>"}
    pages.kind = "text/html; charset=utf-8"
    return House(pages, port, tmp_path / "RAW-DOCS" / ".fetched")


def statuses(report: FetchReport) -> list[str]:
    return [outcome.status for outcome in report.outcomes]


def test_pages_are_fetched_and_kept_with_what_is_known_of_them(house: House) -> None:
    report = house.bring("/a | The a", "/b")
    assert statuses(report) == ["fetched", "fetched"]
    assert report.orphaned == ()
    assert house.content("/a") == b"<p>a</p>"
    page = house.page("/a")
    assert report.outcomes[0].page == page
    assert (page.title, page.fetched, page.content_type) == ("The a", MONDAY, "text/html")
    assert (page.final_url, page.charset) == (f"{house.site}/a", "utf-8")
    assert page.name.startswith("site-example-")
    assert page.name.endswith(".html")
    assert sorted(house.snapshot()) == sorted([INDEX, page.name, house.page("/b").name])


def test_a_second_time_changes_nothing(house: House) -> None:
    house.bring("/a", "/b")
    before = house.snapshot()
    report = house.bring("/a", "/b", today=TUESDAY)
    assert statuses(report) == ["unchanged", "unchanged"]
    assert house.pages.answered == [("/a", 304), ("/b", 304)]
    assert house.snapshot() == before


def test_a_page_that_changed_is_fetched_again(house: House) -> None:
    house.bring("/a", "/b")
    house.pages.of["/a"] = b"<p>new</p>"
    report = house.bring("/a", "/b", today=TUESDAY)
    assert statuses(report) == ["fetched", "unchanged"]
    assert house.content("/a") == b"<p>new</p>"
    assert house.page("/a").fetched == TUESDAY
    assert house.page("/b").fetched == MONDAY


def test_a_page_that_cannot_be_fetched_again_is_kept(house: House) -> None:
    house.bring("/a")
    del house.pages.of["/a"]
    before = house.snapshot()
    (outcome,) = house.bring("/a", today=TUESDAY).outcomes
    assert (outcome.status, outcome.code) == ("failed", "url-status")
    assert outcome.hint
    assert outcome.message.endswith(f"404. The page of {MONDAY} is kept.")
    assert outcome.page == house.page("/a")
    assert house.snapshot() == before


def test_a_page_that_never_came_leaves_nothing(house: House) -> None:
    outcomes = house.bring("/none", "/a").outcomes
    assert [outcome.status for outcome in outcomes] == ["failed", "fetched"]
    assert outcomes[0].page is None
    assert "kept" not in outcomes[0].message
    assert [page.url for page in remembered(house.folder)] == [f"{house.site}/a"]


@pytest.mark.parametrize("damage", ["removed", "changed", "link", "folder"])
def test_a_file_that_is_not_what_came_is_fetched_again(
    house: House, tmp_path: Path, damage: str
) -> None:
    house.bring("/a")
    file = house.folder / house.page("/a").name
    file.unlink()
    own = tmp_path / "own"
    own.write_bytes(b"my own")
    if damage == "changed":
        file.write_bytes(b"changed")
    elif damage == "link":
        file.symlink_to(own)
    elif damage == "folder":
        file.mkdir()
        with pytest.raises(OSError, match="directory"):
            house.bring("/a", today=TUESDAY)
        return
    assert statuses(house.bring("/a", today=TUESDAY)) == ["fetched"]
    assert house.pages.answered == [("/a", 200)]
    assert not file.is_symlink()
    assert house.content("/a") == b"<p>a</p>"
    assert own.read_bytes() == b"my own"


def test_the_same_bytes_under_a_new_mark_are_unchanged(house: House) -> None:
    house.bring("/a")

    def same(url: str, *, etag: str, last_modified: str) -> FetchResult:
        return FetchResult(url, url, b"<p>a</p>", "text/html", etag='"new"', name="x.html")

    house.fetch = same
    report = house.bring("/a", today=TUESDAY)
    assert statuses(report) == ["unchanged"]
    assert (house.page("/a").etag, house.page("/a").fetched) == ('"new"', MONDAY)


def test_a_page_of_a_new_type_takes_the_place_of_the_old(house: House) -> None:
    house.bring("/a")
    old = house.page("/a").name
    house.pages.of["/a"], house.pages.kind = b"plain", "text/plain"
    house.bring("/a", today=TUESDAY)
    assert house.page("/a").name == old.replace(".html", ".txt")
    assert sorted(house.snapshot()) == [INDEX, house.page("/a").name]


def test_pages_without_a_link_are_kept_until_they_are_to_be_forgotten(house: House) -> None:
    house.bring("/a", "/b")
    page = house.page("/b")
    assert house.bring("/a").orphaned == (page,)
    assert (house.folder / page.name).is_file()
    assert forget(house.folder, [page.url, "https://never.example/"]) == (page,)
    assert not (house.folder / page.name).exists()
    assert house.bring("/a").orphaned == ()
    assert forget(house.folder, [page.url]) == ()


def test_two_pages_never_share_a_file(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def weak(url: str, extension: str, digits: int = 8) -> str:
        return f"page-{'0' * digits if digits == 8 else url[-1] * digits}.{extension}"

    monkeypatch.setattr(fetched, "file_name", weak)
    house.bring("/a", "/b")
    assert house.page("/a").name != house.page("/b").name
    house.bring("/b", "/a", today=TUESDAY)
    assert (house.content("/a"), house.content("/b")) == (b"<p>a</p>", b"<p>b</p>")


def test_what_was_fetched_before_an_interruption_is_kept(house: House) -> None:
    fetch = house.fetch

    def stops(url: str, *, etag: str, last_modified: str) -> FetchResult:
        if url.endswith("/b"):
            raise KeyboardInterrupt
        return fetch(url, etag=etag, last_modified=last_modified)

    house.fetch = stops
    with pytest.raises(KeyboardInterrupt):
        house.bring("/a", "/b")
    house.fetch = fetch
    assert statuses(house.bring("/a", "/b")) == ["unchanged", "fetched"]


@pytest.mark.parametrize("when", [1, 2])
def test_a_stop_between_page_and_index_costs_one_more_fetch(
    house: House, monkeypatch: pytest.MonkeyPatch, when: int
) -> None:
    house.bring("/a")
    house.pages.of["/a"] = b"<p>new</p>"
    left, replace = [when], Path.replace

    def stops(self: Path, target: Path) -> Path:
        left[0] -= 1
        if not left[0]:
            raise OSError("the power is gone")
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", stops)
        with pytest.raises(OSError, match="power"):
            house.bring("/a", today=TUESDAY)
    assert len(house.snapshot()) == 2
    assert statuses(house.bring("/a", today=TUESDAY)) == ["fetched"]
    assert house.content("/a") == b"<p>new</p>"
    assert statuses(house.bring("/a", today=TUESDAY)) == ["unchanged"]


def test_what_a_killed_process_left_is_cleared_once_it_is_old(house: House) -> None:
    house.bring("/a")
    for name, time in ((".unfinished-old", 1), (".unfinished-new", None)):
        (house.folder / name).write_bytes(b"x")
        if time:
            os.utime(house.folder / name, (time, time))
    house.bring("/a")
    assert [name for name in house.snapshot() if name.startswith(".")] == [".unfinished-new"]


def test_a_folder_that_is_a_link_is_refused(house: House, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    house.folder.parent.mkdir()
    house.folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError, match="is a link"):
        house.bring("/a")
    with pytest.raises(RefusedError, match="is a link"):
        forget(house.folder, [])
    assert list((tmp_path / "elsewhere").iterdir()) == []


def changed(**changes: object) -> Callable[[Any], object]:
    return lambda whole: next(iter(whole["pages"].values())).update(changes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed(name="../../outside.html"), "name"),
        (changed(name="/etc/passwd"), "name"),
        (changed(name=".hidden.html"), "name"),
        (changed(name=INDEX.replace(".", "/")), "name"),
        (changed(name="a.html\n"), "name"),
        (changed(sha256="0"), "sha256"),
        (changed(fetched="yesterday"), "fetched"),
        (changed(fetched=20260105), "fetched"),
        (changed(final_url="file:///etc/passwd"), "final_url"),
        (changed(final_url="HTTP://A.example"), "normal form"),
        (changed(more="x"), "more"),
        (lambda whole: whole["pages"].update({"https://a.example/": []}), ""),
        (lambda whole: whole.update(pages=[]), "pages"),
        (lambda whole: whole.update(version=2), "version"),
    ],
)
def test_an_index_that_we_did_not_write_is_not_trusted(
    house: House, change: Callable[[Any], object], said: str
) -> None:
    house.bring("/a")
    index = house.folder / INDEX
    whole = json.loads(index.read_text())
    change(whole)
    index.write_text(json.dumps(whole))
    before = house.snapshot()
    for use in (lambda: house.bring("/a"), lambda: forget(house.folder, [f"{house.site}/a"])):
        with pytest.raises(UsageError, match=INDEX) as caught:
            use()
        assert said in caught.value.message
        assert "Remove the file" in caught.value.hint
    assert house.snapshot() == before


@pytest.mark.parametrize("data", [b"", b"\xff", b"[1]", b"{", b"[" * 100_000])
def test_an_index_that_is_none_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / INDEX).write_bytes(data)
    with pytest.raises(UsageError, match="cannot be used"):
        remembered(tmp_path)
