"""What an `add` knows of a file while it goes on, and what it needs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

from chapterhouse.connectors.content import MAXIMUM_BYTES, Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.presenting.wording import join_words
from chapterhouse.reading.formats import ARCHIVES
from chapterhouse.reading.limits import Limits
from chapterhouse.store.sqlite import Store
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    Extraction,
    FileInFlight,
    FileOutcome,
    FileRecord,
    Member,
    Notice,
    Progress,
    Status,
    Step,
)

if TYPE_CHECKING:
    from chapterhouse.ingest.prepare import PreparedDocument

Read = Callable[[bytes, str], Future[Extraction]]
Prepare = Callable[[Extraction, SourceFile, Content], "PreparedDocument"]

# The bytes could not be had this time: says nothing about the file, so a document of it stays.
UNREAD_CODES = frozenset(
    {"changed-while-reading", "cannot-list", "cannot-open", "vanished", "truncated"}
)
# It ended its reader, which may have been the machine's fault: it is tried again, so many times.
PROCESS_DIED = "process-died"
CRASH_CODES = frozenset({"reader-crashed", "timed-out", "out-of-memory", PROCESS_DIED})
MOST_ATTEMPTS = 3
# Failures that the next try may not meet: the moment's or the machine's fault, not the file's.
TRANSIENT_CODES = UNREAD_CODES | {"missing-extra"}
# Not a document rather than a bad one.
SKIPPED_CODES = frozenset({"unsupported-format", "symbolic-link"})

UNPACKED = "unpacked"  # the code of an archive: what is in it became documents
_NAMED = 5  # files that a notice names
CONTAINERS = ARCHIVES | {"eml", "msg"}  # formats with files inside


@dataclass(frozen=True, slots=True)
class FileTask:
    """What opening a file gave: bytes being read, nothing new, or an error.

    Attributes:
        known: What became of the file the last time.
        started: When it was opened, by the monotonic clock.
        within: The archive or message that it lies in.
    """

    file: SourceFile
    known: FileRecord | None
    content: Content | None = None
    extraction: Future[Extraction] | None = None
    error: RejectedError | None = None
    started: float = 0.0
    within: "Container | None" = None

    @property
    def size(self) -> int:
        """Bytes held in memory until it is settled."""
        return len(self.content.data) if self.content else 0


class UnpackBudget:
    """How many files and bytes may still be unpacked from one file and the archives in it."""

    def __init__(self, files: int, size: int) -> None:
        """Begin with all of it."""
        self._files = files
        self._bytes = size

    def take(self, members: Sequence[Member]) -> bool:
        """Take the room that members need; say whether there is as much."""
        self._files -= len(members)
        self._bytes -= sum(len(member.data) for member in members)
        return self._files >= 0 and self._bytes >= 0


@dataclass(frozen=True, slots=True)
class Container:
    """What a file lies in that was inside another.

    Attributes:
        source: Of the innermost.
        depth: How many there are around the file.
        held: How the files in it ended, by location.
    """

    source: str
    depth: int
    budget: UnpackBudget
    held: dict[str, FileOutcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadingContext:
    """What a run needs.

    Attributes:
        read: Starts reading bytes; called with the bytes and the file's name.
        shelf: Added to the shelves that a document is on already; empty for none.
        ahead: Files being read at a time, 1 or more.
        maximum_bytes: Larger files are rejected.
        on_progress: Called after each file, when its outcome is safe on disk.
        retry: Whether what gave no document the last time is read again.
        on_step: Called with what is begun to be done with a file.
        on_write: Called with how a file ended, in the transaction that writes it.
        on_end: Called with the location of a file with which no more is done.
    """

    store: Store
    read: Read
    prepare: Prepare
    shelf: str = ""
    ahead: int = 4
    maximum_bytes: int = MAXIMUM_BYTES
    on_progress: Callable[[Progress], None] = lambda _: None
    stop: Event = field(default_factory=Event)
    retry: bool = False
    limits: Limits = field(default_factory=Limits)
    on_step: Callable[[FileInFlight], None] = lambda _: None
    on_write: "Callable[[FileTask, FileOutcome], None] | None" = None
    on_end: Callable[[str], None] = lambda _: None


def in_flight(look: FileTask, step: Step) -> FileInFlight:
    """Return what others see of a file while it is worked on."""
    stamp = look.content or look.file
    digest = look.content.sha256 if look.content else ""
    file = look.file
    return FileInFlight(file.location, file.source, step, stamp.size, stamp.mtime_ns, digest)


def has_stamp(known: FileRecord, file: SourceFile) -> bool:
    """Whether a file looks from outside as it did when it was last opened."""
    # Of what a service exports nobody knows the size before it is fetched.
    if known.mtime_ns != file.mtime_ns or file.size not in {known.size, -1}:
        return False
    return not known.ctime_ns or known.ctime_ns == file.ctime_ns


def worth_another_try(known: FileRecord, *, retry: bool = False) -> bool:
    """Whether a file that gave no document might give one now, though it has not changed."""
    if known.document_id or known.status is Status.QUARANTINED:
        return False
    failed = known.status in {Status.READY, Status.FAILED}
    return retry or failed or known.code in TRANSIENT_CODES


def may_hold_files(known: FileRecord, work: ReadingContext) -> bool:
    """Whether a file may have others inside, as an archive, a message or a large table."""
    return known.format in CONTAINERS or known.size > work.limits.text_characters


def is_suspect(known: FileRecord) -> bool:
    """Whether a file may have ended its reader or a process, and is tried again."""
    return known.attempts > 0 and known.status is not Status.QUARANTINED


def status_of(code: str) -> Status:
    """Say how a file ends that is not read for the reason ``code``."""
    return Status.SKIPPED if code in SKIPPED_CODES else Status.REJECTED


def without_text(source: str, inside: Iterable[FileOutcome]) -> Iterator[Notice]:
    """Tell of files in a message that gave no document; the message's own text is whole."""
    records = (outcome.earlier[0] if outcome.earlier else outcome.record for outcome in inside)
    names = [
        record.source.removeprefix(f"{source}/")
        for record in records
        if not record.document_id and record.code != UNPACKED
    ]
    if names:
        text = counted(len(names), "file in it gave no text", "files in it gave no text")
        yield Notice("attachments-rejected", f"{text}: {join_words(names, _NAMED)}.")
