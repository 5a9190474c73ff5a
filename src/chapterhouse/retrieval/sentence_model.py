"""How much of the answer each sentence of the hits may be expected to hold.

A conditional logit (the model of choice among alternatives): a sentence's share is
``exp(w · features) / Σ exp(w · features)`` over all sentences of all hits of one question. The
shares of a question add up to 1, so those of a run may be added, and they say "how much of the
answer is here, given that it is somewhere here"; whether it is there at all is the business of
``answering``.

Source: McFadden, Conditional logit analysis of qualitative choice behavior, 1974.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.sentences import (
    BY_MEANING,
    BY_WORDS,
    Floats,
    Sentence,
    features,
    split_hits,
    word_weights,
)
from chapterhouse.types import Hit, Question
from chapterhouse.types.engines import Embedder, TokenEmbedder


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """Weights of the features, made by ``benchmarks/sentences.py``.

    Attributes:
        by_meaning: One for each of ``BY_MEANING``.
        by_words: One for each of ``BY_WORDS``, for languages that the embedder does not serve.
    """

    by_meaning: tuple[float, ...]
    by_words: tuple[float, ...]


def sentence_model(text: str) -> SentenceModel:
    """Return the model of a JSON text: weights by name, ``by meaning`` and ``by words``.

    Raises:
        ValueError: it is something else, or a feature is missing, unknown or not a number.
    """
    fields = json.loads(text)
    found = []
    for name, wanted in (("by meaning", BY_MEANING), ("by words", BY_WORDS)):
        weights = fields[name]
        if set(weights) != set(wanted):
            raise ValueError(f"The weights are of {sorted(weights)}, the features {sorted(wanted)}")
        values = [weights[feature] for feature in wanted]
        if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
            raise ValueError(f"A weight is not a finite number: {values}")
        found.append(tuple(map(float, values)))
    return SentenceModel(*found)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The sentences of some hits and what is known of them.

    Attributes:
        sentences: With their shares, in order of rank and place.
        table: What is known of each: a row of ``BY_MEANING`` or ``BY_WORDS``.
        meaning: Whether that is by meaning.
        weights: Share of each content word in the question's weight.
        absent: Share of the question's weight that is of words that no chunk has.
    """

    sentences: tuple[Sentence, ...]
    table: Floats
    meaning: bool
    weights: Floats
    absent: float = 0.0


@dataclass(frozen=True, slots=True)
class SentenceScorer:
    """What judging sentences looks up.

    Attributes:
        embedder: Makes vectors of sentences; None judges by words alone.
        document_frequency: Counts the chunks in which a term occurs.
    """

    model: SentenceModel
    embedder: Embedder | None
    document_frequency: Callable[[str], int]

    def judge(self, question: Question, hits: Sequence[Hit], chunks: int) -> Judged:
        """Return the sentences of ``hits``, best first, with their shares."""
        weights = word_weights(question, self.document_frequency, max(chunks, 1))
        sentences = split_hits(hits)
        if not sentences:
            return Judged((), np.zeros((0, 0)), False, weights)  # noqa: FBT003 - nothing is read
        meaning = self.embedder is not None and serves(self.embedder, question, hits)
        embedder = self.embedder if meaning else None
        try:
            table = features(question, hits, sentences, weights, embedder)
        except EngineError:  # of which the search tells
            meaning, table = False, features(question, hits, sentences, weights, None)
        found = shares(table, self.model.by_meaning if meaning else self.model.by_words)
        judged = (
            replace(sentence, share=float(share))
            for sentence, share in zip(sentences, found, strict=True)
        )
        absent = [not any(map(self.document_frequency, terms)) for _, terms in question.words]
        return Judged(tuple(judged), table, meaning, weights, float(weights @ absent))


def serves(embedder: Embedder | TokenEmbedder, question: Question, hits: Sequence[Hit]) -> bool:
    """Whether vectors say something of these passages: of their languages, not the question's.

    A question is short, and its language often a guess among those of the library. The passages of
    a few documents in other languages, or whose language is guessed wrong, change nothing.
    """
    served = sum(embedder.serves(hit.document.language) for hit in hits)
    mostly = served > len(hits) // 2 or not hits
    return mostly and any(map(embedder.serves, question.languages))


def shares(table: Floats, weights: Sequence[float]) -> Floats:
    """Return the share of each row of features, shape (sentences,), sum 1."""
    logits = table @ np.asarray(weights)
    powers = np.exp(logits - logits.max())
    result: Floats = (powers / powers.sum()).round(6)
    return result
