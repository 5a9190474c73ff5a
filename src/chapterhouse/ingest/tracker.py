"""How far a running job is, as it writes it down, and whether it is to stop."""

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError
from dataclasses import replace

from chapterhouse.ingest.look import Work
from chapterhouse.store.jobs import JobStore
from chapterhouse.types import FileInFlight, Job, Progress, Step


class Tracker:
    """Follows one job. The work calls it from its thread, the heartbeat from another.

    What is called for every file of ten thousand takes no lock: it sets one attribute or entry.

    Args:
        lease_seconds: How long the lease lasts from each report on.
    """

    def __init__(
        self, job: Job, jobs: JobStore, clock: Callable[[], float], lease_seconds: float
    ) -> None:
        self._job = job
        self._progress = Progress(job.done, job.total, job.current)
        self._has_moved = False
        self._jobs = jobs
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._files: dict[str, FileInFlight] = {}
        self._lock = threading.RLock()
        self._is_new = False
        self.stop = threading.Event()
        self.is_cancelled = False

    def follow(self, work: Work) -> Work:
        """Return the work with what tells this of its files, and ends it where it is to stop."""

        def on_progress(progress: Progress) -> None:
            self.progress(progress)
            work.on_progress(progress)

        return replace(
            work, on_progress=on_progress, stop=self.stop, on_step=self.begin, on_end=self.end
        )

    def begin(self, file: FileInFlight) -> None:
        """Note what is being done with a file.

        One that this process itself is about to work on is written down before: if it ends the
        process, the next one knows which it was.
        """
        self._files[file.location] = file
        self._is_new = True
        if file.step is Step.CHUNKING:
            self.write()

    def begin_only(self, files: Iterable[FileInFlight]) -> None:
        """Note that these files are worked on, and none of those before any more."""
        self._files = {file.location: file for file in files}
        self._is_new = True

    def end(self, location: str) -> None:
        """Note that a file is done."""
        self._files.pop(location, None)

    def progress(self, progress: Progress) -> None:
        """Note how much is done. Where that is more than before, earlier deaths no longer count."""
        self._progress = progress
        self._has_moved |= progress.outcome is None or progress.outcome.changed
        self._is_new = True

    def stored(self, result: Mapping[str, object]) -> None:
        """Write what came of the job, in the transaction of this thread that stores it.

        Raises:
            CancelledError: the job is to be cancelled, so nothing may be stored.
        """
        if not self._jobs.stored(self._job, result):
            self._heed(go_on=False)
            raise CancelledError

    def look(self) -> None:
        """Write what is new, and stop the work where somebody wants it stopped."""
        if self._is_new:
            self.write()
            return
        now = self._jobs.job(self._job.id)
        self._heed(go_on=not now.cancelling and now.worker == self._job.worker)

    def write(self) -> None:
        """Write how far the job is, and extend its lease."""
        with self._lock:
            now = self._clock()
            self._is_new = False
            job = replace(self.ended(), in_flight=tuple(self._files.values()))
            go_on = self._jobs.report(job, now + self._lease_seconds)
            self._heed(go_on=go_on)

    def ended(self) -> Job:
        """Return the job with all that was noted, and nothing in flight."""
        progress = self._progress
        return replace(
            self._job,
            done=progress.done,
            total=progress.total,
            current=progress.current,
            attempts=1 if self._has_moved else self._job.attempts,
            waits=0 if self._has_moved else self._job.waits,
            in_flight=(),
        )

    def _heed(self, *, go_on: bool) -> None:
        if not go_on:
            self.is_cancelled = True
            self.stop.set()
