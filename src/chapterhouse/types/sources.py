"""Where documents come from, and what bringing the library to their state did."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from chapterhouse.types.documents import DEFAULT_SHELF, INCOMPLETE, Document, Notice, Status, Trust


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
    """How one file ended in this run, reported after it is safe on disk.

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
    """How far long work is. ``outcome`` is set when a file has just been finished."""

    done: int
    total: int
    current: str
    outcome: FileOutcome | None = None


@dataclass(frozen=True, slots=True)
class FileMove:
    """A file that has another location now, with the document and the files in it.

    Attributes:
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

    @property
    def chunks(self) -> int:
        """Count the chunks that were written."""
        return sum(outcome.chunks for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Change:
    """The latest thing that happened to a document. ``document`` is None when it was removed."""

    sequence: int
    document_id: str
    document: Document | None


class RemovalState(StrEnum):
    """How far a removal has come. No search finds the documents in any of these states."""

    REMOVED = "removed"  # and no file of the workspace has anything of them
    INCOMPLETE = "incomplete"  # a file of the workspace still has something of them
    UNSEARCHED = "unsearched"  # words of them may be in files until the next removal or reindex


@dataclass(frozen=True, slots=True)
class Traces:
    """What removed documents are known by, chosen while they are there.

    Attributes:
        pieces: Of each passage, name, id and hash: some of its bytes.
        uploads: Names of received files with their bytes, whose jobs have ended.
    """

    pieces: tuple[frozenset[bytes], ...] = ()
    uploads: tuple[str, ...] = ()

    def __add__(self, other: "Traces") -> "Traces":
        """Return those of both."""
        return Traces((*self.pieces, *other.pieces), (*self.uploads, *other.uploads))


@dataclass(frozen=True, slots=True)
class FileSearch:
    """What a search of every file of a workspace for removed documents came to.

    What a document that is there has, too, does not count as found.

    Attributes:
        searched: How many passages, names, ids and hashes were looked for.
        places: Those files, from the folder of the workspace on, sorted.
        redacted: Transcripts, logs and the like from which lines were taken that had some of it.
    """

    searched: int
    found: int
    places: tuple[str, ...]
    files: int
    bytes: int
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Removal:
    """The documents that were removed, or would be; ``search`` is None where no file was searched.

    Attributes:
        traces: What the documents were known by; nothing where none was removed.
    """

    documents: tuple[Document, ...]
    search: FileSearch | None = None
    traces: Traces = field(default_factory=Traces, repr=False)

    @property
    def state(self) -> RemovalState:
        """How far it has come."""
        if self.search is None:
            return RemovalState.UNSEARCHED
        return RemovalState.INCOMPLETE if self.search.found else RemovalState.REMOVED


class SourceKind(StrEnum):
    """What a source is."""

    FOLDER = "folder"
    LINKS = "links"  # a list of web pages
    CLOUD = "cloud"  # a folder of a remote that rclone knows
    PERSONA = "persona"  # the folders of a persona
    COUNCIL = "council"
    FILES = "files"  # those that were added one by one


# Where nobody says how far a source is trusted; what is not here is the user's own.
USUAL_TRUST: Final = {SourceKind.LINKS: Trust.WEB, SourceKind.CLOUD: Trust.SHARED}


@dataclass(frozen=True, slots=True)
class Source:
    """Something that the library is to be the image of.

    Attributes:
        name: Unique; what the names of its files begin with. Of a persona ``persona/SLUG``.
        location: Absolute path of a folder or list, ``REMOTE:PATH``, or the folder of a definition.
        include: Patterns as in ``.gitignore``; where there are some, nothing else is read.
        maximum_bytes: Larger files are rejected; 0: as the settings say.
        synced: When it was last brought up to date, in seconds; 0: never.
        state: What its folders looked like from outside then: another one means a change.
        problem: Why the last time failed; empty where it did not.
    """

    name: str
    kind: SourceKind
    location: str
    shelf: str = DEFAULT_SHELF
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    maximum_bytes: int = 0
    synced: int = 0
    state: str = field(default="", metadata={"exclude": True})
    problem: str = ""
    trust: Trust = Trust.OWN


@dataclass(frozen=True, slots=True)
class Move:
    """A document that joined shelves or left them, and stays in the library."""

    source: str
    joined: tuple[str, ...]
    left: tuple[str, ...]


class StayReason(StrEnum):
    """Why documents stay although their files are not there."""

    AWAY = "away"  # their folder is not there, or no disk where they were read from one
    OTHER_DISK = "other-disk"  # another one than before is there, or it is not known which it was
    MANY = "many"  # so many in one pass that somebody has to confirm it


@dataclass(frozen=True, slots=True)
class StayingDocuments:
    """Documents that stay although their files are not there.

    Attributes:
        total: How many documents there are of the folder; 0 where that says nothing.
    """

    folder: str
    documents: int
    reason: StayReason
    total: int = 0


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What bringing a shelf or a source up to date did.

    Attributes:
        removed: Sources of documents that left the library, sorted.
        search: What a search for the removed text came to; with the last of several sources.
        removals: What was removed, until it is searched for.
    """

    files: AddReport
    removed: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    staying: tuple[StayingDocuments, ...] = ()
    source: str = ""
    problem: str = ""
    search: FileSearch | None = None
    removals: tuple[Removal, ...] = ()

    @property
    def changed(self) -> int:
        """Count the documents that were written, renamed, moved or removed."""
        return self.files.changed + len(self.removed) + len(self.moves)

    def __add__(self, other: "SyncReport") -> "SyncReport":
        """Return what both did; each thing once, where both looked into the same places."""
        files = AddReport(
            (*self.files.outcomes, *other.files.outcomes),
            (*self.files.missing, *other.files.missing),
            self.files.interrupted or other.files.interrupted,
            (*self.files.ignored, *other.files.ignored),
        )
        return SyncReport(
            files,
            (*self.removed, *other.removed),
            (*self.moves, *other.moves),
            (*self.staying, *other.staying),
            removals=(*self.removals, *other.removals),
        )
