"""Jobs: long work looked at, stopped, tried again and worked off."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from threading import Event
from typing import Final

from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import UnavailableError, UsageError
from chapterhouse.ingest.jobs import claim, due, run_job
from chapterhouse.library.long_work import do_job
from chapterhouse.store.places import changes_of
from chapterhouse.types import FINISHED, UPLOAD, Job, JobState, Progress

_PAUSE_SECONDS: Final = 0.2  # between looks for work
_NOTIFIED_SECONDS: Final = 2.0  # likewise, where a look comes at once when there is some


class LibraryJobs:
    """The jobs of a workspace. No id of a job is a UsageError, one of no job a NotFoundError."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._jobs = runtime.runner.jobs

    def list(self, states: Sequence[JobState] = (), lane: str = "") -> tuple[Job, ...]:
        """Return the jobs in any of ``states``, all when none is named, newest first."""
        return tuple(self._jobs.jobs(states, lane))

    def due(self) -> tuple[Job, ...]:
        """Return the open jobs that a worker would take now, newest first."""
        return due(self._runtime.runner)

    def get(self, job_id: str) -> Job:
        """Return a job."""
        return self._jobs.job(job_id)

    def cancel(self, job_id: str) -> Job:
        """Stop a job; what it has done stays. A running one ends within a few seconds.

        Raises:
            UsageError: it has ended already.
        """
        job = self._jobs.job(job_id)
        if job.state in FINISHED:
            raise UsageError(f"The job {job.id} has ended: it is {job.state.value}.")
        return self._jobs.cancel(job_id, self._runtime.runner.clock())

    def retry(self, job_id: str) -> Job:
        """Leave the work of a job that has ended to the next worker, as a new job.

        Raises:
            UsageError: it has not ended, or it is an upload that is done.
        """
        job = self._jobs.job(job_id)
        if job.state not in FINISHED:
            raise UsageError(f"The job {job.id} has not ended: it is {job.state.value}.")
        if job.kind == UPLOAD and "file" not in job.arguments:
            raise UsageError(f"The file of the job {job.id} is in the library.")
        now = self._runtime.runner.clock()
        return self._jobs.enqueue(job.kind, job.arguments, job.lane, now)

    def work(
        self,
        *,
        once: bool = False,
        kind: str = "",
        idle_seconds: float | None = None,
        on_progress: Callable[[Progress], None] = lambda _: None,
        on_end: Callable[[Job], None] = lambda _: None,
        is_outdated: Callable[[], bool] = lambda: False,
    ) -> tuple[Job, ...]:
        """Do the jobs that wait, each lane in turn; return those that were done.

        Several processes may do this on one library. Ctrl-C gives the job at hand back. A job that
        meets a full disk, a busy database or the like is put off: ``pending`` with its error.

        Args:
            kind: Only jobs of this kind.
            idle_seconds: End when there was nothing to do for so long; None for never.
            is_outdated: End before the next job where this is so, to go on under other settings.
        """
        ended: list[Job] = []
        idle_since = time.monotonic()
        with closing(changes_of(self._runtime.home)) as changes:
            seconds = _NOTIFIED_SECONDS if changes.notifies else _PAUSE_SECONDS
            while not self._is_so(is_outdated):
                job = self._claim(kind)
                if job is None:
                    if idle_seconds is not None and time.monotonic() - idle_since >= idle_seconds:
                        break
                    changes.wait(seconds, Event(), self._runtime.workspace)
                    continue
                ended.append(self._do(job, on_progress))
                on_end(ended[-1])
                if ended[-1].state is JobState.PENDING and not ended[-1].error:
                    raise KeyboardInterrupt
                if once:
                    break
                idle_since = time.monotonic()
        return tuple(ended)

    def _is_so(self, is_outdated: Callable[[], bool]) -> bool:
        try:
            return is_outdated()
        except UnavailableError:  # as below
            return False

    def _claim(self, kind: str) -> Job | None:
        try:
            return claim(self._runtime.runner, kind=kind)
        except UnavailableError:  # nothing can be done now; the next look may find it otherwise
            return None

    def _do(self, job: Job, on_progress: Callable[[Progress], None]) -> Job:
        work = partial(do_job, self._runtime, on_progress=on_progress)
        try:
            return run_job(job, work, self._runtime.runner, is_queued=True)
        except Exception:  # noqa: BLE001 - the job's boundary: it has failed and says why; the next
            return self._jobs.job(job.id)
