"""A folder of a cloud drive, over real servers and a proxy that breaks things."""

import hashlib
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from itertools import repeat
from pathlib import Path

import pytest
from tests.clouds import HASTE, OLD, Drive

from chapterhouse.connectors import rclone
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.connectors.rclone import Copies, source_files
from chapterhouse.connectors.rclone_listing import Place, list_place
from chapterhouse.connectors.rclone_program import Rclone
from chapterhouse.errors import EngineError, RejectedError

LIMIT = 100_000


@pytest.fixture(params=["drive", "bucket"])
def either(request: pytest.FixtureRequest) -> Drive:
    found: Drive = request.getfixturevalue(request.param)
    return found


def listed(drive: Drive) -> list[SourceFile]:
    entries = list_place(drive.rclone, drive.place, recursive=True)
    return list(source_files(drive.place, "papers", entries, LIMIT))


def copies_of(drive: Drive, folder: Path) -> Copies:
    return Copies(drive.rclone, drive.place, folder / "copies")


def fetched(
    drive: Drive, copies: Copies, files: Sequence[SourceFile] | None = None
) -> dict[str, Content | RejectedError]:
    files = files or [file for file in listed(drive) if not file.problem]
    got = {file.source: one for file, one in zip(files, copies.contents(files, LIMIT), strict=True)}
    assert not copies.folder.exists()
    return got


def code(got: Content | RejectedError) -> str:
    assert isinstance(got, RejectedError)
    return got.code


def test_files_are_listed_with_size_and_time(either: Drive) -> None:
    either.write("b/two words [1] ü.md", "# Two\n")
    either.write("a.md", "# One\n")
    first, second = listed(either)
    assert (first.source, second.source) == ("papers/a.md", "papers/b/two words [1] ü.md")
    folder = f"{either.place.path}/" if either.place.path else ""
    assert second.location == f"rclone:{either.kind}:{folder}b/two words [1] ü.md"
    assert first.size == 6
    assert first.mtime_ns == OLD * 10**9
    assert first.problem is None


def test_contents_are_the_bytes_in_order(either: Drive, tmp_path: Path) -> None:
    texts = {f"papers/{number:02}.md": f"text {number}\n" * number for number in range(30)}
    for source, text in texts.items():
        either.write(source.partition("/")[2], text)
    got = fetched(either, copies_of(either, tmp_path))
    assert list(got) == sorted(texts)
    for source, text in texts.items():
        content = got[source]
        assert isinstance(content, Content)
        assert content.data == text.encode()
        assert content.sha256 == hashlib.sha256(text.encode()).hexdigest()
        assert (content.mtime_ns, content.modified) == (OLD * 10**9, OLD)
    assert either.proxy.most_at_once <= 3
    assert len(either.proxy.transfers) == 30


def test_files_that_arrive_wrong_are_fetched_again(either: Drive, tmp_path: Path) -> None:
    for fault in ("cut", "short", "alter", "drop", "429", "503"):
        either.write(f"{fault}.md", f"# {fault}: long enough to be cut in the middle.\n" * 50)
        either.proxy.faults[f"{fault}.md"] = iter([fault])
    got = fetched(either, copies_of(either, tmp_path))
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
    got = fetched(either, copies_of(either, tmp_path))
    assert {name: type(one) is Content or code(one) for name, one in got.items()} == {
        "papers/a.md": True,
        "papers/alter.md": "changed-while-reading",
        "papers/cut.md": "truncated",
        # A bucket states a hash, and rclone compares that first.
        "papers/short.md": "changed-while-reading" if either.kind == "s3" else "truncated",
        "papers/z.md": True,
    }


def test_a_transfer_that_stalls_is_given_up(drive: Drive, tmp_path: Path) -> None:
    drive.write("a.md", "# A\n" * 20)
    drive.write("b.md", "# B\n" * 20)
    drive.proxy.faults["a.md"] = iter(["stall"])
    hasty = replace(drive.rclone, patience=replace(HASTE, stall_seconds=1.0))
    got = fetched(drive, replace(copies_of(drive, tmp_path), rclone=hasty))
    assert [type(one) for one in got.values()] == [Content, Content]


def test_when_the_service_stops_the_rest_is_not_tried(
    drive: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rclone, "_GROUP_FILES", 4)
    for number in range(6):
        drive.write(f"{number:02}.md", f"# {number}\n")
    drive.proxy.faults[".md"] = repeat("drop")
    got = fetched(drive, copies_of(drive, tmp_path))
    assert {code(one) for one in got.values()} == {"cannot-open"}
    asked = {name.rpartition("/")[2] for name in drive.proxy.transfers}
    assert "05.md" not in asked
    last = got["papers/05.md"]
    assert isinstance(last, RejectedError)
    assert "not tried" in last.message


def test_a_file_that_changed_since_the_listing_is_not_taken_for_the_listed_one(
    either: Drive, tmp_path: Path
) -> None:
    either.write("a.md", "# One\n")
    either.write("b.md", "# Two\n")
    files = listed(either)
    either.write("a.md", "# One, and more of it\n")
    (either.folder / "b.md").unlink()
    first, second = fetched(either, copies_of(either, tmp_path), files).values()
    assert code(first) == "changed-while-reading"
    assert code(second) == "vanished"


def test_what_cannot_be_read_is_not_fetched(drive: Drive, tmp_path: Path) -> None:
    for name in ("photo.JPG", "font.woff2", "setup.exe", "Minutes 1.2", "README", "x/.hidden.md"):
        drive.write(name, "x")
    drive.write("large.txt", "x" * (LIMIT + 1))
    found = {file.source: file.problem.code if file.problem else "" for file in listed(drive)}
    assert found == {
        "papers/Minutes 1.2": "",
        "papers/README": "",
        "papers/font.woff2": "unsupported-format",
        "papers/large.txt": "too-large",
        "papers/photo.JPG": "unsupported-format",
        "papers/setup.exe": "unsupported-format",
    }
    fetched(drive, copies_of(drive, tmp_path))
    assert sorted(drive.proxy.transfers) == ["/Minutes 1.2", "/README"]


def test_a_copy_that_a_killed_process_left_is_not_read(drive: Drive, tmp_path: Path) -> None:
    drive.write("a.md", "# New\n")
    drive.proxy.faults["a.md"] = repeat("drop")
    copies = copies_of(drive, tmp_path)
    copies.folder.mkdir()
    (copies.folder / "a.md").write_text("# Old\n")
    assert {code(one) for one in fetched(drive, copies).values()} == {"cannot-open"}


def test_leaving_early_ends_the_downloads(drive: Drive, tmp_path: Path) -> None:
    for number in range(80):
        drive.write(f"{number:02}.md", f"# {number}\n")
    copies = copies_of(drive, tmp_path)
    contents = copies.contents(listed(drive), LIMIT)
    assert isinstance(next(contents), Content)
    contents.close()
    assert len(drive.proxy.transfers) < 80
    assert not copies.folder.exists()


def test_a_listing_that_is_refused_for_a_while_is_tried_again(either: Drive) -> None:
    either.write("a.md", "# One\n")
    either.proxy.listing_faults = iter(["503"] * 2)
    assert [file.source for file in listed(either)] == ["papers/a.md"]


def test_a_listing_that_fails_says_why_and_no_secret(either: Drive) -> None:
    either.proxy.listing_faults = repeat("503")
    with pytest.raises(EngineError) as raised:
        listed(either)
    assert either.kind in raised.value.message
    assert "SECRET" not in raised.value.message + raised.value.hint


@pytest.mark.parametrize(("share", "expected"), [(1.0, ""), (0.5, "truncated"), (0, "truncated")])
def test_an_exported_document_has_no_size_and_must_be_a_whole_package(
    tmp_path: Path, share: float, expected: str
) -> None:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("word/document.xml", "<w:document/>" * 50)
    data = stream.getvalue()[: int(len(stream.getvalue()) * share)]
    (tmp_path / "data").write_bytes(data)
    program = tmp_path / "rclone"
    program.write_text(
        f"#!{sys.executable}\nimport shutil, sys\n"
        "target = next(one for one in sys.argv if one.endswith('copies'))\n"
        f"shutil.copy({str(tmp_path / 'data')!r}, target + '/Notes.docx')\n"
    )
    program.chmod(0o755)
    place = Place("gdrive", "Papers")
    file = SourceFile(Path(), ("Notes.docx",), place.location("Notes.docx"), "x/Notes.docx", -1)
    (got,) = Copies(Rclone(program, HASTE), place, tmp_path / "copies").contents([file], LIMIT)
    if expected:
        assert code(got) == expected
    else:
        assert isinstance(got, Content)
        assert got.data == data


def test_odd_and_long_names_are_fetched(drive: Drive, tmp_path: Path) -> None:
    names = ["a\nb.md", "#c.md", " d .md", "e/f'\"[x]*.md", f"{'ä' * 120}.md"]
    for name in names:
        drive.write(name, f"# {name}\n")
    got = fetched(drive, copies_of(drive, tmp_path))
    texts = [one.data.decode() for one in got.values() if isinstance(one, Content)]
    assert sorted(texts) == sorted(f"# {name}\n" for name in names)


def test_a_young_file_is_looked_at_again_the_next_time(drive: Drive, tmp_path: Path) -> None:
    drive.write("a.md", "# One\n", moment=4_000_000_000)
    (content,) = fetched(drive, copies_of(drive, tmp_path)).values()
    assert isinstance(content, Content)
    assert content.mtime_ns == 0
    assert content.modified == 4_000_000_000
