"""More ways of putting a question, each a function from the question to variants.

Names come from the documents, parts from the question's own shape; the last asks a model.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from chapterhouse.retrieval.boost import fold_tag
from chapterhouse.retrieval.method import Expand
from chapterhouse.retrieval.parts import parts_of
from chapterhouse.retrieval.question import parse_question, plain_words
from chapterhouse.text.aliases import fold_name
from chapterhouse.text.analyse import analyse
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
