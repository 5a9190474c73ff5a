"""What the sources say about a sentence that a language model wrote.

A sentence is quoted where it stands in the evidence word for word. Where the evidence states
another number or date in its place, it disagrees. Otherwise a small logistic model, fitted on
statements that readers wrote about real documents, says whether the evidence supports it; what it
does not dare to call supported is not found.
"""

import json
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final, NamedTuple

from chapterhouse.claims.align import sentences_of
from chapterhouse.claims.disagreement import disagreement, is_altered, missing
from chapterhouse.claims.facts import Quoted, quotations
from chapterhouse.claims.features import FEATURES, Reading, read_beside
from chapterhouse.claims.no_statement import bare, essence, states_nothing
from chapterhouse.claims.quotation import Place, apart, find_words, weight, words_of
from chapterhouse.claims.stated import stated
from chapterhouse.claims.statement import read
from chapterhouse.text.scripts import east_asian_letters
from chapterhouse.types import (
    FOUND,
    Evidence,
    Judgement,
    Problem,
    ProblemKind,
    Quotation,
    Support,
)

_QUOTED_CHARACTERS: Final = 20  # from which a part of a sentence counts as quoted
_QUOTED_EAST: Final = 8
_LEAST_QUOTATION: Final = 3  # words; shorter ones are names and terms
_NEAR: Final = 30  # characters from a denial that was cut off; about five words
_ATTRIBUTED: Final = re.compile(
    r"(?:according to|as stated in|as per|per|in|under|laut|gemäß|selon|d'après) "
    r"(?:the |der |dem |den |le |la )?"
    r"([^,\n]{3,100}?)(?: \(?\d{4}\)?)?,\s*",
    re.IGNORECASE,
)


class Model(NamedTuple):
    """The logistic model: a weight for each of ``FEATURES``, and when it is sure enough."""

    weights: tuple[float, ...]
    intercept: float
    threshold: float


def judge(sentence: str, cited: Sequence[Evidence], others: Sequence[Evidence]) -> Judgement:
    """Say what evidence says about a sentence.

    Args:
        sentence: One sentence; citation markers in it are ignored.
        cited: The stretches that it cites.
        others: What else was retrieved. Stretches of a cited document count as cited; of
            another document only what it says word for word.

    Returns:
        What was found, the sentences that quote or support it (of one that was not found, those
        that come closest) with their offsets in the document, what does not agree, and the
        probability that it is supported.
    """
    if states_nothing(sentence):
        return Judgement(Support.NO_STATEMENT)
    claim = essence(_without_title(bare(sentence), (*cited, *others)))
    documents = {evidence.document_id for evidence in cited}
    own = (*cited, *(one for one in others if one.document_id in documents))
    foreign = tuple(one for one in others if one.document_id not in documents)
    found = _judge(claim, own)
    quoted = () if found.support in FOUND else _quoted(claim, foreign)
    return Judgement(Support.QUOTED, quoted, score=1.0) if quoted else found


def _judge(claim: str, evidence: Sequence[Evidence]) -> Judgement:
    """Judge a claim by stretches that all count as cited."""
    quoted = _quoted(claim, evidence)
    if quoted:
        return Judgement(Support.QUOTED, quoted, score=1.0)
    languages = dict.fromkeys(one.language for one in evidence)
    each = [_beside(claim, [e for e in evidence if e.language == name]) for name in languages]
    best = max(each, key=lambda one: one.score, default=Judgement(Support.NOT_FOUND))
    wrong = [q for q in _long_quotations(claim) if not _is_quoted(q, evidence)]
    if not wrong:
        return best
    problems = tuple(Problem(ProblemKind.QUOTATION, quoted.text) for quoted in wrong)
    support = best.support if best.support is Support.DISAGREES else Support.NOT_FOUND
    return Judgement(support, best.spans, (*problems, *best.problems), best.score)


def _beside(claim: str, evidence: Sequence[Evidence]) -> Judgement:
    """Judge a claim by stretches of one language."""
    reading = read_beside(read(claim, evidence[0].language), evidence, stated(evidence))
    if reading is None:
        return Judgement(Support.NOT_FOUND)
    score, spans = probability(reading), tuple(_spans(reading))
    differing = disagreement(reading)
    if differing:
        return Judgement(Support.DISAGREES, spans, (differing,), score)
    problems = tuple(missing(reading))
    lacking = any(problem.kind is not ProblemKind.NAME for problem in problems)
    if not lacking and not is_altered(reading) and score >= model().threshold:
        return Judgement(Support.SUPPORTED, spans, problems, score)
    return Judgement(Support.NOT_FOUND, spans, problems, score)


def probability(reading: Reading) -> float:
    """Return how likely a claim is supported by the evidence it was read beside, 0 to 1."""
    known = model()
    logit = known.intercept + math.fsum(
        weight * value for weight, value in zip(known.weights, reading.features, strict=True)
    )
    return round(1 / (1 + math.exp(-logit)), 4)


@cache
def model() -> Model:
    """Return the model that ``benchmarks/natural/statements.py`` fitted.

    Raises:
        ValueError: its file holds other features than ``FEATURES``.
    """
    fields = json.loads((files("chapterhouse.claims") / "model.json").read_text("utf-8"))
    if tuple(fields["weights"]) != FEATURES:
        raise ValueError(f"The weights are of {sorted(fields['weights'])}, not {sorted(FEATURES)}.")
    weights = tuple(float(fields["weights"][name]) for name in FEATURES)
    return Model(weights, float(fields["intercept"]), float(fields["threshold"]))


def _spans(reading: Reading) -> Sequence[Quotation]:
    """Return the sentences of a reading's window with a word of the claim."""
    window = reading.window
    used = {window.tokens[place][1] for places in reading.places for place in places}
    return [
        _quotation(window.evidence, sentence.start, sentence.end)
        for number, sentence in enumerate(window.sentences)
        if number in used
    ]


def _quotation(evidence: Evidence, start: int, end: int) -> Quotation:
    quote = evidence.text[start:end]
    return Quotation(evidence.document_id, evidence.start + start, evidence.start + end, quote)


def _without_title(sentence: str, evidence: Sequence[Evidence]) -> str:
    """Return a sentence without "According to the Severe Weather Policy," in front of it."""
    match = _ATTRIBUTED.match(sentence)
    if match is None:
        return sentence
    titles = {" ".join(one.title.casefold().split()) for one in evidence}
    return sentence[match.end() :] if match.group(1).casefold().strip() in titles else sentence


# --- word for word ------------------------------------------------------------------------------


def _quoted(claim: str, evidence: Sequence[Evidence]) -> tuple[Quotation, ...]:
    """Return the sentences in which a claim stands word for word, none where it does not."""
    wanted = words_of(claim.strip(" \"'“”„«»"))
    size = sum(len(word) for word in wanted.words) + len(wanted.words) - 1
    east = any(len(word) == 1 and east_asian_letters(word) for word in wanted.words)
    long = size >= (_QUOTED_EAST if east else _QUOTED_CHARACTERS)
    for place in find_words(wanted, evidence):
        own = evidence[place.stretch]
        inside = [
            s
            for s in sentences_of(own.text, own.language)
            if s.start < place.end and place.start < s.end
        ]
        whole = len(inside) == 1 and words_of(inside[0].text).words == wanted.words
        cut = not whole and _is_out_of_context(claim, own, place, inside[0].start, inside[-1].end)
        if whole or (long and not cut):
            return tuple(_quotation(own, s.start, s.end) for s in inside)
    return ()


def _is_out_of_context(claim: str, evidence: Evidence, place: Place, start: int, end: int) -> bool:
    """Whether what was cut off changes what was kept: a denial, a condition, a unit."""
    whole = read(evidence.text[start:end], evidence.language)
    own = read(claim, evidence.language)
    inside = [t for t in whole.tokens if place.start - start <= t.start < place.end - start]
    if len(inside) != len(own.tokens):
        return True
    for one, other in zip(own.tokens, inside, strict=True):
        if (one.key, one.negated, one.scopes) != (other.key, other.negated, other.scopes):
            return True
        if one.number and other.number and one.number.unit != other.number.unit:
            return True
    kept = range(place.start - start, place.end - start)
    denials = [cue.start for cue in whole.facts.negations if cue.start not in kept]
    clauses = {token.clause for token in inside}
    return any(
        token.clause in clauses and abs(token.start - denial) < _NEAR
        for token in whole.tokens
        for denial in denials
    )


def _long_quotations(claim: str) -> list[Quoted]:
    return [q for q in quotations(claim) if weight(words_of(q.text).words) >= _LEAST_QUOTATION]


def _is_quoted(quoted: Quoted, evidence: Sequence[Evidence]) -> bool:
    """Whether a quotation stands there, or its parts between ellipses do, close together."""
    text = quoted.text.replace("[...]", "…").replace("...", "…")
    parts = [part for part in text.split("…") if part.strip()]
    places = [next(find_words(words_of(part), evidence), None) for part in parts]
    known = [place for place in places if place]
    together = not any(apart(one, two, evidence) for one, two in pairwise(known))
    return bool(known) and len(known) == len(parts) and together
