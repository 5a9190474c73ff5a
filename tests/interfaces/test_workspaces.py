import threading
from pathlib import Path

import pytest

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.workspaces import Workspaces
from chapterhouse.library import Library


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("b", "a"):
        Library.open(tmp_path, name).close()
    return tmp_path


def test_workspaces_are_those_of_the_home(home: Path) -> None:
    workspaces = Workspaces(home)
    assert workspaces.names() == ("a", "b")
    with pytest.raises(NotFoundError), workspaces.borrow("gone"):
        pass


def test_a_workspace_is_open_once_and_again_when_its_settings_change(home: Path) -> None:
    workspaces = Workspaces(home)
    with workspaces.borrow("a") as first, workspaces.borrow("a") as second:
        assert first is second
        first.configuration.change("memory.days", 9, by="test")
        with workspaces.borrow("a") as third:
            assert third is not first
            assert third.settings.memory.days == 9
        assert first.status().documents == 0  # who has it still can use it
    workspaces.close()


def test_who_comes_after_a_change_does_not_wait_for_the_library_before_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, close = threading.Event(), Library.close

    def wait_and_close(library: Library) -> None:
        assert ended.wait(30)  # as for others' threads
        close(library)

    workspaces = Workspaces(home)
    with workspaces.borrow("a"):
        pass
    with Library.open(home, "a") as other:  # such as a command line
        other.configuration.change("memory.days", 9, by="test")
    monkeypatch.setattr(Library, "close", wait_and_close)
    for name, days in (("a", 9), ("b", 365)):
        with workspaces.borrow(name) as library:
            assert (library.settings.memory.days == days, ended.is_set()) == (True, False)
    ended.set()
    workspaces.close()


def test_when_all_are_closed_who_uses_one_still_can(home: Path) -> None:
    workspaces = Workspaces(home)
    with workspaces.borrow("a") as library:
        workspaces.close()
        assert library.status().documents == 0
    with workspaces.borrow("a") as again:
        assert again is not library
    workspaces.close()
