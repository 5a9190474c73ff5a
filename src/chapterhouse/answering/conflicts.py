"""Where two documents give different values for what was asked.

::

    best sentences of the hits -> pairs of two documents that differ in a value of the kind asked
         -> what speaks for one subject and against it -> those likely enough

A name binds: a sentence that names, before its value, a party, product or place that the other's
document does not know speaks of something else.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Final
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from chapterhouse.answering.names import Names
from chapterhouse.answering.question_kind import QuestionKind
from chapterhouse.answering.stated_values import ASKED, Differing, differing
from chapterhouse.claims.dates import is_dateline
from chapterhouse.claims.relation import is_newer
from chapterhouse.claims.statement import Statement, Token, TokenKind, read
from chapterhouse.retrieval.question import Question
from chapterhouse.retrieval.sentence_model import Judged
from chapterhouse.retrieval.sentences import Sentence, cosines, text_of, tokens_between
from chapterhouse.text.analyse import analyse
from chapterhouse.text.canonical import stated_date
from chapterhouse.types import Conflict, ConflictKind, Hit, Quotation, Side

_READ: Final = 20  # best sentences that are compared
_BEST: Final = 6  # among which one of two must be
_LONGEST: Final = 700  # characters of a sentence that is compared
_MOST: Final = 3
_NO_CAPITALS: Final = frozenset({"de"})  # where a capital makes no name
_TITLE_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_SUBJECT: Final = 60  # first characters of a sentence, where a denial has its subject
_LETTERS: Final = 6  # that words of one family share


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a question.

    Attributes:
        asked: The question as it was asked.
        kind: What it asks for.
        hits: Best first.
        judged: Their sentences.
        names: What it names.
        texts: The text of each hit's document by id.
    """

    asked: str
    question: Question
    kind: QuestionKind
    hits: Sequence[Hit]
    judged: Judged
    names: Names
    texts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for two sentences giving different values for what was asked, and against it.

    Attributes:
        better: Logarithm of the larger of both shares of the answer.
        worse: The same of the smaller one.
        words: Share of the content words of one that the other has; the larger of both.
        meaning: Mean cosine of the words of one, its value apart, with the nearest of the other;
            the larger of both.
        meaning_back: The smaller of both.
        asked: Share of the question's word weight that both have, their headings included.
        asked_by_one: The same that only one of them has.
        asked_names: Share of the question's word weight in names that only one document has.
        start: How many begin with a word that the other's document lacks.
        dates: 1 where both state dates besides the value, and none is the same.
        same_unit: 1 for two numbers of one unit.
        apart: Decimal logarithm of how many times larger one number is, at most 2.
        date: 1 where dates differ.
        name: 1 where names do.
        negation: 1 where one denies what the other says.
        length: By how much their lengths differ, as a logarithm.
    """

    better: float
    worse: float
    words: float
    meaning: float
    meaning_back: float
    asked: float
    asked_by_one: float
    asked_names: float
    start: float
    dates: float
    same_unit: float
    apart: float
    date: float
    name: float
    negation: float
    length: float


SIGNS: Final = tuple(field.name for field in fields(Signs))
# The intercept, and a weight for each sign: fitted by ``benchmarks/conflicts.py --fit``.
INTERCEPT: Final = -2.814
WEIGHTS: Final = {
    "better": 0.730,
    "worse": 0.033,
    "words": 3.809,
    "meaning": 2.888,
    "meaning_back": 2.638,
    "asked": -0.167,
    "asked_by_one": -0.401,
    "asked_names": -4.400,
    "start": -0.306,
    "dates": -1.152,
    "same_unit": 1.034,
    "apart": -0.275,
    "date": -2.242,
    "name": -1.352,
    "negation": -1.903,
    "length": -1.496,
}
LEAST: Final = 0.26  # chance from which a conflict is told
LEAST_SURE: Final = 0.2  # of what is shown: where hardly anything answers, nothing is at issue


@dataclass(frozen=True, slots=True, eq=False)
class _Stated:
    order: int  # among the best sentences
    sentence: Sentence
    hit: Hit
    text: str
    statement: Statement
    asked: NDArray[np.bool_]  # which of the question's words it has, its headings included


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two sentences of two documents that give different values; the likelier answer first."""

    one: _Stated
    other: _Stated
    differing: Differing
    signs: Signs

    @property
    def chance(self) -> float:
        """How likely they disagree about what was asked, 0 to 1."""
        return chance(self.signs)

    @property
    def quotes(self) -> tuple[str, str]:
        """Both sentences."""
        return self.one.text, self.other.text


def find_conflicts(found: Found) -> tuple[Conflict, ...]:
    """Return where two documents give different values for what was asked.

    Args:
        found: What was found for it.

    Returns:
        At most three, the likeliest first, one of each two documents; in each the newer side first
        where the documents state dates that tell.
    """
    likely = [(pair.chance, pair) for pair in pairs(found)]
    likely.sort(key=lambda item: (-item[0], item[1].one.order, item[1].other.order))
    conflicts: dict[frozenset[str], Conflict] = {}
    for certain, pair in likely:
        documents = frozenset({pair.one.hit.document.id, pair.other.hit.document.id})
        if certain >= LEAST and documents not in conflicts:
            conflicts[documents] = _conflict(pair)
    return tuple(conflicts.values())[:_MOST]


def chance(signs: Signs) -> float:
    """Return how likely two sentences with these signs disagree about what was asked, 0 to 1."""
    logit = INTERCEPT + sum(weight * getattr(signs, name) for name, weight in WEIGHTS.items())
    return 1 / (1 + math.exp(-max(min(logit, 50.0), -50.0)))


def pairs(found: Found) -> Iterator[Pair]:
    """Yield the pairs of sentences that give different values, with what speaks for each."""
    if found.kind not in ASKED:
        return
    best = list(_best(found))
    question = read(found.asked, found.question.languages[0])
    yield from (
        Pair(one, other, value, _signs(one, other, value, found))
        for one, other in combinations(best, 2)
        if one.order < _BEST and one.hit.document.id != other.hit.document.id
        for value in differing(one.statement, other.statement, question, found.kind)
        if not (_is_about_other(one, other, found) and _is_about_other(other, one, found))
        and not _other_name(one, other, value.values[0], value.kind, found)
        and not _other_name(other, one, value.values[1], value.kind, found)
    )


def _best(found: Found) -> Iterator[_Stated]:
    """Yield the sentences that may answer the question and state something, the best first."""
    ranked = sorted(found.judged.sentences, key=lambda sentence: -sentence.share)  # stable
    for order, sentence in enumerate(ranked[:_READ]):
        hit = found.hits[sentence.rank]
        text = text_of(hit, sentence)
        language = hit.document.language or found.question.languages[0]
        says = not text.startswith("#") and not text.rstrip().endswith(("?", "？"))
        if not says or len(text) > _LONGEST or is_dateline(text, language):
            continue
        above = " ".join((hit.document.title, *hit.chunk.section_path, sentence.header))
        terms = {*analyse(text, language), *analyse(above, language)}
        asked = np.array([not terms.isdisjoint(own) for _, own in found.question.words], dtype=bool)
        yield _Stated(order, sentence, hit, text, read(text, language), asked)


def _other_name(
    own: _Stated, other: _Stated, value: Token | None, kind: ConflictKind, found: Found
) -> bool:
    """Whether a sentence names, before its value, someone whom the other's document does not."""
    if kind is ConflictKind.NAME or own.statement.language in _NO_CAPITALS:
        return False
    end = value.start if value else _SUBJECT
    lower = found.texts[own.hit.document.id]
    known = _known(other, found)
    return any(
        token.name
        and token.start < end
        and token.text.casefold() not in known
        and token.text.lower() not in lower
        for token in own.statement.tokens
    )


def _is_about_other(own: _Stated, other: _Stated, found: Found) -> bool:
    """Whether a document's title names what its text speaks of and the other's does not."""
    document = own.hit.document
    statement, known = found.texts[document.id][len(document.title) :], _known(other, found)
    words = _TITLE_WORD.findall(unquote(document.title))
    return any(
        word.casefold() not in known and re.search(rf"[a-z,] {re.escape(word)}(?!\w)", statement)
        for word in words
        if word[0].isupper()
    )


def _asked_names(one: _Stated, other: _Stated, found: Found) -> float:
    texts = [_known(item, found, with_question=False) for item in (one, other)]
    return float(
        sum(
            found.judged.weights[number]
            for number in found.names.words
            if len({found.question.words[number][0].casefold() in text for text in texts}) > 1
        )
    )


def _known(other: _Stated, found: Found, *, with_question: bool = True) -> str:
    """Return in lower case what another document says, and the question."""
    document = other.hit.document
    text = f"{found.texts[document.id]} {document.title}"
    return (f"{text} {found.asked}" if with_question else text).casefold()


# --- signs ---------------------------------------------------------------------------------------


def _signs(one: _Stated, other: _Stated, value: Differing, found: Found) -> Signs:
    weights = found.judged.weights
    words = _shared_words(one, other, value)
    near = _nearness(one, other, value, found) if found.judged.meaning else words
    days = [{token.key for token in item.statement.tokens if token.date} for item in (one, other)]
    return Signs(
        better=math.log(one.sentence.share + 1e-4),
        worse=math.log(other.sentence.share + 1e-4),
        words=max(words),
        meaning=max(near),
        meaning_back=min(near),
        asked=float(weights[one.asked & other.asked].sum()),
        asked_by_one=float(weights[one.asked ^ other.asked].sum()),
        asked_names=_asked_names(one, other, found),
        start=float(_begins_otherwise(one, other, found) + _begins_otherwise(other, one, found)),
        dates=float(value.kind is not ConflictKind.DATE and all(days) and not days[0] & days[1]),
        same_unit=float(value.same_unit),
        apart=value.apart,
        date=float(value.kind is ConflictKind.DATE),
        name=float(value.kind is ConflictKind.NAME),
        negation=float(value.kind is ConflictKind.NEGATION),
        length=math.log1p(abs(len(one.text) - len(other.text))) / 5,
    )


def _shared_words(one: _Stated, other: _Stated, value: Differing) -> tuple[float, float]:
    first, second = (
        {t.key for t in item.statement.tokens if t.kind is TokenKind.WORD and t is not own}
        for item, own in zip((one, other), value.values, strict=True)
    )
    shared = len(first & second)
    return shared / max(len(first), 1), shared / max(len(second), 1)


def _nearness(one: _Stated, other: _Stated, value: Differing, found: Found) -> tuple[float, float]:
    first, second = (
        _vectors(item, own, found) for item, own in zip((one, other), value.values, strict=True)
    )
    if not len(first) or not len(second):
        return 0.0, 0.0
    near = cosines(first, second)
    return (
        round(float(near.max(axis=1).mean()), 5),
        round(float(near.max(axis=0).mean()), 5),
    )


def _vectors(item: _Stated, value: Token | None, found: Found) -> NDArray[np.float32]:
    """Return the vectors of a sentence's tokens in its passage, those of its value apart."""
    passage = found.judged.features.passages[item.sentence.rank]
    offset = item.sentence.begin - item.hit.chunk.start
    begin, stop = tokens_between(passage, offset, offset + len(item.text))
    vectors = passage.vectors[begin:stop]
    if value is None:
        return vectors
    first, last = tokens_between(passage, offset + value.start, offset + value.end)
    return np.delete(vectors, slice(max(first - begin, 0), max(last - begin, 0)), axis=0)


def _begins_otherwise(own: _Stated, other: _Stated, found: Found) -> bool:
    """Whether a sentence begins with a word that the other's document lacks."""
    first = next((t for t in own.statement.tokens if t.kind is TokenKind.WORD), None)
    return first is not None and first.text.casefold()[:_LETTERS] not in _known(other, found)


# --- telling -------------------------------------------------------------------------------------


def _conflict(pair: Pair) -> Conflict:
    one, other = (
        _side(item, value if pair.differing.sure else None)
        for item, value in zip((pair.one, pair.other), pair.differing.values, strict=True)
    )
    newer = is_newer(one.date, other.date)
    shared = {token.key for token in pair.other.statement.tokens}
    return Conflict(
        kind=pair.differing.kind,
        subject=" ".join(
            t.text
            for t in pair.one.statement.tokens
            if t.kind is TokenKind.WORD and t.key in shared
        ),
        sides=(other, one) if newer is False else (one, other),
        newer=None if newer is None else True,
    )


def _side(stated: _Stated, value: Token | None) -> Side:
    document, sentence = stated.hit.document, stated.sentence
    span = Quotation(document.id, sentence.begin, sentence.stop, stated.text)
    return Side(span, value.text if value else "", document.title, stated_date(document))
