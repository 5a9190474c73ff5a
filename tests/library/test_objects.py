"""Libraries whose larger files are in a bucket, with either store."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clouds import BUCKET

from chapterhouse import Library
from chapterhouse.errors import (
    CorruptLibraryError,
    MissingExtraError,
    RefusedError,
    UnavailableError,
    UsageError,
)
from chapterhouse.ingest import remove
from chapterhouse.store.places import open_store
from chapterhouse.types import Document

LARGE = "The ferry crosses the sound at noon, and comes back at six. " * 3_000


@pytest.fixture
def papers(folder: Path) -> Path:
    (folder / "large.txt").write_text(LARGE)
    (folder / "copy of large.txt").write_text(LARGE)
    return folder


@pytest.fixture
def opened(papers: Path, each_store: None, in_bucket: Path) -> Iterator[Library]:
    with Library.open() as library:
        library.documents.add(papers)
        yield library


def objects(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def everything(library: Library) -> list[Document]:
    return list(library.documents.list())


def large(library: Library) -> list[Document]:
    return [one for one in everything(library) if one.size == len(LARGE)]


def test_larger_files_are_objects_and_nothing_is_left_of_what_is_removed(
    opened: Library, in_bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = objects(in_bucket)  # two files with the same bytes are one
    one, other = large(opened)
    assert path.name == one.sha256
    assert path.parts[-4:-2] == ("workspaces", path.parts[-3])
    assert path.parts[-3].startswith("default-")
    assert opened.documents.original(one.id).decode() == LARGE
    assert opened.faults() == ()
    opened.documents.remove(one.id)
    assert opened.documents.original(other.id).decode() == LARGE
    opened.documents.remove(other.id)
    assert objects(in_bucket) == []
    assert opened.faults() == ()
    opened._runtime.blobs.put(b"of somebody who was killed before the document was written")
    monkeypatch.setattr(remove, "GRACE_SECONDS", 0.0)
    opened.documents.remove(everything(opened)[0].id)
    assert objects(in_bucket) == []


def test_objects_that_are_damaged_or_gone_are_noticed(opened: Library, in_bucket: Path) -> None:
    (path,) = objects(in_bucket)
    path.write_bytes(LARGE.upper().encode())
    document = large(opened)[0]
    with pytest.raises(CorruptLibraryError, match=f"{path.name} no longer holds"):
        opened.documents.original(document.id)
    opened._runtime.blobs.delete(document.sha256)
    assert any("the bytes of its file are gone" in fault for fault in opened.faults())


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9", "cannot be reached"),
        ("AWS_SECRET_ACCESS_KEY", "wrong", "refuses s3://bucket"),
        ("CHAPTERHOUSE_OBJECTS", "s3://no-such-bucket/x", "There is no bucket"),
    ],
)
def test_who_cannot_write_objects_stores_no_document_and_hears_why(
    papers: Path, in_bucket: Path, monkeypatch: pytest.MonkeyPatch,
    variable: str, value: str, message: str,
) -> None:  # fmt: skip
    with monkeypatch.context() as patched:
        patched.setenv(variable, value)
        with Library.open() as library, pytest.raises(UnavailableError, match=message):
            library.documents.add(papers)
    with Library.open() as library:
        assert large(library) == []
        library.documents.add(papers)
        assert len(large(library)) == 2
        assert library.faults() == ()


def test_files_of_before_move_into_the_bucket_and_do_not_go_back_unnoticed(
    papers: Path, request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    with Library.open() as library:
        library.documents.add(papers)
        folder = library.folder
    assert len(objects(folder / "blobs")) == 1
    in_bucket: Path = request.getfixturevalue("in_bucket")
    with Library.open() as library:
        assert [path.name for path in objects(in_bucket)] == [large(library)[0].sha256]
        assert [path.name for path in objects(folder / "blobs")] == ["objects"]
        assert library.faults() == ()
        library.export(tmp_path / "whole.zip")
    mark = (folder / "blobs" / "objects").read_text()
    (folder / "blobs" / "objects").unlink()
    with pytest.raises(CorruptLibraryError, match="objects is missing"):
        Library.open()
    (folder / "blobs" / "objects").write_text(mark)
    Library.open().close()
    monkeypatch.delenv("CHAPTERHOUSE_OBJECTS")
    with pytest.raises(RefusedError, match="in object storage, and no address"):
        Library.open()
    Library.restore(tmp_path / "whole.zip", tmp_path / "files")
    with Library.open(tmp_path / "files") as library:
        assert library.faults() == ()
        assert library.documents.original(large(library)[0].id).decode() == LARGE


def test_an_archive_is_imported_into_the_bucket(
    opened: Library, in_bucket: Path, tmp_path: Path
) -> None:
    opened.export(tmp_path / "whole.zip")
    before = objects(in_bucket)
    Library.restore(tmp_path / "whole.zip", tmp_path / "other", "moved")
    with Library.open(tmp_path / "other", "moved", create=False) as library:
        assert library.faults() == ()
        assert len(large(library)) == 2
        (added,) = set(objects(in_bucket)) - set(before)
        assert "/moved-" in str(added)
        for document in everything(library):
            library.documents.remove(document.id)
    assert objects(in_bucket) == before  # those of another library
    assert opened.faults() == ()


def test_an_address_gives_a_large_file_and_no_small_one(opened: Library) -> None:
    link = opened.documents.original_link(large(opened)[0].id)
    with urllib.request.urlopen(link) as answer:
        assert answer.read().decode() == LARGE
    small = next(one for one in everything(opened) if one.size < 1_000)
    assert opened.documents.original_link(small.id) == ""


@pytest.mark.parametrize(
    "address",
    [
        "https://host/bucket", "s3://", f"s3://{BUCKET}?x=1", f"s3://key:secret@{BUCKET}/x",
        "bucket", "s3://Bucket/x",
    ],
)  # fmt: skip
def test_other_addresses_are_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("CHAPTERHOUSE_OBJECTS", address)
    with pytest.raises(UsageError, match="looks like s3://BUCKET/PREFIX"):
        Library.open()


def test_the_extra_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAPTERHOUSE_OBJECTS", f"s3://{BUCKET}/x")
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)
    with pytest.raises(MissingExtraError, match="'s3'"):
        open_store(tmp_path, "default")
