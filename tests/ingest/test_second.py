"""Exchanging two libraries: a crash at any step leaves one that is whole, and is put right."""

from pathlib import Path

import pytest

from chapterhouse.errors import NotFoundError, RefusedError
from chapterhouse.ingest import second


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace and a library that was built, of which only the names of the files count."""
    for place, text in ((tmp_path, "old"), (second.own_folder(tmp_path / "rebuild"), "new")):
        (place / "index").mkdir(parents=True)
        (place / "index" / "state").write_text(text)
        (place / "library.db").write_text(text)
    (tmp_path / "rebuild" / "state.json").write_text('{"sequence": 3, "inode": 0, "after": 0}')
    return tmp_path


def contents(place: Path) -> tuple[str, str]:
    index = place / "index" / "state"
    return (place / "library.db").read_text(), index.read_text() if index.exists() else "none"


def test_they_change_places(folder: Path) -> None:
    second.switch(folder, "rebuild", 9)
    assert contents(folder) == ("new", "new")
    assert contents(second.own_folder(folder / "previous")) == ("old", "old")
    assert second.read_second(folder / "previous") == second.Second(9)
    assert not (folder / "rebuild").exists()
    second.switch(folder, "previous", 4)
    assert contents(folder) == ("old", "old")
    assert contents(second.own_folder(folder / "previous")) == ("new", "new")


def test_a_crash_before_the_exchange_is_undone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dead:
        dead.setattr(second, "exchange", die)
        dead.setattr(second, "settle", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            second.switch(folder, "rebuild", 9)
    assert contents(folder) == ("old", "none")
    second.settle(folder, "rebuild")
    assert contents(folder) == ("old", "old")
    second.switch(folder, "rebuild", 9)
    assert contents(folder) == ("new", "new")


@pytest.mark.parametrize("is_made_again", [False, True])
def test_a_crash_after_the_exchange_is_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, is_made_again: bool
) -> None:
    with monkeypatch.context() as dead:
        dead.setattr(second, "settle", lambda *_: None)
        second.switch(folder, "rebuild", 9)
    assert contents(folder) == ("new", "none")
    if is_made_again:  # a question came between
        (folder / "index").mkdir()
        (folder / "index" / "state").write_text("made again")
    second.settle(folder, "rebuild")
    assert contents(folder) == ("new", "made again" if is_made_again else "new")
    assert contents(second.own_folder(folder / "previous")) == ("old", "old")
    assert second.read_second(folder / "previous") == second.Second(9)


def test_a_failed_exchange_leaves_all_where_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(second, "exchange", fail)
    with pytest.raises(OSError, match="no"):
        second.switch(folder, "rebuild", 9)
    assert contents(folder) == ("old", "old")
    assert second.read_second(folder / "rebuild") == second.Second(3, 0, 9)


def test_what_is_deleted_is_no_library(folder: Path) -> None:
    with pytest.raises(NotFoundError):
        second.require_previous(folder)
    assert second.drop_others(folder) == ("rebuild",)
    with pytest.raises(RefusedError, match="deleted meanwhile"):
        second.require_second(folder / "rebuild")
    assert second.others(folder) == ()
