"""What one member's documents say on an aspect: found, chosen, read as a position."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from chapterhouse.answering.parts import as_shown
from chapterhouse.answering.request import Request
from chapterhouse.claims.facts import facts_of
from chapterhouse.claims.relation import is_newer
from chapterhouse.council.positions.candidates import Candidates, candidates_of
from chapterhouse.council.positions.choose import Chosen, choose, fitted_position_model
from chapterhouse.council.positions.position import Stated, stated
from chapterhouse.runtime import Runtime
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.view import inert
from chapterhouse.types import Aspect, Document, PositionKind, Quotation

_RIVAL: Final = 0.25  # share of a sentence, over the best one's, that another may contradict
_MOST_VALUES: Final = 4
_OWNER: Final = re.compile(
    r"\b(?:our|this|unser\w*|dies\w{1,2}|notre|cet?te?) (?:\w+ )?(?:services?"
    r"|agreements?|policy|contract"
    r"|statement|terms|products?|websites?|vertrag|dienst|angebot|service|contrat)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FoundPosition:
    """What a member's documents say on an aspect, before it has a number.

    Attributes:
        span: The sentence in its document; None where they are silent.
        text: The sentence as it is shown.
        whose: Whose it is, as the sentence says; or empty.
        date: The day that the document states for itself; or empty.
        likely: How likely it answers, 0 to 1.
        outdated: What an older document says otherwise.
    """

    stated: Stated
    span: Quotation | None = None
    text: str = ""
    whose: str = ""
    date: str = ""
    likely: float = 0.0
    outdated: "FoundPosition | None" = None


SILENT: Final = FoundPosition(Stated(PositionKind.SILENT))


def read_aspect(aspect: Aspect, request: Request, runtime: Runtime) -> FoundPosition:
    """Return what the documents of a member say on an aspect.

    Args:
        aspect: What is asked.
        request: How a question is put to the member: what they read, and their settings.
        runtime: The library's parts.
    """
    model = fitted_position_model()
    candidates = candidates_of(aspect, request.scope, request.settings, runtime)
    chosen = choose(candidates, aspect, model)
    if chosen is None or chosen.likely < model.least:
        return SILENT
    best = _found(chosen.row, chosen, candidates, aspect)
    for rival in _rivals(chosen, candidates, aspect):
        if _is_other_version(best, rival):
            newer, older = (rival, best) if is_newer(rival.date, best.date) else (best, rival)
            return _with_older(newer, older)
    return best


def _found(row: int, chosen: Chosen, candidates: Candidates, aspect: Aspect) -> FoundPosition:
    sentence, own = candidates.sentences[row], candidates.texts[row]
    document = candidates.hits[sentence.rank].document
    header = sentence.header.split("\n", 1)[0]
    return FoundPosition(
        stated=stated(aspect, own, document.language),
        span=Quotation(document.id, sentence.begin, sentence.stop, own),
        text=inert(as_shown(own, header)),
        whose=_whose(own, document, aspect),
        date=stated_date(document),
        likely=chosen.likely,
    )


def _rivals(chosen: Chosen, candidates: Candidates, aspect: Aspect) -> Iterator[FoundPosition]:
    """Yield what other documents say nearly as well, the best first."""
    own = candidates.hits[candidates.sentences[chosen.row].rank].document.id
    least = _RIVAL * chosen.share
    for row in chosen.shares.argsort(kind="stable")[::-1]:
        if chosen.shares[row] < least:
            return
        if candidates.hits[candidates.sentences[row].rank].document.id != own:
            yield _found(int(row), chosen, candidates, aspect)


def _is_other_version(one: FoundPosition, other: FoundPosition) -> bool:
    """Whether two documents of known age state different values of one kind."""
    first, second = ({value.key for value in each.stated.values} for each in (one, other))
    differs = bool(first and second) and first.isdisjoint(second)
    opposed = {one.stated.kind, other.stated.kind} == {PositionKind.YES, PositionKind.NO}
    return (differs or opposed) and is_newer(one.date, other.date) is not None


def _with_older(newer: FoundPosition, older: FoundPosition) -> FoundPosition:
    return FoundPosition(
        newer.stated, newer.span, newer.text, newer.whose, newer.date, newer.likely, older
    )


def _whose(sentence: str, document: Document, aspect: Aspect) -> str:
    """Return whose it is that a sentence speaks of, in its own words."""
    owner = _OWNER.search(sentence)
    if owner:
        return inert(owner.group())
    names = facts_of(sentence, document.language).names
    asked = aspect.text.casefold()
    first = next((name for name in names if name.text.casefold() not in asked), None)
    values = {value.text for value in stated(aspect, sentence, document.language).values}
    return inert(first.text) if first and first.text not in values else ""
