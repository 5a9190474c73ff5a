"""Files that are written whole or not at all."""

import os
from pathlib import Path

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.runs import read_text, require_writable, write_whole


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, "one")
    write_whole(path, "two é")
    assert path.read_text("utf-8") == "two é"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("one")
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", "two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "two"


def test_a_device_is_written_as_it_is() -> None:
    write_whole(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()


def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    write_whole(path, "old")

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    require_writable(tmp_path / "new")
    with pytest.raises(UsageError, match="is a folder"):
        require_writable(tmp_path)
    with pytest.raises(UsageError, match="is not there"):
        require_writable(tmp_path / "none" / "a")
    require_writable(Path(os.devnull))


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfhello")
    assert read_text(tmp_path / "a") == "hello"
