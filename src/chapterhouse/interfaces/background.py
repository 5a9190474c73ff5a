"""Start a process that makes missing vectors, where documents lack some and nobody is at it.

No command waits for it. It has the lowest priority and one thread, ends when nothing is pending,
and may be killed at any moment: the next command starts another.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chapterhouse.errors import ChapterhouseError

if TYPE_CHECKING:
    from chapterhouse.library import Library

VARIABLE: Final = "CHAPTERHOUSE_BACKGROUND"  # 0: start no process
_LOG: Final = "log"
_LOG_BYTES: Final = 64 * 2**10  # beyond them the log begins anew
_SECONDS_BETWEEN: Final = 30.0  # in which a server looks once: a failing service is no hot loop
_NICE: Final = 19
_AUTOGROUP: Final = Path("/proc/self/autogroup")
_ONE_THREAD: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
_started: list["subprocess.Popen[bytes]"] = []  # a process that is waited for leaves no zombie


def embed_in_background(library: "Library") -> bool:
    """Start the process unless nothing is pending or it is not wanted; say whether it started."""
    if os.environ.get(VARIABLE) == "0" or not library.settings.embedding.background:
        return False
    try:
        if library.encoders.is_embedding() or not library.encoders.is_pending():
            return False
        _start(library)
    except (ChapterhouseError, OSError) as error:
        # What was asked for is done. The next command tries again, and doctor finds what is wrong.
        logging.getLogger(__name__).info("No vectors are made in the background: %s", error)
        return False
    return True


def _start(library: "Library") -> None:
    folder = library.home / "workspaces" / library.workspace / "background"
    folder.mkdir(exist_ok=True)
    log = folder / _LOG
    mode = "ab" if log.exists() and log.stat().st_size < _LOG_BYTES else "wb"
    command = [sys.executable, "-m", "chapterhouse", "model", "embed", "--idle"]
    command += ["--home", str(library.home), "--workspace", library.workspace]
    environment = {**os.environ, VARIABLE: "0", **dict.fromkeys(_ONE_THREAD, "1")}
    _started[:] = [process for process in _started if process.poll() is None]
    with log.open(mode) as stream:
        process = subprocess.Popen(  # noqa: S603 - this program itself
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            env=environment,
            start_new_session=True,
        )
    _started.append(process)


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


class ServedLibrary:
    """A library that is served for long, and its vectors looked after. Safe between threads."""

    def __init__(self, library: "Library") -> None:
        self.library = library
        self._next = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def using(self) -> Iterator["Library"]:
        """Give the library to some work, and look after its vectors behind it."""
        yield self.library
        self.look()

    def look(self) -> None:
        """Start the process if it is needed; at most twice a minute."""
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + _SECONDS_BETWEEN
        embed_in_background(self.library)
