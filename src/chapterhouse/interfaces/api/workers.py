"""Processes that do the jobs of workspaces, started when there are some."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from chapterhouse.interfaces.background import VARIABLE
from chapterhouse.interfaces.process import tuned_environment
from chapterhouse.types import UPLOAD, Job

_IDLE_SECONDS: Final = 30  # after which a worker ends
_NICE: Final = 5  # who asks comes first
_PAUSE_SECONDS: Final = 0.05


class Workers:
    """The workers that this server has started. Safe between threads.

    A worker that ends early is no loss: its job waits for the next one. Received files have one of
    their own, so that none waits behind a long sync; each runs only while it has work.

    Args:
        starts: Whether any may be started.
    """

    def __init__(self, home: Path, *, starts: bool = True) -> None:
        self._home = home
        self._starts = starts
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
            env={**tuned_environment(os.environ), VARIABLE: "0"},
            start_new_session=True,  # Ctrl-C is for the server, which stops it in order
        )
        with suppress(OSError):  # it has just ended
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        return process


def _running(processes: Iterable[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    return [one for one in processes if one.poll() is None]
