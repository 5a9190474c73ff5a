"""A few persistent worker processes that read files, and the clock that kills them.

One thread a worker: it checks a file, hands it over, waits, and starts a fresh worker when
this one hangs, dies or has read enough. A file is tried once; whatever it does to a worker, it
ends in an extraction or a `RejectedError`, and the next file finds a worker in order.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from chapterhouse import lazy
from chapterhouse.errors import RejectedError, UsageError
from chapterhouse.reading import sandbox, worker
from chapterhouse.reading.formats import TEXTS
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction, PageView, Passage

if TYPE_CHECKING:
    from chapterhouse.reading import ocr, preflight
else:
    preflight = lazy("chapterhouse.reading.preflight")
    ocr = lazy("chapterhouse.reading.ocr")

# What a worker may see of the environment: where programs and libraries are, and the language.
_ENVIRONMENT = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TESSDATA_PREFIX", "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "SYSTEMROOT",
)  # fmt: skip
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
_READY_BYTES = 1_000
READER = "chapterhouse.reading.dispatch:read"
Made = TypeVar("Made", Extraction, PageView)


class WorkerProcess:
    """A worker process. Used by one thread; only `kill` may be called from another."""

    def __init__(self, reader: str, limits: Limits, programs: list[str]) -> None:
        """Start the process; it is ready when its first file comes back."""
        self._limits = limits
        self._files = self._rss_bytes = 0
        self._broken = self._started = False
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

    def do(self, data: bytes, name: str, made: type[Made]) -> Made:
        """Read or show one file.

        It is broken and must be closed where it hung, died or spoke nonsense.
        """
        self._seconds = self._limits.wall_seconds  # that it may take
        try:
            reply = self._exchange(data, name, made)
        except TimeoutError:
            self._broken = True
            sentence = f"Reading it took longer than {self._seconds:.0f} seconds and was stopped."
            hint = "Split the file or save it in another format."
            raise RejectedError("timed-out", sentence, hint=hint) from None
        except (OSError, EOFError, worker.WireError) as error:
            self._broken = True
            raise self._crash(error) from error
        self._rss_bytes = reply.rss_bytes
        if isinstance(reply.outcome, RejectedError):
            self._files += 1
            self._broken = reply.outcome.code == "out-of-memory"
            raise reply.outcome
        if not isinstance(reply.outcome, made):
            self._broken = True
            raise self._crash(worker.WireError("something else than was asked"))
        self._files += getattr(reply.outcome, "format", "pdf") not in _LIGHT
        return reply.outcome

    def start_up(self) -> tuple[str, ...]:
        """Wait until it is ready; return what cuts it off from the system.

        Raises:
            OSError, EOFError, WireError: it did not become ready.
        """
        frame, body = self._frame(time.monotonic() + _START_SECONDS, _READY_BYTES)
        if frame is not worker.Frame.READY:
            raise worker.WireError("it did not say that it was ready")
        self._started = True
        return tuple(map(str, json.loads(body)))

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

    def _exchange(self, data: bytes, name: str, made: type[Made]) -> worker.Reply:
        if not self._started:  # the time it takes to start is not the file's
            self.start_up()
        began, most = time.monotonic(), max(self._seconds, self._limits.wall_seconds_ceiling)
        deadline = began + self._seconds
        self._arm(deadline)
        kind = worker.Frame.JOB if made is Extraction else worker.Frame.SHOW
        self._socket.sendall(worker.encode_job(name, len(data), kind))
        self._arm(deadline)
        self._socket.sendall(data)
        text = self._limits.text_characters * _REPLY_BYTES_PER_CHARACTER
        longest = text + self._limits.archive_bytes + 10_000_000
        while True:
            frame, body = self._frame(began + self._seconds, longest)
            if frame is not worker.Frame.EXTENSION:
                return worker.decode_reply(frame, body)
            more = max(0.0, worker.decode_extension(body))
            self._seconds = min(most, self._seconds + more)

    def _frame(self, deadline: float, longest: int) -> tuple[worker.Frame, bytes]:
        return worker.read_frame(lambda count: self._receive(count, deadline), longest)

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
        if isinstance(error, worker.WireError):
            self.kill()
            return RejectedError("reader-crashed", f"The reader answered nonsense: {error}.")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self.kill()
        status = self._process.wait()
        if status == -signal.SIGXCPU:
            took = f"more than {self._limits.cpu_seconds} seconds of processor time"
            return RejectedError("timed-out", f"Reading it took {took}.")
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


def describe_readers() -> str:
    """Return what cuts workers off from the network and other files here, tried in one."""
    process = WorkerProcess("chapterhouse.reading.worker:answer", Limits(), [])
    try:
        return sandbox.describe(process.start_up())
    except (OSError, EOFError, worker.WireError) as error:
        return f"Readers cannot be started: {error}."
    finally:
        process.close()


class ReadingPool:
    """Reads files in worker processes; safe to use from several threads.

    Workers start with the first files and are kept. Files wait in order without a bound, so
    a caller with many files holds back by the futures it has not collected.
    """

    def __init__(
        self, workers: int = 2, limits: Limits | None = None, *, reader: str = READER
    ) -> None:
        """Prepare at least one worker; another ``reader``, ``module:function``, is for tests."""
        if workers < 1:
            raise UsageError(f"A reading pool needs at least one worker, not {workers}.")
        self._limits = limits or Limits()
        self._reader = reader
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="reading")
        self._own = threading.local()  # the worker of each thread
        self._changing = threading.Lock()
        self._closed = False
        self._processes: set[WorkerProcess] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def read(self, data: bytes, name: str) -> Extraction:
        """Read one file and wait for it.

        Raises:
            RejectedError: the file will not be read; `chapterhouse.reading.limits` lists why.
        """
        return self.submit(data, name).result()

    def submit(self, data: bytes, name: str) -> Future[Extraction]:
        """Read one file in the background.

        The future raises `RejectedError`, or `CancelledError` where the pool was closed first.

        Raises:
            UsageError: the pool is closed.
        """
        return self._submit(data, name, Extraction)

    def show(self, data: bytes, page: int, passages: Sequence[Passage]) -> Future[PageView]:
        """Draw a page of a PDF, 0 for none, and find passages on its pages, in the background.

        The future raises as that of ``submit`` does; there is no picture of a page that is none.
        """
        return self._submit(data, worker.encode_request(page, passages), PageView)

    def _submit(self, data: bytes, name: str, made: type[Made]) -> Future[Made]:
        try:
            return self._threads.submit(self._do, data, name, made)
        except RuntimeError as error:
            raise UsageError("The reading pool is closed.") from error

    def close(self) -> None:
        """Cancel what waits, end what is being read, and wait until every worker is gone."""
        with self._changing:
            self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in tuple(self._processes):
            process.kill()
        self._threads.shutdown()
        for process in tuple(self._processes):
            self._retire(process)

    def _do(self, data: bytes, name: str, made: type[Made]) -> Made:
        """Have the worker of this thread do it, a fresh one where there is none in order."""
        preflight.preflight(data, name if made is Extraction else "It", self._limits)
        process: WorkerProcess | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = self._start_process()
        try:
            return process.do(data, name, made)
        except BaseException as error:
            if self._closed:
                raise CancelledError from error
            raise
        finally:
            if process.spent:
                self._own.process = None
                self._retire(process)

    def _start_process(self) -> WorkerProcess:
        programs = [found] if (found := ocr.tesseract()) else []
        with self._changing:
            if self._closed:
                raise CancelledError
            process = WorkerProcess(self._reader, self._limits, programs)
            self._processes.add(process)
        return process

    def _retire(self, process: WorkerProcess) -> None:
        self._processes.discard(process)
        process.close()
