"""BM25 inside a scope: what is on other shelves moves neither an order nor a score.

Tantivy counts over the whole index. Inside a scope its scores, with the scope's own weights of
terms, only say which chunks may be among the best; those are scored here, from their terms in the
forward file and from the scope's own counts and lengths. What Tantivy gives is raised so that it is
never below such a score; chunks are fetched until none of the others can reach the best.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import tantivy
from numpy.typing import NDArray

from chapterhouse.index.forward import Forward
from chapterhouse.index.ranking import FIELD_WEIGHTS
from chapterhouse.text.terms import find_terms, term_numbers
from chapterhouse.types import Scope, Scored, TermRows, WeightedTerm

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_K1: Final = 1.2  # these are Tantivy's
_B: Final = 0.75
_MOST_FREQUENCIES: Final = 50_000
_SLACK: Final = 1.00001  # Tantivy sums in 32 bits
_NO_KEY: Final = -1
_FETCHED: Final = 64  # more than are wanted, at first


@dataclass(frozen=True, slots=True)
class FieldStatistics:
    """What Tantivy goes by in one field: its number of chunks, and how long the field is."""

    chunks: float
    average: float


@dataclass(frozen=True, slots=True, eq=False)
class ScopeStatistics:
    """The chunks inside a scope, and how long their fields are.

    Attributes:
        keys: Of the chunks, sorted.
        averages: Number of terms, by field.
        longest: Likewise.
    """

    keys: NDArray[np.int64]
    averages: Mapping[str, float]
    longest: Mapping[str, float]


class ScopedIndex:
    """One state of the lexical index, seen through a scope."""

    def __init__(
        self, searcher: tantivy.Searcher, schema: tantivy.Schema, rows: Forward, scope: Scope
    ) -> None:
        self._searcher = searcher
        self._schema = schema
        self._rows = rows
        self._within = _within(schema, scope)
        self._frequencies: dict[tuple[str, str], int] = {}
        self._whole: dict[str, FieldStatistics] = {}
        self._inside = self._look_inside()

    def size(self) -> int:
        """Count the chunks."""
        return len(self._inside.keys)

    def frequency(self, term: str, field: str = "body") -> int:
        """Count the chunks in which a term occurs."""
        found = self._frequencies.get((field, term))
        if found is None:
            clauses = [(tantivy.Occur.Must, self._term(field, term)), self._within]
            anywhere = self._searcher.doc_freq(field, term)
            found = self._count(tantivy.Query.boolean_query(clauses)) if anywhere else 0
            if len(self._frequencies) >= _MOST_FREQUENCIES:
                self._frequencies.clear()
            self._frequencies[field, term] = found
        return found

    def terms_of(self, keys: Sequence[int]) -> TermRows:
        """Return the terms of chunks in their order; none of those outside."""
        wanted = np.asarray(keys, dtype=np.int64)
        return self._rows.terms_of(
            np.where(np.isin(wanted, self._inside.keys), wanted, _NO_KEY).tolist()
        )

    def search(
        self, terms: Sequence[WeightedTerm], limit: int, documents: Sequence[str]
    ) -> Sequence[Scored]:
        """Return the best chunks, of ``documents`` alone where any are named."""
        weights: dict[str, float] = {}
        for term in terms:
            weights[term.term] = weights.get(term.term, 0.0) + term.weight
        table = self._weights(weights)
        clauses = self._bounds(list(weights), table)
        if documents:
            of_these = tantivy.Query.term_set_query(self._schema, "document", list(documents))
            clauses.append((tantivy.Occur.Must, tantivy.Query.const_score_query(of_these, 0.0)))
        if not clauses or limit <= 0 or not self.size():
            return ()
        query = tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, tantivy.Query.boolean_query(clauses)), self._within]
        )
        numbers = term_numbers(weights)
        wanted = limit + _FETCHED
        while True:
            keys, bounds = self._fetch(query, wanted)
            scores = self._scores(self._rows.terms_of(keys.tolist()), numbers, table)
            order = np.lexsort((keys, -scores))[:limit]
            if len(keys) < wanted or bounds[-1] * _SLACK < scores[order[-1]]:
                return _scored(keys[order], scores[order])
            wanted *= 4

    def search_phrase(self, words: Sequence[str], limit: int) -> Sequence[Scored]:
        """Return the chunks in whose body ``words`` stand one after the other, best first."""
        phrase = (
            tantivy.Query.phrase_query(self._schema, "body", list(words))
            if len(words) > 1
            else self._term("body", words[0])
        )
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, phrase), self._within])
        keys, _ = self._fetch(query, max(self.size(), 1))
        rows = self._rows.terms_of(keys.tolist())
        times = _phrases_in(rows, term_numbers(words))
        lengths = _lengths(rows)["body"]
        weight = sum(self._weight(word, "body") for word in words)
        scores = weight * _saturation(times, lengths, self._inside.averages["body"])
        order = np.lexsort((keys, -scores))[:limit]
        return _scored(keys[order], scores[order])

    def _look_inside(self) -> ScopeStatistics:
        query = tantivy.Query.boolean_query([self._within])
        keys, _ = self._fetch(query, max(self._count(query), 1))
        keys = np.sort(keys)
        lengths = self._rows.lengths_of(keys)
        return ScopeStatistics(
            keys,
            {
                name: max(float(own.mean()), 1e-9) if len(own) else 1.0
                for name, own in lengths.items()
            },
            {name: float(own.max(initial=0)) for name, own in lengths.items()},
        )

    def _count(self, query: tantivy.Query) -> int:
        counted = self._searcher.search(query, limit=1, count=True)
        return int(counted.count or 0)  # type: ignore[attr-defined]  # missing in its stubs

    def _term(self, field: str, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, term, index_option="freq")

    def _fetch(self, query: tantivy.Query, number: int) -> tuple[Ints, Floats]:
        """Return the keys of the best chunks, and their scores by Tantivy."""
        hits = self._searcher.search(query, limit=number, count=False).hits
        keys = self._searcher.fast_field_values("key", [address for _, address in hits])
        return (
            np.asarray([int(key or 0) for key in keys], dtype=np.int64),
            np.asarray([score for score, _ in hits], dtype=np.float64),
        )

    def _weights(self, weights: Mapping[str, float]) -> Mapping[str, list[float]]:
        """Return by field what each term weighs."""
        return {
            field: [share * weight * self._weight(term, field) for term, weight in weights.items()]
            for field, share in FIELD_WEIGHTS.items()
        }

    def _weight(self, term: str, field: str) -> float:
        """Return the inverse document frequency of a term; 0 where it does not occur."""
        found = self.frequency(term, field)
        return _inverse_frequency(found, self.size()) * (_K1 + 1) if found else 0.0

    def _bounds(
        self, terms: Sequence[str], table: Mapping[str, Sequence[float]]
    ) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """Return clauses whose scores add up to at least what a chunk has inside the scope."""
        clauses = []
        for field, weights in table.items():
            for term, weight in zip(terms, weights, strict=True):
                if not weight:
                    continue
                query = self._term(field, term)
                whole = self._whole_of(field, query)
                own = _inverse_frequency(self._searcher.doc_freq(field, term), whole.chunks)
                raised = weight / (own * (_K1 + 1)) * self._raise(field, whole)
                clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(query, raised)))
        return clauses

    def _raise(self, field: str, whole: FieldStatistics) -> float:
        """Return how far a score by the scope's average length may lie above Tantivy's."""
        longest, own = self._inside.longest[field], self._inside.averages[field]
        one = np.ones(1)
        least = _saturation(one, one * longest, whole.average)
        most = _saturation(one, one * longest, own)
        return max(1.0, float((most / least)[0])) * _SLACK

    def _whole_of(self, field: str, query: tantivy.Query) -> FieldStatistics:
        """Return what Tantivy goes by in a field, as it explains any hit of ``query``."""
        if field not in self._whole:
            _, address = self._searcher.search(query, limit=1, count=False).hits[0]
            explained = json.loads(query.explain(self._searcher, address).to_json())
            figures = _figures(explained)
            self._whole[field] = FieldStatistics(figures["N"], figures["avgdl"])
        return self._whole[field]

    def _scores(
        self, rows: TermRows, numbers: NDArray[np.uint32], table: Mapping[str, Sequence[float]]
    ) -> Floats:
        """Return the BM25 score of each row: a sum over fields and terms, always in this order."""
        count, width = len(rows.starts) - 1, len(numbers)
        found = find_terms(numbers, rows)
        at = found.position + rows.starts[found.row]
        in_title = at >= rows.titles[found.row]
        in_section = (at >= rows.sections[found.row]) & ~in_title
        chosen = {"body": np.ones(len(at), np.bool_), "title": in_title, "section": in_section}
        lengths = _lengths(rows)
        total = np.zeros(count)
        for field, weights in table.items():
            places = (found.row * width + found.term)[chosen[field]]
            times = np.bincount(places, minlength=count * width).reshape(count, width)
            average = self._inside.averages[field]
            for column, weight in enumerate(weights):
                if weight:
                    total += weight * _saturation(times[:, column], lengths[field], average)
        return total


def _within(schema: tantivy.Schema, scope: Scope) -> tuple[tantivy.Occur, tantivy.Query]:
    """Return the clause that holds for the chunks inside a scope and counts nothing."""
    shelves = [
        (tantivy.Occur.Should, tantivy.Query.term_query(schema, "shelf", name, "basic"))
        for name in scope.shelves or ()
    ]
    within = tantivy.Query.boolean_query(shelves) if shelves else tantivy.Query.empty_query()
    return tantivy.Occur.Must, tantivy.Query.const_score_query(within, 0.0)


def _scored(keys: Ints, scores: Floats) -> Sequence[Scored]:
    return list(map(Scored, keys.tolist(), scores.tolist()))


def _inverse_frequency(found: float, chunks: float) -> float:
    return float(np.log1p((chunks - found + 0.5) / (found + 0.5)))


def _saturation(times: NDArray[Any], lengths: NDArray[Any], average: float) -> Floats:
    """Return BM25's share of a term that occurs so many times in fields of these lengths."""
    norms = _K1 * (1 - _B + _B * _stored(lengths) / average)
    share: Floats = times / (times + norms)
    return share


def _stored_lengths() -> NDArray[np.int64]:
    """Return the 256 lengths that Tantivy stores in a byte: exact up to 40, then ever coarser."""
    lengths = []
    for code in range(256 - 24):
        bits, shift = code & 7, (code >> 3) - 1
        lengths.append(bits if shift < 0 else (bits | 8) << shift)
    return np.asarray([*range(24), *(24 + length for length in lengths)], dtype=np.int64)


_STORED: Final = _stored_lengths()


def _stored(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return lengths as Tantivy stores them: the longest stored one that is not longer."""
    stored: NDArray[np.int64] = _STORED[np.searchsorted(_STORED, lengths, side="right") - 1]
    return stored


def _lengths(rows: TermRows) -> Mapping[str, Ints]:
    ends = rows.starts[1:]
    return {
        "body": ends - rows.starts[:-1],
        "title": ends - rows.titles,
        "section": rows.titles - rows.sections,
    }


def _phrases_in(rows: TermRows, numbers: NDArray[np.uint32]) -> Ints:
    """Return how often terms stand one after the other in each row."""
    last = len(rows.terms) - len(numbers) + 1
    here = np.ones(max(last, 0), dtype=np.bool_)
    for place, number in enumerate(numbers):
        here &= rows.terms[place : place + len(here)] == number
    at = np.flatnonzero(here)
    row = np.searchsorted(rows.starts, at, side="right") - 1
    inside = at + len(numbers) <= rows.starts[row + 1]
    return np.bincount(row[inside], minlength=len(rows.starts) - 1)


def _figures(explained: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the figures of an explanation by the first word of what it calls each."""
    found = {str(explained["description"]).partition(",")[0]: float(explained["value"])}
    for part in explained.get("details") or ():
        found |= _figures(part)
    return found
