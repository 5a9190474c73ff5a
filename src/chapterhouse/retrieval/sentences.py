"""The sentences of the hits: what may be quoted, and what is known of each.

A row of features for every sentence, each a share or relative to the question or its hits, so that
neither the size of a library nor the scale of its scores moves it.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.rerank import inverse_frequency
from chapterhouse.text.canonical import body_start, names_text
from chapterhouse.text.counting import letter_groups, word_spans
from chapterhouse.text.markdown import Block, BlockKind, blocks, sentence_spans
from chapterhouse.text.terms import terms_in, text_of_section
from chapterhouse.types import Chunk, Hit, Kind, Question, Range
from chapterhouse.types.engines import Embedder, TokenEmbedder

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
    "sentence",  # its cosine with the question
)
# Multiplications of a product that BLAS does on one thread. Waiting for a second one costs 24 ms
# where other work keeps the cores busy, the product itself 0.5 ms; and the threads change sums.
_ON_ONE_THREAD: Final = 200_000
LONGEST: Final = 60  # words that are quoted as one
_SHORTEST: Final = 15  # words before a break
# Where a sentence breaks best: before a clause that is marked, behind a clause, at a line's end.
_BREAKS: Final = tuple(
    map(re.compile, (r"\s+(?=\(?[a-z0-9ivx]{1,4}\)\s)", r"[;；]\s*", r"[,，、:：]\s+", r"\n\s*"))
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, table row, item of a list or block of code of a hit.

    The spans of a hit's sentences follow one another and cover it, so that runs of them are its
    text.

    Attributes:
        rank: Place of its hit among the hits, from 0.
        start: Offset in the document's text, of the headings before it where it has any.
        end: Offset behind the white space after it.
        begin: Offset of its first visible character, headings apart.
        stop: Offset behind its last visible character.
        header: The heading rows of its table; or empty.
        share: Part of the answer that it may be expected to hold; 1 over all hits.
    """

    rank: int
    start: int
    end: int
    begin: int
    stop: int
    header: str = ""
    share: float = 0.0


def text_of(hit: Hit, sentence: Sentence) -> str:
    """Return what is visible of a sentence, headings apart."""
    return hit.chunk.text[sentence.begin - hit.chunk.start : sentence.stop - hit.chunk.start]


def split_hits(hits: Sequence[Hit]) -> tuple[Sentence, ...]:
    """Return the sentences of ``hits`` in order of rank and place.

    Where hits overlap, a sentence belongs to the better one and is not repeated.
    """
    claimed: dict[str, list[Range]] = {}
    found: list[Sentence] = []
    for rank, hit in enumerate(hits):
        before = claimed.setdefault(hit.document.id, [])
        for sentence in _split(rank, hit.chunk):
            if not any(sentence.start < stop and begin < sentence.end for begin, stop in before):
                found.append(sentence)  # noqa: PERF401 - clearer
        before.append((hit.chunk.start, hit.chunk.end))
    return tuple(found)


def _split(rank: int, chunk: Chunk) -> Iterator[Sentence]:
    """Yield what may stand alone; a heading, and a table's, goes with what follows it."""
    tables = _own_tables(chunk)
    pending = 0
    for start, end in _spans(chunk):
        of_table = any(table.start <= start < table.body_start for table in tables)
        if (chunk.text.startswith("#", start) or of_table) and end < len(chunk.text):
            continue
        visible = chunk.text[start:end]
        begin = start + len(visible) - len(visible.lstrip("\n "))
        stop = start + len(visible.rstrip())
        yield Sentence(
            rank,
            chunk.start + pending,
            chunk.start + end,
            chunk.start + begin,
            chunk.start + max(stop, begin),
            _header(chunk, tables, begin),
        )
        pending = end


def _header(chunk: Chunk, tables: Sequence[Block], begin: int) -> str:
    """Return the heading rows of the table of which a row begins at a place; else nothing."""
    if not chunk.text.startswith("|", begin):
        return ""
    own = (table for table in tables if table.start <= begin < table.end)
    return next((chunk.text[table.start : table.body_start] for table in own), chunk.header)


def _spans(chunk: Chunk) -> Iterator[Range]:
    if chunk.kind is Kind.CODE:
        yield 0, len(chunk.text)
        return
    begin = body_start(chunk.text) if not chunk.start else 0  # front matter is no sentence
    if begin:
        yield 0, begin
    for start, end in sentence_spans(chunk.text, begin, len(chunk.text)):
        yield from _cut(chunk.text, start, end)


def _cut(text: str, start: int, end: int) -> Iterator[Range]:
    """Cut a sentence that is too long to be quoted where it breaks best; never a row."""
    if not text.startswith("|", start):
        words = word_spans(text, start, end)
        while len(words) > LONGEST:
            last = words[LONGEST - 1][1]
            breaks = (_last(mark, text, words[_SHORTEST][0], last) for mark in _BREAKS)
            stop = next(filter(None, breaks), words[LONGEST][0])
            yield start, stop
            start, words = stop, [word for word in words if word[0] >= stop]
    yield start, end


def _last(mark: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Return where what follows the last mark begins; 0 where there is none."""
    return max((match.end() for match in mark.finditer(text, start, end)), default=0)


def _own_tables(chunk: Chunk) -> Sequence[Block]:
    """Return the tables of which a chunk has the heading rows."""
    found = blocks(chunk.text) if "|" in chunk.text else ()
    return [block for block in found if block.kind is BlockKind.TABLE]


def table_header(chunk: Chunk) -> str:
    """Return the heading rows of the table that a chunk itself begins; or nothing."""
    own = () if chunk.header or chunk.kind is not Kind.TABLE else _own_tables(chunk)
    return next((chunk.text[table.start : table.body_start] for table in own), "")


# --- what is known of each -----------------------------------------------------------------------


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
    embedder: Embedder | None,
) -> Floats:
    """Return what is known of each sentence: ``BY_MEANING``, or ``BY_WORDS`` without an embedder.

    Args:
        sentences: Of the hits; at least one.
        embedder: What makes vectors; None where it does not serve the language.
    """
    ranks = np.asarray([sentence.rank for sentence in sentences])
    scores = np.asarray([hit.score for hit in hits], dtype=np.float64)
    score = scores[ranks] / (scores.max(initial=0.0) or 1.0)
    there = words_found(question, hits, sentences)
    if embedder is not None:
        texts = [text_of(hits[sentence.rank], sentence) for sentence in sentences]
        cosine = embedder.embed_passages(texts) @ embedder.embed_question(question.text)
        return np.column_stack([score, there @ weights, cosine.round(5)])
    near = there | _shifted(there, ranks, 1) | _shifted(there, ranks, -1)
    overlap = _ngram_overlap(question, hits, sentences, there)
    return np.column_stack([score, near @ weights, overlap @ weights])


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

    def judge(self, question: Question, hits: Sequence[Hit], chunks: int) -> Judgement:
        """Return the sentences of ``hits``, best first, with their shares."""
        weights = word_weights(question, self.document_frequency, max(chunks, 1))
        sentences = split_hits(hits)
        if not sentences:
            return Judgement((), np.zeros((0, 0)), False, weights)  # noqa: FBT003 - nothing is read
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
        return Judgement(tuple(judged), table, meaning, weights, float(weights @ absent))


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
