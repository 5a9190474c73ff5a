"""Which sentences speak of one subject, so that they may be compared: for councils.

Precision comes first: sentences must share most of what they speak of, and a difference in what
they speak of ("for members", "in 2022", another name) is no disagreement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.claims.align import (
    Sentence,
    begins_with_pronoun,
    context_terms,
    sentences_of,
)
from chapterhouse.claims.difference import ALIKE, LEAST_SHARED
from chapterhouse.claims.relation import Comparison, Relation, compare, relation
from chapterhouse.claims.statement import TokenKind, read
from chapterhouse.types import Evidence

__all__ = [
    "Comparison",
    "Relation",
    "Stated",
    "compare",
    "is_newer",
    "may_disagree",
    "relation",
    "stated_in",
]

_APART: Final = 400  # characters between two places of one document
_NEAR: Final = 3  # content words that the text around two sentences of one subject shares
_LONGEST: Final = 400  # characters of a sentence that is compared
CONTRADICTIONS: Final = frozenset({Relation.NUMBER, Relation.DATE, Relation.NEGATION})


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence of the evidence that states something to disagree about.

    Attributes:
        keys: Its content words, as they are compared.
        names: Those that belong to proper names.
        near: Content words of the text around it, where that is known.
        reworded: Whether it is what someone says of the stretch, not what stands there.
    """

    evidence: Evidence
    sentence: Sentence
    keys: frozenset[str]
    names: frozenset[str]
    near: frozenset[str] = frozenset()
    reworded: bool = False

    @property
    def start(self) -> int:
        """Where it begins in its document."""
        return self.evidence.start + self.sentence.start


def stated_in(evidence: Sequence[Evidence]) -> Iterator[Stated]:
    """Yield the sentences of stretches that state something, each place once.

    Headings, questions and very long sentences are left out.
    """
    seen: set[tuple[str, int]] = set()
    for stretch in evidence:
        for sentence in sentences_of(stretch.text, stretch.language):
            place = (stretch.document_id, stretch.start + sentence.start)
            states = not sentence.text.startswith("#") and not sentence.text.endswith(("?", "？"))
            if len(sentence.text) > _LONGEST or place in seen or not states:
                continue
            seen.add(place)
            tokens = read(sentence.text, stretch.language).tokens
            yield Stated(
                evidence=stretch,
                sentence=sentence,
                keys=frozenset(t.key for t in tokens if t.kind is TokenKind.WORD),
                names=frozenset(t.key for t in tokens if t.name),
            )


def of_one_language(one: Evidence, other: Evidence) -> bool:
    """Whether two stretches may be compared; that of a short document is often unknown."""
    return one.language == other.language or not (one.language and other.language)


def may_disagree(  # noqa: PLR0911 - one reason each
    one: Stated, other: Stated
) -> bool:
    """Whether two sentences share enough, and the same subject, to be worth comparing.

    They speak of one subject where they share a name, where what stands above both shares a word,
    where the text around both shares several, or where nothing tells and neither points back.
    """
    first, second = one.evidence, other.evidence
    shared = one.keys & other.keys
    if not of_one_language(first, second) or not shared:
        return False
    if len(shared) < LEAST_SHARED and one.keys != other.keys:
        return False
    if len(shared) < ALIKE * min(len(one.keys), len(other.keys)):
        return False
    if first.document_id == second.document_id and _are_neighbours(one, other):
        return False
    if one.names & other.names:
        return True
    above = [context_terms(e.title, e.section_path, e.language) for e in (first, second)]
    if above[0] & above[1] or first.document_id == second.document_id:
        return True
    if len((one.near & other.near) - shared) >= _NEAR:
        return True
    pointing = any(begins_with_pronoun_only(s) for s in (one, other))
    return not all(above) and not pointing


def _are_neighbours(one: Stated, other: Stated) -> bool:
    """Whether both stand close together in one document, whose author would see the conflict."""
    return not (one.reworded or other.reworded) and abs(one.start - other.start) < _APART


def begins_with_pronoun_only(statement: Stated) -> bool:
    """Whether a sentence begins with a pronoun rather than with an article."""
    first = statement.sentence.text.split(maxsplit=1)[0].lower()
    articles = {
        "the",
        "der",
        "die",
        "das",
        "le",
        "la",
        "les",
        "el",
        "los",
        "las",
        "il",
        "lo",
        "gli",
    }
    return first not in articles and begins_with_pronoun(
        read(statement.sentence.text, statement.evidence.language)
    )


def is_newer(one: str, other: str) -> bool | None:
    """Whether the first date is later; None where the parts that both state are the same."""
    length = min(len(one), len(other))
    if not length or one[:length] == other[:length]:
        return None
    return one[:length] > other[:length]
