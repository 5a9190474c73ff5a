"""The features, against a plain and slow way of computing each."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.rows import rows_at, term_rows

from chapterhouse.retrieval.features import (
    FEATURES,
    Floats,
    QuestionTerms,
    features,
    inverse_frequency,
    question_terms,
)
from chapterhouse.types import TermRows, WeightedTerm

VOCABULARY = ("aa", "bb", "cc", "dd", "ee", "ff")
ASKED = st.lists(st.sampled_from(VOCABULARY[:4]), max_size=5)
CHUNKS = st.lists(
    st.tuples(
        st.lists(st.sampled_from((*VOCABULARY, "xx", "yy")), max_size=60),
        st.lists(st.sampled_from(VOCABULARY), max_size=3),
        st.sampled_from("pqr"),
        st.floats(0, 1).map(lambda score: round(score, 3)),
        st.integers(0, 5),
    ),
    max_size=6,
    unique_by=lambda chunk: (chunk[2], chunk[4]),
)
Chunks = Sequence[tuple[list[str], list[str], str, float, int]]


def rows_of(chunks: Chunks) -> TermRows:
    return term_rows((" ".join(text), " ".join(section), "", "xx") for text, section, *_ in chunks)


def terms_of(asked: Sequence[str], frequencies: Sequence[int] | None = None) -> QuestionTerms:
    said = Counter(asked)
    terms = [WeightedTerm(term, float(count)) for term, count in said.items()]
    return question_terms(terms, frequencies or range(1, len(said) + 1), asked, 50)


def table_of(asked: Sequence[str], chunks: Chunks) -> Floats:
    return features(
        terms_of(asked),
        rows_of(chunks),
        [score for *_, score, _ in chunks],
        [name for _, _, name, _, _ in chunks],
        [ordinal for *_, ordinal in chunks],
    )


def expected_row(asked: Sequence[str], chunks: Chunks, number: int) -> list[float]:
    text, _, name, score, ordinal = chunks[number]
    weights = {
        term: count * math.log1p((50 - n + 0.5) / (n + 0.5))
        for n, (term, count) in enumerate(Counter(asked).items(), start=1)
    }
    around = {1: 1.0, 2: 0.5}
    near = [(around.get(abs(c[4] - ordinal), 0.0), c[3]) for c in chunks if c[2] == name]
    return [
        score,
        adjacency(asked, text, weights),
        sum(weight * theirs for weight, theirs in near) / 3.0,
    ]


def adjacency(asked: Sequence[str], text: Sequence[str], weights: dict[str, float]) -> float:
    pairs = {(a, b) for a, b in pairwise(asked) if a != b}
    total = sum(weights[a] + weights[b] for a, b in pairs) or 1.0
    reached = 0.0
    for one, other in pairs:
        best = 0.0
        for here in (i for i, term in enumerate(text) if term == one):
            gaps = [i - here for i, term in enumerate(text) if term == other]
            for gap in gaps:
                near = 0.5 if abs(gap) <= 4 else 0.2 if abs(gap) <= 10 else 0.0
                best = max(best, 1.0 if gap == 1 else near)
        reached += best * (weights[one] + weights[other])
    return reached / total


@given(ASKED, CHUNKS)
def test_every_feature_is_what_the_slow_way_makes_of_it(asked: list[str], chunks: Chunks) -> None:
    table = table_of(asked, chunks)
    assert table.shape == (len(chunks), len(FEATURES))
    for number in range(len(chunks)):
        expected = expected_row(asked, chunks, number)
        assert dict(zip(FEATURES, table[number], strict=True)) == pytest.approx(
            dict(zip(FEATURES, expected, strict=True)), abs=1e-9
        )


@given(ASKED, CHUNKS)
def test_every_feature_lies_between_zero_and_one(asked: list[str], chunks: Chunks) -> None:
    table = table_of(asked, chunks)
    assert np.isfinite(table).all()
    assert (table >= -1e-12).all()
    assert (table <= 1 + 1e-12).all()


@given(ASKED, CHUNKS, st.data())
def test_no_feature_depends_on_the_order_of_the_candidates(
    asked: list[str], chunks: Chunks, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(chunks))))
    shuffled = table_of(asked, [chunks[place] for place in order])
    assert shuffled == pytest.approx(table_of(asked, chunks)[list(order)], abs=1e-12)


@given(ASKED, CHUNKS)
def test_rows_in_another_order_give_the_same(asked: list[str], chunks: Chunks) -> None:
    order = list(range(len(chunks)))[::-1]
    turned = [chunks[place] for place in order]
    rows = rows_at(rows_of(chunks), order)
    direct = rows_of(turned)
    assert rows.terms.tolist() == direct.terms.tolist()
    assert rows.sections.tolist() == direct.sections.tolist()
    assert rows.titles.tolist() == direct.titles.tolist()
    assert asked == [] or table_of(asked, turned).shape[0] == len(chunks)


def test_an_empty_question_gives_only_what_needs_none() -> None:
    table = table_of([], [(["aa", "bb"], [], "p", 0.5, 0)])
    assert table.tolist() == [[0.5, 0, 0]]


def test_no_candidates_give_an_empty_table() -> None:
    assert table_of(["aa"], []).shape == (0, len(FEATURES))


def test_empty_chunks_have_nothing_in_them() -> None:
    table = table_of(["aa", "bb"], [([], [], "p", 0.0, 3), ([], [], "q", 0.0, 0)])
    assert table.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_heading_is_no_place_in_the_text() -> None:
    row = dict(
        zip(FEATURES, table_of(["aa", "bb"], [(["aa"], ["bb"], "p", 0.1, 0)])[0], strict=True)
    )
    assert row["adjacent"] == 0.0


def test_the_weight_of_a_term_falls_with_its_frequency_and_stays_positive() -> None:
    weights = inverse_frequency([0, 1, 10, 99, 100, 500], 100)
    assert (np.diff(weights) <= 0).all()
    assert (weights > 0).all()  # also of a term in every chunk, or counted a moment later


def test_a_word_said_twice_weighs_twice() -> None:
    once, twice = terms_of(["aa", "bb"]), terms_of(["aa", "bb", "bb"])
    assert twice.weights[1] == pytest.approx(2 * once.weights[1])
    assert twice.pairs == once.pairs  # a word does not follow itself
