"""Which of several chunks that say the same is shown: the best, or the one that is asked about."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.retrieval.candidates import SIMILARITY, Sources
from chapterhouse.retrieval.rerank import names_document
from chapterhouse.text.aliases import fold_words
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Chunk, Query, Question, TermRows

_COMPARED: Final = 40  # of the hits; repeats that far down are hardly ever shown
_BEGINNING: Final = 600  # characters of a document in which it says whose it is
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_LEAST_TERMS: Final = 8  # shorter chunks are alike too easily
_TERM: Final = np.uint64(0xFFFFFFFF)  # the bits of a term; a row and a count have 16 each above it


def without_repeats(
    order: Sequence[Chunk],
    must: Collection[int],
    scores: dict[int, float],
    question: Question,
    query: Query,
    sources: Sources,
    similarity: float,
) -> tuple[list[Chunk], dict[int, tuple[str, ...]]]:
    """Leave out what repeats another chunk; return also which chunks each one left stands for.

    Of copies the best is shown, or that of the document which the question names, by its file, its
    title or a party at its beginning; it takes the place and the score of the best.

    Args:
        must: Keys of chunks that are never left out.
        scores: By key; that of a copy that takes a better one's place is raised.
        similarity: From which chunks say the same, as ``near_duplicates`` has it.
    """
    compared = order[:_COMPARED]
    rows = sources.lexical.terms_of([chunk.key for chunk in compared], query.scope)
    copies: defaultdict[int, list[Chunk]] = defaultdict(list)
    alike = near_duplicates(compared, rows, similarity)
    for later, earlier in _in_copies(compared, query, sources).items():
        alike.setdefault(later, alike.get(earlier, earlier))
    for later, earlier in alike.items():
        if order[later].key not in must:
            copies[earlier].append(order[later])
    taking: dict[int, Chunk] = {}  # the place of the best of its copies
    repeats: dict[int, tuple[str, ...]] = {}
    for earlier, others in copies.items():
        best = order[earlier]
        shown = best if best.key in must else _asked_about(best, others, question, query, sources)
        taking[best.key] = shown
        scores[shown.key] = max(scores[shown.key], scores[best.key])
        repeats[shown.key] = tuple(copy.id for copy in (best, *others) if copy is not shown)
    left_out = {copy.key for others in copies.values() for copy in others}
    unique = [taking.get(chunk.key, chunk) for chunk in order if chunk.key not in left_out]
    return unique, repeats


def _in_copies(chunks: Sequence[Chunk], query: Query, sources: Sources) -> dict[int, int]:
    """Return for each chunk, however short, the place of the same one in a copy of its document."""
    documents = sources.documents({chunk.document_id for chunk in chunks}, query.scope)
    first: dict[tuple[str, int, int], int] = {}
    found: dict[int, int] = {}
    for place, chunk in enumerate(chunks):
        if document := documents.get(chunk.document_id):
            earlier = first.setdefault((document.text_sha256, chunk.start, chunk.end), place)
            if chunks[earlier].document_id != chunk.document_id:
                found[place] = earlier
    return found


def _asked_about(
    best: Chunk, others: Sequence[Chunk], question: Question, query: Query, sources: Sources
) -> Chunk:
    """Return the copy whose document the question names most, of equal ones the first.

    What counts is whether it is named, then how many words of the question that the best copy lacks
    are in its names, then how many at its beginning.
    """
    copies = (best, *others)
    documents = sources.documents({copy.document_id for copy in copies}, query.scope)
    if len(documents) == 1:
        return best
    best_terms = set(analyse(best.header + best.text, question.languages[0]))
    words = [terms for _, terms in question.words if best_terms.isdisjoint(terms)]
    named: dict[str, tuple[bool, int, int]] = {}
    for name, document in documents.items():
        file_name = document.source.rpartition("/")[2]
        chunks = sources.chunks(sources.chunks_named(file_name, query.scope), query.scope).values()
        first = (chunk for chunk in chunks if chunk.document_id == document.id)
        beginning = " ".join((chunk.header + chunk.text)[:_BEGINNING] for chunk in first)
        counts = []
        for text in (fold_words(f"{document.title} {file_name}"), beginning):
            terms = {term for language in question.languages for term in analyse(text, language)}
            counts.append(sum(not terms.isdisjoint(own) for own in words))
        named[name] = names_document(question, document), counts[0], counts[1]
    return max(copies, key=lambda copy: named.get(copy.document_id, (False, 0, 0)))


def near_duplicates(
    chunks: Sequence[Chunk], rows: TermRows, similarity: float = SIMILARITY
) -> dict[int, int]:
    """Return for each chunk that repeats an earlier one the place of that one.

    Two chunks say the same where their distinct terms overlap by ``similarity`` and their
    numbers are equal: "within 14 days" and "within 30 days" differ in what matters.

    Args:
        similarity: Jaccard similarity, above 0 and at most 1.
    """
    found: dict[int, int] = {}
    for earlier, later in sorted(_alike(rows, similarity), key=lambda pair: (pair[1], pair[0])):
        if later in found or earlier in found:
            continue
        if _numbers(chunks[earlier]) == _numbers(chunks[later]):
            found[later] = earlier
    return found


def _alike(rows: TermRows, similarity: float) -> Iterator[tuple[int, int]]:
    """Yield pairs of places, the earlier first, whose terms overlap enough.

    Two sets of n terms that overlap by s share one of the first n − ⌈s·n⌉ + 1 terms of each, in
    any one order of all terms; in the order of rarity few others do.
    Source: Chaudhuri, Ganti and Kaushik, ICDE 2006 (prefix filter).
    """
    sets = _rarest_first(rows)
    having: defaultdict[int, list[int]] = defaultdict(list)
    for later, terms in enumerate(sets):
        if len(terms) < _LEAST_TERMS:
            continue
        prefix = terms[: len(terms) - math.ceil(similarity * len(terms)) + 1].tolist()
        candidates = {place for term in prefix for place in having[term]}
        for earlier in sorted(candidates):
            common = len(np.intersect1d(terms, sets[earlier], assume_unique=True))
            if common >= similarity * (len(terms) + len(sets[earlier]) - common):
                yield earlier, later
        for term in prefix:
            having[term].append(later)


def _rarest_first(rows: TermRows) -> list[NDArray[np.uint64]]:
    """Return the distinct terms of each chunk's text, those in fewest of the chunks first.

    Row, count and term are sorted as one number: that takes half the time of ``np.unique`` and
    ``np.lexsort``, and every question comes by here.
    """
    number = len(rows.starts) - 1
    if number < 1:
        return []
    row = np.repeat(np.arange(number, dtype=np.uint64), np.diff(rows.starts))
    of_text = np.arange(len(rows.terms)) < rows.sections[row]
    both = np.sort(row[of_text] << np.uint64(32) | rows.terms[of_text])
    both = both[np.diff(both, prepend=~both[:1]) != 0]
    row, terms = both >> np.uint64(32), both & _TERM
    every = np.sort(terms)
    counts = np.searchsorted(every, terms, "right") - np.searchsorted(every, terms)
    ordered = np.sort(row << np.uint64(48) | counts.astype(np.uint64) << np.uint64(32) | terms)
    return np.split(ordered & _TERM, np.searchsorted(row, np.arange(1, number)))


def _numbers(chunk: Chunk) -> frozenset[str]:
    return frozenset(_NUMBER.findall(chunk.header + chunk.text))
