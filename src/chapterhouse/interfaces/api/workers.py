"""What a server does by itself: it follows the folders of sources, and has the jobs done.

Processes do the jobs of workspaces, and are started when there are some.
"""

import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from chapterhouse.errors import ChapterhouseError, NotFoundError
from chapterhouse.interfaces.background import VARIABLE
from chapterhouse.interfaces.workspaces import Workspaces
from chapterhouse.store.places import changes_of
from chapterhouse.types import OPEN, UPLOAD, Job

_IDLE_SECONDS: Final = 30  # after which a worker ends
_NICE: Final = 5  # who asks comes first
_PAUSE_SECONDS: Final = 0.05


class Workers:
    """The workers that this server has started. Safe between threads.

    A worker that ends early is no loss: its job waits for the next one. Received files have one of
    their own, so that none waits behind a long sync; each runs only while it has work.
    """

    def __init__(self, home: Path, *, starts: bool = True) -> None:
        self._home = home
        self._starts = starts
        self._environment = {**tuned_environment(os.environ), VARIABLE: "0"}
        self._processes: dict[tuple[str, bool], subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def wake(self, workspace: str, due: Sequence[Job]) -> None:
        """Start the workers that jobs of a workspace need and that do not run."""
        for uploads in {job.kind == UPLOAD for job in due}:
            with self._lock:
                running = self._processes.get((workspace, uploads))
                if self._starts and (running is None or running.poll() is not None):
                    self._processes[workspace, uploads] = self._start(workspace, uploads=uploads)

    def stop(self, seconds: float) -> None:
        """Let all workers give back what they are at, and end; kill those that do not in time."""
        with self._lock:
            self._starts = False
            running = [one for one in self._processes.values() if one.poll() is None]
        for process in running:
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + seconds
        while _running(running) and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
        for process in _running(running):
            process.kill()
            process.wait()

    def _start(self, workspace: str, *, uploads: bool) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "chapterhouse", "worker", "--quiet"]
        command += ["--uploads"] * uploads
        command += ["--idle-seconds", str(_IDLE_SECONDS)]
        command += ["--home", str(self._home), "--workspace", workspace]
        process = subprocess.Popen(  # noqa: S603 - this program itself
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # how a job ended is in the job
            env=self._environment,
            start_new_session=True,  # Ctrl-C is for the server, which stops it in order
        )
        with suppress(OSError):  # it has just ended
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        return process


def _running(processes: Iterable[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    return [one for one in processes if one.poll() is None]


_LOOK_SECONDS: Final = 2.0  # between looks for jobs that nobody does
_NEW_SECONDS: Final = 60.0  # between looks for workspaces and sources that are new
_STOP_SECONDS: Final = 2.0
_WORKER_SECONDS: Final = 3.0
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
        self._changes = changes_of(workspaces.home)
        self._followed: dict[str, tuple[int, ...]] = {}  # what was seen before indexes caught up
        self._idle: dict[str, tuple[int, ...]] = {}  # likewise, before there was no open job

    def run(self) -> None:
        """Follow every workspace until ``stop``."""
        following_since, named_since, names = -_NEW_SECONDS, time.monotonic(), self._names()
        while not self._stop.is_set():
            if time.monotonic() - named_since >= _LOOK_SECONDS:
                named_since, names = time.monotonic(), self._names()
            if time.monotonic() - following_since >= _NEW_SECONDS:
                following_since = time.monotonic()
                for name in names:
                    self._begin(self._follow, name)
            for name in names:
                self._see_to(name)
            self._changes.wait(_LOOK_SECONDS, self._stop)
            self._stop.wait(_PAUSE_SECONDS)  # many changes at once are one reason to look
        self._changes.close()

    def _names(self) -> Sequence[str]:
        try:
            return self._workspaces.names()
        except ChapterhouseError as error:  # a database that is away comes back
            _log.warning("The workspaces are not followed: %s", error.message)
            return ()

    def wake(self, name: str) -> None:
        """See at once that somebody does the jobs of a workspace."""
        with self._workspaces.borrow(name) as library:
            self._workers.wake(name, library.jobs.due())

    def stop(self) -> None:
        """Follow no more, and let the workers end."""
        self._stop.set()
        self._workers.stop(_WORKER_SECONDS)
        for thread in self._threads.values():
            thread.join(_STOP_SECONDS)

    def _begin(self, action: Callable[[str], None], name: str) -> bool:
        """Let a thread do something for a workspace, unless one is at it; say whether it does."""
        called = f"{action.__name__} {name}"
        running = self._threads.get(called)
        if running is not None and running.is_alive():
            return False
        thread = threading.Thread(target=action, args=(name,), name=called, daemon=True)
        self._threads[called] = thread
        thread.start()
        return True

    def _see_to(self, name: str) -> None:
        """Start the workers that a workspace lacks, and let indexes follow what others wrote.

        It stays closed where nothing was written.
        """
        try:
            seen = self._changes.seen(name)
            if self._idle.get(name) == seen:
                return
            with self._workspaces.borrow(name) as library:
                behind = self._changes.notifies and self._followed.get(name) != seen
                if behind and self._begin(self._catch_up, name):
                    self._followed[name] = seen
                if library.jobs.list(OPEN):
                    self._workers.wake(name, library.jobs.due())
                elif not behind:
                    self._idle[name] = seen
        except (ChapterhouseError, OSError) as error:  # a full disk, say: the next look comes soon
            _log.info("The jobs of %s were not looked at: %s", name, error)

    def _catch_up(self, name: str) -> None:
        """Apply now what another machine wrote: the next search does not wait for it."""
        try:
            with self._workspaces.borrow(name) as library:
                library.search.prepare()
        except (ChapterhouseError, OSError) as error:  # that search says what is wrong
            _log.info("The indexes of %s do not follow: %s", name, error)

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


# Python lets a thread calculate for 5 ms before another one may. A search asks for its turn after
# each look into the database; beside a question it took three times as long (p95, 100,000 chunks).
_TURN_SECONDS: Final = 0.0003
# The allocator of glibc keeps what each thread has freed for that thread, and learns from large
# blocks to keep them too: after some hundred requests that was 140 MB in the server, and as much in
# a worker. Names of the environment, names of ``malloc.h``, values:
_ALLOCATOR: Final = (
    ("MALLOC_ARENA_MAX", -8, 2),
    ("MALLOC_MMAP_THRESHOLD_", -3, 2_000_000),  # bytes
)


def tune_process() -> None:
    """Let threads take short turns and give back the memory that they free."""
    sys.setswitchinterval(_TURN_SECONDS)
    if os.name == "posix":
        set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc alone has it
        for name, option, value in _ALLOCATOR:
            if set_option is not None and name not in os.environ:
                set_option(option, value)


def tuned_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a process whose threads give back the memory that they free."""
    return {**{name: str(value) for name, _, value in _ALLOCATOR}, **environment}
