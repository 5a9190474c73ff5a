"""A folder of a cloud drive, over real servers and a proxy that breaks things."""

import hashlib
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import pytest
from tests.clouds import HASTE, OLD, Drive

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.connectors.listing_cache import ListingCache
from chapterhouse.connectors.rclone import RcloneRemote, source_files
from chapterhouse.connectors.rclone_listing import Entry, Place
from chapterhouse.errors import EngineError, NotFoundError, RejectedError

LIMIT = 100_000


@pytest.fixture(params=["drive", "bucket"])
def either(request: pytest.FixtureRequest) -> Drive:
    found: Drive = request.getfixturevalue(request.param)
    return found


def remote_of(drive: Drive, cache: Path, transfers: int = 3) -> RcloneRemote:
    listings = ListingCache(cache / "cache", 300, lambda: 0)
    return RcloneRemote(drive.rclone, drive.place, "papers", listings, transfers, LIMIT)


def fetched(remote: RcloneRemote) -> dict[str, Content | RejectedError]:
    files = tuple(remote.files())
    return {
        file.source: got for file, got in zip(files, remote.contents(files, LIMIT), strict=True)
    }


def code(got: Content | RejectedError) -> str:
    assert isinstance(got, RejectedError)
    return got.code


def test_files_are_listed_with_size_time_and_hash(either: Drive, tmp_path: Path) -> None:
    either.write("b/two words [1] ü.md", "# Two\n")
    either.write("a.md", "# One\n")
    first, second = remote_of(either, tmp_path).files()
    assert (first.source, second.source) == ("papers/a.md", "papers/b/two words [1] ü.md")
    folder = f"{either.place.path}/" if either.place.path else ""
    assert second.location == f"rclone:{either.kind}:{folder}b/two words [1] ü.md"
    assert first.size == 6
    assert first.mtime_ns == OLD * 10**9
    assert first.digest == "md5:" + hashlib.md5(b"# One\n").hexdigest()
    assert first.problem is None


def test_contents_are_the_bytes_in_order(either: Drive, tmp_path: Path) -> None:
    texts = {f"papers/{number:02}.md": f"text {number}\n" * number for number in range(30)}
    for source, text in texts.items():
        either.write(source.partition("/")[2], text)
    got = fetched(remote_of(either, tmp_path))
    assert list(got) == sorted(texts)
    for source, text in texts.items():
        content = got[source]
        assert isinstance(content, Content)
        assert content.data == text.encode()
        assert content.sha256 == hashlib.sha256(text.encode()).hexdigest()
        assert (content.mtime_ns, content.modified) == (OLD * 10**9, OLD)
    assert either.proxy.most_at_once <= 3
    assert len(either.proxy.transfers) == 30
    assert list((tmp_path / "cache").glob("downloads-*")) == []


def test_files_that_arrive_wrong_are_fetched_again(either: Drive, tmp_path: Path) -> None:
    for fault in ("cut", "short", "alter", "drop", "429", "503"):
        either.write(f"{fault}.md", f"# {fault}: long enough to be cut in the middle.\n" * 50)
        either.proxy.faults[f"{fault}.md"] = iter([fault])
    got = fetched(remote_of(either, tmp_path))
    assert len(got) == 6
    for source, content in got.items():
        assert isinstance(content, Content), source
        assert content.data == (either.folder / source.removeprefix("papers/")).read_bytes()
    assert either.proxy.most_at_once <= 3


def test_files_that_never_arrive_whole_are_refused_and_the_others_come(
    either: Drive, tmp_path: Path
) -> None:
    for name in ("a", "short", "cut", "alter", "z"):
        either.write(f"{name}.md", f"# {name}\n" * 20)
        either.proxy.faults[f"/{name}.md"] = repeat(name if len(name) > 1 else "")
    got = fetched(remote_of(either, tmp_path))
    assert {name: type(one) is Content or code(one) for name, one in got.items()} == {
        "papers/a.md": True,
        "papers/alter.md": "changed-while-reading",
        "papers/cut.md": "truncated",
        "papers/short.md": "truncated",
        "papers/z.md": True,
    }


def test_a_transfer_that_stalls_is_given_up(drive: Drive, tmp_path: Path) -> None:
    drive.write("a.md", "# A\n" * 20)
    drive.write("b.md", "# B\n" * 20)
    drive.proxy.faults["a.md"] = iter(["stall"])
    hasty = replace(drive.rclone, patience=replace(HASTE, stall_seconds=1.0))
    got = fetched(replace(remote_of(drive, tmp_path), rclone=hasty))
    assert [type(one) for one in got.values()] == [Content, Content]


def test_when_the_service_stops_the_rest_is_not_tried(drive: Drive, tmp_path: Path) -> None:
    for number in range(60):
        drive.write(f"{number:02}.md", f"# {number}\n")
    drive.proxy.faults[".md"] = repeat("drop")
    remote = remote_of(drive, tmp_path)
    hasty = replace(drive.rclone, patience=replace(HASTE, total_seconds=2.0))
    got = fetched(replace(remote, rclone=hasty))
    assert {code(one) for one in got.values()} == {"cannot-open"}
    asked = {name.rpartition("/")[2] for name in drive.proxy.transfers}
    assert "59.md" not in asked
    last = got["papers/59.md"]
    assert isinstance(last, RejectedError)
    assert "not tried" in last.message


def test_a_file_that_changed_since_the_listing_is_not_taken_for_the_listed_one(
    either: Drive, tmp_path: Path
) -> None:
    either.write("a.md", "# One\n")
    either.write("b.md", "# Two\n")
    remote = remote_of(either, tmp_path)
    files = tuple(remote.files())
    either.write("a.md", "# One, and more of it\n")
    (either.folder / "b.md").unlink()
    first, second = remote.contents(files, LIMIT)
    assert code(first) == "changed-while-reading"
    assert code(second) == "vanished"


def test_what_cannot_be_read_is_not_fetched(drive: Drive, tmp_path: Path) -> None:
    for name in ("photo.JPG", "font.woff2", "setup.exe", "Minutes 1.2", "README", "x/.hidden.md"):
        drive.write(name, "x")
    drive.write("large.txt", "x" * (LIMIT + 1))
    got = fetched(remote_of(drive, tmp_path))
    assert {name: type(one) is Content or code(one) for name, one in got.items()} == {
        "papers/Minutes 1.2": True,
        "papers/README": True,
        "papers/font.woff2": "unsupported-format",
        "papers/large.txt": "too-large",
        "papers/photo.JPG": "unsupported-format",
        "papers/setup.exe": "unsupported-format",
    }
    assert sorted(drive.proxy.transfers) == ["/Minutes 1.2", "/README"]


def test_leaving_early_ends_the_downloads(drive: Drive, tmp_path: Path) -> None:
    for number in range(80):
        drive.write(f"{number:02}.md", f"# {number}\n")
    remote = remote_of(drive, tmp_path)
    files = tuple(remote.files())
    contents = remote.contents(files, LIMIT)
    assert isinstance(next(contents), Content)
    contents.close()
    assert len(drive.proxy.transfers) < 80
    assert list((tmp_path / "cache").glob("downloads-*")) == []


def test_a_listing_that_is_refused_for_a_while_is_tried_again(
    either: Drive, tmp_path: Path
) -> None:
    either.write("a.md", "# One\n")
    either.proxy.listing_faults = iter(["503"] * 2)
    assert [file.source for file in remote_of(either, tmp_path).files()] == ["papers/a.md"]


def test_a_listing_that_fails_says_why_and_no_secret(either: Drive, tmp_path: Path) -> None:
    either.proxy.listing_faults = repeat("503")
    with pytest.raises(EngineError) as raised:
        list(remote_of(either, tmp_path).files())
    assert either.kind in raised.value.message
    assert "SECRET" not in raised.value.message + raised.value.hint


def test_a_folder_that_is_not_there(drive: Drive, tmp_path: Path) -> None:
    listings = ListingCache(tmp_path / "cache", 300, lambda: 0)
    missing = Place("webdav", "not/there")
    remote = RcloneRemote(drive.rclone, missing, "papers", listings, 3, LIMIT)
    with pytest.raises(NotFoundError, match="no folder 'webdav:not/there'"):
        list(remote.files())


def test_a_document_of_unknown_size_counts_when_it_is_a_whole_package(tmp_path: Path) -> None:
    place = Place("gdrive", "Papers")
    entry = Entry("Notes.docx", -1, OLD * 10**9)
    (file,) = source_files(place, "papers", (entry,), LIMIT)
    assert file == SourceFile(
        root=Path(),
        parts=("Notes.docx",),
        location="rclone:gdrive:Papers/Notes.docx",
        source="papers/Notes.docx",
        size=-1,
        mtime_ns=OLD * 10**9,
    )


def test_a_young_file_is_looked_at_again_the_next_time(drive: Drive, tmp_path: Path) -> None:
    drive.write("a.md", "# One\n", moment=4_000_000_000)
    (content,) = fetched(remote_of(drive, tmp_path)).values()
    assert isinstance(content, Content)
    assert content.mtime_ns == 0
    assert content.modified == 4_000_000_000
