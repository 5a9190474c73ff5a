"""Whose question it is, and what the asker is told when it is not answered.

A question that the evidence answers is answered, whatever the profile says. One that it does not
answer is *insufficient* where it belongs to the persona's field, and *out of scope* where it does
not: its words are not those of the tags, terms and summary of the persona, and nothing on the
shelf comes near. Thresholds from ``benchmarks/routing.py``.
"""

from collections.abc import Sequence
from typing import Final

from chapterhouse.retrieval.question import Question
from chapterhouse.text.analyse import analyse
from chapterhouse.text.look_alikes import inert
from chapterhouse.text.scripts import script_language
from chapterhouse.types import Persona, Route, Searched

# Share of the question's word weight that stands in the profile, from which it is of the field.
FIELD_SHARE: Final = 0.25
# Confidence from which a question that is not answered is at least close to the field.
NEAR: Final = 0.05
_WORDS_SHOWN: Final = 8
_HEADINGS_SHOWN: Final = 3


def route(
    question: Question,
    persona: Persona | None,
    weights: Sequence[float],
    confidence: float,
    *,
    found: bool,
) -> Route:
    """Return what becomes of a question.

    Args:
        question: What was asked, made ready.
        persona: Who is asked; None for the library, which no question is foreign to.
        weights: Weight of each content word of the question, in their order.
        confidence: That what was found answers the question, 0 to 1.
        found: Whether that suffices.
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
    """Return the sentence by which a persona passes a question on.

    Args:
        persona: Who was asked.
        successor: Who answers instead, such as "the general assistant"; or empty.
    """
    switching = f"; switching to {successor}" if successor else ""
    return f"This question is outside {persona.display_name}'s expertise{switching}."


def would_help(searched: Searched) -> tuple[str, ...]:
    """Return which documents would help, from what was looked for in vain."""
    found: list[str] = []
    if searched.missing_terms:
        words = ", ".join(f"“{word}”" for word in searched.missing_terms[:_WORDS_SHOWN])
        found.append(f"A document that mentions {words}: none of those searched does.")
    elif searched.terms:
        words = ", ".join(f"“{word}”" for word in searched.terms[:_WORDS_SHOWN])
        # Of Chinese, Japanese and Korean pieces are searched for, and not told where they stand.
        pieces = any(map(script_language, searched.terms))
        stand = "" if pieces else "each word stands in the documents searched, but "
        found.append(
            f"A document that says something of {words} together: {stand}no passage joins them "
            "to an answer."
        )
    if searched.nearest:
        near = "; ".join(inert(heading) for heading in searched.nearest[:_HEADINGS_SHOWN])
        found.append(f"A newer or fuller version of what comes closest: {near}.")
    if not searched.documents:
        found = ["Any document at all: none was searched."]
    return tuple(found)
