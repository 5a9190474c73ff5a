"""Ordering the shortlist again, by what is worth looking at only for the best candidates."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.question import plain_words
from chapterhouse.text.canonical import written_at
from chapterhouse.text.terms import find_terms, term_numbers, text_of_section
from chapterhouse.types import Chunk, Document, Question, TermRows, WeightedTerm
from chapterhouse.types.engines import Reranker


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """Candidates in order of their first-stage score, with what is known of each.

    Attributes:
        chunks: The candidates, best first.
        scores: Their first-stage scores, 0 to 1.
    """

    question: Question
    chunks: tuple[Chunk, ...]
    scores: tuple[float, ...]
    documents: Mapping[str, Document]
    rows: TermRows
    frequencies: Callable[[Sequence[str]], Sequence[int]]
    size: int


# One score a candidate, 0 to 1, in the order of the shortlist.
Rerank = Callable[[Shortlist], Sequence[float]]


def passage_text(chunk: Chunk, document: Document | None) -> str:
    """Return a chunk as a model reads it: where it stands, then what it says."""
    place = " / ".join(filter(None, (document.title if document else "",
                                     text_of_section(chunk.section_path))))  # fmt: skip
    return f"{place}\n{chunk.header}{chunk.text}".strip()


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEATURES: Final = (
    "first_stage",  # the fused score, 0 to 1
    "adjacent",  # neighbouring words of the question that stand side by side, by weight
    "neighbours",  # first-stage scores of the candidates around it in its document
)
_NEAR: Final = 4  # terms; a pair this close counts half
_LESS_NEAR: Final = 10  # and a fifth
_AROUND: Final = ((1, 1.0), (2, 0.5))  # distance in the document, and what a score there counts


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTerms:
    """A question's terms as numbers.

    Attributes:
        numbers: The distinct terms, shape (terms,).
        weights: Times said times inverse document frequency, shape (terms,).
        pairs: Places in ``numbers`` of terms that follow one another in the question.
    """

    numbers: NDArray[np.uint32]
    weights: Floats
    pairs: tuple[tuple[int, int], ...]


def question_terms(
    terms: Sequence[WeightedTerm], frequencies: Sequence[int], order: Sequence[str], chunks: int
) -> QuestionTerms:
    """Return a question's terms with their weights."""
    place = {term.term: number for number, term in enumerate(terms)}
    follow = ((place.get(a), place.get(b)) for a, b in pairwise(order))
    pairs = dict.fromkeys((a, b) for a, b in follow if a is not None and b is not None and a != b)
    weights = np.asarray([term.weight for term in terms], dtype=np.float64)
    return QuestionTerms(
        term_numbers(term.term for term in terms),
        weights * inverse_frequency(frequencies, chunks),
        tuple(pairs),
    )


def inverse_frequency(frequencies: Sequence[int], chunks: int) -> Floats:
    """Return ``ln(1 + (N − n + ½) / (n + ½))``, BM25's weight of a term, at least 0."""
    n = np.minimum(np.asarray(frequencies, dtype=np.float64), chunks)
    return np.log1p((chunks - n + 0.5) / (n + 0.5))


def features(
    terms: QuestionTerms,
    rows: TermRows,
    scores: Sequence[float],
    documents: Sequence[str],
    ordinals: Sequence[int],
) -> Floats:
    """Return one row of ``FEATURES`` a candidate, shape (candidates, features)."""
    count = len(scores)
    first_stage = np.asarray(scores, dtype=np.float64)
    found = find_terms(terms.numbers, rows)
    _, groups = np.unique(np.asarray(documents), return_inverse=True)
    in_body = found.position < (rows.sections - rows.starts[:-1])[found.row]
    row, term, position = (part[in_body] for part in (found.row, found.term, found.position))
    columns = [
        first_stage,
        _adjacent(terms, row, term, position, count),
        _neighbours(first_stage, groups, np.asarray(ordinals, dtype=np.int64)),
    ]
    return np.stack(columns, axis=1) if count else np.zeros((0, len(FEATURES)))


def _adjacent(terms: QuestionTerms, row: Ints, term: Ints, position: Ints, count: int) -> Floats:
    """Return the weight of the question's pairs that stand together, by how near they do."""
    result = np.zeros(count)
    total = 0.0
    apart = int(position.max(initial=0)) + _LESS_NEAR + 2
    place = row * apart + position  # one line on which different rows lie far from one another
    for first, second in terms.pairs:
        weight = float(terms.weights[first] + terms.weights[second])
        total += weight
        ones, others = np.flatnonzero(term == first), place[term == second]
        if not len(ones) or not len(others):
            continue
        here = place[ones]
        after = others[np.minimum(np.searchsorted(others, here), len(others) - 1)]
        before = others[np.maximum(np.searchsorted(others, here) - 1, 0)]
        gap = np.minimum(np.abs(after - here), np.abs(here - before))
        near = np.where(gap <= _NEAR, 0.5, np.where(gap <= _LESS_NEAR, 0.2, 0.0))
        near[after == here + 1] = 1.0
        best = np.zeros(count)
        np.maximum.at(best, row[ones], near)
        result += weight * best
    return result / (total or 1.0)


def _neighbours(first_stage: Floats, groups: Ints, ordinals: Ints) -> Floats:
    """Return the weighted mean score of up to two candidates on either side; 0 where none is."""
    apart = int(ordinals.max(initial=0)) + 4  # the last places of a document, the first of another
    place = groups * apart + ordinals
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    result = np.zeros(len(first_stage))
    total = 0.0
    for distance, weight in _AROUND:
        for wanted in (place - distance, place + distance):
            at = np.minimum(np.searchsorted(ordered, wanted), max(len(ordered) - 1, 0))
            there = ordered[at] == wanted if len(ordered) else at.astype(bool)
            result[there] += weight * first_stage[order[at[there]]]
            total += weight
    return result / total


_STEEPEST: Final = 25.0  # of a logit: beyond it a score is 0 or 1 to eleven digits


@dataclass(frozen=True, slots=True)
class FeatureModel:
    """A linear model over ``FEATURES``, made by ``benchmarks/reranker.py``.

    A candidate's score is ``1 / (1 + exp(−(intercept + Σ weight · feature)))``: the share of such
    candidates that answered their question in the collections it was fitted on.
    """

    intercept: float
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(FEATURES):
            raise ValueError(f"{len(FEATURES)} features need as many weights: {self.weights}")

    def scores(self, table: Floats) -> Floats:
        """Return one score a row of ``table``, between 0 and 1."""
        logits = np.clip(self.intercept + table @ np.asarray(self.weights), -_STEEPEST, _STEEPEST)
        scores: Floats = 1.0 / (1.0 + np.exp(-logits))
        return scores


def feature_model(text: str) -> FeatureModel:
    """Return the model of a JSON text: an intercept, and a weight for each name of ``FEATURES``.

    Raises:
        ValueError: it is something else, or a feature is missing, unknown or not a number.
    """
    fields = json.loads(text)
    named = fields.get("weights") if isinstance(fields, dict) else None
    if not isinstance(named, dict) or set(fields) != {"intercept", "weights"}:
        raise ValueError("A model has an intercept and weights by name.")
    if set(named) != set(FEATURES):
        raise ValueError(f"The weights are of {sorted(named)}, the features {sorted(FEATURES)}.")
    values = [fields["intercept"], *(named[name] for name in FEATURES)]
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
        raise ValueError(f"A weight is not a finite number: {values}")
    return FeatureModel(float(values[0]), tuple(map(float, values[1:])))


def table_of(shortlist: Shortlist) -> Floats:
    """Return the features of every candidate, shape (candidates, features)."""
    question = shortlist.question
    frequencies = shortlist.frequencies([term.term for term in question.terms])
    return features(
        question_terms(question.terms, frequencies, question.order, shortlist.size),
        shortlist.rows,
        shortlist.scores,
        [chunk.document_id for chunk in shortlist.chunks],
        [chunk.ordinal for chunk in shortlist.chunks],
    )


def by_features(model: FeatureModel) -> Rerank:
    """Return a reranker that counts: no model to run, some hundred microseconds."""

    def rerank(shortlist: Shortlist) -> Sequence[float]:
        scores: list[float] = model.scores(table_of(shortlist)).tolist()
        return scores

    return rerank


def by_model(reranker: Reranker) -> Rerank:
    """Return a reranker that lets a model read question and passages together.

    Models score on scales of their own; the logistic function brings them between 0 and 1
    without changing an order.
    """

    def rerank(shortlist: Shortlist) -> Sequence[float]:
        passages = [
            passage_text(chunk, shortlist.documents.get(chunk.document_id))
            for chunk in shortlist.chunks
        ]
        scores = reranker.score(shortlist.question.text, passages)
        if len(scores) != len(passages) or not all(map(math.isfinite, scores)):
            raise EngineError(f"{reranker.fingerprint} gave no score for some of the passages.")
        if all(0.0 <= score <= 1.0 for score in scores):
            return scores
        return [1.0 / (1.0 + math.exp(-max(min(s, _STEEPEST), -_STEEPEST))) for s in scores]

    return rerank


TAG_BOOST: Final = 0.08
FRESHNESS_HALF_LIFE: Final = 26.0  # days
FRESHNESS_FLOOR: Final = 0.1
_DAY: Final = 86_400
_YEAR: Final = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
_SEPARATORS: Final = re.compile(r"[\s_\-]+")
_LEAST_TITLE: Final = 2  # words; a shorter title is too easily met by chance


@dataclass(frozen=True, slots=True)
class Recency:
    """How much the age of a document counts.

    Attributes:
        now: Seconds since 1970.
        share: From 0, age does not count, to 1, the score is multiplied by the freshness.
    """

    now: int
    share: float = 1.0


def freshness(age_seconds: float) -> float:
    """Return ``0.1 + 0.9 · 2^(−age / 26 days)``: .98 after a day, .50 after 30, .11 after 180.

    A document dated in the future counts as new.
    """
    days = max(age_seconds, 0.0) / _DAY
    return FRESHNESS_FLOOR + (1 - FRESHNESS_FLOOR) * math.exp2(-days / FRESHNESS_HALF_LIFE)


def tags_of(document: Document) -> frozenset[str]:
    """Return what a document says it is about in its front matter, folded."""
    listed = document.metadata.get("tags", "")
    return frozenset(filter(None, map(fold_tag, listed.split(","))))


def fold_tag(tag: str) -> str:
    """Return a tag in the form in which tags are compared: ``Eye_Tracking`` is ``eye-tracking``."""
    return _SEPARATORS.sub("-", tag.strip().casefold())


def shared_tags(document: Document, tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags that a document shares with the asker, sorted."""
    return tuple(sorted(tags_of(document).intersection(map(fold_tag, tags))))


def names_document(question: Question, document: Document) -> bool:
    """Whether the question names this document, by its file or by its whole title."""
    if names_file(question, document):
        return True
    title = _words(document.title)
    return title.count(" ") > _LEAST_TITLE and title in _words(question.text)


def names_file(question: Question, document: Document) -> bool:
    """Whether the question names the file of this document."""
    name = document.source.rpartition("/")[2].casefold()
    return any(name == wanted.casefold() for wanted in question.file_names)


def _words(text: str) -> str:
    """Return the words of a text, a space before and behind each."""
    return f" {' '.join(plain_words(text.casefold()))} "


def names_year(question: Question) -> bool:
    """Whether the question asks about a year."""
    return _YEAR.search(question.text) is not None


def weight_of(
    question: Question, document: Document, tags: Sequence[str], recency: Recency | None
) -> tuple[float, float]:
    """Return by what a document's tags and its freshness multiply the scores of its chunks.

    Freshness is 1 where the question names the document or a year: who asks for the minutes of
    2019 does not want newer ones.
    """
    tagged = 1.0 + TAG_BOOST if tags and shared_tags(document, tags) else 1.0
    if recency is None or names_year(question) or names_document(question, document):
        return tagged, 1.0
    fresh = freshness(recency.now - written_at(document))
    return tagged, 1.0 - recency.share * (1.0 - fresh)
