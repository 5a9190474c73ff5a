"""Every document that matches, not only the best: for lists that must be complete."""

from collections import Counter
from collections.abc import Mapping, Sequence

from chapterhouse.retrieval.candidates import Sources
from chapterhouse.retrieval.question import contains_exactly, parse_question
from chapterhouse.retrieval.spelling import corrected_question
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Hit, Query, Question, Scope, Scored, SearchResult, WeightedTerm


def find_all(query: Query, sources: Sources) -> SearchResult:
    """Return one hit for every document in which all words of the question stand.

    Where a word stands in a document does not matter; quotations must stand in it word for word.
    Where no document holds all words, those that hold most of them are listed, and a warning says
    so. The best chunk of each document is shown, in order of BM25. ``query.limit`` does not count.
    """
    census = sources.census(query.scope)
    written = parse_question(query.text, census.languages)
    question, meant = corrected_question(written, query, census.languages, sources)
    size = max(sources.lexical.size(query.scope), 1)
    ranked = sources.lexical.search(question.terms, query.scope, size)
    document_of = sources.documents_of([hit.key for hit in ranked], query.scope)
    held = Counter[str]()
    for _, terms in question.words:
        asked = [WeightedTerm(term) for term in terms]
        found = sources.lexical.search(asked, query.scope, size)
        held.update({document_of[hit.key] for hit in found if hit.key in document_of})
    for phrase in question.phrases:
        held.update(_quoting(phrase, question, query, sources, size))
    wanted = len(question.words) + len(question.phrases)
    most = max(held.values(), default=0)
    matching = {document for document, number in held.items() if number == most}
    warnings = () if most == wanted or not held else (
        f"No document holds all of it: these hold {most} of {wanted} words and quotations.",
    )  # fmt: skip
    return SearchResult(
        query=query,
        question=question,
        hits=_hits(ranked, document_of, matching, query.scope, sources),
        documents=census.documents,
        chunks=census.chunks,
        warnings=(*warnings, *(each.notice for each in meant)),
        corrections=meant,
    )


def _quoting(
    phrase: str, question: Question, query: Query, sources: Sources, size: int
) -> set[str]:
    """Return the documents that hold a quotation word for word."""
    keys = [
        hit.key
        for language in question.languages
        for hit in sources.lexical.search_phrase(analyse(phrase, language), query.scope, size)
    ]
    return {
        chunk.document_id
        for chunk in sources.chunks(dict.fromkeys(keys), query.scope).values()
        if contains_exactly(chunk.header + chunk.text, phrase)
    }


def _hits(
    ranked: Sequence[Scored],
    document_of: Mapping[int, str],
    matching: set[str],
    scope: Scope,
    sources: Sources,
) -> tuple[Hit, ...]:
    best: dict[str, list[Scored]] = {}
    for hit in ranked:
        document = document_of.get(hit.key)
        if document in matching:
            own = best.setdefault(document, [])
            if not own or own[0].score == hit.score:
                own.append(hit)  # equal ones are told apart by their place
    chunks = sources.chunks([hit.key for own in best.values() for hit in own], scope)
    documents = sources.documents(best, scope)
    highest = ranked[0].score if ranked else 1.0
    shown = [
        (own[0].score, min((chunks[hit.key] for hit in own if hit.key in chunks),
                           key=lambda chunk: chunk.ordinal, default=None), name)
        for name, own in best.items()
    ]  # fmt: skip
    ordered = sorted(
        ((score, chunk) for score, chunk, name in shown if chunk is not None and name in documents),
        key=lambda pair: (-pair[0], pair[1].document_id),
    )
    return tuple(
        Hit(
            rank=rank,
            score=round(score / highest, 6),
            chunk=chunk,
            document=documents[chunk.document_id],
            stages={"bm25": round(score, 6)},
        )
        for rank, (score, chunk) in enumerate(ordered, start=1)
    )
