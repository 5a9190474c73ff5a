"""What the tests of ``rclone.py`` do not reach: odd names, abandoned folders, unknown sizes."""

import fcntl
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from tests.clouds import HASTE, OLD, Drive

from chapterhouse.connectors.folder import SourceFile
from chapterhouse.connectors.rclone_downloads import Downloads, private_folder
from chapterhouse.connectors.rclone_listing import Place, list_place
from chapterhouse.connectors.rclone_program import Rclone
from chapterhouse.errors import RejectedError

LIMIT = 1_000_000


def listed(place: Place, name: str, size: int, digest: str = "") -> SourceFile:
    parts = tuple(name.split("/"))
    location = place.location(name)
    return SourceFile(Path(), parts, location, f"x/{name}", size, OLD * 10**9, digest=digest)


def service(tmp_path: Path, data: bytes) -> Rclone:
    """Return a program that brings the same bytes for whatever file, and no others for a group."""
    (tmp_path / "data").write_bytes(data)
    path = tmp_path / "rclone"
    path.write_text(
        f"#!{sys.executable}\nimport sys\nif sys.argv[1] == 'cat':\n"
        f"    sys.stdout.buffer.write(open({str(tmp_path / 'data')!r}, 'rb').read())\n"
    )
    path.chmod(0o755)
    return Rclone(path, HASTE)


def fetch(rclone: Rclone, folder: Path, file: SourceFile) -> bytes | str:
    (got,) = Downloads(rclone, Place("x"), folder, 3).fetch([file], LIMIT)
    return got.code if isinstance(got, RejectedError) else got.read_bytes()


def package() -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("word/document.xml", "<w:document/>" * 50)
    return stream.getvalue()


def test_an_exported_document_has_no_size_and_must_be_a_whole_package(tmp_path: Path) -> None:
    file = listed(Place("x"), "Notes.docx", -1)
    whole = package()
    assert fetch(service(tmp_path, whole), tmp_path, file) == whole
    assert fetch(service(tmp_path, whole[: len(whole) // 2]), tmp_path, file) == "truncated"
    assert fetch(service(tmp_path, b""), tmp_path, file) in {"truncated", "vanished"}


@pytest.mark.parametrize(
    ("digest", "expected"),
    [
        ("md5:5d41402abc4b2a76b9719d911017c592", b"hello"),
        ("md5:00000000000000000000000000000000", "changed-while-reading"),
        ("quickxor:00", b"hello"),  # which rclone compares
        ("", b"hello"),
    ],
)
def test_a_stated_hash_must_be_that_of_the_bytes(
    tmp_path: Path, digest: str, expected: bytes | str
) -> None:
    file = listed(Place("x"), "a.txt", 5, digest)
    assert fetch(service(tmp_path, b"hello"), tmp_path, file) == expected


def test_a_file_longer_than_stated_is_another_one(tmp_path: Path) -> None:
    file = listed(Place("x"), "a.txt", 4)
    assert fetch(service(tmp_path, b"hello"), tmp_path, file) == "changed-while-reading"


def test_names_that_no_list_can_hold_are_fetched_alone(drive: Drive, tmp_path: Path) -> None:
    for name in ("a\nb.md", "#c.md", " d .md", "e/f'\"[x]*.md"):
        drive.write(name, "hello")
    found = list_place(drive.rclone, drive.place, recursive=True)
    files = [listed(drive.place, one.path, 5) for one in found if not one.is_folder]
    assert len(files) == 4
    got = Downloads(drive.rclone, drive.place, tmp_path, 3).fetch(files, LIMIT)
    assert [one if isinstance(one, Exception) else one.read_bytes() for one in got] == [
        b"hello"
    ] * 4


def test_folders_of_processes_that_died_are_removed_and_no_others(tmp_path: Path) -> None:
    dead, alive = tmp_path / "downloads-dead", tmp_path / "downloads-alive"
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "half.pdf").write_text("x")
    holder = os.open(alive / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        with private_folder(tmp_path) as made:
            assert made.stat().st_mode & 0o777 == 0o700
            assert not dead.exists()
            assert alive.exists()
        assert not made.exists()
    finally:
        os.close(holder)


def test_a_process_that_is_killed_leaves_what_the_next_one_removes(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from chapterhouse.connectors.rclone_downloads import private_folder\n"
        "with private_folder(Path(sys.argv[1])) as made:\n"
        "    (made / 'half.pdf').write_text('x'); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(list(tmp_path.glob("downloads-*/half.pdf"))) == 1
    with private_folder(tmp_path):
        assert list(tmp_path.glob("downloads-*/half.pdf")) == []
