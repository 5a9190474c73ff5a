"""Long work as jobs of the store: what is to be done, how far it is, how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

UPLOAD = "upload"  # the kind of job that reads a received file, of which nobody else has the bytes


class JobState(StrEnum):
    """Where a job is. A pending or running one is open, the others are finished."""

    PENDING = "pending"  # nobody is at it
    RUNNING = "running"  # a process is at it, or was until it died
    DONE = "done"
    PARTIAL = "partial"  # done, but some files are not wholly in the library
    FAILED = "failed"  # the error says why
    CANCELLED = "cancelled"  # somebody stopped it; what was done is safe


OPEN = (JobState.PENDING, JobState.RUNNING)
FINISHED = tuple(state for state in JobState if state not in OPEN)


class Step(StrEnum):
    """What is being done with a file."""

    READING = "reading"
    CHUNKING = "chunking"  # the vectors that are stored with a document included
    EMBEDDING = "embedding"  # an encoder's vectors


@dataclass(frozen=True, slots=True)
class FileInFlight:
    """A file that is being worked on.

    The attributes but ``step`` are those of a ``FileRecord``: if its process dies, one is written.
    """

    location: str
    source: str
    step: Step
    size: int = 0
    mtime_ns: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """Long work, ordered.

    Attributes:
        id: As ``j12``.
        arguments: With what, as JSON has it.
        lane: What fairness goes by, such as the folder it reads: no two jobs of one lane run at a
            time, and lanes take turns.
        attempts: How often a process began it, got nothing done and died; the present one counts.
        created: Seconds since 1970, as are ``started`` and ``finished``; 0 for not yet.
        lease_until: When another process may take it over, unless the worker extends it.
        worker: Who is at it, or was the last.
        waits: How often in a row it was postponed for what passes, such as a full disk.
        waits_until: When it is tried again after that; 0 for at once.
        cancelling: Whether somebody wants it stopped.
        done: Files, or documents, that are done.
        total: Of how many; 0 while that is not known.
        result: What came of it, as JSON has it. One that is open and has a result has stored all
            that it is about, and is only to be indexed.
    """

    id: str
    kind: str
    arguments: Mapping[str, object]
    lane: str
    state: JobState = JobState.PENDING
    attempts: int = 0
    created: int = 0
    started: int = 0
    finished: int = 0
    lease_until: float = field(default=0.0, metadata={"exclude": True})
    worker: str = ""
    waits: int = 0
    waits_until: int = 0
    cancelling: bool = False
    done: int = 0
    total: int = 0
    current: str = ""
    in_flight: tuple[FileInFlight, ...] = ()
    result: Mapping[str, object] = field(default_factory=dict)
    error: str = ""
    hint: str = ""


def source_result(job: Job, name: str) -> Mapping[str, Any]:
    """Return what a sync did to a source, by its name; nothing where it did not look at it."""
    parts: Any = job.result.get("sources", ())
    return next((part for part in parts if part["source"] == name), {})
