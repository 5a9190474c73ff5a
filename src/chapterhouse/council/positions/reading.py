"""What the members' documents say on an aspect: found, chosen, read as positions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.answering.parts import as_shown
from chapterhouse.answering.request import Request
from chapterhouse.claims.facts import facts_of
from chapterhouse.claims.relation import is_newer
from chapterhouse.council.positions.candidates import Candidates, candidates_of
from chapterhouse.council.positions.choose import (
    Chosen,
    PositionModel,
    choose,
    fitted_position_model,
    likelihood,
    signs_of,
)
from chapterhouse.council.positions.position import Stated, stated
from chapterhouse.council.positions.values import ValueKind, value_kind
from chapterhouse.runtime import Runtime
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.language_data import cue_pattern
from chapterhouse.text.view import inert
from chapterhouse.types import Aspect, Document, PositionKind, Quotation

_RIVAL: Final = 0.25  # share of a sentence, over the best one's, that another may contradict
_COMMON: Final = 3  # sentences from which a word with capitals is a term of the document
_VERSION: Final = 0.4  # Jaccard similarity of words from which two sentences are of two versions
_WORD: Final = re.compile(r"[^\W\d_]+")
# Cues of every language: ``cue_pattern``.
_OWNER: Final = r"\b<owners> (?:\w+ )?<owned>\b"


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


def read_together(
    aspect: Aspect, requests: Mapping[str, Request], runtime: Runtime
) -> Mapping[str, FoundPosition]:
    """Return what the documents of each member say on an aspect.

    What one member's documents have on it tells how much another's would have to have.

    Args:
        aspect: What is asked.
        requests: How a question is put to each member, by key: what they read, their settings.
        runtime: The library's parts.
    """
    model = fitted_position_model()
    looked = {
        key: candidates_of(aspect, request.scope, request.settings, runtime)
        for key, request in requests.items()
    }
    chosen = {key: choose(candidates, model.choice) for key, candidates in looked.items()}
    scores = [one.score for one in chosen.values() if one]
    return {
        key: _position(looked[key], one, aspect, scores, model) if one else SILENT
        for key, one in chosen.items()
    }


def _position(
    candidates: Candidates,
    chosen: Chosen,
    aspect: Aspect,
    scores: Sequence[float],
    model: PositionModel,
) -> FoundPosition:
    likely = likelihood(signs_of(candidates, chosen, aspect, scores), model)
    if likely < model.least:
        return SILENT
    best = replace(_found(chosen.row, candidates, aspect), likely=likely)
    for rival in _rivals(chosen, candidates, aspect):
        if _is_other_version(best, rival) and _alike(best.text, rival.text):
            newer, older = (rival, best) if is_newer(rival.date, best.date) else (best, rival)
            return replace(newer, likely=likely, outdated=older)
    return best


def _found(row: int, candidates: Candidates, aspect: Aspect) -> FoundPosition:
    sentence, own = candidates.sentences[row], candidates.texts[row]
    document = candidates.hits[sentence.rank].document
    header = sentence.header.split("\n", 1)[0]
    return FoundPosition(
        stated=_stated(aspect, own, document.language, candidates),
        span=Quotation(document.id, sentence.begin, sentence.stop, own),
        text=inert(as_shown(own, header)),
        whose=_whose(own, document, aspect),
        date=stated_date(document),
    )


def _stated(aspect: Aspect, sentence: str, language: str, candidates: Candidates) -> Stated:
    """Return what a sentence says; "the Agreement", which many sentences have, is no name."""
    found = stated(aspect, sentence, language)
    if value_kind(aspect.text, (language,)) is not ValueKind.NAME:
        return found
    names = tuple(
        value
        for value in found.values
        if sum(value.text in text for text in candidates.texts) <= _COMMON
    )
    return replace(found, values=names) if names else found


def _rivals(chosen: Chosen, candidates: Candidates, aspect: Aspect) -> Iterator[FoundPosition]:
    """Yield what other documents say nearly as well, the best first."""
    own = candidates.hits[candidates.sentences[chosen.row].rank].document.id
    least = _RIVAL * chosen.share
    for row in chosen.shares.argsort(kind="stable")[::-1]:
        if chosen.shares[row] < least:
            return
        if candidates.hits[candidates.sentences[row].rank].document.id != own:
            yield _found(int(row), candidates, aspect)


def _is_other_version(one: FoundPosition, other: FoundPosition) -> bool:
    """Whether two documents of known age state different values of one kind."""
    first, second = ({value.key for value in each.stated.values} for each in (one, other))
    differs = bool(first and second) and first.isdisjoint(second)
    opposed = {one.stated.kind, other.stated.kind} == {PositionKind.YES, PositionKind.NO}
    return (differs or opposed) and is_newer(one.date, other.date) is not None


def _alike(one: str, other: str) -> bool:
    """Whether two sentences share most of their words, as those of two versions do."""
    first, second = (frozenset(_WORD.findall(text.casefold())) for text in (one, other))
    return len(first & second) >= _VERSION * len(first | second)


def _whose(sentence: str, document: Document, aspect: Aspect) -> str:
    """Return whose it is that a sentence speaks of, in its own words."""
    owner = cue_pattern(_OWNER).search(sentence)
    if owner:
        return inert(owner.group())
    names = facts_of(sentence, document.language).names
    asked = aspect.text.casefold()
    first = next((name for name in names if name.text.casefold() not in asked), None)
    values = {value.text for value in stated(aspect, sentence, document.language).values}
    return inert(first.text) if first and first.text not in values else ""
