"""Which sentences of the hits are shown: the best by one score, while there is room.

A sentence's score is its share of the answer (``retrieval/sentences.py``) with some of its
neighbours', less for each rank of its hit, for its length, and where its passage is not about what
the question names. Factors are chosen on the open folders of the natural collection.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.answering.columns import columns_to_show
from chapterhouse.answering.parts import Part, part_of
from chapterhouse.answering.route import asks_duration, states_duration, value_asked
from chapterhouse.retrieval.judging import Floats, Judgement
from chapterhouse.retrieval.sentences import Sentence, text_of
from chapterhouse.text.canonical import LONGEST, body_start
from chapterhouse.text.counting import count_words, word_spans
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.text.terms import terms_in
from chapterhouse.types import Body, Hit, Question

WORDS: Final = 250  # of the first screen
_NEIGHBOUR: Final = 0.15  # share of what the sentences beside it have
_RANK: Final = 0.8  # for each rank of its hit
_ROW: Final = 2.5  # of a table
_FARTHEST: Final = 0.01  # score, over the best one's, below which nothing is shown
_STATES: Final = 2.0  # of a sentence that states a value of the kind asked for
_UNBOUND: Final = 0.15  # where its passage is not about what is named
_NEIGHBOUR_OF_ANOTHER: Final = 0.1  # where another sentence has the code that is asked for
_SHORT: Final = 10  # words of a sentence that is seldom understood alone
_SHORTEST: Final = 3  # words; fewer count as so many
_REPETITION: Final = 0.6  # Jaccard similarity of words from which two sentences say the same
TO_THE_POINT: Final = 0.1  # share of a sentence of an answer, over the best one's
_ROW_WORDS: Final = 40  # of a row, up to which all of its cells are shown
_LIST: Final = 100  # words of a list or table behind what leads in to it
_REACH: Final = 3_000  # characters
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_WORDS: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Form:
    """How long an answer may be.

    Attributes:
        words: At most so many.
        most: At most so many parts.
        alone: Whether each sentence is a part by itself, without what it needs.
        least: Share of a sentence, over that of the best, from which it is shown, 0 to 1. Above 0
            it is an answer: then nothing is shown of a passage that is not about what is named, and
            the sentence before a short one is, which says what "then" and "it" are.
    """

    words: int = WORDS
    most: int = 50
    alone: bool = False
    least: float = 0.0


WHOLE: Final = Form()


@dataclass(slots=True)
class Bodies:
    """Reads the body of each document once."""

    read: Callable[[str], Body | None]
    known: dict[str, Body | None] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a document's text; empty when it is gone."""
        body = self(name)
        return body.text if body else ""

    def __call__(self, name: str) -> Body | None:
        """Return a document's body; None when it is gone."""
        if name not in self.known:
            self.known[name] = self.read(name)
        return self.known[name]


def choose(
    question: Question,
    judged: Judgement,
    hits: Sequence[Hit],
    bound: Sequence[bool],
    about: Sequence[int],
    bodies: Bodies,
    form: Form,
) -> tuple[Part, ...]:
    """Return the parts to show; those of one passage together, the best passage first.

    Args:
        bound: Of each hit whether it is about what the question names.
        about: Of each sentence whether it is about a code or number that is asked for: 1, 0, or
            -1 where it is about another (``retrieval/exact.py``).
    """
    chosen: list[Part] = []
    shown: list[str] = []
    left = form.words
    decided = 1 in about
    outdone = _outdone(question, judged.sentences, hits)
    score = _scores(question, judged, hits, bound)
    if decided:
        score = _decided(score, np.asarray(about) == 1)
    least = form.least * max((sentence.share for sentence in judged.sentences), default=0.0)
    for number in np.argsort(-score, kind="stable"):
        sentence = judged.sentences[number]
        hit, own = hits[sentence.rank], text_of(hits[sentence.rank], sentence)
        text = bodies.text(hit.document.id)
        if len(chosen) >= form.most or (chosen and score[number] < _FARTHEST * score.max()):
            break
        is_asked = _is_asked(about[number], decided, bound[sentence.rank], form)
        if not is_asked or number in outdone:
            continue
        goes_on = decided and bool(chosen) and _goes_on(hit, sentence, chosen[0], text)
        explains = not chosen or goes_on or _explains(hit, sentence, chosen[0])
        if sentence.share < least and not explains:
            continue
        if is_covered(chosen, hit, sentence) or any(_repeats(own, other) for other in shown):
            continue
        part = _part(question, sentence, hit, text, left, form)
        if part is None:
            continue
        words = count_words(_without_what_is_shown(part, chosen).text(text))
        if words > left and chosen:
            continue
        if words > left:
            part, words = _shorten(part, text, left), left
        chosen.append(part)
        shown.append(own)
        left -= words
    return tuple(chosen) if form.alone else _fitting(chosen, bodies, form.words)


def says_how_long(question: Question, parts: Sequence[Part], bodies: Bodies) -> bool:
    """Whether a length of time is in what is shown; true where none is asked for."""
    return not asks_duration(question.text) or any(
        states_duration(part.text(bodies.text(part.hit.document.id)), part.hit.document.language)
        for part in parts
    )


def _decided(score: Floats, asked: NDArray[np.bool_]) -> Floats:
    """Return scores of which those of sentences with a code stand before what is beside them."""
    best, other = score[asked].max(), score[~asked].max(initial=0.0)
    factor = _NEIGHBOUR_OF_ANOTHER * min(1.0, best / (other or 1.0))
    found: Floats = score * np.where(asked, 1.0, factor)
    return found


def _outdone(
    question: Question, sentences: Sequence[Sentence], hits: Sequence[Hit]
) -> frozenset[int]:
    """Return the rows that have less of a question than another row of their table: no answers.

    Who asks for the cook of one ship means the row with both, not other cooks nor the captain.
    """
    tables: dict[tuple[str, str], dict[int, frozenset[int]]] = {}
    for number, sentence in enumerate(sentences):
        if sentence.header:
            document = hits[sentence.rank].document
            there = frozenset(terms_in(text_of(hits[sentence.rank], sentence), document.language))
            words = enumerate(terms for _, terms in question.words)
            own = frozenset(place for place, terms in words if not there.isdisjoint(terms))
            tables.setdefault((document.id, sentence.header), {})[number] = own
    return frozenset(
        number
        for rows in tables.values()
        for number, own in rows.items()
        if any(own < other for other in frozenset(rows.values()))
    )


def _is_asked(about: int, decided: bool, bound: bool, form: Form) -> bool:  # noqa: FBT001 - marks
    """Whether a sentence may be shown: of an answer only what is about all that is named."""
    if decided:
        return about >= (1 if form.least else 0)
    return bound or not form.least


def _part(
    question: Question, sentence: Sentence, hit: Hit, text: str, left: int, form: Form
) -> Part | None:
    """Return the part that a sentence needs; None where it says nothing."""
    if sentence.begin < _begin(hit, sentence, text):
        return None
    part = part_of(text, hit, (sentence.begin, sentence.stop), min(left, _LIST))
    if part and form.alone:
        part = Part(hit, (part.core,), part.core)
    if part and sentence.header:
        part = replace(part, header=sentence.header.split("\n", 1)[0])
        if count_words(part.text(text)) > _ROW_WORDS:
            row = text[slice(*part.core)]
            part = replace(part, columns=columns_to_show(question, part.header, row, hit))
    return part


def _fitting(chosen: list[Part], bodies: Bodies, words: int) -> tuple[Part, ...]:
    """Return the parts in order, less the last chosen where they are too long together."""
    while True:
        parts = tuple(_in_order(chosen, bodies))
        texts = (part.text(bodies.text(part.hit.document.id)) for part in parts)
        if len(chosen) <= 1 or sum(map(count_words, texts)) <= words:
            return parts
        chosen.pop()


def _scores(
    question: Question, judged: Judgement, hits: Sequence[Hit], bound: Sequence[bool]
) -> Floats:
    """Return the score of each sentence."""
    if not judged.sentences:
        return np.zeros(0)
    share = np.asarray([sentence.share for sentence in judged.sentences])
    ranks = np.asarray([sentence.rank for sentence in judged.sentences])
    same_hit = np.where(ranks[1:] == ranks[:-1], 1.0, 0.0)
    with_neighbours = share.copy()
    with_neighbours[1:] += _NEIGHBOUR * share[:-1] * same_hit
    with_neighbours[:-1] += _NEIGHBOUR * share[1:] * same_hit
    texts = [text_of(hits[sentence.rank], sentence) for sentence in judged.sentences]
    states = value_asked(question) or (lambda _, __: False)
    factors = [
        (_ROW if text.startswith("|") else 1.0)
        * (_STATES if states(text, hits[rank].document.language) else 1.0)
        * (1.0 if bound[rank] else _UNBOUND)
        * _RANK**rank
        / math.sqrt(max(count_words(text), _SHORTEST))
        for rank, text in zip(ranks.tolist(), texts, strict=True)
    ]
    score: Floats = with_neighbours * np.asarray(factors)
    return score


def _begin(hit: Hit, sentence: Sentence, text: str) -> int:
    """Return where the text begins, behind what describes a document."""
    possible = hit.document.format == "md" and sentence.start < LONGEST
    return body_start(text) if possible else 0


def _explains(hit: Hit, sentence: Sentence, part: Part) -> bool:
    """Whether a sentence is the one before a part that is short, below the same heading."""
    begin, end = part.core
    before = hit.document.id == part.hit.document.id and sentence.end == begin
    chunk = part.hit.chunk
    return before and count_words(chunk.text[begin - chunk.start : end - chunk.start]) < _SHORT


def _goes_on(hit: Hit, sentence: Sentence, part: Part, text: str) -> bool:
    """Whether a sentence is behind a part in its paragraph: "… 2060-U2 … It costs 12 euros."."""
    end = part.spans[-1][1]
    same = hit.document.id == part.hit.document.id and sentence.begin >= end
    return same and "\n\n" not in text[end : sentence.begin] and sentence.begin - end < _REACH


def is_covered(chosen: Sequence[Part], hit: Hit, sentence: Sentence) -> bool:
    """Whether a sentence is inside one of the parts."""
    return any(
        part.hit.document.id == hit.document.id
        and any(start <= sentence.begin and sentence.stop <= end for start, end in part.spans)
        for part in chosen
    )


def _repeats(one: str, other: str) -> bool:
    """Whether two texts say the same; never where their numbers differ.

    "Within 14 days" and "within 30 days" are two claims, and the difference is what matters.
    """
    if sorted(_NUMBER.findall(one)) != sorted(_NUMBER.findall(other)):
        return False
    first, second = (frozenset(_WORDS.findall(text.casefold())) for text in (one, other))
    return len(first & second) >= _REPETITION * (len(first | second) or 1)


def _shorten(part: Part, text: str, left: int) -> Part:
    """Return the beginning of a part that is too long to show."""
    start, end = part.spans[-1]
    stop = word_spans(text, start, end)[:left][-1][1]
    core = min(part.core[0], stop), min(part.core[1], stop)
    return replace(part, spans=((start, stop),), core=core if core[0] < stop else (start, stop))


def _without_what_is_shown(part: Part, chosen: Sequence[Part]) -> Part:
    """Return a part without the line that leads in to its list, where that is shown already."""
    lead = part.spans[0]
    again = len(part.spans) > 1 and any(
        own.hit.document.id == part.hit.document.id and start <= lead[0] and lead[1] <= end
        for own in chosen
        for start, end in own.spans
    )
    return replace(part, spans=part.spans[1:]) if again else part


def _in_order(chosen: Sequence[Part], bodies: Bodies) -> Iterator[Part]:
    """Yield the parts of each passage in its order, those that touch as one; best passage first."""
    passages: dict[tuple[str, int], list[Part]] = {}
    for part in chosen:
        passages.setdefault((part.hit.document.id, part.hit.rank), []).append(part)
    for (name, _), parts in passages.items():
        text = bodies.text(name)
        order = [part.core for part in parts]
        joined: list[Part] = []
        # Of a table the best row comes first.
        rank = {id(part): place if part.header else 0 for place, part in enumerate(parts)}
        for full in sorted(parts, key=lambda part: (rank[id(part)], part.spans[-1])):
            part = _without_what_is_shown(full, joined)
            before = joined[-1] if joined else None
            touch = before and not text[before.spans[-1][1] : part.spans[0][0]].strip()
            if not (before and touch) or part.header or before.header or len(part.spans) > 1:
                joined.append(part)
                continue
            spans = (*before.spans[:-1], (before.spans[-1][0], part.spans[0][1]))
            core = min(before.core, part.core, key=order.index)
            joined[-1] = replace(before, spans=spans, core=core)
        for part in joined:
            every = part.shown[1]
            count = sum(one.shown[0] for one in parts if one.shown[1] == every)
            yield replace(part, shown=(min(count, every), every))


def beginning(text: str, hit: Hit, words: int) -> Part | None:
    """Return the first whole sentences of a document, headings before them apart, if any."""
    start = body_start(text) if hit.document.format == "md" else 0
    spans = [
        (first, first + len(text[first:last].rstrip()))
        for first, last in sentence_spans(text, start, min(start + _REACH, len(text)))
        if text[first:last].strip()
    ]
    while spans and text.startswith("#", spans[0][0]):
        del spans[0]
    whole = [span for span in spans if count_words(text[spans[0][0] : span[1]]) <= words]
    return Part(hit, ((whole[0][0], whole[-1][1]),), whole[0]) if whole else None
