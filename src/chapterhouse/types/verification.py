"""What ``verify`` finds in a library, and what ``repair`` does about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Remedy(StrEnum):
    """What helps against a fault."""

    REINDEX = "reindex"  # build the index anew
    REREAD = "reread"  # read the document again, from its stored bytes or its file
    RESTORE = "restore"  # write the bytes again, from the file
    DROP = "drop"  # delete what belongs to nothing
    FORGET = "forget"  # forget the file, so that it is read again
    REBUILD = "rebuild"  # write the database anew from what can be read of it
    NONE = "none"  # nothing that a program could do


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it must be.

    Attributes:
        part: Where it is: ``database``, ``text``, ``bytes``, ``lexical index`` and so on.
        sentence: What is wrong, and with what.
        remedy: What helps.
        target: To what: a document's id, a hash, a location, the name of an index; or empty.
        hint: What a person can do where nothing else helps; else empty.
    """

    part: str
    sentence: str
    remedy: Remedy
    target: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which an index is not what the store says.

    Attributes:
        sentence: What differs, behind the name of the index.
        remedy: What helps.
        document_id: The document to read again, where the index is sound and the store's rows are
            not.
    """

    sentence: str
    remedy: Remedy = Remedy.REINDEX
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at, and what was found.

    Attributes:
        findings: In order of part.
        counts: How many of what were looked at: documents, chunks, blobs, indexes.
        quick: Whether the hashes of bytes were left out.
    """

    findings: tuple[Finding, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Unrepaired:
    """A fault that is left, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was repaired, or would be.

    Attributes:
        repaired: Faults that are gone.
        left: Faults that are still there.
        damaged_copy: Where the database was copied before it was written anew; or empty.
        lost: Rows that could not be read then, by table.
    """

    repaired: tuple[Finding, ...]
    left: tuple[Unrepaired, ...] = ()
    damaged_copy: str = ""
    lost: Mapping[str, int] = field(default_factory=dict)
