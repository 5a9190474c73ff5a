"""The words of some hits that answer best what is asked: one quotation of at most ``MOST_WORDS``.

Whole sentences that follow one another stand together while there is room; of a longer sentence
the best clauses are quoted. A row of a table stands alone and whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from chapterhouse.answering.route import (
    VALUES,
    asks_duration,
    kind_of,
    offers,
    states_duration,
)
from chapterhouse.retrieval.judging import (
    BY_WORDS,
    Floats,
    SentenceScorer,
    features,
    word_weights,
)
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.sentences import Sentence, split_hits, text_of
from chapterhouse.text.counting import count_words, word_spans
from chapterhouse.text.language_data import STOPWORDS, cue_pattern
from chapterhouse.types import Aspect, Hit, Question, Range

MOST_WORDS: Final = 40
# Score by meaning, of the question with what is said before it, below which nothing was found.
# Chosen on the open councils, of which it loses one value in a hundred (``benchmarks/councils``).
_NEAR: Final = 6.0
# What a passage gains that states the kind of value that is asked for, before it becomes a share.
_OFFERS: Final = 3.0
_CLAUSE: Final = re.compile(r"(?<=[,;:])\s+|\s+(?=\()|\s+[–—-]\s+")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•‣▪]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+\S")
_SAYS: Final = re.compile(r"[^\W_]")
_BLANK: Final = "____"  # a line of a form to fill in
_OPEN_ENDS: Final = (":", "：", "?", "？")  # what leads in, and what asks
_ENDS: Final = (*_OPEN_ENDS, ".", "!", "…", "。", "！", ";", "؟")
_STOPS: Final = (".", "!", "?", "…", "。", "！", "？", "؟")
_CLOSES: Final = " \n\"'”’»)]*_"
_HEADING_WORDS: Final = 12


def best_passage(
    questions: Sequence[Question],
    hits: Sequence[Hit],
    begins: Mapping[str, int],
    chunks: int,
    scorer: SentenceScorer,
) -> Sentence | None:
    """Return what answers best; None where nothing is near what is asked.

    It is put in one or more ways, in the last with what is said before it.

    Args:
        hits: Best first.
        begins: Where the text of a document begins, by id, behind what only describes it.
    """
    passages = list(_passages(hits, begins))
    if not passages:
        return None
    weights = [word_weights(one, scorer.document_frequency, max(chunks, 1)) for one in questions]
    encoder = scorer.encoder_for(questions[0], hits)
    tables = [
        features(one, hits, passages, own, encoder)
        for one, own in zip(questions, weights, strict=True)
    ]
    table: Floats = np.mean(tables, axis=0)
    model = np.asarray(scorer.model.by_meaning if encoder else scorer.model.by_words)
    offered = _OFFERS * _offers(questions[0], hits, passages)
    best = int((table @ model + offered).argmax())
    words = table[best, BY_WORDS.index("near coverage")]
    is_near = tables[-1][best] @ model + offered[best] >= _NEAR if encoder else words > 0
    return passages[best] if is_near else None


def _offers(question: Question, hits: Sequence[Hit], sentences: Sequence[Sentence]) -> Floats:
    """Return which sentences state the kind of value that is asked for, 1 or 0 each."""
    texts = [text_of(hits[one.rank], one) for one in sentences]
    kind = kind_of(question.text, question.languages)
    languages = [hits[one.rank].document.language for one in sentences]
    if asks_duration(question.text):
        found = list(map(states_duration, texts, languages))
    elif kind in VALUES:
        found = [offers(kind, text, question.text) for text in texts]
    else:
        found = [False] * len(texts)
    return np.asarray(found, dtype=np.float64)


def _passages(hits: Sequence[Hit], begins: Mapping[str, int]) -> Iterator[Sentence]:
    """Yield what may be quoted: from every sentence on as many as there is room for."""
    sentences = [
        one
        for one in split_hits(hits)
        if one.begin >= begins.get(hits[one.rank].document.id, 0)
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
        words = word_spans(text, start, end)
        for number in range(0, len(words), MOST_WORDS):
            own = words[number : number + MOST_WORDS]
            yield (own[0][0], own[-1][1]), len(own)


MOST_ASPECTS: Final = 8
_LONGEST_CONTEXT: Final = 200  # characters
# What stands in angle brackets are cues of every language: ``cue_pattern``.
_BEGINS: Final = r"(?:(?:<before_asks> )?<asks>|<verbs> <subjects>|<inverted>)\b"
# Behind a comma and "and" a verb begins a question, whatever its subject: ", and may copies stay".
_CUT: Final = (
    rf"(?:,|;|\s[–—-])? <joins> (?={_BEGINS})|(?:[,;]|\s[–—-]) (?={_BEGINS})"
    r"|, <joins> (?=<verbs> \w)"
)
_LINK: Final = r"^<links>\s+"
_OVERVIEW: Final = r"^<overviews>\b.{0,80}?\b<about> "
_CONDITION: Final = r"^(<conditions>\b[^,]{3,120}), (?=\S)"
_SUPPOSED: Final = r"^<suppositions> "
_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"(?<=[?？!])\s+|(?<=[.;:]) +(?=[^\W\d_])")
_MARKS: Final = ("?", "？")
_EDGE: Final = " \t\n,;？?¿.!:"


def aspects_of(question: str, languages: Mapping[str, int]) -> tuple[Aspect, ...]:
    """Return the things that a question asks, one to ``MOST_ASPECTS``.

    ``languages`` are those of the documents, with counts.
    """
    flat = " ".join(question.split())
    language = parse_question(flat, languages).languages[0]
    function_words = STOPWORDS.get(language, frozenset())

    def is_whole(text: str) -> bool:
        rest = cue_pattern(f"^{_BEGINS}").sub("", text)
        return any(word.casefold() not in function_words for word in _WORD.findall(rest))

    found: list[Aspect] = []
    for aspect in _asked(flat):
        before = found[-1] if found else Aspect("")
        if found and not (is_whole(before.text) and is_whole(aspect.text)):
            start = flat.index(before.text)  # "When?" asks nothing by itself
            end = flat.index(aspect.text, start + len(before.text)) + len(aspect.text)
            found[-1] = Aspect(flat[start:end], before.context)
        else:
            found.append(Aspect(aspect.text, aspect.context or before.text))
    return tuple(found[:MOST_ASPECTS]) or (Aspect(question.strip(_EDGE)),)


def _asked(question: str) -> Iterator[Aspect]:
    """Yield what is asked, each with what is said before it and asks nothing."""
    context = ""
    for sentence in _SENTENCE.split(question):
        text = cue_pattern(_LINK).sub("", sentence.strip(_EDGE))
        overview = cue_pattern(_OVERVIEW).match(text)
        if overview and _asks(text[overview.end() :]):
            text = text[overview.end() :]
        supposed = cue_pattern(_SUPPOSED).match(text)
        if supposed:
            text = text[supposed.end() :]
        condition = cue_pattern(_CONDITION).match(text)
        if condition and _asks(text[condition.end() :]):
            context, text = _joined(context, condition[1]), text[condition.end() :]
        parts = [part for piece in cue_pattern(_CUT).split(text) if (part := piece.strip(_EDGE))]
        is_context = bool(supposed) or (bool(parts) and not _asks(parts[0]))
        if is_context and (len(parts) > 1 or not sentence.rstrip().endswith(_MARKS)):
            context = _joined(context, cue_pattern(_OVERVIEW).sub("", parts[0]))
            parts = parts[1:]
        for part in parts:
            yield Aspect(part, context)


def _asks(text: str) -> bool:
    return cue_pattern(_BEGINS).match(text) is not None


def _joined(one: str, other: str) -> str:
    return f"{one} {other}".strip()[:_LONGEST_CONTEXT]
