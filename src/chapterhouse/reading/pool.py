"""A few persistent worker processes that read files, and the clock that kills them.

One thread a worker: it checks a file, hands it over, waits, and starts a fresh worker when
this one hangs, dies or has read enough. A file is tried once; whatever it does to a worker, it
ends in an extraction or a `RejectedError`, and the next file finds a worker in order.
"""

import threading
from collections import deque
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from chapterhouse.errors import RejectedError, UsageError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.preflight import preflight
from chapterhouse.reading.process import WorkerProcess
from chapterhouse.reading.tesseract import program
from chapterhouse.types import Extraction

READER = "chapterhouse.reading.dispatch:read"


@dataclass(frozen=True, slots=True)
class _Job:
    data: bytes
    name: str
    future: Future[Extraction] = field(default_factory=Future)


class ReadingPool:
    """Reads files in worker processes; safe to use from several threads.

    Workers start with the first files and are kept. Files wait in order without a bound, so
    a caller with many files holds back by the futures it has not collected.
    """

    def __init__(
        self, workers: int = 2, limits: Limits | None = None, *, reader: str = READER
    ) -> None:
        """Prepare ``workers`` workers.

        Args:
            workers: Number of processes, at least 1.
            limits: Ceilings for a file and a worker.
            reader: ``module:function`` of what the workers call; another one is for tests.

        Raises:
            UsageError: ``workers`` is less than 1.
        """
        if workers < 1:
            raise UsageError(f"A reading pool needs at least one worker, not {workers}.")
        self._workers = workers
        self._limits = limits or Limits()
        self._reader = reader
        self._waiting: deque[_Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._idle = 0
        self._threads: list[threading.Thread] = []
        self._processes: set[WorkerProcess] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def read(self, data: bytes, name: str) -> Extraction:
        """Read one file and wait for it.

        Raises:
            RejectedError: the file will not be read; `chapterhouse.reading.codes` lists why.
        """
        return self.submit(data, name).result()

    def submit(self, data: bytes, name: str) -> Future[Extraction]:
        """Read one file in the background.

        The future raises `RejectedError`, or `CancelledError` where the pool was closed first.

        Raises:
            UsageError: the pool is closed.
        """
        job = _Job(data, name)
        with self._changed:
            if self._closed:
                raise UsageError("The reading pool is closed.")
            self._waiting.append(job)
            if self._idle >= len(self._waiting):
                self._changed.notify()
            elif len(self._threads) < self._workers:
                self._start_thread()
        return job.future

    def close(self) -> None:
        """Cancel what waits, end what is being read, and wait until every worker is gone."""
        with self._changed:
            self._closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            processes = list(self._processes)
            self._changed.notify_all()
        for job in waiting:
            job.future.cancel()
        for process in processes:
            process.kill()
        for thread in self._threads:
            thread.join()

    def _start_thread(self) -> None:
        thread = threading.Thread(
            target=self._work, name=f"reading-{len(self._threads)}", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _next_job(self) -> _Job | None:
        with self._changed:
            while not self._waiting and not self._closed:
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            return None if self._closed else self._waiting.popleft()

    def _work(self) -> None:
        process: WorkerProcess | None = None
        try:
            while (job := self._next_job()) is not None:
                if job.future.set_running_or_notify_cancel():
                    process = self._finish(job, process)
        finally:
            if process is not None:
                self._retire(process)

    def _finish(self, job: _Job, process: WorkerProcess | None) -> WorkerProcess | None:
        """Read one job, settle its future, and return the worker that can go on, if any."""
        try:
            preflight(job.data, job.name, self._limits)
            if process is None:
                process = self._start_process()
            extraction = process.read(job.data, job.name)
        except RejectedError as error:
            self._fail(job, error)
        except BaseException as error:  # noqa: BLE001 - the thread's boundary: the caller gets it
            self._fail(job, error)
        else:
            job.future.set_result(extraction)
        if process is not None and process.spent:
            self._retire(process)
            return None
        return process

    def _fail(self, job: _Job, error: BaseException) -> None:
        job.future.set_exception(CancelledError() if self._closed else error)

    def _start_process(self) -> WorkerProcess:
        programs = [found] if (found := program()) else []
        process = WorkerProcess(self._reader, self._limits, programs)
        with self._changed:
            self._processes.add(process)
            closed = self._closed
        if closed:
            process.kill()
        return process

    def _retire(self, process: WorkerProcess) -> None:
        with self._changed:
            self._processes.discard(process)
        process.close()
