"""From the sentence that answers to a position: its value, or its yes or no, as it states it.

Yes and no are read from what the question asks (is it allowed, is it required, is it so), from what
the sentence permits, requires, forbids or denies, and from the exceptions that it names.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from chapterhouse.claims.statement import Statement, read
from chapterhouse.council.positions.values import Value, value_kind, values_in
from chapterhouse.text.language_data import cue_pattern
from chapterhouse.types import Aspect, AspectKind, PositionKind


@dataclass(frozen=True, slots=True)
class Stated:
    """What a sentence says on an aspect.

    Attributes:
        values: The values that it states, of the kind that is asked for.
        condition: Under which condition, as it states it; or empty.
    """

    kind: PositionKind
    values: tuple[Value, ...] = ()
    condition: str = ""


def stated(aspect: Aspect, sentence: str, language: str) -> Stated:
    """Return what a sentence says on an aspect.

    Args:
        aspect: What is asked.
        sentence: Of a document, that speaks of it.
        language: Of the document, ISO 639-1, or empty.
    """
    if aspect.kind is AspectKind.YES_NO:
        kind, condition = polarity(aspect.text, sentence, language)
        return Stated(kind, (), condition)
    wanted = value_kind(aspect.text, (language,))
    values = values_in(sentence, language, wanted, aspect.text)
    return Stated(PositionKind.VALUE if values else PositionKind.STATED, values)


# --- yes and no --------------------------------------------------------------------------------


class _Asked(StrEnum):
    """What a question that is answered with yes or no asks."""

    ALLOWED = "allowed"
    REQUIRED = "required"
    SO = "so"


# What stands in angle brackets are cues of every language: ``cue_pattern``.
_ALLOWED: Final = r"^<asks_allowed>\b"
_REQUIRED: Final = r"^<asks_required>\b"
# A question that asks whether something is barred: "do they stop us from hiring their people?"
_ASKS_BAR: Final = r"\b<asks_barred>\b"
_FORBIDS: Final = r"\b<forbids>\b"
_NOT_REQUIRED: Final = r"\b<not_required>\b"
_CONDITION: Final = r"\b<exceptions>\b"
_LIMIT: Final = r"\b<limits>\b"
_ANSWERS: Final = r"^\W*(?:(<yes>)|<no>)\s*(?:[,.;:!–—-]|$)"
_WITHOUT: Final = r"<without>"
_HEADING: Final = 5  # words
_ENDS: Final = (".", "!", ";", ":", "”", '"', "。")
_CLAUSE_END: Final = r"[;.]|, (?=<clauses>)"


def polarity(question: str, sentence: str, language: str) -> tuple[PositionKind, str]:
    """Return whether a sentence says yes, no or perhaps, and its condition; or empty.

    A heading is stated, and says neither.

    Args:
        question: What is asked, answered with yes or no.
        sentence: Of a document, that speaks of it.
        language: Of the sentence, ISO 639-1, or empty.
    """
    answers = cue_pattern(_ANSWERS).match(sentence)
    if answers:
        return PositionKind.YES if answers[1] else PositionKind.NO, ""
    if len(sentence.split()) <= _HEADING and not sentence.rstrip().endswith(_ENDS):
        return PositionKind.STATED, ""  # a heading decides nothing
    asked = _asked(question)
    condition = cue_pattern(_CONDITION).search(sentence)
    if condition is None and asked is _Asked.ALLOWED:
        condition = cue_pattern(_LIMIT).search(sentence)
    if condition:
        return PositionKind.CONDITIONAL, _clause(sentence, condition.start())
    denied = _denied(asked, sentence, read(sentence, language))
    barred = cue_pattern(_ASKS_BAR).search(question) is not None
    return (PositionKind.NO if denied != barred else PositionKind.YES), ""


def _asked(question: str) -> _Asked:
    if cue_pattern(_REQUIRED).search(question):
        return _Asked.REQUIRED
    return _Asked.ALLOWED if cue_pattern(_ALLOWED).search(question) else _Asked.SO


def _denied(asked: _Asked, sentence: str, stated: Statement) -> bool:
    if asked is _Asked.REQUIRED:
        return cue_pattern(_NOT_REQUIRED).search(sentence) is not None
    without = cue_pattern(_WITHOUT)  # what is done without something is done
    denials = (sentence[cue.start : cue.end] for cue in stated.facts.negations)
    denies = any(not without.fullmatch(denial) for denial in denials)
    return denies or cue_pattern(_FORBIDS).search(sentence) is not None


def _clause(sentence: str, start: int) -> str:
    found = cue_pattern(_CLAUSE_END).split(sentence[start:])[0]
    return found.strip()[:160]
