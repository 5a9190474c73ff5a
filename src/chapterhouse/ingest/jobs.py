"""Run jobs: with a lease that is extended while they run, so that none is lost with its process."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from chapterhouse.connectors.folder import is_visible
from chapterhouse.errors import ChapterhouseError, RejectedError, UnavailableError, passes
from chapterhouse.ingest.look import MOST_ATTEMPTS, ReadingContext
from chapterhouse.ingest.outcomes import blame
from chapterhouse.ingest.workers import Worker
from chapterhouse.store.jobs import JobStore
from chapterhouse.store.sqlite import Store
from chapterhouse.text.naming import system_path
from chapterhouse.types import (
    INCOMPLETE,
    OPEN,
    UPLOAD,
    AddReport,
    FileInFlight,
    FileRecord,
    Job,
    JobState,
    Progress,
    SourceKind,
    Step,
)

Value = TypeVar("Value")

LEASE_SECONDS: Final = 60.0
_BEAT_SECONDS: Final = 0.5  # at most so often a job says how far it is
_EXTENSIONS: Final = 6.0  # in the time of a lease
_PAUSE_SECONDS: Final = 0.1  # between looks whether a lane is free
_OTHERS_SECONDS: Final = 30  # for which a job is left to machines that see its folders
_NAMED: Final = 100  # files that a result names
_MOST_WAIT_SECONDS: Final = 60  # that a job is put off: at first for one, twice as long each time
_UNWRITABLE_SECONDS: Final = 1.0  # between attempts to write how a job ended
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JobResult:
    """How the work of a job ended, and what came of it as JSON has it.

    Attributes:
        report: What came of it as who does the job at once is told.
    """

    state: JobState
    result: Mapping[str, object] = field(default_factory=dict)
    report: Any = None


@dataclass(frozen=True, slots=True)
class Runner:
    """What running jobs needs.

    Attributes:
        clock: The time in seconds since 1970.
        lease_seconds: After which another may take over a job whose worker is not heard of.
    """

    store: Store
    worker: Worker
    clock: Callable[[], float] = time.time
    lease_seconds: float = LEASE_SECONDS

    @property
    def jobs(self) -> JobStore:
        """The queue."""
        return self.store.jobs()


class Tracker:
    """Follows one job. The work calls it from its thread, the heartbeat from another.

    What is called for every file of ten thousand takes no lock: it sets one attribute or entry.

    Attributes:
        job: As it was claimed.
    """

    def __init__(
        self, job: Job, jobs: JobStore, clock: Callable[[], float], lease_seconds: float
    ) -> None:
        self.job = job
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

    def follow(self, work: ReadingContext) -> ReadingContext:
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

    def expect(self, done: int, total: int) -> None:
        """Note how much there is to do before any of it is done: nobody counts that as progress."""
        self._progress, self._is_new = Progress(done, total, ""), True

    def stored(self, result: Mapping[str, object]) -> None:
        """Write what came of the job, in the transaction of this thread that stores it.

        Raises:
            CancelledError: the job is to be cancelled, so nothing may be stored.
        """
        if not self._jobs.stored(self.job, result):
            self._heed(go_on=False)
            raise CancelledError

    def look(self) -> None:
        """Write what is new, and stop the work where somebody wants it stopped."""
        if self._is_new:
            self.write()
            return
        now = self._jobs.job(self.job.id)
        self._heed(go_on=not now.cancelling and now.worker == self.job.worker)

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
            self.job,
            done=progress.done,
            total=progress.total,
            current=progress.current,
            attempts=1 if self._has_moved else self.job.attempts,
            waits=0 if self._has_moved else self.job.waits,
            in_flight=(),
        )

    def _heed(self, *, go_on: bool) -> None:
        if not go_on:
            self.is_cancelled = True
            self.stop.set()


def claim(runner: Runner, job_id: str = "", *, kind: str = "") -> Job | None:
    """Take the job whose turn it is, of one kind or any, or the named one; None where none is."""
    _release_dead(runner)
    now = runner.clock()
    until = now + runner.lease_seconds
    left = () if job_id else _left_to_others(runner)
    return runner.jobs.claim(runner.worker.name, now, until, job_id, kind=kind, left=left)


def due(runner: Runner) -> tuple[Job, ...]:
    """Return the jobs that a worker would take now, those of workers that died among them."""
    _release_dead(runner)
    now, open_ = runner.clock(), runner.jobs.jobs(OPEN)
    busy = {job.lane for job in open_ if job.lease_until > now}
    left = _left_to_others(runner)
    return tuple(
        job
        for job in open_
        if job.waits_until <= now and job.lane not in busy and job.id not in left
    )


def _left_to_others(runner: Runner) -> tuple[str, ...]:
    """Return the jobs of folders that are not on this machine, for a while: one may see them."""
    if not runner.store.identity:
        return ()
    since = runner.clock() - _OTHERS_SECONDS
    return tuple(
        job.id
        for job in runner.jobs.jobs(OPEN)
        if job.created > since and not all(map(is_visible, _folders_of(job, runner.store)))
    )


def _folders_of(job: Job, store: Store) -> Iterator[Path]:
    arguments: Mapping[str, Any] = job.arguments
    for place in arguments.get("paths", ()):
        yield Path(system_path(place))
    if job.kind == "sync":
        names = arguments["sources"]
        for source in store.sources().sources():
            if source.kind is SourceKind.FOLDER and (not names or source.name in names):
                yield Path(system_path(source.location))


def is_busy(lane: str, runner: Runner) -> bool:
    """Whether a worker that lives has a job of a lane."""
    _release_dead(runner)
    running = runner.jobs.jobs((JobState.RUNNING,), lane)
    return any(job.lease_until > runner.clock() for job in running)


def _release_dead(runner: Runner) -> None:
    """End the leases of workers whose process is seen to have ended."""
    for job in runner.jobs.jobs((JobState.RUNNING,)):
        if job.lease_until > runner.clock() and runner.worker.is_gone(job.worker):
            runner.jobs.expire(job)
            runner.worker.forget(job.worker)


def run_job(
    job: Job,
    work: Callable[[Tracker], JobResult],
    runner: Runner,
    *,
    is_queued: bool = False,
) -> Job:
    """Do the work of a job that was claimed; return the job as it ended, or was postponed.

    Args:
        work: Does it. It ends early, as cancelled, when the tracker's ``stop`` is set.
        is_queued: Whether a worker runs it. Then it is pending again after Ctrl-C and after an
            error that passes, and how it ended is written as soon as it can be.

    Raises:
        KeyboardInterrupt: the work raised it; the job is cancelled, or pending.
        Exception: whatever else the work raised; the job failed for it.
    """

    def write(action: Callable[[], Value]) -> Value:
        return _patiently(action) if is_queued else action()

    job = write(lambda: _after_a_death(job, runner))
    if end := _is_over(job):
        return write(lambda: _finish(end, runner))
    tracker = Tracker(job, runner.jobs, runner.clock, runner.lease_seconds)
    with _heartbeat(tracker, runner.lease_seconds):
        try:
            ended = work(tracker)
        except KeyboardInterrupt:
            _finish(_stopped(tracker, is_queued=is_queued), runner)
            raise
        except Exception as error:
            if is_queued and not _ends(job, error):
                postponed = _postponed(tracker.ended(), error, runner)
                return write(lambda: _finish(postponed, runner))
            failed = _failed(tracker.ended(), error)
            with suppress(ChapterhouseError):  # as on a full disk: what it failed of is raised
                write(lambda: _finish(failed, runner))
            raise
        if ended.state is JobState.CANCELLED:
            last = _stopped(tracker, is_queued=is_queued)
        else:
            last = replace(tracker.ended(), state=ended.state)
        return write(lambda: _finish(replace(last, result=ended.result), runner))


def _patiently(action: Callable[[], Value]) -> Value:
    """Write as soon as the disk and the database let us: until then a worker can do nothing."""
    while True:
        try:
            return action()
        except UnavailableError as error:
            _log.warning("A job waits for its library: %s", error.message)
        time.sleep(_UNWRITABLE_SECONDS)


def _is_over(job: Job) -> Job | None:
    """Return how a job ended that is not to be begun; None where it is."""
    if job.cancelling and not job.result:
        return replace(job, state=JobState.CANCELLED)
    if job.attempts <= MOST_ATTEMPTS or job.kind == UPLOAD:
        return None
    times = f"The process that worked on it died {MOST_ATTEMPTS} times."
    hint = f"Is there enough memory? Try it again: chapterhouse jobs retry {job.id}"
    return replace(job, state=JobState.FAILED, error=times, hint=hint)


def _ends(job: Job, error: Exception) -> bool:
    """Whether an error ends a job of the queue. Only a refusal ends an upload.

    Who sent it was told that it is safe, and may have no other copy.
    """
    return isinstance(error, RejectedError) if job.kind == UPLOAD else not passes(error)


def run_here(
    kind: str,
    arguments: Mapping[str, object],
    lane: str,
    work: Callable[[Tracker], JobResult],
    runner: Runner,
    on_wait: Callable[[], object] = lambda: None,
) -> Job:
    """Make a job and run it at once, as ``run_job`` does; wait while its lane is busy.

    One of before with equal arguments that nobody is at is gone on with.

    Args:
        on_wait: Called again and again while another job of the lane runs.

    Raises:
        ChapterhouseError: the processes that worked on it before all died.
    """
    while True:
        _release_dead(runner)
        job = runner.jobs.enqueue(kind, arguments, lane, runner.clock())
        claimed = claim(runner, job.id)
        if claimed is not None:
            break
        on_wait()
        time.sleep(_PAUSE_SECONDS)
    ended = run_job(claimed, work, runner)
    if ended.state is JobState.FAILED:
        raise ChapterhouseError(ended.error, hint=ended.hint)
    return ended


def ended(report: AddReport) -> JobResult:
    """Return how a job ended that read files."""
    state = JobState.PARTIAL if report.is_partial else JobState.DONE
    if report.interrupted:
        state = JobState.CANCELLED
    records = [outcome.record for outcome in report.outcomes]
    counts = Counter(record.status for record in records)
    problems = [record for record in records if record.status in INCOMPLETE]
    return JobResult(
        state,
        {
            "files": len(records),
            "changed": report.changed,
            "chunks": report.chunks,
            "counts": {status.value: number for status, number in counts.items()},
            "documents": [one.document_id for one in records if one.document_id][:_NAMED],
            "problems": _named(problems[:_NAMED]),
            "missing": list(report.missing[:_NAMED]),
        },
        report,
    )


def _named(records: Sequence[FileRecord]) -> list[dict[str, str]]:
    return [
        {
            "source": record.source,
            "status": record.status.value,
            "code": record.code,
            "sentence": record.sentence,
        }
        for record in records
    ]


def _after_a_death(job: Job, runner: Runner) -> Job:
    """Record what the files that were in flight when a process died may have done.

    Where one is parked for it the job begins anew: the reason is out of the way.
    """
    if job.attempts == 1:
        return job
    with runner.store.together():
        parked = blame(job.in_flight, runner.store)
        job = replace(job, in_flight=(), attempts=1 if parked else job.attempts)
        runner.jobs.report(job, runner.clock() + runner.lease_seconds)
    return job


def _stopped(tracker: Tracker, *, is_queued: bool) -> Job:
    job = tracker.ended()
    if tracker.is_cancelled or not is_queued:
        return replace(job, state=JobState.CANCELLED)
    return replace(job, state=JobState.PENDING, attempts=job.attempts - 1)


def _postponed(job: Job, error: Exception, runner: Runner) -> Job:
    """Return a job that waits until what stopped it may have passed; no process died of it."""
    seconds = min(2 ** min(job.waits, 6), _MOST_WAIT_SECONDS)
    return replace(
        _failed(job, error),
        state=JobState.PENDING,
        attempts=job.attempts - 1,
        waits=job.waits + 1,
        waits_until=int(runner.clock()) + seconds,
    )


def _failed(job: Job, error: Exception) -> Job:
    if isinstance(error, ChapterhouseError):
        return replace(job, state=JobState.FAILED, error=error.message, hint=error.hint)
    return replace(job, state=JobState.FAILED, error=f"{type(error).__name__}: {error}")


def _finish(job: Job, runner: Runner) -> Job:
    runner.jobs.finish(job, runner.clock())
    return job


@contextmanager
def _heartbeat(tracker: Tracker, lease_seconds: float) -> Iterator[None]:
    """Let a thread write how far the job is, extend its lease and look for a cancellation."""
    done = threading.Event()

    def beat() -> None:
        latest = time.monotonic()
        while not done.wait(min(_BEAT_SECONDS, lease_seconds / _EXTENSIONS)):
            try:
                if time.monotonic() - latest < lease_seconds / _EXTENSIONS:
                    tracker.look()
                else:
                    tracker.write()
                    latest = time.monotonic()
            except ChapterhouseError as error:
                # The work itself meets the same full disk or busy database and fails for it; what
                # it does not meet passes.
                _log.info("A job could not be reported on: %s", error)

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
