"""Rerankers, and the model that comes with Chapterhouse."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.retrieval.scripted import document
from tests.text.rows import term_rows

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.rerank import (
    FEATURES,
    FRESHNESS_FLOOR,
    TAG_BOOST,
    FeatureModel,
    Floats,
    QuestionTerms,
    Recency,
    Shortlist,
    by_features,
    by_model,
    feature_model,
    features,
    fold_tag,
    freshness,
    inverse_frequency,
    names_document,
    names_year,
    passage_text,
    question_terms,
    shared_tags,
    table_of,
    tags_of,
    weight_of,
)
from chapterhouse.types import Chunk, TermRows, WeightedTerm

EVEN = dict.fromkeys(FEATURES, 1.0)
TEXTS = ("harbour gate of the night", "the gate", "a storm took the harbour")


def shortlist(question: str = "harbour gate", texts: Sequence[str] = TEXTS) -> Shortlist:
    chunks = tuple(Chunk(f"d{n}", 0, 0, len(t), t, key=n + 1) for n, t in enumerate(texts))
    return Shortlist(
        question=parse_question(question, {"en": 1}),
        chunks=chunks,
        scores=tuple(1.0 / (1 + n) for n in range(len(texts))),
        documents={chunk.document_id: document(chunk.document_id) for chunk in chunks},
        rows=term_rows((text, "", "", "en") for text in texts),
        frequencies=lambda terms: [1] * len(terms),
        size=10,
    )


class Scripted:
    fingerprint = "scripted"

    def __init__(self, scores: Sequence[float]) -> None:
        self.scores = scores
        self.asked: tuple[str, tuple[str, ...]] = ("", ())

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        self.asked = question, tuple(passages)
        return self.scores


def test_the_model_that_comes_along_loads_and_names_every_feature() -> None:
    text = files("chapterhouse.retrieval").joinpath("reranker.json").read_text("utf-8")
    assert set(json.loads(text)["weights"]) == set(FEATURES)
    model = feature_model(text)
    assert all(map(math.isfinite, (model.intercept, *model.weights)))
    assert model.weights[FEATURES.index("first_stage")] > 0  # what is found better stays better


def test_the_order_of_the_file_does_not_matter() -> None:
    weights = {name: float(number) for number, name in enumerate(FEATURES)}
    turned = dict(reversed(weights.items()))
    model = feature_model(json.dumps({"intercept": 1, "weights": turned}))
    assert model == FeatureModel(1.0, tuple(float(n) for n in range(len(FEATURES))))


@pytest.mark.parametrize(
    "fields",
    [
        {"intercept": 0, "weights": {**EVEN, "moon_phase": 1.0}},
        {"intercept": 0, "weights": dict.fromkeys(FEATURES[1:], 1.0)},
        {"intercept": math.nan, "weights": EVEN},
        {"intercept": 0, "weights": {**EVEN, FEATURES[0]: math.inf}},
        {"intercept": "many", "weights": EVEN},
        {"intercept": 0, "weights": {**EVEN, FEATURES[0]: None}},
        {"intercept": 0, "weights": {**EVEN, FEATURES[0]: [1.0]}},
        {"weights": EVEN},
        {"intercept": 0},
        {"intercept": 0, "weights": [1.0] * len(FEATURES)},
        [],
        "text",
    ],
)
def test_what_is_no_model_is_refused(fields: object) -> None:
    with pytest.raises(ValueError, match=r"weight"):
        feature_model(json.dumps(fields))


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(json.JSONDecodeError):
        feature_model("{")
    with pytest.raises(ValueError, match="as many weights"):
        FeatureModel(0.0, (1.0,))


@given(
    st.lists(st.floats(-50, 50), min_size=len(FEATURES), max_size=len(FEATURES)), st.floats(-50, 50)
)
def test_scores_are_between_zero_and_one_in_the_order_of_the_sums(
    weights: list[float], intercept: float
) -> None:
    model = FeatureModel(intercept, tuple(weights))
    table = np.linspace(0, 1, 4 * len(FEATURES)).reshape(4, -1) ** 2
    scores = model.scores(table)
    assert ((scores >= 0) & (scores <= 1)).all()
    sums = intercept + table @ np.asarray(weights)
    assert (np.diff(scores[np.argsort(sums)]) >= 0).all()


def test_an_extreme_model_is_no_overflow() -> None:
    model = FeatureModel(-5_000.0, (0.0,) * len(FEATURES))
    assert model.scores(np.zeros((1, len(FEATURES)))).tolist() == [pytest.approx(0.0, abs=1e-10)]


def test_features_are_taken_of_the_shortlist() -> None:
    table = table_of(shortlist())
    columns = dict(zip(FEATURES, table.T, strict=True))
    assert columns["first_stage"].tolist() == [1.0, 0.5, pytest.approx(1 / 3)]
    assert columns["adjacent"].tolist() == [1.0, 0.0, 0.0]
    assert columns["neighbours"].tolist() == [0.0, 0.0, 0.0]


def test_a_shortlist_without_documents_or_chunks_is_scored() -> None:
    model = FeatureModel(0.0, (1.0,) * len(FEATURES))
    assert by_features(model)(shortlist(texts=())) == []
    full = shortlist()
    alone = Shortlist(
        full.question, full.chunks, full.scores, {}, full.rows, full.frequencies, full.size
    )
    assert len(by_features(model)(alone)) == 3


def test_a_model_reads_question_and_passages_with_their_titles() -> None:
    model = Scripted([0.1, 0.9, 0.5])
    assert by_model(model)(shortlist("What of the gate?")) == [0.1, 0.9, 0.5]
    assert model.asked == ("What of the gate?", tuple(f"d{n}\n{t}" for n, t in enumerate(TEXTS)))


@given(st.lists(st.floats(-24, 24), min_size=3, max_size=3))
def test_scores_of_any_scale_keep_their_order(given_scores: list[float]) -> None:
    scores = by_model(Scripted(given_scores))(shortlist())
    assert all(0 <= score <= 1 for score in scores)
    places = range(3)
    for one in places:
        for other in places:
            if given_scores[one] > given_scores[other] + 1e-3:
                assert scores[one] > scores[other]


@pytest.mark.parametrize("scores", [[math.nan, 1.0, 2.0], [0.5], [math.inf, 0.0, 0.0]])
def test_unusable_scores_are_an_engine_error(scores: list[float]) -> None:
    with pytest.raises(EngineError):
        by_model(Scripted(scores))(shortlist())


def test_a_passage_says_where_it_stands() -> None:
    chunk = Chunk("d", 0, 0, 1, "text", header="| a |\n", section_path=("One", "Two"))
    assert passage_text(chunk, document("d", title="Title")) == "Title / One / Two\n| a |\ntext"
    assert passage_text(chunk, None) == "One / Two\n| a |\ntext"
    assert passage_text(Chunk("d", 0, 0, 1, "text"), None) == "text"


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


def feature_rows(asked: Sequence[str], chunks: Chunks) -> Floats:
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
    table = feature_rows(asked, chunks)
    assert table.shape == (len(chunks), len(FEATURES))
    assert ((table >= -1e-12) & (table <= 1 + 1e-12)).all()
    for number in range(len(chunks)):
        assert list(table[number]) == pytest.approx(expected_row(asked, chunks, number), abs=1e-9)


def test_a_heading_is_no_place_in_the_text() -> None:
    (row,) = feature_rows(["aa", "bb"], [(["aa"], ["bb"], "p", 0.1, 0)])
    assert row[FEATURES.index("adjacent")] == 0.0


def test_the_weight_of_a_term_falls_with_its_frequency_and_stays_positive() -> None:
    weights = inverse_frequency([0, 1, 10, 99, 100, 500], 100)
    assert (np.diff(weights) <= 0).all()
    assert (weights > 0).all()  # also of a term in every chunk, or counted a moment later


def test_a_word_said_twice_weighs_twice() -> None:
    once, twice = terms_of(["aa", "bb"]), terms_of(["aa", "bb", "bb"])
    assert twice.weights[1] == pytest.approx(2 * once.weights[1])
    assert twice.pairs == once.pairs  # a word does not follow itself


DAY = 86_400
ENGLISH = {"en": 1}


@pytest.mark.parametrize(("days", "value"), [(0, 1.0), (1, 0.976), (30, 0.504), (180, 0.107)])
def test_freshness_is_the_published_formula(days: int, value: float) -> None:
    assert freshness(days * DAY) == pytest.approx(value, abs=1e-3)


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_freshness_falls_with_age_and_stays_above_its_floor(one: float, other: float) -> None:
    younger, older = sorted((one, other))
    assert 1.0 >= freshness(younger) >= freshness(older) >= FRESHNESS_FLOOR
    assert freshness(-5.0) == 1.0


@pytest.mark.parametrize("tag", ["Eye_Tracking", " eye tracking ", "EYE-TRACKING", "eye__tracking"])
def test_tags_are_compared_folded(tag: str) -> None:
    assert fold_tag(tag) == "eye-tracking"
    marked = document("a", metadata={"tags": "Gaze, Eye Tracking,, "})
    assert tags_of(marked) == {"gaze", "eye-tracking"}
    assert shared_tags(marked, (tag, "other")) == ("eye-tracking",)
    assert shared_tags(document("a"), (tag,)) == ()


@pytest.mark.parametrize(
    ("text", "title", "named"),
    [
        ("What does the crew handbook say?", "Crew Handbook", True),
        ("What is in the “Crew  handbook”?", "Crew Handbook", True),
        ("What does a crew handbooklet say?", "Crew Handbook", False),
        ("the screw handbook", "Crew Handbook", False),
        ("the handbook of the crew", "Crew Handbook", False),
        ("rules of safety", "Rules", False),  # too short to be meant
        ("what does rules-2019.txt say", "Other", True),
        ("what does RULES-2019.TXT say", "Other", True),
        ("what do rules say", "Other", False),
        ("anything", "", False),
    ],
)
def test_a_document_is_named_by_its_file_or_its_whole_title(
    text: str, title: str, *, named: bool
) -> None:
    named_so = document("a", title=title, source="root/rules-2019.txt")
    assert names_document(parse_question(text, ENGLISH), named_so) is named


@pytest.mark.parametrize(
    ("text", "named"),
    [("minutes of 2019", True), ("the 1848 revolution?", True), ("in 1066", False),
     ("order 120190", False), ("2019-05-01", True), ("port 8080", False), ("nothing", False)],
)  # fmt: skip
def test_a_year_is_named_by_four_digits(text: str, *, named: bool) -> None:
    assert names_year(parse_question(text, ENGLISH)) is named


@given(age=st.integers(0, 4_000 * DAY), share=st.floats(0, 1), tagged=st.booleans())
def test_a_score_is_moved_a_little_by_tags_and_down_by_age(
    age: int, share: float, *, tagged: bool
) -> None:
    known = document("a", modified=10_000 * DAY - age, metadata={"tags": "port"})
    question = parse_question("harbour gate", ENGLISH)
    tags = ("port",) if tagged else ("other",)
    boost, fresh = weight_of(question, known, tags, Recency(10_000 * DAY, share))
    assert boost == (1 + TAG_BOOST if tagged else 1.0)
    assert 1 - share * (1 - FRESHNESS_FLOOR) - 1e-9 <= fresh <= 1.0
    assert weight_of(question, known, tags, None) == (boost, 1.0)


def test_the_date_that_a_document_states_decides_its_age() -> None:
    now = 200 * DAY  # 20 July 1970
    copied_today = document("a", modified=now, metadata={"date": "1970-01-21"})
    question = parse_question("what does it say", ENGLISH)
    _, fresh = weight_of(question, copied_today, (), Recency(now))
    assert fresh == pytest.approx(freshness(180 * DAY))
