"""What the sources say about a sentence that a language model wrote.

A sentence is quoted where it stands in the evidence word for word. Where the evidence states
another number or date in its place, it disagrees. Otherwise a small logistic model, fitted on
statements that readers wrote about real documents, says whether the evidence supports it; what it
does not dare to call supported is not found.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from chapterhouse.claims.features import (
    FEATURES,
    Reading,
    compare_with_evidence,
    is_fact,
    is_small,
    stated,
)
from chapterhouse.claims.no_statement import bare, essence, states_nothing
from chapterhouse.claims.numbers import DAYS
from chapterhouse.claims.quotation import find_quoted, quotation_of, wrong_quotations
from chapterhouse.claims.statement import Token, read
from chapterhouse.types import (
    FOUND,
    Evidence,
    Judgement,
    Problem,
    ProblemKind,
    Quotation,
    Support,
)

_ATTRIBUTED: Final = re.compile(
    r"(?:according to|as stated in|as per|per|in|under|laut|gemäß|selon|d'après) "
    r"(?:the |der |dem |den |le |la )?"
    r"([^,\n]{3,100}?)(?: \(?\d{4}\)?)?,\s*",
    re.IGNORECASE,
)
# Chosen on the statements of the open folders (``benchmarks/natural/statements.py``).
_LEAST_SHARE: Final = 0.35  # of the claim's words in the passage
_COPIED: Final = 0.5  # share from which a claim repeats its passage
_MOST_WORDS: Final = 0.5  # of the claim's words in one sentence
_COUNTED: Final = 2  # tokens between a number and what it counts
_AROUND: Final = 3  # tokens on each side of a fact that say what it is about
_FAR: Final = 12  # tokens beyond which two are as far apart as any


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
    quoted = () if found.support in FOUND else find_quoted(claim, foreign)
    return Judgement(Support.QUOTED, quoted, score=1.0) if quoted else found


def _judge(claim: str, evidence: Sequence[Evidence]) -> Judgement:
    """Judge a claim by stretches that all count as cited."""
    quoted = find_quoted(claim, evidence)
    if quoted:
        return Judgement(Support.QUOTED, quoted, score=1.0)
    languages = dict.fromkeys(one.language for one in evidence)
    each = [
        _judge_in_language(claim, [e for e in evidence if e.language == name]) for name in languages
    ]
    best = max(each, key=lambda one: one.score, default=Judgement(Support.NOT_FOUND))
    wrong = wrong_quotations(claim, evidence)
    if not wrong:
        return best
    problems = tuple(Problem(ProblemKind.QUOTATION, text) for text in wrong)
    support = best.support if best.support is Support.DISAGREES else Support.NOT_FOUND
    return Judgement(support, best.spans, (*problems, *best.problems), best.score)


def _judge_in_language(claim: str, evidence: Sequence[Evidence]) -> Judgement:
    """Judge a claim by stretches of one language."""
    reading = compare_with_evidence(read(claim, evidence[0].language), evidence, stated(evidence))
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
        quotation_of(window.evidence, sentence.start, sentence.end)
        for number, sentence in enumerate(window.sentences)
        if number in used
    ]


def _without_title(sentence: str, evidence: Sequence[Evidence]) -> str:
    """Return a sentence without "According to the Severe Weather Policy," in front of it."""
    match = _ATTRIBUTED.match(sentence)
    if match is None:
        return sentence
    titles = {" ".join(one.title.casefold().split()) for one in evidence}
    return sentence[match.end() :] if match.group(1).casefold().strip() in titles else sentence


def disagreement(reading: Reading) -> Problem | None:
    """Return the first number or date for which evidence has another one, with that one.

    Either the evidence lacks it, or has it in another sentence than the one that says the rest,
    where another stands. Names are not compared: a passage seldom repeats whose it is.
    """
    if reading.share < _LEAST_SHARE:
        return None
    tokens = reading.claim.tokens
    for number, token in enumerate(tokens):
        if (token.number or token.date) and not is_small(token):
            found = reading.stated[number]
            rival = _in_its_sentence(reading, number) if found else _rival(reading, number)
            if rival is not None:
                kind = ProblemKind.NUMBER if token.number else ProblemKind.DATE
                return Problem(kind, token.text, rival.text)
    return None


def missing(reading: Reading) -> Iterator[Problem]:
    """Yield the numbers, dates and names of a claim that its evidence does not state."""
    for token, found in zip(reading.claim.tokens, reading.stated, strict=True):
        if is_fact(token) and not found and not is_small(token):
            kind = ProblemKind.DATE if token.date else ProblemKind.NAME
            yield Problem(ProblemKind.NUMBER if token.number else kind, token.text)


def is_altered(reading: Reading) -> bool:
    """Whether a claim repeats most of a passage, but denies it or has another word in a place.

    Readers who reword a passage deny and exchange words as often where it stays true. What keeps
    most of its words and is not the same must not pass for it, though.
    """
    if reading.share < _COPIED:
        return False
    denied = reading.features[FEATURES.index("denied otherwise")] > 0
    lacking = [n for n, found in enumerate(reading.stated) if not found]
    return denied or any(_is_exchanged(reading, number) for number in lacking)


def _is_exchanged(reading: Reading, number: int) -> bool:
    """Whether between the neighbours of a word stands one other word, which the claim lacks."""
    places, window = reading.places, reading.window
    if places[number]:
        return False
    lengths = [len(statement.tokens) for statement in window.statements]
    bounds = [sum(lengths[:n]) for n in range(len(lengths) + 1)]
    before = places[number - 1] if number else [bound - 1 for bound in bounds[:-1]]
    after = places[number + 1] if number + 1 < len(places) else bounds[1:]
    taken = {place for own in places for place in own}
    return any(b - a == 2 and a + 1 not in taken for a in before for b in after)  # noqa: PLR2004 - one between


def _rival(reading: Reading, number: int) -> Token | None:
    """Return what stands in the passage for a fact of the claim: the only one, or the nearest."""
    own, tokens = reading.claim.tokens[number], [token for token, _ in reading.window.tokens]
    taken = {place for places in reading.places for place in places}
    rivals = [
        place
        for place, token in enumerate(tokens)
        if place not in taken and _is_comparable(own, token)
    ]
    near = range(max(0, number - _AROUND), min(len(reading.places), number + _AROUND + 1))
    anchors = [reading.places[n][0] for n in near if n != number and reading.places[n]]
    if not rivals or (len(rivals) > 1 and not anchors):
        return None
    rival = min((_distance(place, anchors), place) for place in rivals)[1]
    counted = reading.places[number + 1] if number + 1 < len(reading.places) else ()
    bare = own.number is not None and not own.number.unit
    if bare and counted and min(abs(rival - place) for place in counted) > _COUNTED:
        return None  # "900 vessels" where "vessels" stands there without a number
    return tokens[rival]


def _in_its_sentence(reading: Reading, number: int) -> Token | None:
    """Return the only other fact of the sentence that says most of a claim, but not this fact."""
    own, window, places = reading.claim.tokens[number], reading.window, reading.places
    words = [n for n, token in enumerate(reading.claim.tokens) if not is_fact(token)]
    held = [{window.tokens[place][1] for place in places[word]} for word in words]
    counts = [sum(s in each for each in held) for s in range(len(window.sentences))]
    most = max(range(len(counts)), key=lambda s: (counts[s], -s))
    is_found = any(window.tokens[place][1] == most for place in places[number])
    if not places[number] or is_found or counts[most] < _MOST_WORDS * len(words) or not words:
        return None
    taken = {place for each in places for place in each}
    rivals = [
        token
        for place, (token, sentence) in enumerate(window.tokens)
        if sentence == most and place not in taken and _is_comparable(own, token)
    ]
    same = len(rivals) == 1 and (
        own.date or (rivals[0].number and own.number and rivals[0].number.unit == own.number.unit)
    )
    return rivals[0] if same else None


def _is_comparable(own: Token, other: Token) -> bool:
    if own.date is not None:
        return other.date is not None
    if own.number is None or other.number is None or own.number.ordinal != other.number.ordinal:
        return False
    units = {own.number.unit, other.number.unit}
    return len(units) == 1 or "" in units or units <= DAYS.keys()


def _distance(place: int, anchors: Sequence[int]) -> float:
    """Return how far a place is from others on average, in tokens."""
    if not anchors:
        return 0.0
    return sum(min(abs(place - anchor), _FAR) for anchor in anchors) / len(anchors)
