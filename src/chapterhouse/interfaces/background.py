"""One process for each home that makes missing vectors, behind every command and server.

No command waits for it. It has the lowest priority and one thread, works on each workspace in turn,
ends a moment after nothing is left to do, and may be killed at any moment: the next command starts
it again.
"""

import fcntl
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.errors import ChapterhouseError
from chapterhouse.files import make_folder

if TYPE_CHECKING:
    from chapterhouse import library as opening
    from chapterhouse.library import Library
    from chapterhouse.store import places
else:
    opening = lazy("chapterhouse.library")
    places = lazy("chapterhouse.store.places")

VARIABLE: Final = "CHAPTERHOUSE_BACKGROUND"  # 0: start no process
_LOCK: Final = "background/lock"  # of the home: who has it is the process, or starts it
_IDLE_SECONDS: Final = 2.0  # without work, before the process ends
_NICE: Final = 19
_AUTOGROUP: Final = Path("/proc/self/autogroup")
ONE_THREAD: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
_started: list["subprocess.Popen[bytes]"] = []  # a process that is waited for leaves no zombie


def start_background(library: "Library") -> bool:
    """Start the process unless it runs, nothing is pending or it is not wanted; say if it started.

    It gets the lock from here: of commands that want it at once one starts it.
    """
    if os.environ.get(VARIABLE) == "0" or not library.settings.embedding.background:
        return False
    try:
        if not library.encoders.is_pending() or library.encoders.is_embedding():
            return False
        lock = _take_lock(library.home)
        if lock is None:
            return False
        try:
            _start(library.home, lock)
        finally:
            os.close(lock)
    except (ChapterhouseError, OSError) as error:
        # What was asked for is done. The next command tries again, and doctor finds what is wrong.
        logging.getLogger(__name__).info("No vectors are made in the background: %s", error)
        return False
    return True


def _take_lock(home: Path) -> int | None:
    """Return a descriptor that holds the lock of a home, or None where a process has it."""
    path = home / _LOCK
    make_folder(path.parent)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _start(home: Path, lock: int) -> None:
    _started[:] = [process for process in _started if process.poll() is None]
    process = subprocess.Popen(  # noqa: S603 - this program itself
        [sys.executable, "-m", "chapterhouse.interfaces.background", str(home)],
        stdin=lock,  # which the process holds as long as it lives
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # how a job ended is in the job
        env={**os.environ, VARIABLE: "0", **dict.fromkeys(ONE_THREAD, "1")},
        start_new_session=True,
    )
    _started.append(process)


# --- the process ---------------------------------------------------------------------------------


def run_background(home: Path, lock: int | None) -> None:
    """Make the vectors that workspaces of a home lack, until none lacks any for a moment."""
    left: set[str] = set()  # workspaces that failed, or at which another process is
    while lock is not None:
        is_done = False
        while not is_done:
            is_done = True
            for library in _pending(home, left):
                if _embed(library):
                    is_done = False
                else:
                    left.add(library.workspace)
        time.sleep(_IDLE_SECONDS)
        os.close(lock)
        # A command that has written just now saw the lock, and relies on this process.
        lock = _take_lock(home) if any(_pending(home, left)) else None


def _pending(home: Path, left: set[str]) -> Iterator["Library"]:
    """Yield each library that lacks vectors while it is open, but for those that are left."""
    for name in places.workspace_names(home):
        if name in left:
            continue
        try:
            with opening.Library.open(home, name, create=False) as library:
                if library.settings.embedding.background and library.encoders.is_pending():
                    yield library
        except (ChapterhouseError, OSError):
            left.add(name)


def _embed(library: "Library") -> bool:
    """Make the vectors that a library lacks, as a job of it; say whether some came of it."""
    encoders = library.encoders
    try:
        if encoders.is_embedding():
            return False
        encoders.embed_later()
        ended = library.jobs.work(kind="embed", idle_seconds=0)
        return any(job.result.get("documents") for job in ended) or not encoders.is_pending()
    except (
        ChapterhouseError,
        OSError,
    ):  # as for a command that starts this: doctor says what it is
        return False


def become_idle() -> None:
    """Give this process the lowest priority.

    Linux may weigh sessions rather than processes, and this process began one: so the session's
    own weight is lowered, too (sched(7), autogroups).
    """
    os.nice(_NICE)
    if _AUTOGROUP.exists():
        try:
            _AUTOGROUP.write_text(str(_NICE), "ascii")
        except OSError:
            return  # a container that does not let us


if __name__ == "__main__":
    become_idle()
    own = os.dup(sys.stdin.fileno())  # nobody that is started from here may hold the lock
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    run_background(Path(sys.argv[1]), own)
