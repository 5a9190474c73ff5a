"""The way from a query to its hits.

::

    understand -> variants -> lexical + vector -> fuse -> merge
    -> shortlist -> rerank -> tags and recency -> exact matches -> hop -> neighbours
    -> duplicates -> cap -> cut

Every step is a function over values; what has to be looked up comes in as ``Sources``, and which
functions the steps are as ``Method``.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.candidates import (
    Candidates,
    Method,
    Sources,
    find_candidates,
    with_other_names,
)
from chapterhouse.retrieval.exact import exact_terms, holds_exactly
from chapterhouse.retrieval.hops import follow_mentions
from chapterhouse.retrieval.names import NAME_BOOST, find_names, names_held
from chapterhouse.retrieval.neighbours import find_neighbours, hits_before
from chapterhouse.retrieval.newest import (
    asks_newest,
    newer_versions_first,
    newest_first,
    newest_version,
)
from chapterhouse.retrieval.question import contains_exactly, parse_question
from chapterhouse.retrieval.repeats import without_repeats
from chapterhouse.retrieval.rerank import Shortlist, names_file, weight_of
from chapterhouse.retrieval.spelling import corrected_question
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Chunk, Hit, Kind, Query, Question, Scope, SearchResult

__all__ = ["Sources", "retrieve"]

_DEFAULT = Method()
_EXACT_DEPTH = 50
_SECTIONS = 1_000  # chunks of a document in whose headings the newest version is looked for
# What a passage gains in the order that states a value of the kind that is asked for, and how many
# are looked through for one; chosen on the open natural folders.
_VALUE = 0.3
_LOOKED_THROUGH = 16
_DECIMALS = 6  # that are shown
_DECIMALS_OF_ORDER = 12  # models give scores of a millionth to much that is still in an order


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Chunks in their final order, with what each stage made of them."""

    question: Question
    chunks: tuple[Chunk, ...]
    scores: Mapping[int, float]
    stages: Mapping[int, Mapping[str, float]]
    repeats: Mapping[int, tuple[str, ...]]
    warnings: tuple[str, ...]


def retrieve(query: Query, sources: Sources, method: Method = _DEFAULT) -> SearchResult:
    """Return the hits of ``query``, best first, in total order (score, then chunk id).

    The first hits do not depend on how many are wanted.
    """
    census = sources.census(query.scope)
    asked = parse_question(query.text, census.languages)
    question, meant = corrected_question(asked, query, census.languages, sources)
    candidates = find_candidates(question, query, census, sources, method, asked)
    exact = {wanted: _find_exactly(wanted, question, query, sources) for wanted in question.exact}
    ranking = _rank(question, query, candidates, exact, sources, method)
    if asks_newest(question) and (version := _newest_version(ranking.chunks, query, sources)):
        question = replace(question, identifiers=(*question.identifiers, version))
        exact[version] = _find_exactly(version, question, query, sources)
        ranking = _rank(question, query, candidates, exact, sources, method)
    question = ranking.question
    guaranteed = _guaranteed(ranking.chunks, question, exact)
    chosen = choose(ranking.chunks, guaranteed, query.limit, query.per_document)
    return SearchResult(
        query=query,
        question=question,
        hits=_hits(chosen, candidates, ranking, guaranteed, query.scope, sources),
        documents=census.documents,
        chunks=census.chunks,
        variants=tuple(found.variant for found in candidates.found),
        warnings=(*candidates.warnings, *ranking.warnings, *(each.notice for each in meant)),
        corrections=meant,
    )


def _newest_version(ranked: Sequence[Chunk], query: Query, sources: Sources) -> str:
    """Return the highest version of which the best document has a section; or nothing."""
    if not ranked:
        return ""
    of_it = sources.lexical.search((), query.scope, _SECTIONS, [ranked[0].document_id])
    return newest_version(sources.chunks([hit.key for hit in of_it], query.scope).values())


def make_shortlist(
    question: Question,
    candidates: Candidates,
    keys: Sequence[int],
    scope: Scope,
    sources: Sources,
) -> Shortlist:
    """Read the chunks ``keys``, best first, and look up what rerankers need of them."""
    read = sources.chunks(keys, scope)
    chunks = [read[key] for key in keys if key in read]
    # Keys tell in which order chunks were stored; equal scores are ordered by what is the same
    # in every library that holds these documents.
    chunks.sort(key=lambda chunk: (-candidates.scores.get(chunk.key, 0.0), *_place(chunk)))
    documents = sources.documents(dict.fromkeys(chunk.document_id for chunk in chunks), scope)
    return Shortlist(
        question=with_other_names(question, candidates),
        chunks=tuple(chunks),
        scores=tuple(candidates.scores.get(chunk.key, 0.0) for chunk in chunks),
        documents=documents,
        rows=sources.lexical.terms_of([chunk.key for chunk in chunks], scope),
        frequencies=partial(sources.lexical.document_frequencies, scope=scope),
        size=sources.lexical.size(scope),
    )


def _rank(
    question: Question,
    query: Query,
    candidates: Candidates,
    exact: Mapping[str, Sequence[int]],
    sources: Sources,
    method: Method,
) -> _Ranking:
    """Order the shortlist by every stage, and behind it as many others as the choice needs."""
    before = candidates.scores
    keys = sorted(before, key=lambda key: (-before[key], key))
    # What quotes is answered first by what holds the quotation, whatever its score: then each
    # candidate has to be read.
    size = len(keys) if question.phrases else _cut(keys, before, method.shortlist)
    looked_for = [key for found in exact.values() for key in found if key not in before]
    listed = list(dict.fromkeys([*keys[:size], *looked_for]))
    shortlist = make_shortlist(question, candidates, listed, query.scope, sources)
    names = find_names(shortlist)
    question = replace(question, names=names.deciding)
    scores, stages, warnings = _score(shortlist, names.shares, query, method)
    order_by_day = newest_first if asks_newest(question) else newer_versions_first
    scores = order_by_day(scores, shortlist.chunks, shortlist.documents)
    named, codes = _named(shortlist, question), exact_terms(question)
    documents = dict(shortlist.documents)
    stating = _stating(shortlist, scores, method.value_asked(question))
    exactly: dict[int, int] = {}

    def place(chunk: Chunk) -> tuple[float | str, ...]:
        if chunk.key not in exactly:  # chunks are ordered twice
            document = documents.get(chunk.document_id)
            held = names_held(question, document) if document else 0
            exactly[chunk.key] = held + holds_exactly(codes, chunk, document)
        first = chunk.document_id not in named, -exactly[chunk.key]
        score = scores[chunk.key]
        value = _VALUE * (1.0 - score) if chunk.key in stating else 0.0
        return *first, -score - value, chunk.document_id, chunk.ordinal

    order = sorted(shortlist.chunks, key=place)
    if method.hop is not None:
        hopped = follow_mentions(order, scores, question, query, sources, method.hop)
        for key, score in hopped.scores.items():
            scores[key] = round(score, _DECIMALS_OF_ORDER)
            stages.setdefault(key, {})[hopped.stages[key]] = score
        brought = {chunk.document_id for chunk in hopped.chunks}.difference(documents)
        documents.update(sources.documents(brought, query.scope))
        order = sorted((*order, *hopped.chunks), key=place)
    if method.neighbours is not None:
        near = find_neighbours(order, scores, question, query, sources, method.neighbours)
        ahead = hits_before(order, scores, method.neighbours)
        for chunk in near:
            scores[chunk.key] = max(scores.get(chunk.key, 0.0), scores[ahead[-1].key])
            stages.setdefault(chunk.key, {})["neighbour"] = scores[chunk.key]
        moved = {chunk.key for chunk in (*ahead, *near)}
        order = [*ahead, *near, *(chunk for chunk in order if chunk.key not in moved)]
    must = set[int]().union(*exact.values())
    chunks, repeats = order, dict[int, tuple[str, ...]]()
    if method.duplicates <= 1:
        chunks, repeats = without_repeats(
            order, must, scores, question, query, sources, method.duplicates
        )
    least = method.thresholds.score
    ranked = [chunk for chunk in chunks if scores[chunk.key] >= least or chunk.key in must]
    if len(ranked) == len(chunks):  # what is behind the shortlist stands below all of it
        behind = [key for key in keys[size:] if key not in scores]
        others = _others(behind, ranked, query, before, scores, sources)
        ranked += [chunk for chunk in others if scores[chunk.key] >= least]
    return _Ranking(question, tuple(ranked), scores, stages, repeats, warnings)


def _stating(
    shortlist: Shortlist,
    scores: Mapping[int, float],
    states_value: Callable[[str, str], bool] | None,
) -> Collection[int]:
    """Return which of the best chunks state a value that is asked for; code is its own place."""
    if states_value is None:
        return ()
    best = sorted(shortlist.chunks, key=lambda chunk: (-scores[chunk.key], *_place(chunk)))
    languages = {key: one.language for key, one in shortlist.documents.items()}
    return {
        chunk.key
        for chunk in best[:_LOOKED_THROUGH]
        if chunk.kind is Kind.CODE or states_value(chunk.text, languages.get(chunk.document_id, ""))
    }


def _cut(keys: Sequence[int], scores: Mapping[int, float], size: int) -> int:
    """Return ``size``, or more where a tie stands at the cut: chunks break it, not their keys."""
    while 0 < size < len(keys) and scores[keys[size]] == scores[keys[size - 1]]:
        size += 1
    return min(size, len(keys))


def _score(
    shortlist: Shortlist, shares: Mapping[str, float], query: Query, method: Method
) -> tuple[dict[int, float], dict[int, dict[str, float]], tuple[str, ...]]:
    """Return final scores and what each stage gave, by key, and what went wrong.

    Args:
        shares: Of the question by what documents are called.
    """
    stages = {
        chunk.key: {"first_stage": score}
        for chunk, score in zip(shortlist.chunks, shortlist.scores, strict=True)
    }
    final = list(shortlist.scores)
    warnings: tuple[str, ...] = ()
    if method.rerank is not None and shortlist.chunks:
        try:
            final = list(method.rerank(shortlist))
        except EngineError as error:
            warnings = (f"The order is that before reranking: {error.message}",)
        else:
            for chunk, score in zip(shortlist.chunks, final, strict=True):
                stages[chunk.key]["reranked"] = score
    scores: dict[int, float] = {}
    weights = {
        name: weight_of(shortlist.question, document, query.tags, method.recency)
        for name, document in shortlist.documents.items()
    }
    # Beside the newest: where all is old, age tells nothing, and no score falls.
    newest = max((fresh for _, fresh in weights.values()), default=1.0)
    for chunk, score in zip(shortlist.chunks, final, strict=True):
        share = shares.get(chunk.document_id, 0.0)
        tagged, fresh = weights.get(chunk.document_id, (1.0, newest))
        fresh /= newest
        names = 1.0 + NAME_BOOST * share * max(1.0 - score, 0.0)  # never beyond 1
        if share:
            stages[chunk.key]["names"] = names
        if tagged != 1.0:
            stages[chunk.key]["tags"] = tagged
        if fresh != 1.0:
            stages[chunk.key]["recency"] = fresh
        # Not cut at 1 before it is shown: a tag tells two excellent chunks apart, too.
        scores[chunk.key] = round(score * names * tagged * fresh, _DECIMALS_OF_ORDER)
    return scores, stages, warnings


def _others(
    keys: Sequence[int],
    chunks: Sequence[Chunk],
    query: Query,
    before: Mapping[int, float],
    scores: dict[int, float],
    sources: Sources,
) -> list[Chunk]:
    """Read candidates behind the shortlist until the choice is full; note their scores.

    They keep their order and stand below the shortlist, whatever it was scored by.
    """
    lowest = min((scores[chunk.key] for chunk in chunks), default=1.0)
    highest = before[keys[0]] if keys else 1.0
    others: list[Chunk] = []
    read = 0
    while read < len(keys):
        if len(choose([*chunks, *others], {}, query.limit, query.per_document)) >= query.limit:
            break
        upto = _cut(keys, before, read + 3 * query.limit)
        found = sources.chunks(keys[read:upto], query.scope).values()
        for chunk in found:
            share = before[chunk.key] / highest if highest else 0.0
            scores[chunk.key] = round(lowest * share, _DECIMALS_OF_ORDER)
        others.extend(sorted(found, key=lambda chunk: (-before[chunk.key], *_place(chunk))))
        read = upto
    return others


def _place(chunk: Chunk) -> tuple[str, int]:
    return chunk.document_id, chunk.ordinal


def _find_exactly(wanted: str, question: Question, query: Query, sources: Sources) -> Sequence[int]:
    if wanted in question.file_names:
        return sources.chunks_named(wanted, query.scope)
    found: list[int] = []
    for language in question.languages:
        words = analyse(wanted, language)
        if wanted in question.identifiers:  # its whole form is a term of its own, and the first
            joined = words[1:2] == [re.sub(r"\D", "", wanted)]  # however it is grouped
            words = words[1:2] if joined else words[:1]
        hits = sources.lexical.search_phrase(words, query.scope, _EXACT_DEPTH)
        found.extend(hit.key for hit in hits)
    return tuple(dict.fromkeys(found))


def _named(shortlist: Shortlist, question: Question) -> Collection[str]:
    """Return the documents that a question asks for by file name and by hardly anything else."""
    if not question.names_files:
        return ()
    documents = shortlist.documents.values()
    return {document.id for document in documents if names_file(question, document)}


def _guaranteed(
    ordered: Sequence[Chunk], question: Question, exact: Mapping[str, Sequence[int]]
) -> Mapping[int, str]:
    """Return the best chunk of everything looked for word for word, with what it holds."""
    result: dict[int, str] = {}
    for wanted, keys in exact.items():
        named = wanted in question.file_names
        found = set(keys)
        for chunk in ordered:
            if chunk.key in found and (named or _holds(chunk, wanted, question)):
                result.setdefault(chunk.key, wanted)
                break
    return result


def _holds(chunk: Chunk, wanted: str, question: Question) -> bool:
    text = chunk.header + chunk.text
    code = next((one for one in exact_terms(question) if one.text == wanted), None)
    return code.is_in(text) if code else contains_exactly(text, wanted)


def choose(
    ordered: Sequence[Chunk], guaranteed: Mapping[int, str], limit: int, per_document: int
) -> list[Chunk]:
    """Cut to ``limit`` with at most ``per_document`` chunks of a document; keep the guaranteed.

    Guaranteed chunks count for their document first, and stay where their score puts them; those
    below the cut take the last places.
    """
    taken: dict[str, int] = {}
    chosen: list[Chunk] = []
    must = [chunk for chunk in ordered if chunk.key in guaranteed][:limit]
    for chunk in must:
        taken[chunk.document_id] = taken.get(chunk.document_id, 0) + 1
    free = limit - len(must)
    for chunk in ordered:
        if chunk.key in guaranteed:
            chosen.extend([chunk] if chunk in must else [])
            continue
        count = taken.get(chunk.document_id, 0)
        if free and (not per_document or count < per_document):
            taken[chunk.document_id] = count + 1
            chosen.append(chunk)
            free -= 1
    return chosen


def _hits(
    chosen: Sequence[Chunk],
    candidates: Candidates,
    ranking: _Ranking,
    guaranteed: Mapping[int, str],
    scope: Scope,
    sources: Sources,
) -> tuple[Hit, ...]:
    documents = sources.documents({chunk.document_id for chunk in chosen}, scope)
    contributions = _contributions(candidates, {chunk.key for chunk in chosen})
    hits: list[Hit] = []
    for chunk in chosen:
        if chunk.document_id not in documents:  # removed between two looks
            continue
        stages = {
            **contributions.get(chunk.key, {}),
            **ranking.stages.get(chunk.key, {"first_stage": candidates.scores.get(chunk.key, 0.0)}),
            "exact": float(chunk.key in guaranteed),
        }
        hits.append(
            Hit(
                rank=len(hits) + 1,
                score=round(min(ranking.scores[chunk.key], 1.0), _DECIMALS),
                chunk=chunk,
                document=documents[chunk.document_id],
                stages={name: round(value, _DECIMALS) for name, value in stages.items()},
                repeats=ranking.repeats.get(chunk.key, ()),
            )
        )
    return tuple(hits)


def _contributions(candidates: Candidates, keys: Collection[int]) -> dict[int, dict[str, float]]:
    """Return what each variant gave for the chunks ``keys``; the question itself has no number."""
    result: dict[int, dict[str, float]] = {key: {} for key in keys}
    for number, found in enumerate(candidates.found):
        prefix = f"variant_{number}_" if number else ""
        for name, hits in ((each.name, each.hits) for each in found.lists):
            for place, hit in enumerate(hits, start=1):
                if hit.key in result:
                    result[hit.key] |= {
                        f"{prefix}{name}": hit.score,
                        f"{prefix}{name}_rank": place,
                    }
        for key, own in result.items():
            if key in found.fused:
                own[f"{prefix}fused"] = found.fused[key]
    return result
