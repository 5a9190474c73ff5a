"""Neighbours: passages that name what the first hits name, and say what these leave open.

"Who won the Super-G at the Games in the city whose mayor was Ross Alger?": his document names the
city, which the question does not; of all that names this city, one passage has the Super-G.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

import numpy as np

from chapterhouse.retrieval.candidates import Neighbours, Sources
from chapterhouse.text.entity_names import entity_key
from chapterhouse.text.terms import find_terms, term_numbers
from chapterhouse.types import Chunk, Query, Question, Scope, WeightedTerm
from chapterhouse.types.engines import MentionSearch

_NEAR: Final = 0.5  # of the best score: what is far below it is not followed
_REACHED: Final = 100  # documents whose passages are compared, those of most weight
_DEPTH: Final = 200  # passages of theirs
_UNSAID: Final = 1.0  # BM25 that stands for saying it in words of one's own


def find_neighbours(
    ranked: Sequence[Chunk],
    scores: Mapping[int, float],
    question: Question,
    query: Query,
    sources: Sources,
    settings: Neighbours,
) -> Sequence[Chunk]:
    """Return passages worth a place behind the first hits, best first; most questions have none.

    The question has to name something that a first hit names, and to hold words that none of
    these has. Weight flows from the hits to what they name, and from that to the documents that
    name it, as forward push does in one round (Andersen, Chung and Lang, FOCS 2006): a name that
    few documents have gives each of them more. Words that were left open decide between them.

    Args:
        ranked: The hits so far, best first.
        scores: Their scores, 0 to 1, by key.
    """
    if sources.mentions is None or not ranked or question.is_literal:
        return ()
    best = scores[ranked[0].key] or 1.0
    first = [one for one in ranked[: settings.hits] if scores[one.key] >= _NEAR * best]
    if not (left := _left_open(question, first, query.scope, sources)):
        return ()
    shares = {one: scores[one.key] / best for one in first}
    weights = push(shares, question.text, query.scope, sources.mentions, settings.documents)
    reached = sorted(weights, key=lambda name: (-weights[name], name))[:_REACHED]
    if not reached:
        return ()
    hits = sources.lexical.search(left, query.scope, _DEPTH, reached)
    documents = sources.documents_of([hit.key for hit in hits], query.scope)
    values = {
        hit.key: weights[documents[hit.key]] * (_UNSAID + hit.score)
        for hit in hits
        if hit.key in documents
    }
    ahead = {one.key for one in hits_before(ranked, scores, settings)}
    order = sorted(values.keys() - ahead, key=lambda key: (-values[key], documents[key], key))
    keys = order[: settings.places]
    read = sources.chunks(keys, query.scope)
    return [read[key] for key in keys if key in read]


def hits_before(
    ranked: Sequence[Chunk], scores: Mapping[int, float], settings: Neighbours
) -> Sequence[Chunk]:
    """Return the hits that stay before all neighbours: some, and all that come near the best."""
    least = settings.near * scores[ranked[0].key] if ranked else 0.0
    near = sum(1 for _ in takewhile(lambda one: scores[one.key] >= least, ranked))
    return ranked[: max(settings.behind, near)]


def _left_open(
    question: Question, first: Sequence[Chunk], scope: Scope, sources: Sources
) -> Sequence[WeightedTerm]:
    """Return the terms of the words that none of the first hits has."""
    terms = list(dict.fromkeys(term for _, own in question.words for term in own))
    rows = sources.lexical.terms_of([one.key for one in first], scope)
    found = np.unique(find_terms(term_numbers(terms), rows).term)
    covered = {terms[number] for number in found.tolist()}
    left = {term for _, own in question.words if covered.isdisjoint(own) for term in own}
    return [term for term in question.terms if term.term in left]


def push(
    shares: Mapping[Chunk, float],
    text: str,
    scope: Scope,
    mentions: MentionSearch,
    most: int,
) -> Mapping[str, float]:
    """Return the weight that reaches each other document; none where a question names nothing."""
    asked = f" {entity_key(text)} "
    is_named = False
    weights: dict[str, float] = defaultdict(float)
    for chunk, share in shares.items():
        names = mentions.entities_in(chunk.document_id, chunk.start, chunk.end, scope)
        others = [name for name in names if f" {name} " not in asked]
        is_named |= len(others) < len(names)
        for name in others:
            weights[name] += share / len(others)
    reached = mentions.documents_naming(list(weights), scope, most) if is_named else {}
    own = {chunk.document_id for chunk in shares}
    found: dict[str, float] = defaultdict(float)
    for name, documents in reached.items():
        for document in documents:
            found[document] += weights[name] / len(documents)
    return {name: weight for name, weight in found.items() if name not in own}
