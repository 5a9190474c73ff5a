"""Removed documents: what a file would know them by, and whether one still does."""

from dataclasses import dataclass, field
from enum import StrEnum

from chapterhouse.types.documents import Document


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
        cached: Keys under which caches of embeddings may have vectors of their passages.
        uploads: Names of received files with their bytes, whose jobs have ended.
    """

    pieces: tuple[frozenset[bytes], ...] = ()
    cached: tuple[bytes, ...] = ()
    uploads: tuple[str, ...] = ()

    def __add__(self, other: "Traces") -> "Traces":
        """Return those of both."""
        return Traces(
            (*self.pieces, *other.pieces),
            (*self.cached, *other.cached),
            (*self.uploads, *other.uploads),
        )


@dataclass(frozen=True, slots=True)
class FileSearch:
    """What a search of every file of a workspace for removed documents came to.

    What a document that is there has, too, does not count as found.

    Attributes:
        searched: How many passages, names, ids and hashes were looked for.
        found: How many of them a file has.
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
