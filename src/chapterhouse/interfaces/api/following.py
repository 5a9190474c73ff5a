"""What a server does by itself: it follows the folders of sources, and sees to open jobs."""

import logging
import threading
import time
from typing import Final

from chapterhouse.errors import ChapterhouseError, NotFoundError
from chapterhouse.interfaces.api.workers import Workers
from chapterhouse.interfaces.api.workspaces import Workspaces
from chapterhouse.types import OPEN

_LOOK_SECONDS: Final = 2.0  # between looks for jobs that nobody does
_NEW_SECONDS: Final = 60.0  # between looks for workspaces and sources that are new
_STOP_SECONDS: Final = 2.0
_DATABASE: Final = ("library.db", "library.db-wal")
_log: Final = logging.getLogger("chapterhouse.following")


class Followers:
    """Sees that the jobs of every workspace are done, and has a thread for each that has sources.

    A worker may die at any moment. Safe between threads.
    """

    def __init__(self, workspaces: Workspaces, workers: Workers) -> None:
        self._workspaces = workspaces
        self._workers = workers
        self._stop = threading.Event()
        self._threads: dict[str, threading.Thread] = {}
        self._idle: dict[str, tuple[int, ...]] = {}  # without open jobs: when last written

    def run(self) -> None:
        """Follow every workspace until ``stop``."""
        following_since = -_NEW_SECONDS
        while not self._stop.is_set():
            names = self._workspaces.names()
            if time.monotonic() - following_since >= _NEW_SECONDS:
                following_since = time.monotonic()
                for name in names:
                    thread = self._threads.get(name)
                    if thread is None or not thread.is_alive():
                        self._threads[name] = self._start(name)
            for name in names:
                self._see_to_jobs(name)
            self._stop.wait(_LOOK_SECONDS)

    def stop(self) -> None:
        """Follow no more."""
        self._stop.set()
        for thread in self._threads.values():
            thread.join(_STOP_SECONDS)

    def _start(self, name: str) -> threading.Thread:
        thread = threading.Thread(
            target=self._follow, args=(name,), name=f"following {name}", daemon=True
        )
        thread.start()
        return thread

    def _see_to_jobs(self, name: str) -> None:
        """Start the workers that a workspace lacks; it stays closed where nothing was written."""
        try:
            written = self._written(name)
            if self._idle.get(name) == written:
                return
            with self._workspaces.borrow(name) as library:
                if library.jobs.list(OPEN):
                    self._workers.wake(name, library.jobs.due())
                else:
                    self._idle[name] = written
        except (ChapterhouseError, OSError) as error:  # a full disk, say: the next look comes soon
            _log.info("The jobs of %s were not looked at: %s", name, error)

    def _written(self, name: str) -> tuple[int, ...]:
        """Return when the files of a database were written, 0 for one that is not there."""
        folder = self._workspaces.home / "workspaces" / name
        paths = (folder / file for file in _DATABASE)
        return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)

    def _follow(self, name: str) -> None:
        """Leave a sync to a worker whenever something changes in a source of a workspace."""
        try:
            with self._workspaces.borrow(name) as library:
                if tuple(library.sources.list()):  # what changed while no server ran
                    library.sources.sync_later()
                    self._workers.wake(name, library.jobs.due())
                for touched in library.sources.touched(stop=self._stop):
                    library.sources.sync_later(*touched)
                    self._workers.wake(name, library.jobs.due())
        except NotFoundError:  # it has no sources yet, or is gone: the next look finds out
            return
        except ChapterhouseError as error:  # likewise; searching goes on
            _log.warning("The sources of %s are not followed: %s", name, error.message)
