"""The folders of sources, followed as long as the server runs: what changes is read by a job."""

import logging
import threading
from typing import Final

from chapterhouse.errors import ChapterhouseError, NotFoundError
from chapterhouse.interfaces.api.workers import Workers
from chapterhouse.interfaces.api.workspaces import Workspaces
from chapterhouse.types import OPEN

_LOOK_SECONDS: Final = 60.0  # between looks for workspaces and sources that are new
_STOP_SECONDS: Final = 2.0
_log: Final = logging.getLogger("chapterhouse.following")


class Followers:
    """A thread for each workspace that has sources. Safe between threads.

    Args:
        workspaces: The workspaces.
        workers: Do what has to be done.
    """

    def __init__(self, workspaces: Workspaces, workers: Workers) -> None:
        self._workspaces = workspaces
        self._workers = workers
        self._stop = threading.Event()
        self._threads: dict[str, threading.Thread] = {}

    def run(self) -> None:
        """Follow every workspace until ``stop``."""
        while not self._stop.is_set():
            for name in self._workspaces.names():
                thread = self._threads.get(name)
                if thread is None or not thread.is_alive():
                    self._threads[name] = self._start(name)
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

    def _follow(self, name: str) -> None:
        """Leave a sync to a worker whenever something changes in a source of a workspace."""
        try:
            with self._workspaces.borrow(name) as (library, _):
                if tuple(library.sources.list()):  # what changed while no server ran
                    library.sources.sync_later()
                if library.jobs.list(OPEN):  # or was left by one
                    self._workers.wake(name)
                for touched in library.sources.touched(stop=self._stop):
                    library.sources.sync_later(*touched)
                    self._workers.wake(name)
        except NotFoundError:  # it has no sources yet, or is gone: the next look finds out
            return
        except ChapterhouseError as error:  # likewise; searching goes on
            _log.warning("The sources of %s are not followed: %s", name, error.message)
