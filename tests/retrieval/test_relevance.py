"""What sentences are worth: shares of an answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.retrieval.question import understand
from chapterhouse.retrieval.relevance import (
    FEATURES,
    LEXICAL_FEATURES,
    MODELS,
    QUESTION_FEATURES,
    features,
    judged_sentences,
    shares,
    split,
    word_weights,
)
from chapterhouse.text.tokens import estimate_tokens
from chapterhouse.types import Chunk, Document, Hit

QUESTION = understand("When was the lighthouse built?", {"en": 1})
DOCUMENT = Document("d", "d", "d", "Coast", "txt", "test", "", "", 0, 0, language="en")
TEXTS = (
    "The coast is long. The lighthouse was built in 1911. It is white.\n",
    "Ships pass by. Nobody counts them.\n",
)


def hits(*texts: str) -> tuple[Hit, ...]:
    start, found = 0, []
    for place, text in enumerate(texts):
        chunk = Chunk("d", place, start, start + len(text), text)
        found.append(Hit(place + 1, 1 - place / 4, chunk, DOCUMENT))
        start += len(text)
    return tuple(found)


WEIGHTS = word_weights(QUESTION, lambda term: 1 if term.startswith("light") else 50, 100)


def test_rare_words_weigh_more_and_all_weigh_one() -> None:
    weight = dict(zip((word for word, _ in QUESTION.words), WEIGHTS, strict=True))
    assert weight["lighthouse"] > weight["built"] > 0
    assert WEIGHTS.sum() == pytest.approx(1.0)


def test_a_question_without_words_has_no_weights() -> None:
    assert word_weights(understand("", {}), lambda _: 0, 5).size == 0


def test_the_answering_sentence_has_the_largest_share() -> None:
    found = judged_sentences(QUESTION, hits(*TEXTS), WEIGHTS, estimate_tokens)
    best = max(found, key=lambda sentence: sentence.share)
    assert TEXTS[0][best.start : best.end].startswith("The lighthouse")


def test_the_scale_of_scores_does_not_matter() -> None:
    one = hits(*TEXTS)
    other = tuple(Hit(h.rank, h.score / 7, h.chunk, h.document) for h in one)
    shares_of = [
        [s.share for s in judged_sentences(QUESTION, found, WEIGHTS, estimate_tokens)]
        for found in (one, other)
    ]
    assert shares_of[0] == pytest.approx(shares_of[1])


def test_there_is_a_weight_for_every_feature() -> None:
    found = hits(*TEXTS)
    sentences = split(found, estimate_tokens)
    rows = features(QUESTION, found, sentences, WEIGHTS, None)
    assert rows.shape == (5, LEXICAL_FEATURES)
    assert [len(model.features) for model in MODELS] == [len(FEATURES), LEXICAL_FEATURES]
    assert {len(model.sharpness) for model in MODELS} == {len(QUESTION_FEATURES)}


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 20))
def test_sentences_cover_what_their_hits_hold_once(lengths: list[int], overlap: int) -> None:
    text = "One two. " * 60
    start, found = 0, []
    for place, length in enumerate(lengths):
        begin = max(start - overlap, 0) // 9 * 9
        end = begin + length * 9
        chunk = Chunk("d", place, begin, end, text[begin:end])
        found.append(Hit(place + 1, 1.0, chunk, DOCUMENT))
        start = min(end, 200)
    places = [p for s in split(found, estimate_tokens) for p in range(s.start, s.end)]
    assert len(places) == len(set(places))
    assert set(places) == {p for h in found for p in range(h.chunk.start, h.chunk.end)}


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=9))
def test_shares_add_up_and_keep_the_order(column: list[float]) -> None:
    found = np.zeros((len(column), len(FEATURES)))
    found[:, 0] = column
    result = shares(found, np.asarray([1.0, 0.0, 0.0, 0.0]), MODELS[0])
    assert result.sum() == pytest.approx(1.0)
    assert (np.argsort(-result, kind="stable")[0]) == int(np.argmax(result))
    assert all(
        one >= other - 1e-12
        for a, one in zip(column, result, strict=True)
        for b, other in zip(column, result, strict=True)
        if a >= b
    )
