"""From the sentence that answers to a position: its value, or its yes or no, as it states it."""

from dataclasses import dataclass

from chapterhouse.council.positions.polarity import polarity
from chapterhouse.council.positions.values import Value, value_kind, values_in
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
