"""How strong the evidence is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.evidence import (
    LEXICAL,
    MODEL_LEXICAL,
    MODEL_WITH_VECTORS,
    THRESHOLD,
    WITH_VECTORS,
    evidence,
    features,
)
from chapterhouse.answering.passages import passages, word_weights
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.retrieval.question import understand
from chapterhouse.types import Chunk, Document, Hit

EMBEDDER = StaticEmbedder()
AGAINST = {"rarest missing", "number missing", "name missing"}
EITHER = {"news", "open", "english"}


def strength(question: str, *texts: str) -> float:
    hits = []
    for rank, text in enumerate(texts, 1):
        name = f"d{rank}"
        chunk = Chunk(name, 0, 0, len(text), text)
        document = Document(name, name, name, name, "md", "t", "", "0" * 64, 1, 0, language="en")
        hits.append(Hit(rank, 1 / rank, chunk, document))
    asked = understand(question, {"en": 1})
    weights = word_weights(asked, lambda _: 1, 100)
    found = passages(asked, hits, weights, EMBEDDER)
    values = features(asked, found, hits, weights)
    assert len(values) == len(WITH_VECTORS)
    return evidence(values, served=True)


def test_every_feature_has_a_weight_that_speaks_its_way() -> None:
    assert tuple(MODEL_WITH_VECTORS.weights) == WITH_VECTORS
    assert tuple(MODEL_LEXICAL.weights) == LEXICAL
    for model in (MODEL_WITH_VECTORS, MODEL_LEXICAL):
        for name, weight in model.weights.items():
            assert name in EITHER or (weight <= 0 if name in AGAINST else weight >= 0)


def test_an_answer_is_told_and_a_neighbouring_subject_is_not() -> None:
    text = "The Leda bridge was opened in 1871 by the mayor."
    other = "Ferries sail to Osk every hour."
    assert strength("When was the Leda bridge opened?", text, other) >= THRESHOLD
    assert strength("Which poet was buried beneath the cathedral?", text, other) < THRESHOLD


def test_a_number_that_is_missing_counts_against() -> None:
    text = "Decision 41 was adopted by the board in spring."
    asked = "When was decision {} adopted by the board?"
    assert strength(asked.format(42), text) < strength(asked.format(41), text)


@pytest.mark.parametrize("served", [True, False])
@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=len(WITH_VECTORS), max_size=len(WITH_VECTORS))
)
def test_it_is_a_probability(values: list[float], *, served: bool) -> None:
    assert 0 <= evidence(values, served=served) <= 1
