import hashlib
import itertools
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chapterhouse.connectors import content
from chapterhouse.connectors.content import open_source
from chapterhouse.connectors.folder import SourceFile, walk
from chapterhouse.errors import RejectedError

OLD = 1_600_000_000


def _found(path: Path, root: Path) -> SourceFile:
    return next(file for file in walk(root) if file.location == str(path))


def _code(file: SourceFile, **limits: int) -> str:
    with pytest.raises(RejectedError) as rejection:
        open_source(file, **limits)
    assert file.source in rejection.value.message
    return rejection.value.code


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 3 * 2**20 + 5])
def test_the_bytes_their_hash_and_stamp(tmp_path: Path, size: int) -> None:
    path = tmp_path / "folder" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(os.urandom(size))
    os.utime(path, (OLD, OLD + 0.5))
    got = open_source(_found(path, tmp_path))
    assert got.data == path.read_bytes()
    assert got.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (got.size, got.mtime_ns, got.modified) == (size, OLD * 10**9 + 5 * 10**8, OLD)


def test_a_file_of_this_moment_is_left_to_settle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("chapterhouse.connectors.content.time.sleep", waited.append)
    monkeypatch.setattr("chapterhouse.connectors.content._TICK_NS", 50_000_000)
    path = tmp_path / "file"
    path.write_text("x")
    os.utime(path)
    assert open_source(_found(path, tmp_path)).mtime_ns == 0  # to be hashed again
    now = int(time.time())
    os.utime(path, (now, now))  # whole seconds: a coarse clock, two seconds are one moment
    assert open_source(_found(path, tmp_path)).mtime_ns == 0
    assert waited == [0.05, 2.0]  # one tick of either clock
    os.utime(path, (now - 10, now - 10))
    assert open_source(_found(path, tmp_path)).mtime_ns == (now - 10) * 10**9


def test_the_limit_is_the_last_size_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert open_source(_found(path, tmp_path), maximum_bytes=5).size == 5
    assert _code(_found(path, tmp_path), maximum_bytes=4) == "too-large"


def _to_link(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to(outside)


def _to_pipe(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _to_folder(path: Path, outside: Path) -> None:
    path.unlink()
    path.mkdir()


def _to_nothing(path: Path, outside: Path) -> None:
    path.unlink()


def _folder_to_link(path: Path, outside: Path) -> None:
    path.parent.rename(path.parent.parent / "moved")
    path.parent.symlink_to(outside.parent)


@pytest.mark.parametrize(
    ("swap", "code"),
    [
        (_to_link, "symbolic-link"),
        (_to_pipe, "not-a-file"),
        (_to_folder, "not-a-file"),
        (_to_nothing, "vanished"),
        (_folder_to_link, "cannot-open"),
    ],
)
def test_what_took_the_place_of_a_file_is_not_read(
    tmp_path: Path, swap: Callable[[Path, Path], None], code: str
) -> None:
    path, outside = tmp_path / "root" / "folder" / "file", tmp_path / "outside" / "file"
    for each in (path, outside):
        each.parent.mkdir(parents=True)
        each.write_text(each.parent.name)
    file = _found(path, tmp_path / "root")
    swap(path, outside)
    assert _code(file) == code


def test_a_closed_file_is_told(tmp_path: Path, as_nobody: None) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    path.chmod(0)
    assert _code(_found(path, tmp_path)) == "cannot-open"


def test_a_link_swapped_in_again_and_again_is_never_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "folder").mkdir(parents=True)
    outside.mkdir()
    (outside / "file").write_text("secret")
    path = root / "folder" / "file"
    path.write_text("public")
    file = _found(path, root)
    done = threading.Event()

    def attack() -> None:
        link, real = tmp_path / "link", tmp_path / "real"
        folder_link, folder_real = tmp_path / "folder-link", tmp_path / "folder-real"
        for number in itertools.count(1):
            if done.is_set():
                return
            time.sleep(0.3 if number % 50 == 0 else 0)  # long enough for a file to settle
            link.symlink_to(outside / "file")
            link.replace(path)
            real.write_text("public")
            real.replace(path)
            (root / "folder").rename(folder_real)
            folder_link.symlink_to(outside)
            folder_link.replace(root / "folder")
            (root / "folder").unlink()
            folder_real.rename(root / "folder")

    attacker = threading.Thread(target=attack)
    attacker.start()
    read = attempts = 0
    try:
        while (read < 3 or attempts < 60) and attempts < 100_000:
            attempts += 1
            try:
                assert open_source(file).data in (b"public", b"")
                read += 1
            except RejectedError:
                continue
    finally:
        done.set()
        attacker.join()
    assert read


def test_a_file_that_keeps_changing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0" * 100)
    file = _found(path, tmp_path)
    reads = 0
    read_bytes = content._read_bytes

    def read_while_written(descriptor: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        data = read_bytes(descriptor, size)
        path.write_bytes(b"%d" % reads * (100 + reads))
        return data

    monkeypatch.setattr(content, "_read_bytes", read_while_written)
    monkeypatch.setattr(content, "_PAUSE", 0)
    assert _code(file) == "changed-while-reading"
    assert reads == 3


def test_a_rewritten_file_is_never_a_mixture(tmp_path: Path) -> None:
    path = tmp_path / "file"
    versions = [bytes([letter]) * 300_000 for letter in b"abcdefgh"]
    path.write_bytes(versions[0])
    file = _found(path, tmp_path)
    done = threading.Event()

    def rewrite() -> None:
        number = 0
        while not done.is_set():
            number += 1
            with path.open("r+b") as target:
                target.write(versions[number % len(versions)])
            time.sleep(0.3 if number % 50 == 0 else 0.002)

    writer = threading.Thread(target=rewrite)
    writer.start()
    read, codes = 0, set()
    try:
        for _ in range(60):
            try:
                got = open_source(file)
            except RejectedError as error:
                codes.add(error.code)
                continue
            read += 1
            assert got.sha256 == hashlib.sha256(got.data).hexdigest()
            assert got.data in versions
    finally:
        done.set()
        writer.join()
    assert read
    assert codes <= {"changed-while-reading"}
