"""Removed documents: what is retained of them, what they are known by, and the proof."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chapterhouse.types.documents import Document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A document that was removed and may come back: its bytes are retained, nothing else.

    Attributes:
        container: The source of the archive or message that it was in, or nothing.
        size: Bytes of its file.
        modified: When its file was last changed, in seconds.
        mtime_ns: The same as the ledger of files has it, so that the file need not be read again.
        number: Of its removal; what was removed together has the same.
        removed: When that was, in seconds.
        until: When its bytes go, in seconds; 0: when they are dropped by hand.
    """

    id: str
    source: str
    location: str
    title: str
    format: str
    shelves: tuple[str, ...]
    container: str
    sha256: str
    size: int
    modified: int
    mtime_ns: int
    number: int
    removed: int
    until: int


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """What removed documents are known by, chosen while they were there.

    Attributes:
        keys: The id of its document by the key of each chunk.
        names: By which other documents may mention them, folded.
        phrases: Index terms that followed one another.
        terms: Single index terms, the longest.
        words: Words as they were written, folded, the longest.
        vectors: Some vectors of chunks by fingerprint, each of shape (n, dimensions).
        cached: Keys under which caches of embeddings may have vectors of their passages.
        pieces: Of each passage, title and the like: bytes that are looked for in files.
        sources: Of the documents, by id.
    """

    keys: Mapping[int, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    terms: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    vectors: "Mapping[str, NDArray[np.float32]]" = field(default_factory=dict)
    cached: tuple[bytes, ...] = ()
    pieces: tuple[frozenset[bytes], ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchCount:
    """What a search by one path came to.

    Attributes:
        searched: How many were looked for.
        found: How many of them are there still.
        places: Where, sorted.
    """

    searched: int = 0
    found: int = 0
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a search for removed documents came to, by every path.

    What is in another document, too, does not count as found, nor what is retained on purpose.

    Attributes:
        phrases: By phrase, in the lexical index.
        terms: By single terms, there and in the forward file.
        vectors: By the documents' own vectors, in every vector index and in the cache of
            embeddings.
        names: By the names of the documents and their words, in the index of names.
        ids: By id, in the store, the indexes, memories and cached answers.
        passages: By pieces of passages, in every file; those of a few letters are left out.
        files: How many files were searched, all of the workspace.
        bytes: Of these files.
        retained: Sources of the documents whose original bytes hold some of it.
    """

    phrases: SearchCount
    terms: SearchCount
    vectors: SearchCount
    names: SearchCount
    ids: SearchCount
    passages: SearchCount
    files: int
    bytes: int
    retained: tuple[str, ...] = ()

    @property
    def found(self) -> int:
        """Count what was found by any path."""
        return sum(one.found for one in self.paths.values())

    @property
    def paths(self) -> "Mapping[str, SearchCount]":
        """The searches by what was searched for."""
        return {
            "phrases": self.phrases,
            "terms": self.terms,
            "vectors": self.vectors,
            "names": self.names,
            "ids": self.ids,
            "passages": self.passages,
        }


@dataclass(frozen=True, slots=True)
class Removal:
    """The documents that were removed, or would be; the receipt is None where nothing was proven.

    Attributes:
        retained: Those of which the bytes are retained; they may come back.
        probes: What the documents were known by; nothing where none was removed.
    """

    documents: tuple[Document, ...]
    receipt: Receipt | None = None
    retained: tuple[RemovedDocument, ...] = ()
    probes: Probes = field(default_factory=Probes, repr=False)


@dataclass(frozen=True, slots=True)
class Purge:
    """The removed documents whose bytes were dropped, or would be, and the proof of it."""

    dropped: tuple[RemovedDocument, ...]
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """The removed documents that are back.

    Attributes:
        documents: As they are now.
        refused: Those that cannot come back, each with the reason.
    """

    documents: tuple[Document, ...]
    refused: tuple[tuple[RemovedDocument, str], ...] = ()
