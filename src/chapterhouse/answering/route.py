"""Whose question it is, and what the reader is told first.

A question that the evidence answers is answered, whatever the profile says. One that it does not
answer is *insufficient* where it belongs to the persona's field, and *out of scope* where it does
not: its words are not those of the tags, terms and summary of the persona, and nothing on the
shelf comes near. Thresholds from ``benchmarks/routing.py``.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from chapterhouse.answering.question_kind import QuestionKind, states_count
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Persona, Question, Route

# They end in a colon, and lead in to the passages.
_NEEDS_MODEL: Final[Mapping[QuestionKind, str]] = {
    QuestionKind.COUNT: "Counting needs a model. These are passages it would count over:",
    QuestionKind.WEIGHING: "Weighing needs a model. These are the passages it would weigh:",
    QuestionKind.SUMMARY: "A summary needs a model. These are passages it would sum up:",
}
_BEGINNING: Final = "A summary needs a model. This is how {} begins:"
# Share of the question's word weight that stands in the profile, from which it is of the field.
FIELD_SHARE: Final = 0.25
# Confidence from which a question that is not answered is at least close to the field.
NEAR: Final = 0.3


def needs_model(kind: QuestionKind, shown: str, asked: str) -> bool:
    """Whether no quotation can answer a question: it is to be counted, weighed or summed up."""
    counted = kind is QuestionKind.COUNT and states_count(shown, asked)
    return kind in _NEEDS_MODEL and not counted


def notice(kind: QuestionKind, shown: str, asked: str, *, beginning: str = "") -> str:
    """Return what the reader is told first; empty where there is nothing to tell."""
    if not shown or not needs_model(kind, shown, asked):
        return ""
    return _BEGINNING.format(f"“{beginning}”") if beginning else _NEEDS_MODEL[kind]


def route(
    question: Question,
    persona: Persona | None,
    weights: Sequence[float],
    confidence: float,
    *,
    found: bool,
) -> Route:
    """Return what becomes of a question; to the library, which is nobody, none is foreign.

    Weights are of the question's content words in their order, the confidence is 0 to 1.
    """
    if found:
        return Route.ANSWERED
    if persona is None or confidence >= NEAR:
        return Route.INSUFFICIENT
    share = field_share(question, persona, weights)
    return Route.INSUFFICIENT if share >= FIELD_SHARE else Route.OUT_OF_SCOPE


def field_share(question: Question, persona: Persona, weights: Sequence[float]) -> float:
    """Return the share of the question's word weight that stands in a persona's profile, 0 to 1."""
    profile = "\n".join(
        (
            persona.display_name,
            persona.expertise,
            *persona.tags,
            *persona.key_terms,
            *persona.aliases,
        )
    )
    terms = {term for name in question.languages for term in analyse(profile, name)}
    covered = sum(
        weight
        for weight, (_, own) in zip(weights, question.words, strict=True)
        if not terms.isdisjoint(own)
    )
    return covered / (sum(weights) or 1.0)


def deferral(persona: Persona, successor: str = "") -> str:
    """Return the sentence by which a persona passes a question on."""
    switching = f"; switching to {successor}" if successor else ""
    return f"This question is outside {persona.display_name}'s expertise{switching}."
