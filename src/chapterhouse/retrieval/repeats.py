"""Which of several chunks that say the same is shown: the best, or the one that is asked about."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import simsimd
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
_TERM_BITS: Final = np.uint64(32)
_TERM: Final = np.uint64(0xFFFFFFFF)  # the bits of a term, with the row above them


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
    for later, earlier in _alike(rows, similarity):
        if later in found or earlier in found:
            continue
        if _numbers(chunks[earlier]) == _numbers(chunks[later]):
            found[later] = earlier
    return found


def _alike(rows: TermRows, similarity: float) -> list[tuple[int, int]]:
    """Return the places of chunks whose terms overlap enough: later and earlier one, in order.

    What two chunks share is counted for all pairs at once, as products of ones and zeros.
    """
    lengths = np.diff(rows.starts)
    row = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    of_text = np.arange(len(rows.terms)) < rows.sections[row.astype(np.int64)]
    both = _distinct(row[of_text] << _TERM_BITS | rows.terms[of_text])
    row, terms = (both >> _TERM_BITS).astype(np.int64), both & _TERM
    every = _distinct(terms)
    has = np.zeros((len(lengths), len(every)), np.int8)
    has[row, np.searchsorted(every, terms)] = 1
    sizes = np.bincount(row, minlength=len(lengths))
    places = np.flatnonzero(sizes >= _LEAST_TERMS)
    if not len(places):
        return []
    has, sizes = has[places], sizes[places]
    common = np.asarray(simsimd.cdist(has, has, "dot")).reshape(len(places), -1)
    alike = common >= similarity * (sizes[:, None] + sizes - common)
    pairs = places[np.argwhere(np.tril(alike, -1))]
    return [(later, earlier) for later, earlier in pairs.tolist()]


def _distinct(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    ordered: NDArray[np.uint64] = np.sort(values)
    is_new: NDArray[np.bool_] = np.diff(ordered, prepend=~ordered[:1]) != 0
    return ordered[is_new]


def _numbers(chunk: Chunk) -> frozenset[str]:
    return frozenset(_NUMBER.findall(chunk.header + chunk.text))
