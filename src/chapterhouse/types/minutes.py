"""What a council makes of a question: statements, claims and how they stand to each other, minutes.

Everything that is said carries the numbers of its citations. Within a statement that has citations
of its own they count in those; in minutes, whose statements have none, in ``Minutes.citations``.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from chapterhouse.types.answers import Citation
from chapterhouse.types.claims import ConflictKind, Problem, Support
from chapterhouse.types.positions import PositionTable
from chapterhouse.types.writing import ToolCall, ToolText, Usage


class Stance(StrEnum):
    """How a member's documents, or a member, stand to a claim: of another, or their own."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    QUALIFIES = "qualifies"  # it holds only in part, or under a condition
    ASKS = "asks"  # they ask for evidence of it
    SILENT = "silent"


class ClaimKind(StrEnum):
    """What a claim rests on among the members, and what stands against it."""

    INDEPENDENT_SOURCES = "independent-sources"  # several say so, from sources of their own
    SHARED_SOURCE = "shared-source"  # several say so, and all of it rests on one document
    ONE_MEMBER = "one-member"  # only one has evidence for it
    DIFFERENT_DOCUMENTS = "different-documents"  # another document contradicts it
    DIFFERENT_READINGS = "different-readings"  # members read one document differently
    NEWER_AGAINST_OLDER = "newer-against-older"  # the contradicting documents differ in age
    OUTDATED_SOURCE = "outdated-source"  # of all that carries it there is a newer version


class Leaning(StrEnum):
    """How a member stands to an option."""

    FOR = "for"
    AGAINST = "against"
    CONDITIONAL = "conditional"  # for or against it only under a condition
    NEUTRAL = "neutral"  # it speaks of the option and takes no side
    SILENT = "silent"


class DissentReason(StrEnum):
    """Why members hold different things."""

    FACT = "fact"  # their documents state different facts
    INTERPRETATION = "interpretation"  # they read one document differently
    VALUE = "value"  # they want different things
    MISSING_EVIDENCE = "missing-evidence"  # somebody's documents do not say
    OLDER_DOCUMENT = "older-document"  # somebody relies on what a newer document says otherwise


@dataclass(frozen=True, slots=True)
class Reading:
    """A stretch of a document that a member had before them: ``text[start:end]`` of its body."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a member states as a fact.

    Attributes:
        id: ``c1``, ``c2`` and so on through the whole meeting; empty until it is recorded.
        member: Key of who states it.
        round: Name of the round.
        citations: Numbers of the citations that carry it.
        support: How far they do.
        problems: What in it does not agree with them.
    """

    id: str
    member: str
    round: str
    text: str
    citations: tuple[int, ...] = ()
    support: Support = Support.QUOTED
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a member says on a claim of another, or on one of their own that is open.

    Attributes:
        member: Key of who replies.
        claim: Id of the claim.
        text: The reason: a quotation, or a model's sentences.
        by: In what it contradicts the claim, where that could be told.
        values: What the claim and the reply state, where they differ in a number, date or denial.
    """

    member: str
    round: str
    claim: str
    stance: Stance
    text: str = ""
    citations: tuple[int, ...] = ()
    support: Support = Support.QUOTED
    problems: tuple[Problem, ...] = ()
    by: ConflictKind | None = None
    values: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Concession:
    """A member gives up a claim of their own.

    Attributes:
        claim: Id of the claim that is given up.
        to: Id of the claim to which it gives way; empty where it is evidence alone.
        accepted: Whether it counts: only for evidence that is new to the member and bears on the
            claim, unless the council lets members concede freely.
        reason: Why it counts or does not, in a sentence.
    """

    member: str
    round: str
    claim: str
    to: str
    text: str
    citations: tuple[int, ...] = ()
    accepted: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one member said in one round.

    Attributes:
        position: Their view in a sentence or two, which is no claim; empty without a model.
        option: What they would choose, where there are options; or empty.
        missing: What evidence they lack, in sentences.
        open_questions: What they would want to know.
        citations: Of the claims and replies; empty once they are in minutes.
        method: How it was composed: ``extractive``, or a model's name.
        tool_calls: What the model looked up, without what it was told.
        tool_texts: What tools returned, of all that is cited here.
        rejected: Markers that the model wrote and that cite nothing it was given.
        read: What lay before them in this turn.
        inner: The minutes of the council that the member is.
    """

    member: str
    round: str
    position: str = ""
    option: str = ""
    claims: tuple[Claim, ...] = ()
    replies: tuple[Reply, ...] = ()
    concessions: tuple[Concession, ...] = ()
    missing: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    method: str = "extractive"
    usage: Usage | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_texts: tuple[ToolText, ...] = ()
    warnings: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    read: tuple[Reading, ...] = ()
    inner: "Minutes | None" = None


@dataclass(frozen=True, slots=True)
class Absence:
    """A member who did not speak in a round, and why."""

    member: str
    round: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cell:
    """How one member stands to one claim.

    Attributes:
        claims: Ids of their own claims that say the same.
        citations: What carries the stance.
    """

    member: str
    stance: Stance
    claims: tuple[str, ...] = ()
    citations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MapRow:
    """A claim, whoever makes it, and how every member stands to it.

    Attributes:
        claim: Id of the claim that speaks for it: the first that was made.
        claims: Ids of all that say the same, that one first.
        text: Its words.
        cells: One a member, in the order of the seats.
        kinds: What it rests on and what stands against it.
        sources: Ids of the documents that carry it, sorted.
        rests_on: The one source of an agreement: a document's id, or what members call it where
            it is no document of theirs; or empty.
    """

    claim: str
    claims: tuple[str, ...]
    text: str
    cells: tuple[Cell, ...]
    kinds: tuple[ClaimKind, ...]
    sources: tuple[str, ...] = ()
    rests_on: str = ""


@dataclass(frozen=True, slots=True)
class DisputeSide:
    """One side of a dispute.

    Attributes:
        members: Keys of those who are on it, in the order of the seats.
        claim: Id of the claim; empty where it is only what a member's documents say.
        value: What it states: the number, the date, or "not".
        date: The day that its document states for itself, or empty.
    """

    members: tuple[str, ...]
    text: str
    citations: tuple[int, ...]
    claim: str = ""
    value: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two things said that cannot both be true.

    Attributes:
        kind: Of two documents, or of two readings of one.
        by: In what they differ, where that could be told.
        subject: The words that both share.
        sides: The newer first where the dates tell, else in the order in which they were said.
        newer: Whether the first side is the newer one; None where the dates do not tell.
    """

    kind: ClaimKind
    subject: str
    sides: tuple[DisputeSide, DisputeSide]
    by: ConflictKind | None = None
    newer: bool | None = None


@dataclass(frozen=True, slots=True)
class DisagreementMap:
    """Claims against members, and what is disputed.

    Attributes:
        members: Keys, in the order of the seats: the columns.
        rows: In the order in which the claims were made.
    """

    members: tuple[str, ...] = ()
    rows: tuple[MapRow, ...] = ()
    disputes: tuple[Dispute, ...] = ()


@dataclass(frozen=True, slots=True)
class ParticipantRecord:
    """Who sits in a council, as minutes name them.

    Attributes:
        key: How rounds and claims name them.
        title: How they are called.
        kind: ``persona``, ``role`` or ``council``.
        shelves: What they read.
        documents: How many documents stand there.
        model: Name of the model that speaks for them; empty where none does.
    """

    key: str
    title: str
    kind: str
    persona: str = ""
    shelves: tuple[str, ...] = ()
    documents: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A sentence of the minutes.

    Attributes:
        members: Keys of those who hold it.
        claims: Ids of the claims that it rests on.
        citations: Numbers of the citations that carry it.
        why: Of dissent, why others hold something else; None where that is not known.
    """

    text: str
    citations: tuple[int, ...] = ()
    support: Support = Support.QUOTED
    problems: tuple[Problem, ...] = ()
    members: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    why: DissentReason | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """Evidence that is missing, and from whose shelf."""

    member: str
    shelf: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one member stands to one option: a cell of the decision matrix."""

    option: str
    member: str
    leaning: Leaning
    text: str = ""
    citations: tuple[int, ...] = ()
    support: Support = Support.QUOTED


@dataclass(frozen=True, slots=True)
class Minutes:
    """What came of a meeting.

    Attributes:
        council: Slug.
        options: What was to be decided between.
        rounds: Names of the rounds that were held.
        statements: In the order of rounds and seats; the chair's is not among them.
        decided: The option that was chosen; empty where there were none or it stays open.
        decision: What was decided, or why nothing was.
        grounds: What it rests on.
        dissent: What stands against it, and who says so.
        reading: What each member's documents say on each thing that the question asks.
        matrix: By option, then by member; empty where no decision was asked for.
        chair: How who presided is called; empty where nobody did.
        method: How it was summed up: ``extractive``, or a model's name.
        usage: Of all models together, where any wrote.
        tool_texts: What tools returned, of all that the chair cites.
    """

    council: str
    title: str
    question: str
    purpose: str = ""
    options: tuple[str, ...] = ()
    members: tuple[ParticipantRecord, ...] = ()
    rounds: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    absences: tuple[Absence, ...] = ()
    map: DisagreementMap = DisagreementMap()
    decided: str = ""
    decision: tuple[Point, ...] = ()
    grounds: tuple[Point, ...] = ()
    dissent: tuple[Point, ...] = ()
    open_questions: tuple[Point, ...] = ()
    missing: tuple[Gap, ...] = ()
    reading: PositionTable = field(default_factory=PositionTable)
    matrix: tuple[Verdict, ...] = ()
    citations: tuple[Citation, ...] = ()
    chair: str = ""
    method: str = "extractive"
    usage: Usage | None = None
    warnings: tuple[str, ...] = ()
    tool_texts: tuple[ToolText, ...] = ()

    @property
    def debated(self) -> bool:
        """Whether a model spoke for anybody; else documents were only read."""
        inner = (statement.inner for statement in self.statements if statement.inner)
        return any(member.model for member in self.members) or any(one.debated for one in inner)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims in the order in which they were made."""
        return tuple(claim for statement in self.statements for claim in statement.claims)

    @property
    def concessions(self) -> tuple[Concession, ...]:
        """All concessions in the order in which they were made."""
        return tuple(given for statement in self.statements for given in statement.concessions)
