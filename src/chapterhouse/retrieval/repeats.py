"""Which of several chunks that say the same is shown: the best, or the one that is asked about."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from chapterhouse.retrieval.boost import names_document
from chapterhouse.retrieval.candidates import Sources
from chapterhouse.retrieval.duplicates import near_duplicates
from chapterhouse.text.aliases import fold_words
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Chunk, Document, Query, Question

_COMPARED: Final = 40  # of the hits; repeats that far down are hardly ever shown
_BEGINNING: Final = 600  # characters of a document in which it says whose it is


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
    """Return the copy whose document the question names most, of equal ones the first."""
    copies = (best, *others)
    documents = sources.documents({copy.document_id for copy in copies}, query.scope)
    if len(documents) == 1:
        return best
    best_terms = set(analyse(best.header + best.text, question.languages[0]))
    words = [terms for _, terms in question.words if best_terms.isdisjoint(terms)]
    named = {
        name: _named(question, words, document, query, sources)
        for name, document in documents.items()
    }
    return max(copies, key=lambda copy: named.get(copy.document_id, (False, 0, 0)))


def _named(
    question: Question,
    words: Sequence[Sequence[str]],
    document: Document,
    query: Query,
    sources: Sources,
) -> tuple[bool, int, int]:
    """Return whether a document is named, and how many words its names and its beginning have."""
    file_name = document.source.rpartition("/")[2]
    keys = sources.chunks_named(file_name, query.scope)
    first = (c for c in sources.chunks(keys, query.scope).values() if c.document_id == document.id)
    beginning = " ".join((chunk.header + chunk.text)[:_BEGINNING] for chunk in first)
    names = fold_words(f"{document.title} {file_name}")

    def has(text: str) -> int:
        terms = {term for language in question.languages for term in analyse(text, language)}
        return sum(not terms.isdisjoint(own) for own in words)

    return names_document(question, document), has(names), has(beginning)
