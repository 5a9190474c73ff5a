"""What is in an archive comes out whole, and nothing comes out of a hostile one."""

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.archives import clean_path, limit_members, read_archive
from chapterhouse.reading.dispatch import in_parts, read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.types import ExtractedPage, Extraction, Member

FILES = {"annex/a.txt": b"The annex.", "annex/b.bin": bytes(range(256)), "c.md": b"# C\n\nText."}
MAY = 1_777_888_800  # 4 May 2026, 10:00 UTC
NOISE = random.Random(1).randbytes(500)  # which cannot be made smaller
SMALL = replace(Limits(), archive_bytes=2_000_000, archive_entry_bytes=500_000, archive_files=50)


def zipped(files: Mapping[str, bytes] = FILES) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 5, 4, 10, 0, 0)), content)
    return target.getvalue()


def tarred(files: Mapping[str, bytes] = FILES) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), MAY
            archive.addfile(entry, io.BytesIO(content))
    return target.getvalue()


PACKED = {
    "a.zip": zipped(),
    "a.tar": tarred(),
    "a.tar.gz": gzip.compress(tarred()),
    "a.tgz": gzip.compress(tarred()),
    "a.tar.bz2": bz2.compress(tarred()),
    "a.txz": lzma.compress(tarred()),
    "download": zipped(),  # no extension says what it is
}


@pytest.mark.parametrize("name", PACKED)
def test_every_file_comes_out_as_it_went_in(name: str, pool: ReadingPool) -> None:
    found = pool.read(PACKED[name], name)
    assert {one.path: one.data for one in found.members} == FILES
    assert {one.modified for one in found.members} == {MAY}
    assert not found.pages
    assert not found.notices


@pytest.mark.parametrize(
    ("name", "data", "inside"),
    [
        ("note.txt.gz", gzip.compress(b"At dusk."), "note.txt"),
        ("note.txt.bz2", bz2.compress(b"At dusk."), "note.txt"),
        ("NOTE.TXT.XZ", lzma.compress(b"At dusk."), "NOTE.TXT"),
        (".gz", gzip.compress(b"At dusk."), ".gz"),
        ("two.gz", gzip.compress(b"At ") + gzip.compress(b"dusk."), "two"),
    ],
    ids=["gz", "bz2", "xz", "no name", "two members"],
)
def test_what_is_compressed_alone_keeps_its_name(name: str, data: bytes, inside: str) -> None:
    (member,) = read(data, name, Limits()).members
    assert (member.path, member.data) == (inside, b"At dusk.")


@given(st.text(max_size=40))
def test_no_path_leads_out_of_an_archive(path: str) -> None:
    parts = clean_path(path).split("/")
    assert all(part and part not in {".", ".."} and "\\" not in part for part in parts)
    for given_path, cleaned in (
        ("a/b.txt", "a/b.txt"),
        ("/etc/passwd", "etc/passwd"),
        ("../../b.txt", "b.txt"),
        ("a/./b/../c.txt", "a/b/c.txt"),
        ("C:\\Users\\a.txt", "Users/a.txt"),
        ("..", "file"),
        ("", "file"),
    ):
        assert clean_path(given_path) == cleaned


def test_files_of_one_name_are_told_apart() -> None:
    same = [Member("a/b.txt", b"1"), Member("a//b.txt", b"2"), Member("a/README", b"3")]
    found = list(limit_members([*same, *same[2:]], Limits()))
    assert [one.path for one in found] == ["a/b.txt", "a/b (2).txt", "a/README", "a/README (2)"]


# --- what is hostile or broken -------------------------------------------------------------------


def sparse_tar(size: int) -> bytes:
    """A tar that claims a file larger than it is."""
    entry = tarfile.TarInfo("huge.txt")
    entry.size = size
    return entry.tobuf(tarfile.GNU_FORMAT) + bytes(1024)


def with_flag(data: bytes, flag: int) -> bytes:
    """A ZIP whose entries all carry a flag."""
    changed = bytearray(data)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            (flags,) = struct.unpack_from("<H", data, at + place)
            struct.pack_into("<H", changed, at + place, flags | flag)
            at = data.find(mark, at + 4)
    return bytes(changed)


BOMBS = {
    "a.gz": (gzip.compress(bytes(3_000_000)), "archive-too-large"),
    "a.bz2": (bz2.compress(bytes(3_000_000)), "archive-too-large"),
    "a.xz": (lzma.compress(bytes(3_000_000)), "archive-too-large"),
    "a.zip": (zipped({f"{n}.txt": bytes(450_000) for n in range(5)}), "archive-too-large"),
    "a.tar": (tarred({f"{n}.txt": bytes(450_000) for n in range(5)}), "archive-too-large"),
    "many.zip": (zipped({f"{n}.txt": b"x" for n in range(51)}), "archive-too-many-entries"),
    "many.tar": (tarred({f"{n}.txt": b"x" for n in range(51)}), "archive-too-many-entries"),
    "cut.gz": (gzip.compress(bytes(range(256)) * 50)[:-20], "archive-damaged"),
    "cut.xz": (lzma.compress(bytes(range(256)) * 50)[:-20], "archive-damaged"),
    "cut.zip": (zipped()[:-30], "archive-damaged"),
    "sparse.tar": (sparse_tar(8 * 2**30), "archive-damaged"),
    "cut.tar.gz": (gzip.compress(tarred()[:300]), "archive-damaged"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_would_unpack_to_too_much_is_refused_whole(name: str) -> None:
    data, code = BOMBS[name]
    with pytest.raises(RejectedError) as caught:
        read(data, name, SMALL)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("data", "format_", "code"),
    [
        (zipped({"large.txt": bytes(600_000)}), "zip", "too-large"),
        (tarred({"large.txt": bytes(600_000)}), "tar", "too-large"),
        (gzip.compress(bytes(600_000)), "gz", "too-large"),
        (with_flag(zipped({"secret.txt": b"hidden"}), 1), "zip", "encrypted"),
        (zipped({"a.txt": NOISE}).replace(NOISE[:9], b"Another! "), "zip", "archive-damaged"),
    ],
    ids=["zip", "tar", "gz", "encrypted", "damaged"],
)
def test_a_file_that_cannot_be_had_says_why(data: bytes, format_: str, code: str) -> None:
    (member,) = read_archive(data, "a", format_, SMALL).members
    assert member.data == b""
    assert member.problem is not None
    assert member.problem.code == code


def test_links_in_an_archive_are_not_followed() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for kind, name in ((tarfile.SYMTYPE, "soft"), (tarfile.LNKTYPE, "hard")):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
        archive.addfile(tarfile.TarInfo("folder/"))
    found = read(target.getvalue(), "a.tar", Limits()).members
    assert [(one.path, one.problem and one.problem.code) for one in found[:2]] == [
        ("soft", "symbolic-link"),
        ("hard", "symbolic-link"),
    ]
    assert not any(one.data for one in found)


@pytest.mark.parametrize("name", ["app.jar", "tool.whl", "letter.docx"])
def test_a_zip_that_says_it_is_something_else_is_not_unpacked(name: str) -> None:
    with pytest.raises(RejectedError) as caught:
        read(zipped(), name, Limits())
    assert caught.value.code == "unsupported-format"


@given(st.binary(max_size=300), st.sampled_from(["zip", "tar", "gz", "bz2", "xz"]))
def test_any_bytes_end_in_files_or_a_reason(data: bytes, format_: str) -> None:
    with suppress(RejectedError):
        found = read_archive(data, f"a.{format_}", format_, SMALL)
        assert all(one.path for one in found.members)


def test_names_of_old_programs_are_read_in_the_code_page_of_dos() -> None:
    data = zipped({"caf\u00e9.txt": b"Coffee."}).replace("caf\u00e9".encode(), b"caf\x82 ")
    (member,) = read_archive(with_flag(data, 0), "a.zip", "zip", Limits()).members
    assert member.path == "caf\u00e9 .txt"


PAGES = st.lists(st.text(alphabet="ab \n", max_size=40), min_size=1, max_size=6)


def extracted(*texts: str, markdown: bool = False) -> Extraction:
    pages = tuple(ExtractedPage(text, number) for number, text in enumerate(texts, 1))
    return Extraction(pages, "txt", "test", markdown=markdown)


@given(PAGES, st.integers(1, 30))
def test_the_parts_together_are_the_whole(texts: list[str], most: int) -> None:
    found = in_parts(extracted(*texts), "a.txt", Limits(text_characters=most))
    kept = [page.text for page in found.pages]
    further = [member.data.decode().replace("\n\n", "") for member in found.members]
    whole = "".join(texts)
    assert "".join([*kept, *further]).replace("\n", "") == whole.replace("\n", "")
    assert sum(map(len, kept)) <= most or len(texts) == len(kept) == 1
    assert bool(found.members) == (len(whole) > most)


def test_pages_stay_whole_and_keep_their_numbers() -> None:
    found = in_parts(extracted("One.", "Two.", "Three."), "a.b.pdf", Limits(text_characters=9))
    assert [(page.text, page.number) for page in found.pages] == [("One.", 1), ("Two.", 2)]
    assert [(one.path, one.data) for one in found.members] == [("a.b part 2 of 2.txt", b"Three.")]


def test_a_cut_falls_behind_a_line() -> None:
    found = in_parts(extracted("aaaa\nbbbb\ncccc", markdown=True), "a", Limits(text_characters=12))
    assert found.pages[0].text == "aaaa\nbbbb\n"
    assert [(one.path, one.data) for one in found.members] == [("a part 2 of 2.md", b"cccc")]
