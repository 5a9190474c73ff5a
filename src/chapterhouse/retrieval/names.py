"""By what a question calls documents: their titles, folders, files, aliases and tags.

Who asks for the price of Acme means what lies in the folder of that name. Where no document but
those of a name has it at all, the name decides, whatever words and vectors say of the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from chapterhouse.retrieval.question import is_name
from chapterhouse.retrieval.rerank import Floats, Shortlist, inverse_frequency
from chapterhouse.text.canonical import names_text, stated_names
from chapterhouse.text.language_data import LanguageData, language_data
from chapterhouse.text.terms import find_terms, term_numbers, terms_in
from chapterhouse.types import Document, Question

NAME_BOOST: Final = 0.2  # chosen on the open natural folders
# Share of the weight of words that some document has: in a long question none is its subject.
_LEAST: Final = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Which words of a question some documents go by.

    Attributes:
        shares: Share of the question's word weight by document, 0 to 1.
    """

    shares: Mapping[str, float]
    deciding: tuple[str, ...]


def find_names(shortlist: Shortlist) -> Names:
    """Return which words of a question the documents of a shortlist go by."""
    question, documents = shortlist.question, shortlist.documents
    counts = [max(shortlist.frequencies(terms), default=0) for _, terms in question.words]
    weights = inverse_frequency(counts, shortlist.size)
    there = weights * np.minimum(counts, 1)
    marks = {key: _marks(question, names_text(one), one) for key, one in documents.items()}
    total = weights.sum() or 1.0
    shares = {key: float(weights @ own) / total for key, own in marks.items()}
    return Names(shares, _deciding(shortlist, there / (there.sum() or 1.0), marks))


def names_held(question: Question, document: Document) -> int:
    """Return how many of the names that decide a document goes by, each by all of its words."""
    if not question.names:
        return 0
    marks = _marks(question, names_text(document), document)
    held = [(f" {word} ", own) for (word, _), own in zip(question.words, marks, strict=True)]
    return sum(all(own for word, own in held if word in f" {name} ") for name in question.names)


def are_joined(question: Question) -> bool:
    """Whether several names decide, one joined to the next by a comma or a word such as "and"."""
    data = language_data().get(question.languages[0] or "en", LanguageData())
    places = [question.text.find(name) for name in question.names]
    between = [
        question.text[start + len(name) : end].casefold()
        for name, start, end in zip(question.names, places, places[1:], strict=False)
    ]
    joins = ("," in one or not data.linking_words.isdisjoint(one.split()) for one in between)
    return bool(between) and all(joins)


def _marks(question: Question, names: str, document: Document) -> Sequence[bool]:
    there = frozenset(terms_in(names, document.language))
    return [not there.isdisjoint(terms) for _, terms in question.words]


def _deciding(
    shortlist: Shortlist, weights: Floats, marks: Mapping[str, Sequence[bool]]
) -> tuple[str, ...]:
    """Return the names that some documents go by and nothing else has, with what is named beside.

    Where a question has no capitals, or its language no meaning for them, any word may be a name:
    then folders and files have to be called so, or the document has to say it.
    """
    question, documents = shortlist.question, shortlist.documents
    words = [word for word, _ in question.words]
    named = [is_name(word, question) and not any(map(str.isdigit, word)) for word in words]
    capitals = any(named)
    if not capitals:
        called = [documents[key] for key, own in marks.items() if any(own)]
        stated = [_marks(question, stated_names(one), one) for one in called]
        named = [any(own[at] for own in stated) for at in range(len(words))]
    found: dict[str, bool] = {}
    for at, (word, terms) in enumerate(question.words):
        own = {key for key, there in marks.items() if there[at]}
        if named[at] and weights[at] >= _LEAST and 0 < len(own) < len(documents):
            rows = find_terms(term_numbers(dict.fromkeys(terms)), shortlist.rows).row
            there = {shortlist.chunks[row].document_id for row in np.unique(rows).tolist()}
            found[word] = own >= there
    alone = tuple(word for word, is_alone in found.items() if is_alone)
    return tuple(_joined(found, question.text)) if alone and capitals else alone


def _joined(words: Iterable[str], text: str) -> list[str]:
    """Return words that follow one another in a text as one name."""
    names: list[str] = []
    for word in words:
        if names and f"{names[-1]} {word}" in text:
            names[-1] += f" {word}"
        else:
            names.append(word)
    return names
