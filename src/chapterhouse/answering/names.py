"""What a question names: it binds the answer to what is about it.

A name is a word with a capital inside a sentence, a code, a number or a quotation. Where a document
has one in its title, its file's name or its first lines, the question is about that document, and
sentences of others do not answer it. Where no document has it at all, nothing answers it.

A name may also lead on: "When did the director of film X die?" names X. A sentence of X's document
names its director, and the document of that name says the rest. Where a question names two things,
as a comparison does, each has steps of its own.

::

    names in the question -> the documents that go by them
    -> names in their sentences -> the documents that go by these
    -> the pair of sentences that is nearest to the question without what it names
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.retrieval.sentence_model import Judged
from chapterhouse.retrieval.sentences import Sentence, text_of
from chapterhouse.text.aliases import names_of
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Hit, Question, Range

_HEAD: Final = 600  # characters of a document that say what it is about
_CAPITAL_NOUNS: Final = frozenset({"de"})  # where a capital makes no name
_CAPITAL: Final = re.compile(r"[^\W\d_]")
_YEAR: Final = re.compile(r"[12]\d{3}")
_MOST: Final = 2  # things whose steps are shown
_NAMESAKES: Final = 3  # a name that more documents share says nothing
_UNFIT: Final = 0.2  # what a sentence counts that cannot hold what is asked for
_WORD: Final = re.compile(r"[^\W_]+")
Judge = Callable[[Question], Judged]
_Way = tuple[Sentence, ...]  # one sentence, or one and that to which it leads


@dataclass(frozen=True, slots=True)
class Names:
    """What a question names.

    Attributes:
        words: Numbers of the question's content words that are names.
        absent: Names that no document searched has.
        documents: Ids of the documents that the question is about; empty where it names none.
    """

    words: frozenset[int] = frozenset()
    absent: tuple[str, ...] = ()
    documents: frozenset[str] = frozenset()

    def missing_share(self, question: Question, weights: NDArray[np.float64], shown: str) -> float:
        """Return the share of the question's weight in names that what is shown lacks, 0 to 1."""
        here = frozenset(term for name in question.languages for term in analyse(shown, name))
        return float(
            sum(
                weights[number]
                for number in self.words
                if here.isdisjoint(question.words[number][1])
            )
        )


def find_names(
    question: Question,
    hits: Sequence[Hit],
    document_frequency: Callable[[str], int],
    text_of: Callable[[str], str],
) -> Names:
    """Return what a question names.

    Args:
        question: What was asked, made ready.
        hits: What was found.
        document_frequency: Counts the chunks in which a term occurs.
        text_of: The text of a document by its id.
    """
    named = [n for n, (word, _) in enumerate(question.words) if _is_name(word, question)]
    counts = {n: max(map(document_frequency, question.words[n][1])) for n in named}
    absent = tuple(question.words[n][0] for n in named if not counts[n])
    about: list[frozenset[str]] = []
    documents = {hit.document.id: hit.document for hit in hits}
    heads = {
        name: frozenset(analyse(f"{one.title} {one.source} {text_of(name)[:_HEAD]}", one.language))
        for name, one in (documents.items() if any(counts.values()) else ())
    }
    for number in named:
        own = question.words[number][1]
        found = frozenset(name for name, head in heads.items() if not head.isdisjoint(own))
        if found and len(found) < len(documents):
            about.append(found)
    together = frozenset.intersection(*about) if about else frozenset()
    return Names(frozenset(named), absent, together)


def _is_name(word: str, question: Question) -> bool:
    """Whether a word of a question is a name: not its first word, which has a capital anyway."""
    if any(map(str.isdigit, word)):
        return not word.isdigit() or _YEAR.fullmatch(word) is not None
    if word in question.identifiers or any(word in phrase for phrase in question.phrases):
        return True
    if question.text.lstrip("\"'“„«¿¡(").startswith(word) or question.text.isupper():
        return False
    if question.languages[0] in _CAPITAL_NOUNS:
        return word.isupper() and len(word) > 1
    first = _CAPITAL.search(word)
    return bool(first and first.group().isupper())


def find_steps(
    question: Question,
    quotable: Sequence[Sentence],
    hits: Sequence[Hit],
    judge: Judge,
    fits: Callable[[str], bool],
) -> tuple[Sentence, ...]:
    """Return the sentences that a question of several steps needs, in their order.

    Args:
        question: What was asked, made ready.
        quotable: What may be quoted, the best first.
        hits: What the sentences are of.
        judge: Judges the sentences of the hits for another question.
        fits: Whether a text may hold what is asked for, such as a date.

    Returns:
        For each thing that is named the sentence that leads on and the one that it leads to; where
        two are named and nothing leads on, the best sentence of each; nothing where the question
        is of one step.
    """
    sentences: dict[str, list[Sentence]] = {}
    for one in quotable:
        sentences.setdefault(hits[one.rank].document.id, []).append(one)
    goes_by = {name: own for name, own in _goes_by(hits).items() if name in sentences}
    mentioned = _mentioned(question.text, goes_by)
    others = {name: own for name, own in goes_by.items() if name not in mentioned}
    things = _things(mentioned)
    ways = [
        _ways([one for name in names for one in sentences[name]], others, sentences, hits)
        for names in list(things.values())[:_MOST]
    ]
    if len(ways) < _MOST and not any(len(way) > 1 for own in ways for way in own):
        return ()
    judged = judge(_without(question, list(things)))
    shares = {(one.rank, one.begin): one.share for one in judged.sentences}
    unfit = [one for one in quotable if not fits(text_of(hits[one.rank], one))]
    worth = {one: shares[one.rank, one.begin] for one in quotable}
    return tuple(dict.fromkeys(one for own in ways for one in _best(own, worth, frozenset(unfit))))


def named_documents(asked: str, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the ids of the documents that a question names, in its order."""
    things = _things(_mentioned(asked, _goes_by(hits)))
    return tuple(name for names in things.values() for name in names)


def _goes_by(hits: Sequence[Hit]) -> dict[str, tuple[str, ...]]:
    """Return the names by which each document goes, by its id."""
    return {hit.document.id: names_of(hit.document.title, hit.document.source) for hit in hits}


def _mentioned(asked: str, goes_by: Mapping[str, Sequence[str]]) -> dict[str, Range]:
    """Return the documents that go by a name in a question, and where the longest of it is."""
    return {
        document: max(places, key=lambda place: place[1] - place[0])
        for document, names in goes_by.items()
        if (places := [place for name in names for place in _places(name, asked)])
    }


def _things(mentioned: Mapping[str, Range]) -> dict[Range, list[str]]:
    """Return the documents of each name that is not part of a longer one, by its place."""
    places = set(mentioned.values())
    found: dict[Range, list[str]] = {}
    for document, place in mentioned.items():
        if not any(p != place and p[0] <= place[0] and place[1] <= p[1] for p in places):
            found.setdefault(place, []).append(document)
    return {place: own for place, own in sorted(found.items()) if len(own) <= _NAMESAKES}


def _places(name: str, text: str) -> list[Range]:
    """Return where a text has a folded name that is written as one.

    It begins with a capital or a digit, and a single word is not the first of the text.
    """
    wanted = name.split()
    words = list(_WORD.finditer(text))
    folded = [unicodedata.normalize("NFKC", word.group()).casefold() for word in words]
    return [
        (words[at].start(), words[at + len(wanted) - 1].end())
        for at in range(len(wanted) == 1, len(words) - len(wanted) + 1)
        if folded[at : at + len(wanted)] == wanted and not words[at].group()[0].islower()
    ]


def _ways(
    own: Sequence[Sentence],
    others: Mapping[str, Sequence[str]],
    sentences: Mapping[str, Sequence[Sentence]],
    hits: Sequence[Hit],
) -> list[_Way]:
    """Return every pair of a sentence and one it leads to; else each sentence by itself."""
    pairs: list[_Way] = [
        (sentence, further)
        for sentence in own
        for other, names in others.items()
        if _mentions(text_of(hits[sentence.rank], sentence), names)
        for further in sentences[other]
    ]
    return pairs or [(sentence,) for sentence in own]


def _mentions(text: str, names: Sequence[str]) -> bool:
    """Whether a text has one of some names of more than one word; one word may mean anything."""
    return any(" " in name and _places(name, text) for name in names)


def _best(
    ways: Sequence[_Way], worth: Mapping[Sentence, float], unfit: AbstractSet[Sentence]
) -> _Way:
    """Return the way that says most: by what its sentences are worth, and whether it can end so."""

    def says(way: _Way) -> float:
        return prod(worth[one] for one in way) * (_UNFIT if way[-1] in unfit else 1)

    return max(ways, key=says)


def _without(question: Question, places: Sequence[Range]) -> Question:
    """Return a question without the names in it."""
    text, named = question.text, ""
    for start, end in sorted(places, reverse=True):
        named += f" {text[start:end]}"
        text = text[:start] + text[end:]
    words = frozenset(_WORD.findall(named))
    left = tuple(own for own in question.words if not words.issuperset(_WORD.findall(own[0])))
    return replace(question, text=text, words=left) if left else question
