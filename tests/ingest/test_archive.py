"""The file format: whole or refused, whatever was done to it."""

import io
import json
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import NewerLibraryError, NotFoundError, RefusedError, UsageError
from chapterhouse.ingest.archive import (
    DATABASE,
    FORMAT,
    ArchiveWriter,
    blocks_of,
    is_archive,
    is_plain,
    open_archive,
)
from chapterhouse.types import Manifest, Snapshot

MEMBERS: Mapping[str, bytes] = {
    DATABASE: b"SQLite format 3\x00" + b"page " * 3_000,
    f"blobs/{'0' * 64}": b"",
    "personas/maria/rag/ebbe und flut.md": b"# Gezeiten\n",
}


def written(
    members: Mapping[str, bytes] = MEMBERS,
    change: Callable[[Manifest], Manifest] = lambda manifest: manifest,
) -> bytes:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for name, data in members.items():
        writer.add(name, blocks_of(io.BytesIO(data)), modified_ns=1_600_000_000_123_456_789)
    manifest = Manifest(
        FORMAT, "0.1.0", 1_700_000_000, "default", Snapshot(7, 1, 2, 0), {}, tuple(writer.members)
    )
    writer.finish(change(manifest))
    return stream.getvalue()


# The name of a blob is the hash of its bytes.
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
WHOLE = {name.replace("0" * 64, EMPTY): data for name, data in MEMBERS.items()}
ARCHIVE = written(WHOLE)


def refusal(data: bytes, folder: Path) -> str:
    path = folder / "archive"
    path.write_bytes(data)
    with pytest.raises(RefusedError) as refused, open_archive(path):
        pass
    return refused.value.message


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archives")


def test_what_was_written_is_read(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(ARCHIVE)
    with open_archive(tmp_path / "archive") as archive:
        assert archive.manifest.snapshot == Snapshot(7, 1, 2, 0)
        members = {member.name: member for member in archive.manifest.members}
        assert members.keys() == {"chapterhouse-archive", *WHOLE}
        for number, (name, data) in enumerate(WHOLE.items()):
            target = tmp_path / str(number)
            archive.extract(members[name], target)
            assert target.read_bytes() == archive.read(members[name]) == data
            assert target.stat().st_mtime_ns == 1_600_000_000_123_456_789
            assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_other_programs_unpack_it() -> None:
    with zipfile.ZipFile(io.BytesIO(ARCHIVE)) as file:
        assert file.testzip() is None
        assert file.read(DATABASE) == WHOLE[DATABASE]
        assert file.getinfo(DATABASE).compress_size < len(WHOLE[DATABASE]) / 10


def test_the_same_gives_the_same_bytes() -> None:
    assert written(WHOLE) == ARCHIVE


@given(place=st.integers(0, len(ARCHIVE) - 1), other=st.integers(1, 255))
def test_one_byte_that_differs_is_refused(folder: Path, place: int, other: int) -> None:
    data = bytearray(ARCHIVE)
    data[place] ^= other
    assert "checksum" in refusal(bytes(data), folder)


@given(length=st.integers(0, len(ARCHIVE) - 1))
def test_a_beginning_is_refused(folder: Path, length: int) -> None:
    assert "checksum" in refusal(ARCHIVE[:length], folder)


def test_every_byte_of_the_end_counts(folder: Path) -> None:
    for place in range(1, 200):
        data = bytearray(ARCHIVE)
        data[-place] ^= 1
        refusal(bytes(data), folder)
        refusal(ARCHIVE[:-place], folder)
        refusal(ARCHIVE + ARCHIVE[-place:], folder)


def test_only_a_file_that_is_there_is_opened(tmp_path: Path) -> None:
    for path, error in ((tmp_path, UsageError), (tmp_path / "none", NotFoundError)):
        with pytest.raises(error), open_archive(path):
            pass


def test_it_is_known_by_its_beginning() -> None:
    assert is_archive(ARCHIVE[:100])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("a", "b")
    assert not is_archive(stream.getvalue())
    assert not is_archive(b"")


# --- archives with the right checksum that nobody of us wrote ---


@pytest.mark.parametrize(
    "name",
    [
        "../escaped",
        "/etc/passwd",
        "personas/../../escaped",
        "personas//a",
        "personas/./a",
        "personas",
        "personas/",
        "personas/a\nb",
        "personas/a\x1bb",
        f"personas/{'long' * 400}",
        "blobs/abc",
        f"blobs/{EMPTY.upper()}",
        "index/lexical",
        "workspaces/default/library.db",
        "library.db-wal",
        "settings/other.toml",
        "",
    ],
)
def test_a_name_that_we_do_not_write_is_refused(tmp_path: Path, name: str) -> None:
    assert not is_plain(name)
    assert "is no archive as" in refusal(written({**WHOLE, name: b"x"}), tmp_path)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/"), min_size=1))
def test_any_other_name_of_a_file_is_plain(name: str) -> None:
    assert is_plain(f"personas/a/{name}") == (name not in {".", ".."})


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({DATABASE: b"x", f"blobs/{'1' * 64}": b"x"}, "not named after its bytes"),
        ({DATABASE: b"x", "personas/a": b"x", "personas/a/b": b"x"}, "of the name 'personas/a'"),
        ({"questions.jsonl": b"x"}, "no database"),
    ],
)
def test_members_that_contradict_each_other_are_refused(
    tmp_path: Path, members: Mapping[str, bytes], reason: str
) -> None:
    assert reason in refusal(written(members), tmp_path)


def forged(edit: Callable[[dict[str, object]], object]) -> bytes:
    """Return an archive whose manifest is another one, with the right checksum."""
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for name, data in WHOLE.items():
        writer.add(name, [data])
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(ARCHIVE)).read("manifest.json"))
    edit(manifest)

    class Forged:
        def dump_json(self, *_: object, **__: object) -> bytes:
            return json.dumps(manifest).encode()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chapterhouse.ingest.archive._adapter", Forged)
        writer.finish(Manifest(FORMAT, "", 0, "", Snapshot(7, 0, 0, 0), {}, ()))
    return stream.getvalue()


def member(manifest: dict[str, object], **fields: object) -> None:
    members = manifest["members"]
    assert isinstance(members, list)
    members[1].update(fields)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda value: value.pop("snapshot"), "manifest cannot be read"),
        (lambda value: value.update(members=[]), "names other members"),
        (lambda value: value["members"].append(value["members"][1]), "names other members"),
        (lambda value: member(value, size=2**40), "states other sizes"),
        (lambda value: member(value, size=3), "states other sizes"),
        (lambda value: member(value, modified_ns=2**70), "times that no file has"),
        (lambda value: value.update(folders={"index": "/"}), "other folders"),
    ],
)
def test_a_manifest_that_lies_is_refused(
    tmp_path: Path, edit: Callable[[dict[str, object]], object], reason: str
) -> None:
    assert reason in refusal(forged(edit), tmp_path)


def test_bytes_that_are_not_those_of_the_manifest_are_refused(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(forged(lambda value: member(value, sha256="0" * 64)))
    with open_archive(tmp_path / "archive") as archive:
        with pytest.raises(RefusedError, match="not what its manifest says"):
            archive.extract(archive.manifest.members[1], tmp_path / "a")
        with pytest.raises(RefusedError, match="not what its manifest says"):
            archive.read(archive.manifest.members[1])


def test_a_newer_format_is_refused_as_newer(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(forged(lambda value: value.update(format=FORMAT + 1)))
    with (
        pytest.raises(NewerLibraryError, match="knows formats up to"),
        open_archive(tmp_path / "archive"),
    ):
        pass


def rezipped(change: Callable[[zipfile.ZipFile], object]) -> bytes:
    """Return members zipped by hand, with the right checksum."""
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    with zipfile.ZipFile(io.BytesIO(ARCHIVE)) as source:
        change(writer._zip)
        for name in WHOLE:
            writer.add(name, [source.read(name)])
    writer.finish(Manifest(FORMAT, "", 0, "", Snapshot(7, 0, 0, 0), {}, tuple(writer.members)))
    return stream.getvalue()


def add_link(file: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("personas/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    file.writestr(info, "/etc/passwd")


def add_compressed_otherwise(file: zipfile.ZipFile) -> None:
    file.writestr(zipfile.ZipInfo("personas/a"), "a", zipfile.ZIP_BZIP2)


def add_twice(file: zipfile.ZipFile) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr("chapterhouse-archive", "again")


def overlap(file: zipfile.ZipFile) -> None:
    file.writestr("personas/a", "a")
    file.filelist[-1].header_offset = 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (add_link, "no file"),
        (add_compressed_otherwise, "compressed in another way"),
        (add_twice, "repeated"),
        (overlap, "overlap"),
        (lambda file: file.writestr("personas/unlisted", "a"), "names other members"),
    ],
)
def test_entries_that_we_do_not_write_are_refused(
    tmp_path: Path, change: Callable[[zipfile.ZipFile], object], reason: str
) -> None:
    assert reason in refusal(rezipped(change), tmp_path)
