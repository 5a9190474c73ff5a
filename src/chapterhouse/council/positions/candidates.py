"""The sentences of a member's documents that may answer an aspect, and what is known of them.

A row of features for each, of which ``choose`` makes how likely it answers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.answering.choosing import Bodies
from chapterhouse.answering.search import method_for, reference_of, search
from chapterhouse.claims.dates import is_dateline
from chapterhouse.council.positions.values import ValueKind, value_kind, values_in
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.sentence_model import Judged, SentenceScorer
from chapterhouse.retrieval.sentences import BY_MEANING, BY_WORDS, Sentence, text_of
from chapterhouse.runtime import Runtime
from chapterhouse.settings import Settings
from chapterhouse.text.front_matter import body_start
from chapterhouse.text.language_data import cue_pattern
from chapterhouse.types import Aspect, AspectKind, Hit, Query, Scope

Floats = NDArray[np.float64]

FEATURES: Final = (
    "whole",  # score of the sentence for the aspect with its context
    "alone",  # the same without
    "coverage",  # share of the aspect's word weight in it or its headings
    "cosine",  # with the aspect, by meaning; 0 without
    "offers",  # whether it states a value of the kind that is asked for
    "decides",  # whether it has a word that permits, forbids or denies, where yes or no is asked
    "short",  # fewer than four words
    "met",  # share of the aspect's weight in tokens that it comes near; 0 without meaning
)
_HITS: Final = 20
_BLANK: Final = "____"  # a line of a form to fill in
_NO_DUPLICATES: Final = 2.0  # no two passages are so alike
_SHORT: Final = 4  # words
_WORD: Final = re.compile(r"[^\W_]")
_DECIDES: Final = r"\b<decides>\b"


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What of a member's documents may answer an aspect.

    Attributes:
        hits: The passages.
        sentences: Of the passages.
        texts: What is visible of each sentence.
        table: A row for each sentence, a column for each of ``FEATURES``.
    """

    hits: tuple[Hit, ...]
    sentences: tuple[Sentence, ...]
    texts: tuple[str, ...]
    table: Floats


def candidates_of(aspect: Aspect, scope: Scope, settings: Settings, runtime: Runtime) -> Candidates:
    """Return what of the documents inside a scope may answer an aspect.

    Args:
        aspect: What is asked.
        scope: What the member reads.
        settings: Those that hold for the member.
        runtime: The library's parts.
    """
    reference = reference_of(runtime, scope)
    census = runtime.store.census(scope)
    queries = list(dict.fromkeys((_with_context(aspect), aspect.text)))
    hits = _merge([_hits(query, scope, settings, runtime) for query in queries])
    judged = [
        reference.scorer.judge(parse_question(query, census.languages), hits, census.chunks)
        for query in queries
    ]
    language = max(census.languages, key=lambda name: census.languages[name], default="")
    found = _candidates(aspect, hits, judged, reference.scorer, language)
    return _without_front_matter(found, Bodies(reference.body))


def _without_front_matter(found: Candidates, bodies: Bodies) -> Candidates:
    """Leave out what describes a curated document and is no statement of it."""
    documents = {hit.document.id: hit.document for hit in found.hits}
    begins = {
        name: body_start(bodies.text(name)) if document.format == "md" else 0
        for name, document in documents.items()
    }
    rows = [
        row
        for row, one in enumerate(found.sentences)
        if one.begin >= begins[found.hits[one.rank].document.id]
        and _WORD.search(found.texts[row])
        and _BLANK not in found.texts[row]
    ]
    return replace(
        found,
        sentences=tuple(found.sentences[row] for row in rows),
        texts=tuple(found.texts[row] for row in rows),
        table=found.table[rows],
    )


def _with_context(aspect: Aspect) -> str:
    return f"{aspect.context}: {aspect.text}" if aspect.context else aspect.text


def _hits(text: str, scope: Scope, settings: Settings, runtime: Runtime) -> Sequence[Hit]:
    query = Query(text, scope, _HITS, 0)
    method = method_for(runtime, settings, None)
    # Versions of one document are nearly the same, and what differs in them is what counts.
    return search(query, runtime, replace(method, duplicates=_NO_DUPLICATES)).hits


def _merge(found: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Return each passage once, as the first query that found it did."""
    merged: dict[str, Hit] = {}
    for hit in (hit for hits in found for hit in hits):
        merged.setdefault(hit.chunk.id, hit)
    return tuple(merged.values())


def _candidates(
    aspect: Aspect,
    hits: Sequence[Hit],
    judged: Sequence[Judged],
    scorer: SentenceScorer,
    language: str,
) -> Candidates:
    whole, alone = judged[0], judged[-1]
    sentences = whole.sentences
    texts = tuple(text_of(hits[one.rank], one) for one in sentences)
    kind = value_kind(aspect.text, (language,))
    columns = (
        _score(whole, scorer),
        _score(alone, scorer),
        _column(alone, "coverage" if alone.meaning else "near coverage"),
        _column(alone, "sentence") if alone.meaning else np.zeros(len(sentences)),
        np.asarray([_offers(aspect, kind, text, language) for text in texts], dtype=float),
        np.asarray([_decides(aspect, text) for text in texts], dtype=float),
        np.asarray(
            [len(text.split()) < _SHORT or is_dateline(text) for text in texts], dtype=float
        ),
        alone.features.met.sum(axis=1) if alone.meaning else np.zeros(len(sentences)),
    )
    table = np.column_stack(columns) if sentences else np.zeros((0, len(FEATURES)))
    return Candidates(tuple(hits), sentences, texts, table)


def _score(judged: Judged, scorer: SentenceScorer) -> Floats:
    """Return the score of each sentence before it becomes a share."""
    weights = scorer.model.by_meaning if judged.meaning else scorer.model.by_words
    names = BY_MEANING if judged.meaning else BY_WORDS
    if not judged.sentences:
        return np.zeros(0)
    score: Floats = judged.features.table @ np.asarray(weights) / len(names)
    return score


def _column(judged: Judged, name: str) -> Floats:
    """Return one feature of each sentence."""
    names = BY_MEANING if judged.meaning else BY_WORDS
    if not judged.sentences:
        return np.zeros(0)
    column: Floats = judged.features.table[:, names.index(name)]
    return column


def _offers(aspect: Aspect, kind: ValueKind, text: str, language: str) -> bool:
    if aspect.kind is not AspectKind.VALUE:
        return False
    return bool(values_in(text, language, kind, aspect.text))


def _decides(aspect: Aspect, text: str) -> bool:
    return aspect.kind is AspectKind.YES_NO and cue_pattern(_DECIDES).search(text) is not None
