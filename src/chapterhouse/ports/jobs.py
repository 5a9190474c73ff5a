"""Long work, as it waits to be done: what a queue of jobs has to offer.

The store has one in a table. On a database server an engine made for it may take its place.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from chapterhouse.types import Document, Job, JobState


class Jobs(Protocol):
    """Jobs of one workspace. Every method is one transaction; times are seconds since 1970."""

    def enqueue(self, kind: str, arguments: Mapping[str, object], lane: str, now: float) -> Job:
        """Return a new pending job, or the equal one that is pending or whose lease has ended."""

    def claim(
        self,
        worker: str,
        now: float,
        lease_until: float,
        job_id: str = "",
        *,
        uploads: bool = False,
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
            uploads: Only a received file.
        """

    def stored(self, job: Job, result: Mapping[str, object]) -> bool:
        """Write what came of a job, in the transaction that stores what it is about.

        Returns:
            False where it is to be cancelled, or is another worker's by now: then nothing is to be
            stored. A removal cancels the uploads of what it removes in its own transaction.
        """

    def report(self, job: Job, lease_until: float) -> bool:
        """Write how far a job is, and extend its lease.

        Returns:
            Whether to go on: False where it is to be cancelled, or is another worker's by now.
        """

    def finish(self, job: Job, now: float) -> bool:
        """Write how a job ended, or, where its state is pending, give it back.

        An upload that is done names its file no more. What came of a job that is given back is
        written by ``stored`` alone.

        Returns:
            False where it is another worker's by now; then nothing is written.
        """

    def cancel(self, job_id: str, now: float) -> Job:
        """Cancel a pending job; ask the worker of a running one to stop. Return what it is then.

        Raises:
            NotFoundError: there is no such job.
        """

    def expire(self, job: Job) -> None:
        """End the lease of a worker that is known to be gone."""

    def job(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            NotFoundError: there is no such job.
        """

    def forget_uploads(self, documents: Iterable[Document]) -> Sequence[str]:
        """End jobs that would store the bytes of documents on their shelves again.

        They forget the names of the files, too. A job for another shelf is another's.

        Returns:
            The names of their received files, those of jobs that had ended before among them.
        """

    def forget_documents(self, documents: Iterable[Document]) -> None:
        """Take names and hashes of removed documents out of the records of jobs that have ended."""

    def jobs(
        self, states: Sequence[JobState] = (), lane: str = "", limit: int = 1_000
    ) -> Sequence[Job]:
        """Return the latest jobs, newest first.

        Args:
            states: Only jobs in one of them; all where none is named.
            lane: Only jobs of this lane; all when empty.
            limit: At most so many.
        """
