"""One hop: documents that the question or the first hits mention by name join the hits.

"Where was the director of this film born?" names only the film; its document names the director,
and the document about the director answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from chapterhouse.retrieval.candidates import Hop, Sources
from chapterhouse.text.aliases import names_in
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Chunk, Query, Question

_DEPTH: Final = 300  # chunks of the documents mentioned that are looked at
_RARE_SHARE: Final = 0.005  # of all chunks: a single word in more of them is no name
_RARE_CHUNKS: Final = 10  # in a small library


@dataclass(frozen=True, slots=True, eq=False)
class HopResult:
    """Chunks with their scores before and after the hop.

    Attributes:
        scores: Raised scores, and those of what was brought in, by key.
        stages: Why each score was raised: ``named`` or ``mentioned``, by key.
    """

    chunks: tuple[Chunk, ...] = ()
    scores: Mapping[int, float] = field(default_factory=dict)
    stages: Mapping[int, str] = field(default_factory=dict)


def follow_mentions(
    chunks: Sequence[Chunk],
    scores: Mapping[int, float],
    question: Question,
    query: Query,
    sources: Sources,
    hop: Hop,
) -> HopResult:
    """Return what the question and the first hits mention, each by its best chunk.

    Args:
        chunks: The hits so far, best first.
        scores: Their scores, 0 to 1, by key.
    """
    if not chunks or question.is_literal:  # what is looked for word for word means itself
        return HopResult()
    known = {chunk.key: chunk for chunk in chunks}
    raised: dict[int, float] = {}
    stages: dict[int, str] = {}

    def score(chunk: Chunk) -> float:
        return raised.get(chunk.key, scores.get(chunk.key, 0.0))

    def raise_to(mentioned: Mapping[str, float], stage: str) -> None:
        best = _best_chunks(mentioned, known.values(), question, query, sources)
        for name, chunk in best.items():
            known[chunk.key] = chunk
            if mentioned[name] > score(chunk):
                raised[chunk.key] = mentioned[name]
                stages[chunk.key] = stage

    named, *_ = _documents_in([question.text], question, query, sources)
    raise_to(dict.fromkeys(named, hop.named * score(chunks[0])), "named")
    first = [chunk for chunk in known.values() if stages.get(chunk.key) == "named"]
    first += [chunk for chunk in chunks[: hop.hits] if stages.get(chunk.key) != "named"]
    mentioned: dict[str, float] = {}
    texts = [chunk.header + chunk.text for chunk in first[: hop.hits]]
    documents = _documents_in(texts, question, query, sources)
    for chunk, names in zip(first, documents, strict=False):
        for name in names:
            if name != chunk.document_id and len(mentioned) < hop.documents:
                mentioned.setdefault(name, hop.mentioned * score(chunk))
    raise_to(mentioned, "mentioned")
    old = {chunk.key for chunk in chunks}
    new = (chunk for key, chunk in known.items() if key not in old and key in raised)
    return HopResult(tuple(new), raised, stages)


def _documents_in(
    texts: Sequence[str], question: Question, query: Query, sources: Sources
) -> list[list[str]]:
    """Return the documents that each text mentions, in the order in which it does."""
    names = [names_in(text) for text in texts]
    every = list(dict.fromkeys(name for own in names for name in own))
    titled = sources.titled(every, query.scope) if every else {}
    found = {
        name: documents
        for name, documents in titled.items()
        if " " in name or _is_rare(name, question, query, sources)
    }
    return [
        list(dict.fromkeys(document for name in own for document in found.get(name, ())))
        for own in names
    ]


def _is_rare(word: str, question: Question, query: Query, sources: Sources) -> bool:
    most = max(_RARE_CHUNKS, int(_RARE_SHARE * sources.lexical.size(query.scope)))
    terms = [analyse(word, language)[0] for language in question.languages]
    return max(sources.lexical.document_frequencies(terms, query.scope)) <= most


def _best_chunks(
    documents: Iterable[str],
    known: Iterable[Chunk],
    question: Question,
    query: Query,
    sources: Sources,
) -> Mapping[str, Chunk]:
    """Return the chunk of each document that comes first for the question.

    One of those that are known, which are in order, or else the best by its words.
    """
    best: dict[str, Chunk] = {}
    for chunk in known:
        best.setdefault(chunk.document_id, chunk)
    wanted = list(documents)
    missing = [name for name in wanted if name not in best]
    if missing:
        hits = sources.lexical.search(question.terms, query.scope, _DEPTH, missing)
        document_of = sources.documents_of([hit.key for hit in hits], query.scope)
        first: dict[str, int] = {}
        for hit in hits:
            if hit.key in document_of:
                first.setdefault(document_of[hit.key], hit.key)
        chunks = sources.chunks(first.values(), query.scope)
        best |= {chunk.document_id: chunk for chunk in chunks.values()}
    return {name: best[name] for name in wanted if name in best}
