"""Jobs in a table beside the documents they are about.

A claim is one transaction that takes the write lock first, so a job goes to one worker. How far a
job is survives the end of its process but not a power cut, which spares each report a
synchronisation of the disk.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store.rows import Database, Row, Value, first, repeatable, run
from chapterhouse.types import Document, FileInFlight, Job, JobState, Step

_ID: Final = re.compile(r"j?([0-9]{1,18})")
_REMOVED: Final = "(removed)"
_REMEMBERED: Final = 1_000  # finished jobs


@repeatable
class JobStore:
    """Jobs of one workspace. Every method is one transaction; times are seconds since 1970."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def enqueue(self, kind: str, arguments: Mapping[str, object], lane: str, now: float) -> Job:
        """Return a new pending job, or the equal one that is pending or whose lease has ended."""
        text = _json(arguments)
        with self._connections.write() as connection:
            found = first(connection, "free_job", now, kind, text)
            return _job(found or run(connection, "put_job", kind, text, lane, int(now))[0])

    def claim(
        self,
        worker: str,
        now: float,
        lease_until: float,
        job_id: str = "",
        *,
        kind: str = "",
        left: Collection[str] = (),
    ) -> Job | None:
        """Give a job to a worker until its lease ends, and count an attempt.

        It is the oldest job that is pending and not put off, or whose lease has ended, of the lane
        that was served least recently; a lane with a job under a lease is left out. All uploads
        are one lane in this, though they need not wait for each other. None where there is no
        such job.

        Args:
            worker: Who asks.
            now: The time.
            lease_until: When another may take it over.
            job_id: Only this job, also where it is put off.
            kind: Only a job of this kind; of any where it is empty.
            left: Jobs that are left to others.
        """
        key = _key(job_id) if job_id else 0
        bindings = (now, key, kind, json.dumps(list(map(_key, left))))
        # Who finds nothing to do does not let those wait who write.
        if not self._connections.rows("claimable_job", *bindings):
            return None
        with self._connections.write() as connection:
            found = first(connection, "claimable_job", *bindings)
            if found is None:
                return None
            return _job(run(connection, "claim_job", worker, lease_until, int(now), found[0])[0])

    def stored(self, job: Job, result: Mapping[str, object]) -> bool:
        """Write what came of a job, in the transaction that stores what it is about.

        Returns:
            False where it is to be cancelled, or is another worker's by now: then nothing is to be
            stored. A removal cancels the uploads of what it removes in its own transaction.
        """
        with self._connections.write() as connection:
            return bool(run(connection, "job_stored", _json(result), _key(job.id), job.worker))

    def report(self, job: Job, lease_until: float) -> bool:
        """Write how far a job is, and extend its lease.

        Returns:
            Whether to go on: False where it is to be cancelled, or is another worker's by now.
        """
        values = (_progress(job), job.attempts, lease_until, _key(job.id), job.worker)
        with self._connections.write(durable=False) as connection:
            found = run(connection, "report_job", *values)
        return bool(found) and not found[0][0]

    def finish(self, job: Job, now: float) -> bool:
        """Write how a job ended, or, where its state is pending, give it back.

        An upload that is done names its file no more. What came of a job that is given back is
        written by ``stored`` alone.

        Returns:
            False where it is another worker's by now; then nothing is written.
        """
        waits = job.state is JobState.PENDING
        values = (
            job.state.value,
            0 if waits else int(now),
            job.waits_until if waits else 0,
            _progress(job),
            job.attempts,
            _json(job.result),
            job.error,
            job.hint,
            _key(job.id),
            job.worker,
        )
        with self._connections.write() as connection:
            found = run(connection, "finish_job", *values)
            run(connection, "drop_old_jobs", _REMEMBERED)
        return bool(found)

    def cancel(self, job_id: str, now: float) -> Job:
        """Cancel a pending job; ask the worker of a running one to stop. Return what it is then.

        Raises:
            NotFoundError: there is no such job.
        """
        key = _key(job_id)
        with self._connections.write() as connection:
            run(connection, "cancel_pending_job", int(now), key)
            run(connection, "cancel_running_job", key)
            return _found(first(connection, "job", key), job_id)

    def expire(self, job: Job) -> None:
        """End the lease of a worker that is known to be gone."""
        with self._connections.write() as connection:
            run(connection, "expire_job", _key(job.id), job.worker)

    def job(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            NotFoundError: there is no such job.
        """
        with self._connections.read() as connection:
            return _found(first(connection, "job", _key(job_id)), job_id)

    def forget_uploads(self, documents: Iterable[Document]) -> list[str]:
        """End jobs that would store the bytes of documents on their shelves again.

        They forget the names of the files, too. A job for another shelf is another's.

        Returns:
            The names of their received files, those of jobs that had ended before among them.
        """
        with self._connections.write() as connection:
            wanted = json.dumps(
                [(one.sha256, shelf) for one in documents for shelf in ("", *one.shelves)]
            )
            received = [str(file) for _, file in run(connection, "uploads_of", wanted)]
            run(connection, "forget_uploads", wanted)
        return received

    def forget_documents(self, documents: Iterable[Document]) -> None:
        """Take names and hashes of removed documents out of the records of jobs that have ended."""
        namings = list(dict.fromkeys(text for one in documents for text in _namings(one)))
        with self._connections.write() as connection:
            for key, *texts in run(connection, "ended_jobs") if namings else ():
                without = tuple(_without(str(text), namings) for text in texts)
                if without != tuple(texts):
                    run(connection, "rewrite_job", key, *without)

    def jobs(
        self, states: Sequence[JobState] = (), lane: str = "", limit: int = _REMEMBERED
    ) -> tuple[Job, ...]:
        """Return the latest jobs, newest first.

        Args:
            states: Only jobs in one of them; all where none is named.
            lane: Only jobs of this lane; all when empty.
            limit: At most so many.
        """
        named = json.dumps([state.value for state in states or JobState])
        return tuple(map(_job, self._connections.rows("jobs", named, lane, limit)))


def _key(name: str) -> int:
    match = _ID.fullmatch(name.strip())
    if match is None:
        raise UsageError(f"'{name}' is no id of a job.", hint="They look like j12; see: jobs list")
    return int(match[1])


def _found(row: Row | None, name: str) -> Job:
    if row is None:
        raise NotFoundError(f"There is no job '{name}'.", hint="See: chapterhouse jobs list")
    return _job(row)


def _namings(document: Document) -> Iterator[str]:
    """Yield what may name a document in the record of a job: the longest first.

    A file may be named like part of another one: alone it counts only as a whole text.
    """
    yield from (json.dumps(name)[1:-1] for name in (document.location, document.source))
    yield from (document.id, document.sha256, f"upload {document.sha256[:8]}")
    yield json.dumps(document.source.rpartition("/")[2])


def _without(text: str, namings: Iterable[str]) -> str:
    for naming in namings:
        text = text.replace(naming, f'"{_REMOVED}"' if naming.startswith('"') else _REMOVED)
    return text


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, sort_keys=True)


def _progress(job: Job) -> Value:
    """Return what changes while a job runs, as JSON."""
    value: dict[str, Any] = {"done": job.done, "total": job.total, "current": job.current}
    value["in_flight"] = [asdict(file) for file in job.in_flight]
    value["waits"] = job.waits
    return json.dumps(value)


def _job(row: Row) -> Job:
    key, kind, arguments, lane, state, attempts, created, started, finished, _claim, *rest = row
    until, worker, cancelling, progress, result, error, hint = rest
    known: dict[str, Any] = json.loads(progress)
    return Job(
        id=f"j{key}",
        kind=kind,
        arguments=json.loads(arguments),
        lane=lane,
        state=JobState(state),
        attempts=attempts,
        created=created,
        started=started,
        finished=finished,
        lease_until=until if state == JobState.RUNNING else 0.0,
        worker=worker,
        waits=known.get("waits", 0),
        waits_until=int(until) if state == JobState.PENDING else 0,
        cancelling=bool(cancelling),
        done=known.get("done", 0),
        total=known.get("total", 0),
        current=known.get("current", ""),
        in_flight=tuple(
            FileInFlight(**{**file, "step": Step(file["step"])})
            for file in known.get("in_flight", ())
        ),
        result=json.loads(result),
        error=error,
        hint=hint,
    )
