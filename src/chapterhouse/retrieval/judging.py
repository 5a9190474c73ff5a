"""How likely each sentence of the hits answers.

A row of features for every sentence, each a share or relative to the question or its hits, so that
neither the size of a library nor the scale of its scores moves it.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.retrieval.rerank import inverse_frequency
from chapterhouse.retrieval.sentences import Sentence, split_hits, text_of
from chapterhouse.text.canonical import names_text
from chapterhouse.text.counting import letter_groups
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.text.terms import terms_in, text_of_section
from chapterhouse.types import Hit, Question, TokenVectors
from chapterhouse.types.engines import TokenEmbedder

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

BY_WORDS: Final = (
    "score",  # of its hit, over the best hit's
    "near coverage",  # share of the question's word weight in it, its neighbours and what is above
    "likeness",  # the same of it alone, with the share of the letters of words that are not there
)
BY_MEANING: Final = (
    "score",
    "coverage",  # share of the question's word weight in it, its headings or its table header
    "tokens",  # mean over the question's tokens of the cosine with the nearest of its own
    "words",  # the same of what tokens mean by themselves, without the words around them
    "sentence",  # its cosine with the question
)
_FUNCTION_WORD: Final = 0.2  # what a token of one counts, where another counts 1
_LETTERS: Final = re.compile(r"\w+")
# Multiplications of a product that BLAS does on one thread. Waiting for a second one costs 24 ms
# where other work keeps the cores busy, the product itself 0.5 ms; and the threads change sums.
_ON_ONE_THREAD: Final = 200_000


def word_weights(
    question: Question, document_frequency: Callable[[str], int], chunks: int
) -> Floats:
    """Return the share of each content word in the question's weight, in their order; sum 1.

    A word weighs its inverse document frequency; it is as frequent as its most frequent stem.
    """
    counts = [max(map(document_frequency, terms)) for _, terms in question.words]
    found = inverse_frequency(counts, chunks)
    return found / (found.sum() or 1.0)


def features(
    question: Question,
    hits: Sequence[Hit],
    sentences: Sequence[Sentence],
    weights: Floats,
    encoder: TokenEmbedder | None,
) -> Floats:
    """Return what is known of each sentence: ``BY_MEANING``, or ``BY_WORDS`` without an encoder.

    Args:
        sentences: Of the hits; at least one.
        encoder: What makes vectors; None where it does not serve the language.
    """
    ranks = np.asarray([sentence.rank for sentence in sentences])
    scores = np.asarray([hit.score for hit in hits], dtype=np.float64)
    score = scores[ranks] / (scores.max(initial=0.0) or 1.0)
    there = words_found(question, hits, sentences)
    if encoder is not None:
        meant = nearness(question, hits, sentences, encoder)
        return np.column_stack([score, there @ weights, meant])
    near = there | _shifted(there, ranks, 1) | _shifted(there, ranks, -1)
    overlap = _ngram_overlap(question, hits, sentences, there)
    return np.column_stack([score, near @ weights, overlap @ weights])


def nearness(
    question: Question, hits: Sequence[Hit], sentences: Sequence[Sentence], encoder: TokenEmbedder
) -> Floats:
    """Return how near each sentence, read within its passage, is to the question.

    Shape (sentences, 3): ``tokens``, ``words`` and ``sentence`` of ``BY_MEANING``. Source: Khattab
    and Zaharia, ColBERT, SIGIR 2020, for the comparison by the nearest token.
    """
    read = encoder.embed_passage_tokens([hit.chunk.text for hit in hits])
    asked = encoder.embed_question_tokens(question.text)
    result = np.zeros((len(sentences), 3))
    if not len(asked.vectors):
        return result
    counts, whole = _token_weights(question, asked), asked.vectors.mean(axis=0, keepdims=True)
    near = [cosines(asked.vectors, one.vectors) for one in read]
    near_words = [cosines(asked.words, one.words) for one in read]
    for row, sentence in enumerate(sentences):
        tokens, offset = read[sentence.rank], hits[sentence.rank].chunk.start
        first = int(np.searchsorted(tokens.ends, sentence.begin - offset, side="right"))
        own = slice(first, int(np.searchsorted(tokens.starts, sentence.stop - offset)))
        if own.start < own.stop:
            result[row] = (
                counts @ near[sentence.rank][:, own].max(axis=1),
                counts @ near_words[sentence.rank][:, own].max(axis=1),
                cosines(whole, tokens.vectors[own].mean(axis=0, keepdims=True))[0, 0],
            )
    rounded: Floats = result.round(5)
    return rounded


def _token_weights(question: Question, asked: TokenVectors) -> Floats:
    """Return what each token of the question counts; sum 1."""
    function_words = STOPWORDS.get(question.languages[0] or "en", frozenset())
    counts = np.ones(len(asked.starts), dtype=np.float64)
    for match in _LETTERS.finditer(question.text):
        if match.group().casefold() in function_words:
            inside = (asked.starts >= match.start()) & (asked.ends <= match.end())
            counts[inside] = _FUNCTION_WORD
    weights: Floats = counts / counts.sum()
    return weights


def words_found(question: Question, hits: Sequence[Hit], sentences: Sequence[Sentence]) -> Marks:
    """Return which of the question's words each sentence has, in it or above it.

    Above it are what its document goes by, its headings and the heading rows of its table.
    Shape (sentences, words).
    """
    own = np.zeros((len(sentences), len(question.words)), dtype=bool)
    above = np.zeros_like(own)
    known: dict[tuple[str, str], Sequence[bool]] = {}
    for row, sentence in enumerate(sentences):
        hit = hits[sentence.rank]
        language = hit.document.language
        own[row] = _contains(question, terms_in(text_of(hit, sentence), language))
        section = text_of_section(hit.chunk.section_path)
        key = f"{names_text(hit.document)} / {section} / {sentence.header}", language
        if key not in known:
            known[key] = _contains(question, terms_in(*key))
        above[row] = known[key]
    return own | above


def _contains(question: Question, terms: Iterable[str]) -> Sequence[bool]:
    present = frozenset(terms)
    return [not present.isdisjoint(of_word) for _, of_word in question.words]


def _ngram_overlap(
    question: Question, hits: Sequence[Hit], sentences: Sequence[Sentence], there: Marks
) -> Floats:
    """Return for each sentence and word 1 if it is there, else the share of its letters."""
    asked = [letter_groups(word) for word, _ in question.words]
    result = there.astype(np.float64)
    for row, sentence in enumerate(sentences):
        letters = letter_groups(text_of(hits[sentence.rank], sentence))
        for column in np.flatnonzero(~there[row]):
            groups = asked[column]
            result[row, column] = len(groups & letters) / (len(groups) or 1)
    return result


def _shifted(own: Marks, ranks: NDArray[np.intp], by: int) -> Marks:
    """Return each sentence's neighbour's row, empty where that belongs to another hit."""
    moved = np.roll(own, by, axis=0)
    foreign = np.roll(ranks, by) != ranks
    foreign[0 if by > 0 else -1] = True
    moved[foreign] = False
    return moved


def cosines(one: NDArray[np.float32], many: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of each row of ``one`` with each of ``many``, shape (one, many)."""
    left, right = _unit(one), _unit(many)
    rows = max(_ON_ONE_THREAD // max(left.size, 1), 1)
    products = [left @ right[at : at + rows].T for at in range(0, max(len(right), 1), rows)]
    return np.concatenate(products, axis=1)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt(np.vecdot(vectors, vectors))[..., None]
    unit: NDArray[np.float32] = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


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
class Judgement:
    """The sentences of some hits and what is known of them.

    Attributes:
        sentences: With their shares, in order of rank and place.
        table: What is known of each: a row of ``BY_MEANING`` or ``BY_WORDS``.
        weights: Share of each content word in the question's weight.
        absent: Share of the question's weight of each content word that no chunk has; else 0.
    """

    sentences: tuple[Sentence, ...]
    table: Floats
    meaning: bool
    weights: Floats
    absent: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SentenceScorer:
    """What judging sentences looks up.

    Attributes:
        encoder: Makes vectors of sentences; None judges by words alone.
        document_frequency: Counts the chunks in which a term occurs.
    """

    model: SentenceModel
    encoder: TokenEmbedder | None
    document_frequency: Callable[[str], int]

    def judge(self, question: Question, hits: Sequence[Hit], chunks: int) -> Judgement:
        """Return the sentences of ``hits``, best first, with their shares."""
        weights = word_weights(question, self.document_frequency, max(chunks, 1))
        sentences = split_hits(hits)
        if not sentences:
            return Judgement((), np.zeros((0, 0)), False, weights)  # noqa: FBT003 - nothing is read
        encoder = self.encoder_for(question, hits)
        table = features(question, hits, sentences, weights, encoder)
        found = shares(table, self.model.by_meaning if encoder else self.model.by_words)
        judged = (
            replace(sentence, share=float(share))
            for sentence, share in zip(sentences, found, strict=True)
        )
        nowhere = [not any(map(self.document_frequency, terms)) for _, terms in question.words]
        absent = tuple((weights * nowhere).tolist())
        return Judgement(tuple(judged), table, encoder is not None, weights, absent)

    def encoder_for(self, question: Question, hits: Sequence[Hit]) -> TokenEmbedder | None:
        """Return what makes vectors of these hits; None where it does not serve their languages."""
        serves_them = self.encoder is not None and serves(self.encoder, question, hits)
        return self.encoder if serves_them else None


def serves(embedder: TokenEmbedder, question: Question, hits: Sequence[Hit]) -> bool:
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
