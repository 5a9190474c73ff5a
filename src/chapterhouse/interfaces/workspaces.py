"""The workspaces of a home, each open as long as it is used."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.background import start_background
from chapterhouse.interfaces.service import hide_folder, hide_library
from chapterhouse.library import Library
from chapterhouse.store.places import workspace_names

_SECONDS_BETWEEN: Final = 30.0  # looks for missing vectors: a failing service is no hot loop
_MOST_OPEN: Final = 32  # workspaces; the one that was used least recently is closed


@dataclass(eq=False, slots=True)
class OpenedLibrary:
    """A library that is open, how many use it, and when its vectors are looked after again."""

    library: Library
    users: int = 0
    is_retired: bool = False
    _next_look: float = 0.0

    def look_after(self) -> None:
        """Start the process that makes vectors if it is needed; look at most twice a minute."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _SECONDS_BETWEEN
            start_background(self.library)


class Workspaces:
    """Opens each workspace once, again when its settings have changed. Safe between threads."""

    def __init__(self, home: Path) -> None:
        self.home = home
        hide_folder(home, "the home")  # also where no library can be opened
        self._opened: dict[str, OpenedLibrary] = {}
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._closing: list[threading.Thread] = []

    def names(self) -> tuple[str, ...]:
        """Return the names of all workspaces, sorted."""
        return workspace_names(self.home)

    def create(self, name: str) -> None:
        """Make a workspace, unless it is there."""
        Library.open(self.home, name).close()

    @contextmanager
    def borrow(self, name: str) -> Iterator[Library]:
        """Give the open library of a workspace.

        Raises:
            NotFoundError: there is no such workspace.
            ChapterhouseError: it cannot be opened.
        """
        opened = self._take(name)
        try:
            yield opened.library
            opened.look_after()
        finally:
            self._give_back(opened)

    def close(self) -> None:
        """Close all libraries that nobody uses; the others are closed by who uses them last."""
        for name in tuple(self._opened):
            self._retire(name)
        for closing in self._closing:
            closing.join()

    def _take(self, name: str) -> OpenedLibrary:
        with self._lock:
            opening = self._opening.setdefault(name, threading.Lock())
        with opening:  # two requests do not open it twice
            opened = self._current(name)
            if opened is None:
                opened = self._open(name)
            return opened

    def _current(self, name: str) -> OpenedLibrary | None:
        """Return the open library under the settings of now, counted as used once more."""
        with self._lock:
            opened = self._opened.get(name)
            if opened is not None:
                opened.users += 1
        if opened is None:
            return None
        if not opened.library.settings_changed():
            return opened
        self._retire(name)
        self._give_back(opened)
        return None

    def _open(self, name: str) -> OpenedLibrary:
        if name not in self.names():
            with self._lock:
                self._opening.pop(name, None)  # names that nobody has are not remembered
            raise NotFoundError(f"There is no workspace '{name}'.")
        library = Library.open(self.home, name, create=False)
        hide_library(library)
        opened = OpenedLibrary(library, users=1)
        with self._lock:
            self._opened[name] = opened
            idle = [key for key, one in self._opened.items() if not one.users]
        if len(self._opened) > _MOST_OPEN and idle:
            self._retire(idle[0])
        return opened

    def _retire(self, name: str) -> None:
        with self._lock:
            opened = self._opened.pop(name, None)
            if opened is None:
                return
            opened.is_retired = True
            is_free = not opened.users
        if is_free:
            self._close(opened.library)

    def _give_back(self, opened: OpenedLibrary) -> None:
        with self._lock:
            opened.users -= 1
            is_last = opened.is_retired and not opened.users
        if is_last:
            self._close(opened.library)

    def _close(self, library: Library) -> None:
        """Close a library without letting a request wait: it may wait for others' threads."""
        closing = threading.Thread(target=library.close, name="closing", daemon=True)
        closing.start()
        with self._lock:
            self._closing = [*(one for one in self._closing if one.is_alive()), closing]
