"""The words of some hits that answer best what is asked: one quotation of at most ``MOST_WORDS``.

Whole sentences that follow one another stand together while there is room; of a longer sentence
the best clauses are quoted. A row of a table stands alone and whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from chapterhouse.answering.question_kind import VALUES, kind_of, offers
from chapterhouse.claims.numbers import DAYS, numbers
from chapterhouse.retrieval.sentence_model import SentenceScorer, serves
from chapterhouse.retrieval.sentences import (
    BY_WORDS,
    Floats,
    Sentence,
    features,
    split_hits,
    text_of,
    word_weights,
)
from chapterhouse.text.language_data import cue_pattern
from chapterhouse.text.scripts import HAN, KANA
from chapterhouse.types import Hit, Question, Range

MOST_WORDS: Final = 40
# Score by meaning below which nothing was found. Chosen on the open councils, of which no value is
# lost by it (``benchmarks/councils``); it goes with the weights of the sentence model.
_NEAR: Final = 2.5
# What a passage gains that states the kind of value that is asked for, before it becomes a share.
_OFFERS: Final = 3.0
# What stands in angle brackets are cues of every language: ``cue_pattern``.
_ASKS_DURATION: Final = r"\b<asks_duration>\b"
_WORD: Final = re.compile(rf"[{KANA}{HAN}]{{1,2}}|[^\s{KANA}{HAN}]+")  # or so many letters
_CLAUSE: Final = re.compile(r"(?<=[,;:])\s+|\s+(?=\()|\s+[–—-]\s+")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•‣▪]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+\S")
_SAYS: Final = re.compile(r"[^\W_]")
_BLANK: Final = "____"  # a line of a form to fill in
_OPEN_ENDS: Final = (":", "：", "?", "？")  # what leads in, and what asks
_ENDS: Final = (*_OPEN_ENDS, ".", "!", "…", "。", "！", ";", "؟")
_STOPS: Final = (".", "!", "?", "…", "。", "！", "？", "؟")
_CLOSES: Final = " \n\"'”’»)]*_"
_HEADING_WORDS: Final = 12


@dataclass(frozen=True, slots=True)
class Candidates:
    """Hits on what is asked, and what of their documents may be quoted.

    Attributes:
        hits: Best first.
        begins: Where the text of a document begins, by id, behind what only describes it.
        chunks: Number of chunks there are in all.
    """

    hits: tuple[Hit, ...]
    begins: Mapping[str, int]
    chunks: int


def best_passage(
    questions: Sequence[Question], found: Candidates, scorer: SentenceScorer
) -> Sentence | None:
    """Return what answers best; None where nothing is near what is asked.

    Args:
        questions: What is asked, put in one or more ways.
        found: What it is chosen from.
        scorer: What judges sentences.
    """
    hits = found.hits
    passages = list(_passages(found))
    if not passages:
        return None
    meaning = scorer.embedder is not None and serves(scorer.embedder, questions[0], hits)
    embedder = scorer.embedder if meaning else None
    model = scorer.model.by_meaning if meaning else scorer.model.by_words
    chunks = max(found.chunks, 1)
    tables = []
    for question in questions:
        weights = word_weights(question, scorer.document_frequency, chunks)
        tables.append(features(question, hits, passages, weights, embedder))
    table: Floats = np.mean(tables, axis=0)
    scores = table @ np.asarray(model) + _OFFERS * _offers(questions[0], hits, passages)
    best = int(scores.argmax())
    words = table[best, BY_WORDS.index("near coverage")]
    is_near = scores[best] >= _NEAR if meaning else words > 0
    return passages[best] if is_near else None


def _offers(question: Question, hits: Sequence[Hit], sentences: Sequence[Sentence]) -> Floats:
    """Return which sentences state the kind of value that is asked for, 1 or 0 each."""
    texts = [text_of(hits[one.rank], one) for one in sentences]
    kind = kind_of(question.text, question.languages)
    if cue_pattern(_ASKS_DURATION).search(question.text):
        languages = (hits[one.rank].document.language for one in sentences)
        found = list(map(_states_duration, texts, languages))
    elif kind in VALUES:
        found = [offers(kind, text, question.text) for text in texts]
    else:
        found = [False] * len(texts)
    return np.asarray(found, dtype=np.float64)


def _states_duration(text: str, language: str) -> bool:
    """Whether a text states a length of time: "two (2) years", "14 days"."""
    return any(number.unit in DAYS for number in numbers(text, language))


def count_words(text: str) -> int:
    """Return the number of words, or of pairs of letters where words have no spaces."""
    return sum(1 for _ in _WORD.finditer(text))


def _passages(found: Candidates) -> Iterator[Sentence]:
    """Yield what may be quoted: from every sentence on as many as there is room for."""
    hits = found.hits
    sentences = [
        one
        for one in split_hits(hits)
        if one.begin >= found.begins.get(hits[one.rank].document.id, 0)
        and _may_be_quoted(text_of(hits[one.rank], one))
    ]
    for place, sentence in enumerate(sentences):
        text = text_of(hits[sentence.rank], sentence)
        if sentence.header:
            yield sentence
        elif count_words(text) > MOST_WORDS:
            yield from _clauses(sentence, text)
        else:
            last = _last(sentences[place:], hits[sentence.rank])
            if last is not None:
                yield replace(sentence, end=last.end, stop=last.stop)


def _last(sentences: Sequence[Sentence], hit: Hit) -> Sentence | None:
    """Return the last sentence of a passage; None where all lead in or ask."""
    last, words, stop = None, 0, sentences[0].begin
    for one in sentences:
        if one.rank != sentences[0].rank or one.header:
            break
        text = text_of(hit, one)
        words += count_words(text)
        between = hit.chunk.text[stop - hit.chunk.start : one.begin - hit.chunk.start]
        if words > MOST_WORDS or between.strip() or _is_heading(text):
            break
        stop = one.stop
        if not text.rstrip("*_ ").endswith(_OPEN_ENDS):
            last = one
    return last


def _may_be_quoted(text: str) -> bool:
    """Whether a sentence has words, and is no line to fill in."""
    return _SAYS.search(text) is not None and _BLANK not in text


def _is_heading(text: str) -> bool:
    """Whether a sentence is a short line that states nothing by itself."""
    shown = text.rstrip("*_ ")
    if "\n" in text or shown.endswith(_ENDS) or count_words(text) > _HEADING_WORDS:
        return False
    return not _ITEM.match(text) and not any(map(str.isdigit, text))


def _clauses(sentence: Sentence, text: str) -> Iterator[Sentence]:
    """Yield, from every clause of a long sentence on, as many as there is room for."""
    pieces = list(_pieces(text))
    covered = 0
    for first in range(len(pieces)):
        words, last = 0, first
        for number in range(first, len(pieces)):
            words += pieces[number][1]
            if words > MOST_WORDS:
                break
            last = number
        stop = pieces[last][0][1]
        if stop > covered:  # else it is the end of the one before
            covered = stop
            begin = pieces[first][0][0]
            yield replace(sentence, begin=sentence.begin + begin, stop=sentence.begin + stop)


def goes_on(before: str, after: str) -> bool:
    """Whether a sentence goes on from one text to the next, which stands right behind it."""
    gap = before[len(before.rstrip()) :] + after[: len(after) - len(after.lstrip())]
    rest = after.lstrip()
    if not before.strip() or not rest or ("\n" in gap and not rest[0].islower()):
        return False
    return not before.rstrip(_CLOSES).endswith(_STOPS)


def _pieces(text: str) -> Iterator[tuple[Range, int]]:
    """Yield the clauses of a text with their words; a clause that is too long in several pieces."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    for start, end in pairwise(cuts):
        words = [match.span() for match in _WORD.finditer(text, start, end)]
        for number in range(0, len(words), MOST_WORDS):
            own = words[number : number + MOST_WORDS]
            yield (own[0][0], own[-1][1]), len(own)
