"""How minutes put their values into words."""

import re
from collections.abc import Mapping
from typing import Final

from chapterhouse.agents.council_model import RoundKind
from chapterhouse.types import (
    ClaimKind,
    ConflictKind,
    Dispute,
    Leaning,
    Problem,
    ProblemKind,
    Stance,
)

STANCES: Final[Mapping[Stance, str]] = {
    Stance.SUPPORTS: "✓ supports",
    Stance.CONTRADICTS: "✗ contradicts",
    Stance.SILENT: "· silent",
}
LEANINGS: Final[Mapping[Leaning, str]] = {
    Leaning.FOR: "✓ for",
    Leaning.AGAINST: "✗ against",
    Leaning.SILENT: "· silent",
}
KINDS: Final[Mapping[ClaimKind, str]] = {
    ClaimKind.INDEPENDENT_SOURCES: "several say so, from sources of their own",
    ClaimKind.SHARED_SOURCE: "agreement that rests on one shared source",
    ClaimKind.ONE_MEMBER: "only one member has evidence",
    ClaimKind.DIFFERENT_DOCUMENTS: "contradicted by another document",
    ClaimKind.DIFFERENT_READINGS: "one document, read differently",
    ClaimKind.NEWER_AGAINST_OLDER: "newer against older",
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

# What a document's Markdown looks like where it is quoted as text: a bullet, and bold words.
_BULLET: Final = re.compile(r"(?:^|(?<=“))\s{0,9}[-*+•] {1,9}(?=\S)")
_BOLD: Final = re.compile(r"\*\*(?=\S)([^*\n]{1,400})(?<=\S)\*\*")


def legible(text: str) -> str:
    """Return words without the marks of a document's Markdown; quotations keep them."""
    return _BOLD.sub(r"\1", _BULLET.sub("", text))


def kinds(found: tuple[ClaimKind, ...], rests_on: str = "") -> str:
    """Return what a claim rests on and what stands against it, as people say it."""
    told = [
        f"{KINDS[kind]}: {rests_on}"
        if kind is ClaimKind.SHARED_SOURCE and rests_on
        else KINDS[kind]
        for kind in found
    ]
    return "; ".join(told)


def round_title(name: str) -> str:
    """Return the name of a round as a title."""
    words = "cross-examination" if name == RoundKind.CROSS_EXAMINATION else name.replace("_", " ")
    return words[:1].upper() + words[1:]


def dispute_title(dispute: Dispute, number: int) -> str:
    """Return what a dispute is about, and of what kind it is."""
    details = [_DISPUTES[dispute.kind], *([_BY[dispute.by]] if dispute.by else [])]
    values = [side.value for side in dispute.sides if side.value]
    told = " against ".join(values) if len(values) > 1 else dispute.subject
    about = f"{told}: " if told else ""
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
    return f"{_PROBLEMS[found.kind]} “{found.said}”{instead}"
