"""When a member may give up a claim: for evidence that is new to them, not for company.

Members of a council that hear each other tend to agree with whoever spoke last or most. So a
concession counts only where it cites evidence that did not lie before the member when they made
the claim, and that bears on it: it contradicts what the claim rests on, or carries the claim to
which it gives way.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.claims.relation import Relation, relation
from chapterhouse.council.disagreement.compare import content_words
from chapterhouse.council.meeting.turns import Record
from chapterhouse.text.language import detect
from chapterhouse.types import Citation, Claim, Concession, Reading, Stance

_SHARED: Final = 2  # content words of two claims about one thing
_AGAINST: Final = frozenset({Relation.NUMBER, Relation.DATE, Relation.NEGATION})


def judge_concession(
    given: Concession,
    cited: Sequence[Citation],
    record: Record,
    *,
    free: bool = False,
) -> Concession:
    """Return a concession with whether it counts, and why.

    Args:
        given: As the member made it.
        cited: What it cites, every quotation verified.
        record: What was said before.
        free: Whether the council lets members concede without new evidence.
    """
    claim = record.claim(given.claim)
    against = _why_not(given, claim, cited, record, free=free)
    if against:
        return replace(given, accepted=False, reason=against)
    reason = (
        "This council lets its members concede freely."
        if free
        else "It cites evidence that is new to them."
    )
    return replace(given, accepted=True, reason=reason)


def _why_not(  # noqa: PLR0911 - one reason each
    given: Concession,
    claim: Claim | None,
    cited: Sequence[Citation],
    record: Record,
    *,
    free: bool,
) -> str:
    if claim is None or claim.member != given.member:
        return "It is no claim of theirs."
    if any(c.claim == claim.id and c.accepted for c in record.concessions):
        return "It was given up before."
    if free:
        return ""
    if not cited:
        return "It cites no evidence."
    before = record.read_by(given.member, until=claim.id)
    new = [citation for citation in cited if not _known(citation, before)]
    if not new:
        return "It cites only what lay before them when they made the claim."
    if not any(_bears(citation, claim, given, record) for citation in new):
        return "The evidence that it cites is new to them, but says nothing against the claim."
    return ""


def _known(citation: Citation, read: Iterable[Reading]) -> bool:
    return any(
        passage.document_id == citation.document_id
        and passage.start < citation.end
        and citation.start < passage.end
        for passage in read
    )


def _bears(citation: Citation, claim: Claim, given: Concession, record: Record) -> bool:
    """Whether a citation contradicts the claim, or carries the one to which it gives way."""
    language = detect(f"{claim.text}\n{citation.quote}")
    to = record.claim(given.to)
    others = to is not None and to.member != given.member
    if to is not None and others and _quotes(citation, record, to.citations):
        return _of_one_thing(claim, to, language)
    if any(
        _quotes(citation, record, reply.citations)
        for reply in record.replies
        if reply.claim == claim.id and reply.stance is Stance.CONTRADICTS
    ):
        return True
    own = [claim.text, *(one.quote for one in record.cited(claim.citations))]
    return any(relation(text, citation.quote, language) in _AGAINST for text in own)


def _of_one_thing(claim: Claim, other: Claim, language: str) -> bool:
    """Whether two claims share words enough to be about the same."""
    shared = content_words(claim.text, language) & content_words(other.text, language)
    return len(shared) >= _SHARED


def _quotes(citation: Citation, record: Record, numbers: Sequence[int]) -> bool:
    return any(
        one.document_id == citation.document_id
        and one.start < citation.end
        and citation.start < one.end
        for one in record.cited(numbers)
    )
