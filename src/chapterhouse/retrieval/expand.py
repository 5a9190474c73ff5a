"""More ways of putting a question, each a function from the question to variants.

Names come from the documents, parts from the question's own shape; the last asks a model.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from chapterhouse.retrieval.candidates import Expand
from chapterhouse.retrieval.question import parse_question, plain_words, points_back
from chapterhouse.retrieval.rerank import fold_tag
from chapterhouse.text.aliases import fold_name
from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import script_language
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.types import (
    Alias,
    AliasKind,
    Query,
    Question,
    Rewriting,
    Scope,
    Variant,
    VariantKind,
    WeightedTerm,
)

FindAliases = Callable[[Sequence[str], Scope], Sequence[Alias]]

# Chosen by ``benchmarks/variants.py`` of commit 604e6751: high enough that a part or another name
# can put its passage among the first, low enough that the question as it was asked decides.
PART_WEIGHT: Final = 0.8
EXPANSION_WEIGHT: Final = 0.9
HYPOTHETICAL_WEIGHT: Final = 0.8
_NAME_SHARE: Final = {
    AliasKind.ABBREVIATION: 1.0,
    AliasKind.ALSO_KNOWN_AS: 1.0,
    AliasKind.KEY_TERM: 0.3,
}
_TAG_SHARE: Final = 0.2
_RELATED_SHARE: Final = 0.4
_LONGEST_NAME: Final = 6  # words of a question that may be one name
_MOST_NAMES: Final = 6
_LONGEST_PLAIN: Final = 5  # letters of an abbreviation that may be asked for without capitals


def by_parts(question: Question, _query: Query, languages: Mapping[str, int]) -> Sequence[Variant]:
    """Return the several things that a question asks, one variant each."""
    return [_variant(VariantKind.PART, part, languages) for part in parts_of(question)]


def by_names(find: FindAliases) -> Expand:
    """Return the expansion by what the documents call the same thing."""

    def expand(
        question: Question, query: Query, _languages: Mapping[str, int]
    ) -> Sequence[Variant]:
        asked = f" {' '.join(plain_words(question.text))} ".casefold()
        found = [
            (alias.other, _NAME_SHARE[alias.kind], f"{alias.name}: {alias.other}")
            for alias in find(_names_in(question), query.scope)
            if f" {alias.other.casefold()} " not in asked and _is_meant(alias, question)
        ]
        return _with_more(question, found[:_MOST_NAMES])

    return expand


def _names_in(question: Question) -> Sequence[str]:
    """Return every stretch of words that may be a name: "Bank of England", but never "it"."""
    words = plain_words(question.text)
    content_words = set(question.content.split())
    ranges = [
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
        if words[start] in content_words and words[start + length - 1] in content_words
    ]
    several = [word[:-1] for word in words if word.endswith("s") and word[:-1].isupper()]
    return [*ranges, *several]  # "RCTs" are known as "RCT"


def _is_meant(alias: Alias, question: Question) -> bool:
    """Whether a word of the question is this abbreviation, not a word that is spelled like it.

    "MULTIPLE" is a program's name, "multiple" is not; but who writes no capitals means "bgb".
    """
    if alias.kind is not AliasKind.ABBREVIATION or len(alias.name) > len(alias.other):
        return True
    name = fold_name(alias.name)
    written = [word for word in plain_words(question.text) if fold_name(word) == name]
    plain = question.text.islower() and len(alias.name) <= _LONGEST_PLAIN
    return plain or not written or any(word[1:] != word[1:].lower() for word in written)


def by_tags(question: Question, query: Query, _languages: Mapping[str, int]) -> Sequence[Variant]:
    """Return the expansion by those of the asker's tags that the question touches.

    "How is tracking done?" asked by who knows about eye-tracking is about eyes, too.
    """
    asked = set(question.order)
    found = []
    for tag in query.tags:
        words = fold_tag(tag).replace("-", " ")
        terms = set(analyse(words, question.languages[0]))
        if terms & asked and terms - asked:
            found.append((words, _TAG_SHARE, f"tag: {tag}"))
    return _with_more(question, found[:_MOST_NAMES])


def by_rewriting(ask: Callable[[str], Rewriting]) -> Expand:
    """Return the expansion by what a model makes of the question, in one call.

    Its parts, the question with more words, and an answer that it makes up (HyDE: Gao et al., ACL
    2023).
    """

    def expand(question: Question, _query: Query, languages: Mapping[str, int]) -> list[Variant]:
        found = ask(question.text)
        variants = [_variant(VariantKind.PART, part, languages) for part in found.parts]
        variants += _with_more(question, [(term, _RELATED_SHARE, term) for term in found.terms])
        if found.passage:
            variants.append(_variant(VariantKind.HYPOTHETICAL, found.passage, languages))
        return variants

    return expand


def _variant(kind: VariantKind, text: str, languages: Mapping[str, int]) -> Variant:
    part = parse_question(text, languages)
    if kind is VariantKind.HYPOTHETICAL:
        return Variant(kind, text, part.terms, HYPOTHETICAL_WEIGHT)
    return Variant(kind, part.text, part.terms, PART_WEIGHT, note=text)


def _with_more(question: Question, found: Sequence[tuple[str, float, str]]) -> Sequence[Variant]:
    """Return the question with more words, each term at a share of what an asked one weighs."""
    terms = {term.term: term.weight for term in question.terms}
    added = False
    for words, share, _ in found:
        for language in question.languages:
            for term in analyse(words, language):
                if term not in terms:
                    terms[term] = share
                    added = True
    if not added:
        return ()
    return [
        Variant(
            VariantKind.EXPANSION,
            " ".join((question.text, *(words for words, _, _ in found))),
            tuple(WeightedTerm(term, weight) for term, weight in terms.items()),
            EXPANSION_WEIGHT,
            note="; ".join(note for _, _, note in found),
        )
    ]


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
    first = " ".join(_content(whole[0], stop))
    rest = (f"{part} {first}" if points_back(part, language) else part for part in whole[1:])
    subquestions = [whole[0], *rest]
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
