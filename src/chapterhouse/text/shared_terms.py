"""What a set of documents is about: the terms that several of them share.

A candidate of ``key_terms`` counts once a document, and stays only if enough documents have it. So
words of one file drop out. A block that stands in several documents, such as a menu or a clause of
a template, is read once. Phrases with the name of a person or place are left out by their casing:
a word of them hardly ever stands in lower case. No model, no table, no other documents.

Source: document frequency, and the C-value of Frantzi, Ananiadou and Mima, International Journal
on Digital Libraries 2000, for terms within terms.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Final, NamedTuple

from chapterhouse.text.key_terms import LINKS, Term, count_terms, shares_alone, weighted_blocks

_READ: Final = 40_000  # characters of a document; its subject is told by then
_ALONE: Final = 0.2  # least share of its places where a term is not part of a longer one
_WIDE: Final = 0.25  # of the documents: so many share a term that no heading need have it
_REPEATED: Final = 3.0  # times a document that has a single word must say it
_SINGLE_WEIGHT: Final = 0.2  # of an ordinary word
_STEM: Final = 3  # letters at least in which inflections of a word agree
_SAME_WORD: Final = 2  # terms that may share a word
_ELIDED: Final = re.compile(r"^\w{1,2}['’](?=\w)")
# English phrases that name nothing: "solely responsible", "licenses granted".
_NO_NOUN: Final = re.compile(r"\w+ly\b.*|.*(?:ed|ly|ible)", re.IGNORECASE | re.DOTALL)
_PIECE: Final = re.compile(r"[^\W_]+")


class Source(NamedTuple):
    """A document: its title, its Markdown, its language."""

    title: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class SharedTerm:
    """A term in its usual spelling, and the number of documents that have it."""

    text: str
    documents: int


@dataclass(slots=True)
class _Counts:
    terms: dict[str, Term] = field(default_factory=dict)
    documents: Counter[str] = field(default_factory=Counter)
    headings: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)


def least_documents(total: int) -> int:
    """Return how many of so many documents must have a term: of four or more at least two."""
    return 1 if total < 4 else max(2, math.ceil(math.sqrt(total) / 2))  # noqa: PLR2004 - see above


def shared_terms(sources: Sequence[Source], limit: int) -> tuple[SharedTerm, ...]:
    """Return at most ``limit`` terms that documents share, best first."""
    counts = _counted(sources)
    least = least_documents(len(sources))
    shared = {key: term for key, term in counts.terms.items() if counts.documents[key] >= least}
    alone = shares_alone(shared)
    scores = {
        key: _score(key, term, alone[key], counts)
        for key, term in shared.items()
        if alone[key] >= _ALONE and _is_subject(key, term, counts, len(sources))
    }
    best = sorted(scores, key=lambda key: (-round(scores[key], 9), key))
    entries = (SharedTerm(_shown(counts.terms[key]), counts.documents[key]) for key in best)
    return tuple(islice(_distinct(entries), limit))


def _counted(sources: Iterable[Source]) -> _Counts:
    counts = _Counts()
    seen: set[str] = set()
    for source in sources:
        found: dict[str, Term] = {}
        headed: set[str] = set()
        titled: dict[str, Term] = {}
        count_terms(source.title, 1.0, source.language, titled)
        for block_text, weight in weighted_blocks(source.text[:_READ]):
            folded = " ".join(block_text.casefold().split())
            is_heading = weight > 1
            if folded in seen and not is_heading:
                continue
            seen.add(folded)
            block: dict[str, Term] = {}
            count_terms(block_text, 1.0, source.language, block)
            headed.update(block if is_heading else ())
            _merge(found, block)
        _merge(found, titled)
        counts.documents.update(found.keys())
        counts.headings.update(headed | titled.keys())
        counts.titles.update(titled.keys())
        _merge(counts.terms, found)
    return counts


def _merge(into: dict[str, Term], terms: Mapping[str, Term]) -> None:
    for key, term in terms.items():
        known = into.setdefault(key, term)
        if known is not term:
            known.add(term)


def _is_subject(key: str, term: Term, counts: _Counts, total: int) -> bool:
    words = term.spelling.split() if term.spellings else []
    shouted = len(words) > 1 and term.spelling.isupper()
    if not words or shouted or any(word[0].isdigit() for word in words):
        return False
    least = least_documents(total)
    wide = counts.documents[key] >= _WIDE * total
    if term.words > 1:
        headed = counts.headings[key] > 0 or wide
        parts = (counts.terms[word] for word in key.split() if word in counts.terms)
        named = any(_is_name(part) and (term.named or part.spelling.istitle()) for part in parts)
        return headed and not (named or _NO_NOUN.fullmatch(term.spelling))
    if counts.headings[key] < least:
        return False
    is_repeated = term.count >= _REPEATED * counts.documents[key]
    return (_is_name(term) and wide) or (is_repeated and counts.titles[key] >= max(1, least - 1))


def _is_name(word: Term) -> bool:
    """Whether a single word is written as a name, and in lower case once at most."""
    lower = sum(count for text, count in word.spellings.items() if text.islower())
    return word.named and lower <= 1


def _score(key: str, term: Term, alone: float, counts: _Counts) -> float:
    count = counts.documents[key]
    width = term.words if term.words > 1 or _is_name(term) else _SINGLE_WEIGHT
    headed = math.log2(2 + counts.headings[key])
    return count * alone * math.log2(1 + term.count / count) * width * headed


def _shown(term: Term) -> str:
    return _ELIDED.sub("", term.spelling)


def _distinct(entries: Iterable[SharedTerm]) -> Iterator[SharedTerm]:
    """Yield the terms that say something new: no inflection or part of a better one."""
    chosen: list[list[str]] = []
    used: dict[str, int] = defaultdict(int)
    for entry in entries:
        words = [word for word in _PIECE.findall(entry.text.casefold()) if word not in LINKS]
        repeated = any(_covers(words, other) or _covers(other, words) for other in chosen)
        if repeated or any(used[word] >= _SAME_WORD for word in words):
            continue
        chosen.append(words)
        for word in words:
            used[word] += 1
        yield entry


def _covers(words: Sequence[str], others: Sequence[str]) -> bool:
    return all(any(_alike(word, other) for other in others) for word in words)


def _alike(one: str, other: str) -> bool:
    """Whether two words are inflections of one: three quarters of the longer begin alike."""
    pairs = zip(one, other, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return one == other or shared >= max(_STEM, 0.75 * max(len(one), len(other)))
