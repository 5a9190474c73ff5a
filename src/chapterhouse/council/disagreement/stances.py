"""How the documents of one member stand to a claim of another.

Where a shelf holds both, what agrees and what contradicts, the closer sentence decides, and of two
that are equally close the one that agrees: a contradiction that is none costs a reader more than
one that is missed. But the claim's own place, or a copy of its words, only repeats it and never
hides what contradicts it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chapterhouse.claims.relation import Comparison, Relation, Stated
from chapterhouse.council.disagreement.compare import (
    compare_in_context,
    contradicts,
    same_text,
    statements_of,
)
from chapterhouse.types import ConflictKind, Evidence, Quotation, Stance


@dataclass(frozen=True, slots=True)
class FoundStance:
    """What a sentence of a member's documents says of a claim.

    Attributes:
        stance: ``supports`` or ``contradicts``.
        span: The sentence.
        by: In what it contradicts the claim.
        values: What the claim and the sentence state, where they contradict each other.
        subject: The words that both share.
        alike: Share of their content words that both have, 0 to 1; 1 for the very same words.
    """

    stance: Stance
    span: Quotation
    by: ConflictKind | None = None
    values: tuple[str, str] = ("", "")
    subject: str = ""
    alike: float = 0.0


@dataclass(frozen=True, slots=True)
class _Found:
    """A sentence of the shelf that speaks to the claim; ``repeats`` where it is its own words."""

    stated: Stated
    comparison: Comparison
    repeats: bool

    @property
    def rank(self) -> tuple[bool, float, bool, str, int]:
        """Sorts the best first: what is no repetition, the closest, agreement, then by place."""
        place = self.stated
        against = contradicts(self.comparison)
        return (
            self.repeats,
            -self.comparison.alike,
            against,
            place.evidence.document_id,
            place.start,
        )


def find_stance(
    claim: Evidence, passages: Sequence[Evidence], around: str = ""
) -> FoundStance | None:
    """Say how passages of a shelf stand to a claim.

    Args:
        claim: The claim's quotation as a stretch of its document.
        passages: What was found on the shelf with the claim as the query.
        around: Text of the claim's document around it, which may carry its subject; or empty.

    Returns:
        The sentence that speaks most to the claim; None where none does.
    """
    found = sorted(_speaking(claim, passages, around), key=lambda one: one.rank)
    if any(contradicts(one.comparison) for one in found):
        return _found_stance(found[0])
    if any(_holds(passage, claim) for passage in passages):
        span = Quotation(claim.document_id, claim.start, claim.end, claim.text)
        return FoundStance(Stance.SUPPORTS, span, subject=claim.text, alike=1.0)
    own = [one for one in found if one.repeats]  # word for word: nothing supports it better
    return _found_stance((own or found)[0]) if found else None


def _holds(passage: Evidence, claim: Evidence) -> bool:
    """Whether a passage contains the claim's own place."""
    same = passage.document_id == claim.document_id
    return same and passage.start <= claim.start and claim.end <= passage.end


def _speaking(claim: Evidence, passages: Sequence[Evidence], around: str) -> Iterator[_Found]:
    claimed = statements_of(claim, around)
    seen: set[tuple[str, int]] = set()
    for passage in passages:
        for stated in statements_of(passage):
            place = (passage.document_id, stated.start)
            if place in seen:
                continue
            seen.add(place)
            for one in claimed:
                comparison = compare_in_context(one, stated)
                if comparison.relation is not Relation.SILENT:
                    yield _Found(stated, comparison, _repeats(one, stated))


def _repeats(one: Stated, stated: Stated) -> bool:
    """Whether a sentence is the claim itself, or a copy of its words."""
    here = one.evidence.document_id == stated.evidence.document_id and one.start == stated.start
    return here or same_text(one.sentence.text, stated.sentence.text)


def _found_stance(found: _Found) -> FoundStance:
    stated, comparison = found.stated, found.comparison
    begin = stated.evidence.start + stated.sentence.start
    span = Quotation(
        document_id=stated.evidence.document_id,
        start=begin,
        end=begin + len(stated.sentence.text),
        quote=stated.sentence.text,
    )
    against = contradicts(comparison)
    return FoundStance(
        stance=Stance.CONTRADICTS if against else Stance.SUPPORTS,
        span=span,
        by=ConflictKind(comparison.relation.value) if against else None,
        values=comparison.values if against else ("", ""),
        subject=" ".join(comparison.shared),
        alike=round(comparison.alike, 4),
    )
