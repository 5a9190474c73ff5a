"""What is counted of one question, and the figures of many: pure, without a library.

A question is marked once a run. Figures are shares of questions, 0 to 1, with a 95 % interval by
resampling the questions.
"""

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plain_text import comparable, holds
from questions import Question

BINS = 10
RESAMPLES = 1_000
SEED = 11

Facts = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit as a reader sees it: the document's name, and title, section path and text."""

    document: str
    shown: str


Outcome = Literal["answer", "passages", "not-found"]


@dataclass(frozen=True, slots=True)
class Quoted:
    """A part of an answer as a reader sees it: its text, and the documents that it quotes."""

    text: str
    documents: tuple[str, ...] = ()
    table: bool = False  # whether it is a row of one


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as a reader sees it.

    Attributes:
        outcome: Whether it is called an answer, the closest passages, or nothing was found.
        quoted: What the first screen quotes.
        confidence: As the product states it, 0 to 1.
        sure: Whether the product calls it sure.
    """

    outcome: Outcome = "not-found"
    quoted: tuple[Quoted, ...] = ()
    confidence: float = 0.0
    sure: bool = False

    @property
    def text(self) -> str:
        """Return everything quoted."""
        return "\n".join(part.text for part in self.quoted)


@dataclass(frozen=True, slots=True)
class Mark:
    """What became of one question. Numbers of words and hits are in the order of the fields.

    Attributes:
        readable: Whether all facts are in the documents of the evidence as our readers read them.
        in_hits: Whether all facts are in the first 3 and the first 8 hits.
        in_words: Whether they are in the first 250 and the first 700 words of the hits.
        documents: Whether all documents of the evidence are among those of the first 3 and 8 hits.
        words: Words of the first 3 and of the first 8 hits.
        outcome: What the reply is called.
        right: Whether all facts are in what it quotes; never for an unanswerable question.
        further: Whether they are there or in the first 8 hits, one key further.
        reply_words: Words quoted.
        confidence: As the product states it, 0 to 1.
        sure: Whether it calls its answer sure.
        fragments: Parts quoted that say nothing by themselves.
        strayed: Whether another document is quoted than the only one that the question names; None
            where it names none.
        listed: Facts of a list in what is quoted and in the context for a model; else None.
        again: Facts in the first 8 hits for the same question spelled right, where it has one.
    """

    question: Question
    readable: bool
    in_hits: tuple[bool, bool]
    in_words: tuple[bool, bool]
    documents: tuple[bool, bool]
    words: tuple[int, int]
    outcome: Outcome
    right: bool
    further: bool
    reply_words: int
    confidence: float
    sure: bool
    fragments: tuple[str, ...] = ()
    strayed: bool | None = None
    listed: tuple[int, int] | None = None
    again: bool | None = None


HITS = (3, 8)
WORDS = (250, 700)


def has_facts(text: str, facts: Facts) -> bool:
    """Whether a text has one alternative of every fact; False where there are no facts."""
    compared = comparable(text)
    return bool(facts) and all(any(holds(compared, each) for each in fact) for fact in facts)


def count_facts(text: str, facts: Facts) -> int:
    """Count the facts of which a text has one alternative."""
    compared = comparable(text)
    return sum(any(holds(compared, each) for each in fact) for fact in facts)


def first_words(texts: Sequence[str], count: int) -> str:
    """Return the first ``count`` words of the texts in order, split at white space."""
    return " ".join([word for text in texts for word in text.split()][:count])


def in_first(passages: Sequence[Passage], count: int, facts: Facts) -> bool:
    """Whether all facts are in the first ``count`` passages."""
    return has_facts("\n".join(passage.shown for passage in passages[:count]), facts)


def has_documents(passages: Sequence[Passage], wanted: Sequence[str]) -> bool:
    """Whether every wanted document is among those of the passages; False where none is wanted."""
    return bool(wanted) and set(wanted) <= {passage.document for passage in passages}


_WHOLE = re.compile(r"[.!?…。！？;][\"'”’»)\]*_]*$")  # ends as a sentence does
_LIST = re.compile(r"(?m)^\s*(?:[-*+•‣▪]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_CODE = re.compile(r"^(?:\t| {4})|[`{}=<>$\\]|\w\(|(?:^|\s)--?\w")
_LEAST_WORDS = 6


def is_fragment(part: Quoted) -> bool:
    """Whether a part says nothing by itself: a heading, a caption, a lead-in alone.

    Such a part ends in a colon, or it has under six words, no sentence's end, and is neither an
    item of a list nor a table's row nor code.
    """
    text = part.text.strip().rstrip("*_ ")
    if text.endswith((":", "：")):
        return True
    told = part.table or any(pattern.search(text) for pattern in (_WHOLE, _CODE))
    letters = len(text) if not text.isascii() and " " not in text else 0  # no spaces: Chinese
    short = max(len(text.split()), letters // 2) < _LEAST_WORDS
    return short and not told and _LIST.search(text) is None


def named_document(question: Question, titles: Mapping[str, str]) -> str:
    """Return the only document of the evidence, where the question names it; else empty.

    It does by words with a capital, the first apart, that no other document has all in its title.

    Args:
        question: With its evidence.
        titles: Title and name of each document, by name.
    """
    if len(question.documents) != 1 or question.documents[0] not in titles:
        return ""
    capitals = {
        word.casefold()
        for word in re.findall(r"\w+", question.question)[1:]
        if word[0].isupper() and word != "I"
    }
    words = {name: set(re.findall(r"[^\W_]+", own.casefold())) for name, own in titles.items()}
    own = question.documents[0]
    named = capitals & words[own]
    alone = not any(named <= there for name, there in words.items() if name != own)
    return own if named and alone else ""


def mark(
    question: Question,
    read: str,
    passages: Sequence[Passage],
    reply: Reply,
    titles: Mapping[str, str],
) -> Mark:
    """Return what became of a question, without its list and right spelling.

    ``read`` is the text of the documents of its evidence as our readers read them.
    """
    texts = [passage.shown for passage in passages]
    few, many = (first_words(texts[:count], 10**6) for count in HITS)
    named = named_document(question, titles)
    quoted = {document for part in reply.quoted for document in part.documents}
    return Mark(
        question,
        has_facts(read, question.facts),
        (has_facts(few, question.facts), has_facts(many, question.facts)),
        (
            has_facts(first_words(texts, WORDS[0]), question.facts),
            has_facts(first_words(texts, WORDS[1]), question.facts),
        ),
        (
            has_documents(passages[: HITS[0]], question.documents),
            has_documents(passages[: HITS[1]], question.documents),
        ),
        (len(few.split()), len(many.split())),
        outcome=reply.outcome,
        right=has_facts(reply.text, question.facts),
        further=has_facts(f"{reply.text}\n{many}", question.facts),
        reply_words=len(reply.text.split()),
        confidence=reply.confidence,
        sure=reply.sure,
        fragments=tuple(part.text for part in reply.quoted if is_fragment(part)),
        strayed=bool(quoted - {named}) if named and quoted else None,
    )


# --- figures of many -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """A share of questions with its 95 % interval; not a number where there are none."""

    value: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        """Return it in percent: ``59.3 (52–66)``; a dash without questions."""
        if not self.count:
            return "–"
        return f"{100 * self.value:.1f} ({100 * self.low:.0f}–{100 * self.high:.0f})"


def share(values: Sequence[bool]) -> Share:
    """Return the share of true values and its interval by the percentile bootstrap."""
    if not values:
        return Share(math.nan, math.nan, math.nan, 0)
    numbers = np.asarray(values, dtype=float)
    drawn = np.random.default_rng(SEED).integers(0, len(numbers), (RESAMPLES, len(numbers)))
    low, high = np.percentile(numbers[drawn].mean(axis=1), (2.5, 97.5))
    return Share(float(numbers.mean()), float(low), float(high), len(numbers))


def calibration_error(stated: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """Return the expected calibration error, 0 to 1, over bins of equal width.

    Source: Guo and others, On Calibration of Modern Neural Networks, ICML 2017.
    """
    if not stated:
        return math.nan
    places = [min(int(value * bins), bins - 1) for value in stated]
    error = 0.0
    for place in set(places):
        inside = [number for number, own in enumerate(places) if own == place]
        claimed = statistics.fmean(stated[number] for number in inside)
        true = statistics.fmean(right[number] for number in inside)
        error += abs(claimed - true) * len(inside) / len(stated)
    return error


def median(values: Sequence[int]) -> float:
    """Return the median; not a number without values."""
    return statistics.median(values) if values else math.nan
