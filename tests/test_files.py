import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse.files import (
    lock_folder,
    move_into_place,
    work_folder,
    write_output,
    write_whole,
)


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


def test_a_link_gives_way_to_a_file_and_an_output_is_written_through_it(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("one")
    (tmp_path / "link").symlink_to("real")
    write_output(tmp_path / "link", "two é")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text("utf-8") == "two é"
    write_whole(tmp_path / "link", "three")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text("utf-8") == "two é"
    assert len(list(tmp_path.iterdir())) == 2


def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    write_output(path, "old")

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_output(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_put_over_nothing_where_that_is_asked(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")
    with pytest.raises(FileExistsError):
        move_into_place(tmp_path / "new", tmp_path / "old", replace=False)
    assert (tmp_path / "old").read_text() == "old"
    move_into_place(tmp_path / "new", tmp_path / "free", replace=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["free", "old"]


@pytest.mark.parametrize("name", ["", "lock"])
def test_one_at_a_time_holds_a_lock(tmp_path: Path, name: str) -> None:
    with lock_folder(tmp_path, name, 0.0) as first:
        assert first
        with lock_folder(tmp_path, name, 0.05) as second:
            assert not second
    with lock_folder(tmp_path, name) as again:
        assert again
    assert [path.name for path in tmp_path.iterdir()] == ([name] if name else [])
    (tmp_path / "file").touch()
    with lock_folder(tmp_path / "file", "lock", 0.0) as none:  # it cannot be locked
        assert not none


def test_nothing_of_a_work_folder_stays(tmp_path: Path) -> None:
    with work_folder(tmp_path) as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("text")
        assert _mode(folder) == 0o700
        assert folder.parent == tmp_path
    with pytest.raises(KeyboardInterrupt), work_folder(tmp_path):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_work_folder_of_a_dead_process_is_cleared_and_none_of_a_living_one(
    tmp_path: Path,
) -> None:
    dead = tmp_path / ".unfinished-work-0123456789abcdef"
    (dead / "deep").mkdir(parents=True)
    with work_folder(tmp_path) as living:
        assert dead.exists()  # it may have been made a moment ago
        for folder in (dead, living):
            os.utime(folder, (1_600_000_000, 1_600_000_000))
        with work_folder(tmp_path):
            assert living.exists()
            assert not dead.exists()
