"""One worker process as its parent sees it: start, one file at a time, kill."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from chapterhouse.errors import RejectedError
from chapterhouse.reading import wire
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.names import TEXTS
from chapterhouse.reading.preflight import wall_seconds
from chapterhouse.types import Extraction

# What a worker may see of the environment: where programs and libraries are, and the language.
_ENVIRONMENT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TESSDATA_PREFIX",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "SYSTEMROOT",
)
# -I keeps the working directory and PYTHON* variables out; the paths are ours to give.
_START = (
    "import sys; sys.path.insert(0, sys.argv[3]); "
    "sys.path.extend(p for p in sys.argv[4:] if p not in sys.path); "
    "from chapterhouse.reading.worker import main; main(int(sys.argv[1]), sys.argv[2])"
)
# Formats read by the standard library alone: they leak nothing, so they do not wear a worker out.
_LIGHT = TEXTS - {"html", "eml"}
# A text of all control characters needs six bytes a character in JSON.
_REPLY_BYTES_PER_CHARACTER = 6
_START_SECONDS = 30.0  # a loaded machine may need long to start an interpreter


class WorkerProcess:
    """A worker process. Used by one thread; only `kill` may be called from another."""

    def __init__(self, reader: str, limits: Limits, programs: list[str]) -> None:
        """Start the process; it is ready when its first file comes back."""
        self._limits = limits
        self._files = 0
        self._rss_bytes = 0
        self._broken = False
        self._started = False
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = _start(theirs.fileno(), reader, limits, programs)
            except BaseException:
                ours.close()
                raise
        self._socket = ours

    @property
    def spent(self) -> bool:
        """Whether the next file needs a fresh process."""
        return (
            self._broken
            or self._files >= self._limits.recycle_files
            or self._rss_bytes >= self._limits.recycle_rss_bytes
        )

    def read(self, data: bytes, name: str) -> Extraction:
        """Read one file.

        Raises:
            RejectedError: the worker said so, hung, died or answered nonsense. In the last
                three cases it is broken and must be closed.
        """
        seconds = wall_seconds(data, self._limits)
        try:
            reply = self._exchange(data, name, seconds)
        except TimeoutError:
            self._broken = True
            raise RejectedError(
                "timed-out",
                f"Reading it took longer than {seconds:.0f} seconds and was stopped.",
                hint="Split the file or save it in another format.",
            ) from None
        except (OSError, EOFError, wire.WireError) as error:
            self._broken = True
            raise self._crash(error) from error
        self._rss_bytes = reply.rss_bytes
        if isinstance(reply.outcome, RejectedError):
            self._files += 1
            self._broken = reply.outcome.code == "out-of-memory"
            raise reply.outcome
        self._files += reply.outcome.format not in _LIGHT
        return reply.outcome

    def kill(self) -> None:
        """End the process and every program that it started, at once."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and give its resources back."""
        self.kill()
        self._process.wait()
        self._socket.close()

    def _exchange(self, data: bytes, name: str, seconds: float) -> wire.Reply:
        if not self._started:  # the time it takes to start is not the file's
            frame, _ = self._frame(time.monotonic() + _START_SECONDS, 0)
            if frame is not wire.Frame.READY:
                raise wire.WireError("it did not say that it was ready")
            self._started = True
        deadline = time.monotonic() + seconds
        ceiling = deadline + max(0.0, self._limits.ocr_wall_seconds_ceiling - seconds)
        self._arm(deadline)
        self._socket.sendall(wire.encode_job(name, len(data), self._limits.cpu_seconds))
        self._arm(deadline)
        self._socket.sendall(data)
        text = self._limits.text_characters * _REPLY_BYTES_PER_CHARACTER
        longest = text + self._limits.archive_bytes + 10_000_000
        while True:
            frame, body = self._frame(deadline, longest)
            if frame is not wire.Frame.EXTENSION:
                return wire.decode_reply(frame, body)
            deadline = min(ceiling, deadline + max(0.0, wire.decode_extension(body)))

    def _frame(self, deadline: float, longest: int) -> tuple[wire.Frame, bytes]:
        return wire.read_frame(lambda count: self._receive(count, deadline), longest)

    def _receive(self, count: int, deadline: float) -> bytes:
        buffer = bytearray(count)
        view, filled = memoryview(buffer), 0
        while filled < count:
            self._arm(deadline)
            received = self._socket.recv_into(view[filled:])
            if not received:
                raise EOFError("the stream ended")
            filled += received
        return bytes(buffer)

    def _arm(self, deadline: float) -> None:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._socket.settimeout(remaining)

    def _crash(self, error: Exception) -> RejectedError:
        """Say how the worker ended, from its exit status."""
        if isinstance(error, wire.WireError):
            self.kill()
            return RejectedError("reader-crashed", f"The reader answered nonsense: {error}.")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self.kill()
        status = self._process.wait()
        if status == -signal.SIGXCPU:
            seconds = self._limits.cpu_seconds
            return RejectedError(
                "timed-out", f"Reading it took more than {seconds} seconds of processor time."
            )
        how = f"exit status {status}"
        if status < 0:
            how = f"signal {-status}, {signal.Signals(-status).name}"
        return RejectedError("reader-crashed", f"The process reading it died ({how}).")


def _start(
    descriptor: int, reader: str, limits: Limits, programs: list[str]
) -> subprocess.Popen[bytes]:
    settings = {
        "reader": reader,
        "limits": asdict(limits),
        "programs": programs,
        "parent": os.getpid(),
    }
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *(path for path in sys.path if path)]
    command = [sys.executable, "-I", "-B", "-c", _START, str(descriptor), json.dumps(settings)]
    return subprocess.Popen(  # noqa: S603 - our own interpreter with our own arguments
        [*command, *paths],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[descriptor],
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        | {"OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1"},
        cwd="/",
        start_new_session=True,  # no terminal signals, and one group to kill
    )
