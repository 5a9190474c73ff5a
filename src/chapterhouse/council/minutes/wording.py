"""How minutes put their values, members, claims and citations into words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.agents.council_model import CHAIR, RoundKind
from chapterhouse.answering.checksum import EXTRACTIVE
from chapterhouse.presenting.blocks import Cited, ClaimName, Line, Style, Words
from chapterhouse.presenting.wording import method
from chapterhouse.types import (
    FOUND,
    ClaimKind,
    ConflictKind,
    Dispute,
    DissentReason,
    Leaning,
    Minutes,
    Problem,
    ProblemKind,
    Stance,
    Support,
)

STANCES: Final[Mapping[Stance, str]] = {
    Stance.SUPPORTS: "✓ supports",
    Stance.CONTRADICTS: "✗ contradicts",
    Stance.QUALIFIES: "~ qualifies",
    Stance.ASKS: "? asks for evidence of",
    Stance.SILENT: "· silent",
}
LEANINGS: Final[Mapping[Leaning, str]] = {
    Leaning.FOR: "✓ for",
    Leaning.AGAINST: "✗ against",
    Leaning.CONDITIONAL: "~ under a condition",
    Leaning.NEUTRAL: "= neutral",
    Leaning.SILENT: "· silent",
}
KINDS: Final[Mapping[ClaimKind, str]] = {
    ClaimKind.INDEPENDENT_SOURCES: "several say so, from sources of their own",
    ClaimKind.SHARED_SOURCE: "agreement that rests on one shared source",
    ClaimKind.ONE_MEMBER: "only one member has evidence",
    ClaimKind.DIFFERENT_DOCUMENTS: "contradicted by another document",
    ClaimKind.DIFFERENT_READINGS: "one document, read differently",
    ClaimKind.NEWER_AGAINST_OLDER: "newer against older",
    ClaimKind.OUTDATED_SOURCE: "rests on an outdated version",
}
REASONS: Final[Mapping[DissentReason, str]] = {
    DissentReason.FACT: "a fact is disputed",
    DissentReason.INTERPRETATION: "one document is read differently",
    DissentReason.VALUE: "they want different things",
    DissentReason.MISSING_EVIDENCE: "evidence is missing",
    DissentReason.OLDER_DOCUMENT: "one document is older than the other",
}
_DISPUTES: Final[Mapping[ClaimKind, str]] = {
    **KINDS,
    ClaimKind.DIFFERENT_DOCUMENTS: "two documents contradict each other",
    ClaimKind.NEWER_AGAINST_OLDER: "a newer document contradicts an older one",
}
_BY: Final[Mapping[ConflictKind, str]] = {
    ConflictKind.NUMBER: "in a number",
    ConflictKind.DATE: "in a date",
    ConflictKind.NEGATION: "one denies what the other says",
    ConflictKind.NAME: "in a name",
}
_PROBLEMS: Final[Mapping[ProblemKind, str]] = {
    ProblemKind.NUMBER: "the number",
    ProblemKind.DATE: "the date",
    ProblemKind.NAME: "the name",
    ProblemKind.NEGATION: "the denial",
    ProblemKind.WORDS: "the words",
    ProblemKind.QUOTATION: "the quotation",
    ProblemKind.MARKER: "the citation",
}

_NOT_FOUND: Final = "not shown by a source"

# What a document's Markdown looks like where it is quoted as text: a bullet, and bold words.
_BULLET: Final = re.compile(r"(?:^|(?<=“))\s{0,9}[-*+•] {1,9}(?=\S)")
_BOLD: Final = re.compile(r"\*\*(?=\S)([^*\n]{1,400})(?<=\S)\*\*")


def support_mark(support: Support) -> str:
    """Return what a reader is warned of beside a claim; or empty."""
    return "" if support in FOUND or support is Support.NO_STATEMENT else _NOT_FOUND


def legible(text: str) -> str:
    """Return words without the marks of a document's Markdown; quotations keep them."""
    return _BOLD.sub(r"\1", _BULLET.sub("", text))


def kinds(found: tuple[ClaimKind, ...], rests_on: str = "") -> str:
    """Return what a claim rests on and what stands against it, as people say it."""
    names = [
        f"{KINDS[kind]}: {rests_on}"
        if kind is ClaimKind.SHARED_SOURCE and rests_on
        else KINDS[kind]
        for kind in found
    ]
    return "; ".join(names)


def round_title(name: str) -> str:
    """Return the name of a round as a title."""
    words = "cross-examination" if name == RoundKind.CROSS_EXAMINATION else name.replace("_", " ")
    return words[:1].upper() + words[1:]


def dispute_title(dispute: Dispute, number: int) -> str:
    """Return what a dispute is about, and of what kind it is."""
    details = [_DISPUTES[dispute.kind], *([_BY[dispute.by]] if dispute.by else [])]
    values = [side.value for side in dispute.sides if side.value]
    remark = " against ".join(values) if len(values) > 1 else dispute.subject
    about = f"{remark}: " if remark else ""
    return f"{number}. {about}{', '.join(details)}"


def dispute_verdict(dispute: Dispute) -> str:
    """Return which side is newer, if that can be told."""
    first, second = (side.date for side in dispute.sides)
    if dispute.newer:
        return f"The first is newer: {first} against {second}."
    if dispute.kind is ClaimKind.DIFFERENT_READINGS:
        return "Both read the same document."
    if first and second:
        return "Their dates do not tell which is newer."
    return "Which is newer cannot be told: not both state a date."


def problem(found: Problem) -> str:
    """Return what does not agree with a sentence's citations."""
    instead = f", not “{found.found}”" if found.found else ""
    return f"{_PROBLEMS[found.kind]} “{found.claimed}”{instead}"


@dataclass(frozen=True, slots=True)
class Reader:
    """Names of one meeting.

    Attributes:
        place: Of the meeting, as ``contents.meetings`` gives it.
        members: How members are called, by key.
        anchors: Of claims, by id.
        numbers: Of the citations that there are.
        sources: Titles of the documents that are cited, by id.
        names_claims: Whether sentences name the claims that they rest on.
    """

    minutes: Minutes
    place: str
    members: Mapping[str, str]
    anchors: Mapping[str, str]
    numbers: frozenset[int]
    sources: Mapping[str, str]
    names_claims: bool = True

    def title(self, key: str) -> str:
        """Return how a member is called."""
        return self.members.get(key, key)

    def titles(self, keys: Iterable[str]) -> str:
        """Return how members are called."""
        return ", ".join(map(self.title, keys))

    def source(self, name: str) -> str:
        """Return the title of a document that is cited, else its name."""
        return self.sources.get(name, name)

    def cited(self, numbers: Iterable[int]) -> Line:
        """Return citations as they are called; those that are not there are left out."""
        names = tuple(f"{self.place}{number}" for number in numbers if number in self.numbers)
        return (Cited(names),) if names else ()

    def claim(self, name: str, *, stated: bool = False) -> ClaimName:
        """Return the name of a claim, with its anchor where it is one."""
        return ClaimName(name, self.anchors.get(name, ""), stated)

    def claims(self, names: Iterable[str]) -> Line:
        """Return claims that something rests on, in brackets."""
        named = [self.claim(name) for name in names if name]
        if not named or not self.names_claims:
            return ()
        between = [part for one in named for part in (Words(", ", Style.QUIET), one)][1:]
        return (Words(" (", Style.QUIET), *between, Words(")", Style.QUIET))

    def supported(
        self,
        text: str,
        support: Support,
        problems: Sequence[Problem],
        citations: Iterable[int],
    ) -> Line:
        """Return a sentence with its citations, and how far they carry it where not in full."""
        mark = support_mark(support)
        amiss = "; ".join(problem(one) for one in problems) if mark else ""
        remark = ": ".join(filter(None, (mark, amiss)))
        warning = (Words(f" ({remark})", Style.WARNING),) if remark else ()
        return (Words(legible(text)), *self.cited(citations), *warning)


def summed_up(minutes: Minutes) -> str:
    """Return how minutes came about: that rules wrote them does not mean that no model spoke."""
    methods = {minutes.method, *(statement.method for statement in minutes.statements)}
    if minutes.method == EXTRACTIVE and methods != {EXTRACTIVE}:
        return "by rules, from what models wrote"
    return method(minutes.method)


def reader_of(minutes: Minutes, place: str = "", *, names_claims: bool = True) -> Reader:
    """Return the names of a meeting."""
    members = {
        participant.key: participant.title or participant.key
        for participant in reversed(minutes.members)
    }
    if minutes.chair:
        members.setdefault(CHAIR, minutes.chair)
    return Reader(
        minutes,
        place,
        members,
        {
            claim.id: f"claim-{place}{number}"
            for number, claim in reversed(list(enumerate(minutes.claims, start=1)))
        },
        frozenset(citation.number for citation in minutes.citations),
        {c.document_id: c.title or c.source for c in reversed(minutes.citations)},
        names_claims,
    )
