"""Files that their owner alone may read, written whole or not at all."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse.files import make_folder, private_files, write_whole


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o400, 0o400), (0o600, 0o600)])
def test_a_file_is_its_owners_alone_and_never_less_strict_than_before(
    tmp_path: Path, before: int, after: int
) -> None:
    path = tmp_path / "a"
    write_whole(path, "one")
    assert _mode(path) == 0o600
    path.chmod(before)
    write_whole(path, b"two")
    assert _mode(path) == after
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_gives_way_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("one")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "two")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "one"


def test_a_folder_and_what_is_missing_above_it_are_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert [_mode(tmp_path / name) for name in ("", "a", "a/b")] == [0o755, 0o700, 0o700]


def test_the_umask_comes_back(tmp_path: Path) -> None:
    with private_files():
        (tmp_path / "inside").touch()
    (tmp_path / "after").touch()
    assert _mode(tmp_path / "inside") == 0o600
    assert _mode(tmp_path / "after") == 0o666
