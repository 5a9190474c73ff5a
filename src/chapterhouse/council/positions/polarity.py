"""Whether a sentence says yes or no to a question, or only under a condition.

Read from what the question asks (is it allowed, is it required, is it so), from what the sentence
permits, requires, forbids or denies, and from the exceptions that it names.
"""

import re
from enum import StrEnum
from typing import Final

from chapterhouse.claims.statement import Statement, read
from chapterhouse.types import PositionKind


class _Asked(StrEnum):
    """What a question that is answered with yes or no asks."""

    ALLOWED = "allowed"
    REQUIRED = "required"
    SO = "so"


_ALLOWED: Final = re.compile(
    r"^(?:may|can|could|are (?:we|you|they|users|members) allowed|is (?:it"
    r"|\w+) (?:allowed|permitted"
    r"|possible)|do (?:i|we|you|they) get (?:any|a|to)|is there any way|darf|dürfen|kann|können"
    r"|ist es erlaubt|peut-on|peut|peuvent|est-il (?:permis|possible))\b",
    re.IGNORECASE,
)
_REQUIRED: Final = re.compile(
    r"^(?:must|do (?:i|we|you|they|users|members) (?:have|need) to"
    r"|does \w+ (?:\w+ )?(?:have|need) to"
    r"|are (?:we|you|they) (?:required|obliged)|is \w+ (?:\w+ )?required|muss|müssen|doit|doivent"
    r"|faut-il|doit-on)\b",
    re.IGNORECASE,
)
# A question that asks whether something is barred: "do they stop us from hiring their people?"
_ASKS_BAR: Final = re.compile(
    r"\b(?:(?:stop|prevent|keep|bar)s? (?:\w+ ){1,4}from|forbid|forbidden|barred|prohibit(?:ed)?"
    r"|banned|verboten|untersagt|interdit\w*)\b",
    re.IGNORECASE,
)
_FORBIDS: Final = re.compile(
    r"\b(?:(?:shall|may|must|will|can|should|do|does|did|is|are|was|were|has|have"
    r"|would|could) (?:\w+ )?"
    r"(?:not|never|neither)|cannot|won['’]t|can['’]t|don['’]t|doesn['’]t|isn['’]t|aren['’]t"
    r"|no (?:\w+ ){0,3}(?:shall|may|is|are|will|was|were)|not (?:be )?(?:permitted"
    r"|allowed|granted|entitled"
    r"|intended|required|obligated|obliged)|prohibited|forbidden|prohibits?|forbids?|refrain\w*"
    r"|no (?:right|license|licence|obligation|duty|warranty)|nothing (?:in|herein|contained)"
    r"|neither|nor|refuse[sd]?|reject\w*|under no circumstances|impossible|inaccessible|closed"
    r"|nicht|kein\w*|verboten|untersagt|niemals|ne \w+ pas|n['’]\w+ pas|interdit\w*|aucun\w*)\b",
    re.IGNORECASE,
)
_NOT_REQUIRED: Final = re.compile(
    r"\b(?:not (?:be )?(?:required|obligated|obliged|necessary)|no (?:obligation|duty"
    r"|need)|need not"
    r"|do(?:es)? not (?:need|have) to|without (?:any )?(?:notice|obligation)|optional"
    r"|muss nicht|müssen nicht|nicht erforderlich|n['’]est pas (?:obligatoire|nécessaire))\b",
    re.IGNORECASE,
)
_EXCEPTION: Final = (
    r"without (?:the )?(?:\w+['’]?s? ){0,4}(?:prior|express|written|consent|approval|permission"
    r"|authori[sz]ation)|unless|only (?:if|when|where|with|to the extent|after)|except(?:ing)?"
    r"|provided that|on condition|(?:so|as) long as|depending on|depends on"
    r"|in (?:certain|limited|some|exceptional) (?:circumstances|cases)"
    r"|with (?:the )?(?:\w+['’]?s? ){0,4}(?:prior|written) (?:\w+ ){0,2}(?:consent"
    r"|approval|permission)"
    r"|es sei denn|nur (?:wenn|mit|bei)|sofern|vorausgesetzt|sauf|à condition|sous réserve"
)
_CONDITION: Final = re.compile(rf"\b(?:{_EXCEPTION})\b", re.IGNORECASE)
_LIMIT: Final = re.compile(  # it limits a permission, and qualifies nothing else
    r"\b(?:only|subject to|to the extent|außer|ausnahms\w*|nur (?:unter|für|nach)|uniquement"
    r"|seulement|selon)\b",
    re.IGNORECASE,
)
_ANSWERS: Final = re.compile(r"^\W*(yes|no|ja|nein|oui|non)\b", re.IGNORECASE)
_YES: Final = frozenset({"yes", "ja", "oui"})


def polarity(question: str, sentence: str, language: str) -> tuple[PositionKind, str]:
    """Return whether a sentence says yes, no or perhaps, and its condition; or empty.

    Args:
        question: What is asked, answered with yes or no.
        sentence: Of a document, that speaks of it.
        language: Of the sentence, ISO 639-1, or empty.
    """
    answers = _ANSWERS.match(sentence)
    if answers:
        return PositionKind.YES if answers[1].casefold() in _YES else PositionKind.NO, ""
    asked = _asked(question)
    condition = _CONDITION.search(sentence)
    if condition is None and asked is _Asked.ALLOWED:
        condition = _LIMIT.search(sentence)
    if condition:
        return PositionKind.CONDITIONAL, _clause(sentence, condition.start())
    denied = _denied(asked, sentence, read(sentence, language))
    barred = _ASKS_BAR.search(question) is not None
    return (PositionKind.NO if denied != barred else PositionKind.YES), ""


def _asked(question: str) -> _Asked:
    if _REQUIRED.search(question):
        return _Asked.REQUIRED
    return _Asked.ALLOWED if _ALLOWED.search(question) else _Asked.SO


def _denied(asked: _Asked, sentence: str, stated: Statement) -> bool:
    if asked is _Asked.REQUIRED:
        return _NOT_REQUIRED.search(sentence) is not None
    return bool(stated.facts.negations) or _FORBIDS.search(sentence) is not None


def _clause(sentence: str, start: int) -> str:
    found = re.split(r"[;.]|, (?=and|but|which)", sentence[start:])[0]
    return found.strip()[:160]
