"""What became of files, run by run, and the feed of changes."""

from dataclasses import dataclass

from chapterhouse.types.documents import INCOMPLETE, Document, Notice, Status


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What became of one file the last time it was looked at.

    ``size``, ``mtime_ns`` and ``ctime_ns`` let the next look skip it without opening it; 0 for the
    last is not known, as of what is not on a disk. ``attempts`` counts how often these bytes ended
    their reader or its process. ``volume`` is where the file was when it was last seen; empty where
    that is not known, and of what is in an archive or a message.
    """

    location: str
    source: str
    size: int
    mtime_ns: int
    sha256: str
    status: Status
    code: str = ""
    sentence: str = ""
    document_id: str = ""
    format: str = ""
    ctime_ns: int = 0
    attempts: int = 0
    volume: str = ""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """How one file ended in this run, told after it is safe on disk.

    Attributes:
        changed: Whether this run altered the library.
        inside: Whether the file lies in an archive or a message.
        earlier: How an unchanged file, and each file in it, ended when it was read.
    """

    record: FileRecord
    changed: bool
    notices: tuple[Notice, ...] = ()
    seconds: float = 0.0
    inside: bool = False
    earlier: tuple[FileRecord, ...] = ()
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work is. ``outcome`` is set when a file has just been finished."""

    done: int
    total: int
    current: str
    outcome: FileOutcome | None = None


@dataclass(frozen=True, slots=True)
class FileMove:
    """A file that has another location now, with the document and the files in it.

    Attributes:
        location: Where it was.
        record: What is to be remembered of it, at its new location.
    """

    location: str
    record: FileRecord
    title: str = ""
    modified: int = 0


@dataclass(frozen=True, slots=True)
class Ignored:
    """A file or folder that was not looked at, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class AddReport:
    """What one ``add`` did.

    Attributes:
        outcomes: In order of source name.
        missing: Sources once added from these folders that are gone now.
        ignored: Files and folders that are no documents by their names, or are excluded.
    """

    outcomes: tuple[FileOutcome, ...]
    missing: tuple[str, ...] = ()
    interrupted: bool = False
    ignored: tuple[Ignored, ...] = ()

    def count(self, status: Status) -> int:
        """Count the files that ended so in this run."""
        return sum(outcome.record.status == status for outcome in self.outcomes)

    def count_earlier(self, status: Status) -> int:
        """Count the unchanged files that ended so when they were read."""
        return sum(
            record.status == status for outcome in self.outcomes for record in outcome.earlier
        )

    @property
    def is_partial(self) -> bool:
        """Whether a file is not wholly in the library, now or, unchanged, earlier."""
        return any(
            record.status in INCOMPLETE
            for outcome in self.outcomes
            for record in (outcome.record, *outcome.earlier)
        )

    @property
    def changed(self) -> int:
        """Count the files whose documents were written."""
        return sum(outcome.changed for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Change:
    """The latest thing that happened to a document. ``document`` is None when it was removed."""

    sequence: int
    document_id: str
    document: Document | None
