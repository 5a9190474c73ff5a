"""What differs between two meetings of one council on one question.

Numbers of citations of what was said before count in ``MinutesChanges.citations``, those of what is
said now in ``Minutes.citations``.
"""

from dataclasses import dataclass
from enum import StrEnum

from chapterhouse.types.answers import Citation
from chapterhouse.types.positions import Position, PositionRelation


class ChangeKind(StrEnum):
    """How something differs from the earlier meeting."""

    CHANGED = "changed"
    NEW = "new"
    GONE = "gone"


class DocumentChangeKind(StrEnum):
    """What has become of a document since the earlier meeting."""

    CHANGED = "changed"  # its text is another one
    REMOVED = "removed"  # nobody in the meeting reads it any more
    FIRST_QUOTED = "first-quoted"  # added since, or only now the one that answers


class LapseReason(StrEnum):
    """Why a citation carries nothing any more."""

    REMOVED = "removed"  # nobody in the meeting reads its document any more
    CHANGED = "changed"  # its document no longer has the sentence
    NEWER_VERSION = "newer-version"  # there is a newer version of its document
    NEWER_DOCUMENT = "newer-document"  # a newer document says otherwise


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A document that is behind a change.

    Attributes:
        source: Its file, as it is shown.
    """

    kind: DocumentChangeKind
    document_id: str
    source: str


@dataclass(frozen=True, slots=True)
class PositionChange:
    """What a member's documents say on an aspect, and said otherwise before.

    Attributes:
        aspect: As it was asked.
        member: Key of whose documents.
        kind: ``new`` where they were silent, ``gone`` where they are now.
        documents: Ids of the documents in ``MinutesChanges.documents`` that are behind it; empty
            where those that are quoted are as they were.
    """

    aspect: str
    member: str
    kind: ChangeKind
    before: Position
    now: Position
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationChange:
    """How the members stand to each other on an aspect, and stood before."""

    aspect: str
    before: PositionRelation
    now: PositionRelation


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """What was decided before and is now; empty where nothing was."""

    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Lapse:
    """Why one citation carries nothing any more.

    Attributes:
        source: File of the document that was cited.
        newer: File of the newer document, where there is one; or empty.
    """

    reason: LapseReason
    document_id: str
    source: str
    newer: str = ""


@dataclass(frozen=True, slots=True)
class LapsedConclusion:
    """A conclusion of the earlier meeting that no longer holds, or not in full.

    Attributes:
        part: ``decision``, ``grounds`` or ``reading``.
        members: Keys of those who held it.
        lapses: Why, one for each citation that carries nothing any more.
        standing: How many of its citations still stand.
    """

    part: str
    text: str
    members: tuple[str, ...]
    lapses: tuple[Lapse, ...]
    standing: int = 0


@dataclass(frozen=True, slots=True)
class Unmatched:
    """An aspect or a member of one of the two meetings alone, which is not compared.

    Attributes:
        what: ``aspect`` or ``member``.
        name: Of an aspect what is asked, of a member how they are called.
    """

    what: str
    name: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class DocumentCount:
    """How many documents a member read before and reads now."""

    member: str
    before: int
    now: int


@dataclass(frozen=True, slots=True)
class MinutesChanges:
    """What differs between two meetings of one council on one question.

    Attributes:
        lapsed: What was concluded before and no longer holds.
        documents: Those behind the positions and conclusions above, in order of id.
        counts: Of members whose number of documents differs.
        citations: Of the earlier minutes, as far as they are named here.
    """

    positions: tuple[PositionChange, ...] = ()
    relations: tuple[RelationChange, ...] = ()
    decision: DecisionChange | None = None
    lapsed: tuple[LapsedConclusion, ...] = ()
    documents: tuple[DocumentChange, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    counts: tuple[DocumentCount, ...] = ()
    citations: tuple[Citation, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs in what is said; more documents alone do not count."""
        found = self.positions, self.relations, self.lapsed, self.unmatched
        return any(found) or self.decision is not None
