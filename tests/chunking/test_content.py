"""Cuts by topic, meaning and information, on texts where the right border is plain to see."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chapterhouse.chunking.content import (
    chunk_by_density,
    chunk_by_meaning,
    chunk_by_topic,
    jaccard,
)
from chapterhouse.chunking.units import Limits
from chapterhouse.types import Body, Span

SEA = "The boat left the harbour and the captain watched the harbour light. "
FOOD = "Knead dough with flour and yeast until the dough rises in flour. "
LIMITS = Limits(400, 100, 900)
TWO_SUBJECTS = Body(SEA * 6 + FOOD * 6)


def cut_texts(body: Body, spans: Sequence[Span]) -> list[str]:
    return [body.text[span.start : span.end] for span in spans]


def test_jaccard_is_the_share_of_what_is_in_both() -> None:
    one, other = frozenset("abc"), frozenset("bcd")
    assert jaccard(one, other) == jaccard(other, one) == 0.5
    assert jaccard(one, one) == 1
    assert jaccard(frozenset(), frozenset()) == jaccard(one, frozenset()) == 0


def test_a_cut_stands_where_the_keywords_change() -> None:
    assert TWO_SUBJECTS.text.index("Knead") in {
        span.start for span in chunk_by_topic(TWO_SUBJECTS, LIMITS)
    }


def test_a_cut_stands_where_the_vectors_turn_whatever_the_words_are() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        half = len(texts) // 2
        return np.array([[1, 0]] * half + [[0, 1]] * half, dtype=np.float32)

    body = Body(SEA * 12)
    spans = chunk_by_meaning(body, embed, LIMITS)
    assert "".join(asked) == body.text
    assert len(SEA) * 6 in {span.start for span in spans}


def test_an_empty_text_has_no_chunks_and_asks_for_no_vectors() -> None:
    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError(texts)

    empty = Body("")
    assert not chunk_by_meaning(empty, embed)
    assert not chunk_by_topic(empty)
    assert not chunk_by_density(empty)


def test_one_word_over_and_over_has_no_information_and_is_cut_by_length() -> None:
    body = Body("Harbour. " * 200)
    texts = cut_texts(body, chunk_by_density(body, LIMITS))
    assert "".join(texts) == body.text
    lengths = [len(text) for text in texts]
    assert len(texts) > 1
    assert max(lengths) - min(lengths) <= 2 * len("Harbour. ")
