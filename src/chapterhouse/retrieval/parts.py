"""A question that asks several things, taken apart without a model."""

import re
from typing import Final

from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.text.scripts import script_language
from chapterhouse.types import Question

MOST_PARTS: Final = 4
_LEAST_CONTENT: Final = 2  # content words of a part; one is enough for a whole question
_LEAST_WHOLE: Final = 3  # words of a whole question: "who is captain", but not "how high"
_SPACES: Final = re.compile(r"[^\S\n]+")
_LINES: Final = re.compile(r" ?\n ?")
_ASKING: Final = (
    "what|which|who|whom|whose|when|where|why|how"
    "|welche[rsnm]?|wer|wen|wem|wann|wo|wohin|woher|warum|wieso|was|wie|wieviele?"
    "|quoi|quel(?:le)?s?|qui|quand|où|pourquoi|comment|combien"
    "|qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|cómo|cuánt[oa]s?|por qué"
)
_VERB: Final = (
    "is|are|was|were|does|do|did|can|could|should|will|would|may|must|has|have"
    "|ist|sind|war|waren|gibt|darf|dürfen|muss|müssen|kann|können|hat|haben"
)
# "and is the bar open?" asks; "and is open at night" goes on telling of the same thing.
_SUBJECT: Final = (
    "the|an?|there|it|they|he|she|we|you|i|my|our|your|this|that|these|those|any|all"
    "|der|die|das|ein|eine|es|sie|er|wir|ich|man|dies(?:e[rsnm]?)?"
)
_BEGINS: Final = rf"(?:(?:{_ASKING})|(?:{_VERB}) (?:{_SUBJECT}))\b"
_QUESTION: Final = re.compile(_BEGINS, re.IGNORECASE)
# A line that merely goes on, as mail programs break them, is no part.
_SENTENCE: Final = re.compile(
    rf"(?<=[?;]) |(?<=[？；])|\n(?:\n+|(?:[-*•]|\(?\d{{1,2}}[.)]) |(?={_BEGINS}))"
    r"|^(?:[-*•]|\(?\d{1,2}[.)]) ",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(r"(?:^|[ (])1[.)] .* \(?2[.)] ", re.DOTALL)
_NUMBER: Final = re.compile(r"(?:^|(?<= ))\(?\d{1,2}[.)] ")
_CONJUNCTION: Final = re.compile(
    rf",? (?:and also|and|as well as|und auch|und|sowie|et|y|e|och|og|en) (?={_BEGINS})",
    re.IGNORECASE,
)
_EDGE: Final = " \t\n,;；?？¿.!:"
_PRONOUNS: Final = {
    "en": "it|its|they|them|their|he|him|his|she|her|this|these|those",
    "de": "er|sie|es|ihn|ihm|ihre?[rnms]?|dieser?|diese[sn]|seine?[rnms]?",
    "fr": "il|elle|ils|elles|lui|leurs?",
    "es": "él|ella|ellos|ellas|sus?",
}
_PRONOUN: Final = {
    language: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for language, words in _PRONOUNS.items()
}


def parts_of(question: Question, most: int = MOST_PARTS) -> tuple[str, ...]:
    """Return the several things that a question asks; nothing where it asks one.

    It is cut at question marks, semicolons, list items and lines that begin anew, and at a
    conjunction behind which a question begins: "what is a fluke and a stock" is one. A part that
    speaks of "it" or "they" carries the words of the first part, which say what is meant.
    """
    text = _LINES.sub("\n", _SPACES.sub(" ", question.text))
    introduction, *items = _NUMBER.split(text) if _LISTED.search(text) else [text]
    listed = [introduction, *items] if not items or _QUESTION.search(introduction) else items
    pieces = [
        piece.strip(_EDGE)
        for item in listed
        for sentence in _SENTENCE.split(item)
        for piece in _CONJUNCTION.split(sentence)
    ]
    language = question.languages[0] or "en"
    stop = STOPWORDS.get(language, frozenset())
    whole = [piece for piece in pieces if _is_self_contained(piece, stop)]
    if not whole:
        return ()
    pronoun = _PRONOUN.get(language)
    first = " ".join(_content(whole[0], stop))
    subquestions = [
        whole[0],
        *(f"{p} {first}" if pronoun and pronoun.search(p) else p for p in whole[1:]),
    ]
    parts: dict[str, str] = {}
    for part in subquestions:
        parts.setdefault(part.casefold(), part)
    return tuple(parts.values())[:most] if len(parts) > 1 else ()


def _is_self_contained(piece: str, stop: frozenset[str]) -> bool:
    # Chinese and Japanese write no spaces: each character says something.
    content = len(piece) if script_language(piece) else len(_content(piece, stop))
    asks = _QUESTION.match(piece) and len(piece.split()) >= _LEAST_WHOLE
    return content >= (1 if asks else _LEAST_CONTENT)


def _content(text: str, stop: frozenset[str]) -> list[str]:
    words = (word.strip(_EDGE) for word in text.split())
    return [word for word in words if word and word.casefold() not in stop]
