"""Words of a question that the documents do not have, and words of theirs that may be meant."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from chapterhouse.retrieval.candidates import Sources
from chapterhouse.retrieval.exact import ExactTerm, exact_terms, part_words
from chapterhouse.retrieval.question import parse_question
from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import script_language
from chapterhouse.text.language import foreign_to
from chapterhouse.text.mentions import LANGUAGES, bare_word, is_form_word, parts_to_find
from chapterhouse.text.terms import find_terms, term_numbers
from chapterhouse.types import Correction, Query, Question, Scope, WeightedTerm, corrected
from chapterhouse.types.engines import LexicalSearch

_MOST_CHECKED: Final = 6  # words of one question
_PARTS: Final = re.compile(r"[^\W\d_]+|\d+")
_CODE: Final = re.compile(r"(?=.*[^\W\d_])\w+(?:[\-./:]\w+)*|[12]\d{3}")  # or a year
_MOST_NEAR: Final = 20  # words looked up for one, and chunks in which a number may stand near
_NEAR: Final = 4  # terms between which a number may belong to a name
_ROW: Final = 1 << 32  # more than a chunk has terms


def corrected_question(
    question: Question, query: Query, languages: Mapping[str, int], sources: Sources
) -> tuple[Question, tuple[Correction, ...]]:
    """Return a question with its misspelled words corrected, and the corrections.

    A word is taken to be misspelled where no chunk has it or a word of its stem. Numbers, codes,
    file names, abbreviations and what stands in quotation marks are never corrected, nor is a
    question in a language that no document is in.
    """
    if question.is_literal or foreign_to(question.text, languages):
        return question, ()
    words = _unknown(question, query, sources)[:_MOST_CHECKED]
    meant = ((word, _meant(word, question, query, sources)) for word in words)
    found = tuple(Correction(word, other) for word, other in meant if other)
    return (
        parse_question(corrected(question.text, found), languages) if found else question
    ), found


def _unknown(question: Question, query: Query, sources: Sources) -> list[str]:
    """Return the words of which no chunk has any term."""
    quoted = " ".join(question.exact).casefold()
    words = {
        word: terms
        for word, terms in question.words
        if word.isalpha()
        and (question.text.isupper() or not word.isupper())
        and word.casefold() not in quoted
    }
    terms = dict.fromkeys(term for own in words.values() for term in own)
    counts = sources.lexical.document_frequencies(list(terms), query.scope)
    known = {term for term, count in zip(terms, counts, strict=True) if count}
    return [word for word, own in words.items() if known.isdisjoint(own)]


def _meant(word: str, question: Question, query: Query, sources: Sources) -> str:
    """Return the nearest word, of equally near ones the most frequent; empty where none is near."""
    near = sources.near_words(word, query.scope)
    likely = sorted(near, key=lambda other: (near[other], other))[:_MOST_NEAR]
    counts = _counts(likely, question, query, sources)
    there = [other for other in likely if counts[other]]
    return min(there, key=lambda other: (near[other], -counts[other], other), default="")


def _counts(
    words: Sequence[str], question: Question, query: Query, sources: Sources
) -> Mapping[str, int]:
    """Return in how many chunks each word occurs."""
    terms = {
        word: [term for language in question.languages for term in analyse(word, language)[:1]]
        for word in words
    }
    return {
        word: max(sources.lexical.document_frequencies(own, query.scope), default=0)
        for word, own in terms.items()
    }


def find_absent_words(
    question: Question,
    scope: Scope,
    lexical: LexicalSearch,
    may_mention: Callable[[str, Scope], bool],
) -> tuple[str, ...]:
    """Return the words of a question that no document mentions in any form, as they are written.

    Only what can be told for certain: codes, years, names with a number that have others in the
    documents, and words of languages whose forms are known. Question words, words that say how to
    answer, and names of files are never among them.
    """
    words = (
        bare_word(word)
        for word, terms in question.words
        if word not in question.file_names
        and not any(lexical.document_frequencies(terms, scope))
        and _is_absent(word, question.languages, scope, lexical, may_mention)
    )
    numbered = (
        each.text
        for each in exact_terms(question)
        if isinstance(each, ExactTerm)
        and _is_numbered_name(each.text, question)
        and not _are_near(each.text, question, scope, lexical)
        and _has_not(_PARTS.findall(each.text), question.languages, scope, lexical, may_mention)
    )
    return *words, *numbered


def _is_numbered_name(text: str, question: Question) -> bool:
    """Whether a text is a name with its number: no clause, page or day, of which others are told.

    Nor is the first word of a question, which has a capital anyway.
    """
    name, _, number = text.rpartition(" ")
    named = name.isalpha() and name[0].isupper() and number[0].isdigit()
    is_part = name.casefold() in part_words() or is_form_word(name)
    known = LANGUAGES.issuperset(question.languages)
    return named and known and not is_part and not question.text.startswith(name)


def _are_near(text: str, question: Question, scope: Scope, lexical: LexicalSearch) -> bool:
    """Whether the number of a name stands near that, as in "the models 3 and 4", or no name does.

    A name that no document has is absent without its number, too.
    """
    asked = {word: set(terms) for word, terms in question.words}
    name, number = (asked.get(word, set[str]()) for word in text.split(" ", 1))
    terms = [*name, *number]
    found = lexical.search([WeightedTerm(term, 1.0) for term in terms], scope, _MOST_NEAR)
    rows = lexical.terms_of([each.key for each in found], scope)
    matches = find_terms(term_numbers(terms), rows)
    of_name = matches.term < len(name)
    places = matches.position + matches.row * _ROW
    apart = np.abs(places[of_name][:, None] - places[~of_name][None])
    return not of_name.any() or bool((apart <= _NEAR).any())


def _is_absent(
    word: str,
    languages: Sequence[str],
    scope: Scope,
    lexical: LexicalSearch,
    may_mention: Callable[[str, Scope], bool],
) -> bool:
    if any(map(str.isdigit, word)):
        if script_language(word) or not _CODE.fullmatch(word):
            return False
        return _has_not(_PARTS.findall(word), languages, scope, lexical, may_mention)
    if not LANGUAGES.issuperset(languages) or is_form_word(word):
        return False
    return any(
        not is_form_word(part) and not may_mention(part, scope) for part in parts_to_find(word)
    )


def _has_not(
    parts: Sequence[str],
    languages: Sequence[str],
    scope: Scope,
    lexical: LexicalSearch,
    may_mention: Callable[[str, Scope], bool],
) -> bool:
    """Whether no document has some letters and digits one after the other."""
    phrases = (analyse(" ".join(parts), language) for language in languages)
    found = any(lexical.search_phrase(phrase, scope, 1) for phrase in phrases)
    return not found and not may_mention("".join(parts), scope)
