"""How far evidence carries a sentence of an answer: the judge that needs no model.

A sentence is verbatim where it stands in the evidence to the letter, supported where one span of
at most three neighbouring sentences has all its words, numbers, dates and names in the same
relations, with the same denials and the same scope. Everything else is less; see
``docs/decisions/0013-claims-are-judged.md``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from chapterhouse.claims.align import Alignment, align, claim_terms, sentences_of, windows
from chapterhouse.claims.checks import Finding, findings
from chapterhouse.claims.facts import Quoted, quotations
from chapterhouse.claims.no_statement import bare, essence, states_nothing
from chapterhouse.claims.quotation import (
    Piece,
    Place,
    apart,
    find_words,
    is_altered,
    is_stitched,
    pieces,
    weight,
    words_of,
)
from chapterhouse.claims.statement import Statement, TokenKind, read
from chapterhouse.types import Evidence, Judgement, Problem, ProblemKind, Quotation, Support

# Chosen on the development half of ``benchmarks/claims.py``.
PARTLY_FROM: Final = 0.35
_VERBATIM_CHARACTERS: Final = 20
_VERBATIM_EAST: Final = 8
_LEAST_QUOTATION: Final = 3  # words; shorter ones are names and terms
_LEAST_CARRIED: Final = 3  # content words that make a part
_FACT_WEIGHT: Final = 1.5
# A window that contradicts must carry so much more of a claim than one that is only silent.
_CONTRADICTED: Final = 0.1
_ELSEWHERE_FROM: Final = 0.4  # share of words below which another document cannot carry it all
_NEAR: Final = 30  # characters from a denial that was cut off; about five words
_WORTH_A_LOOK: Final = 0.25  # windows that carry so much less than the best are not looked at
_ATTRIBUTED: Final = re.compile(
    r"(?:according to|as stated in|as per|per|in|under|laut|gemäß|selon|d'après) "
    r"(?:the |der |dem |den |le |la )?"
    r"([^,\n]{3,100}?)(?: \(?\d{4}\)?)?,\s*",
    re.IGNORECASE,
)
_CARRIED_IN_FULL: Final = (Support.VERBATIM, Support.SUPPORTED)


def judge(sentence: str, cited: Sequence[Evidence], others: Sequence[Evidence]) -> Judgement:
    """Judge a sentence that a language model wrote.

    Args:
        sentence: One sentence; citation markers in it are ignored.
        cited: The stretches that it cites. Empty for a sentence without a marker, which can be
            no more than misattributed. What was marked and does not exist is the caller's to
            reject, see ``fabricated``.
        others: What else was retrieved. Stretches of a cited document count as cited.

    Returns:
        Its class, the sentences that carry it with their offsets in the document, what does not
        agree, and the share of it that is carried.
    """
    if states_nothing(sentence):
        return Judgement(Support.NO_CLAIM)
    plain = bare(sentence)
    claim = essence(_without_title(plain, (*cited, *others)))
    documents = {evidence.document_id for evidence in cited}
    own = (*cited, *(e for e in others if e.document_id in documents))
    foreign = tuple(e for e in others if e.document_id not in documents)
    found = (
        _carried(claim, own) if claim == plain else _verbatim(plain, own) or _carried(claim, own)
    )
    if found.support in _CARRIED_IN_FULL:
        return found
    elsewhere = _carried(claim, foreign, _ELSEWHERE_FROM)
    if elsewhere.support in _CARRIED_IN_FULL:
        return replace(elsewhere, support=Support.MISATTRIBUTED)
    return _stitched(claim, (*own, *foreign)) or found


def _without_title(sentence: str, stretches: Sequence[Evidence]) -> str:
    """Return a sentence without "According to the Severe Weather Policy," in front of it."""
    match = _ATTRIBUTED.match(sentence)
    if match is None:
        return sentence
    titles = {" ".join(evidence.title.casefold().split()) for evidence in stretches}
    return sentence[match.end() :] if match.group(1).casefold().strip() in titles else sentence


def fabricated(marker: str) -> Judgement:
    """Return the judgement of a sentence whose only citation names nothing that was given."""
    return Judgement(Support.FABRICATED, problems=(Problem(ProblemKind.MARKER, marker),))


def _carried(claim: str, stretches: Sequence[Evidence], least: float = 0.0) -> Judgement:
    """Judge a claim against stretches that all count as cited."""
    if not stretches:
        return Judgement(Support.UNSUPPORTED)
    stated = _verbatim(claim, stretches)
    if stated is not None:
        return stated
    wrong = [quoted for quoted in _long_quotations(claim) if not _stands(quoted, stretches)]
    best = _best(claim, stretches, least)
    if best.support is Support.SUPPORTED and not wrong:
        return best
    joined = None if wrong else _clauses_carried(claim, stretches)
    if joined is not None:
        return joined
    problems = tuple(Problem(ProblemKind.QUOTATION, quoted.text) for quoted in wrong)
    if wrong:
        return replace(best, support=Support.UNSUPPORTED, problems=(*problems, *best.problems))
    return best


# --- to the letter ------------------------------------------------------------------------------


def _verbatim(claim: str, stretches: Sequence[Evidence]) -> Judgement | None:
    wanted = words_of(claim.strip(" \"'“”„«»"))
    size = sum(len(word) for word in wanted.words) + len(wanted.words) - 1
    east = any(len(word) == 1 and word >= "\u3040" for word in wanted.words)
    long = size >= (_VERBATIM_EAST if east else _VERBATIM_CHARACTERS)
    for place in find_words(wanted, stretches):
        evidence = stretches[place.stretch]
        inside = [
            s
            for s in sentences_of(evidence.text, evidence.language)
            if s.start < place.end and place.start < s.end
        ]
        whole = len(inside) == 1 and words_of(inside[0].text).words == wanted.words
        if (long or whole) and (
            whole or not _out_of_context(claim, evidence, place, inside[0].start, inside[-1].end)
        ):
            spans = tuple(_quotation(evidence, s.start, s.end) for s in inside)
            return Judgement(Support.VERBATIM, spans, score=1.0)
    return None


def _out_of_context(claim: str, evidence: Evidence, place: Place, start: int, end: int) -> bool:
    """Whether what was cut off changes what was kept: a denial, a condition, a unit."""
    whole = read(evidence.text[start:end], evidence.language)
    own = read(claim, evidence.language)
    inside = [t for t in whole.tokens if place.start - start <= t.start < place.end - start]
    if len(inside) != len(own.tokens):
        return True
    if any(
        (one.key, one.negated, one.scopes) != (other.key, other.negated, other.scopes)
        for one, other in zip(own.tokens, inside, strict=True)
    ):
        return True
    if any(
        t.number and s.number and t.number.unit != s.number.unit
        for t, s in zip(own.tokens, inside, strict=True)
    ):
        return True
    denials = [cue.start for cue in whole.facts.negations]
    kept = range(place.start - start, place.end - start)
    clauses = {token.clause for token in inside}
    near = [
        t.clause
        for t in whole.tokens
        for d in denials
        if d not in kept and abs(t.start - d) < _NEAR
    ]
    return any(clause in clauses for clause in near)


def _quotation(evidence: Evidence, start: int, end: int) -> Quotation:
    quote = evidence.text[start:end]
    return Quotation(evidence.document_id, evidence.start + start, evidence.start + end, quote)


# --- in other words -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reading:
    """One window's account of a claim."""

    alignment: Alignment
    found: tuple[Finding, ...]
    score: float
    support: Support

    @property
    def rank(self) -> tuple[bool, float, int, int, int]:
        window = self.alignment.window
        length = len(window.sentences)
        contradictions = sum(finding.contradicts for finding in self.found)
        score = self.score - _CONTRADICTED * bool(contradictions)
        carried = self.support is not Support.SUPPORTED
        return (carried, -score, contradictions, length, window.place)


def _best(claim: str, stretches: Sequence[Evidence], least: float = 0.0) -> Judgement:
    """Return the judgement of the window that carries most of the claim."""
    languages = list(dict.fromkeys(evidence.language for evidence in stretches))
    alignments: list[tuple[float, Alignment]] = []
    for language in languages:
        own = [evidence for evidence in stretches if evidence.language == language]
        statement = read(claim, language)
        for window in windows(claim_terms(claim, language), own, least):
            alignment = align(statement, window)
            alignments.append((_score(alignment), alignment))
    most = max((score for score, _ in alignments), default=0.0)
    readings = []
    for score, alignment in sorted(alignments, key=lambda one: -one[0]):
        if score < most - _WORTH_A_LOOK:
            break
        readings.append(_reading(alignment, score))
        if readings[-1].support is Support.SUPPORTED:
            break
    if not readings:
        return Judgement(Support.UNSUPPORTED)
    return _judgement(min(readings, key=lambda reading: reading.rank))


def _judgement(best: _Reading) -> Judgement:
    window = best.alignment.window
    used = {window.tokens[place][1] for place in best.alignment.places if place >= 0}
    spans = tuple(
        _quotation(window.evidence, sentence.start, sentence.end)
        for number, sentence in enumerate(window.sentences)
        if number in used
    )
    problems = tuple(finding.problem for finding in best.found)
    kept = spans if best.score >= PARTLY_FROM else ()
    return Judgement(best.support, kept, problems, round(best.score, 4))


def _reading(alignment: Alignment, score: float) -> _Reading:
    found = findings(alignment)
    return _Reading(alignment, found, score, _support(alignment, found, score))


def _score(alignment: Alignment) -> float:
    weights = [
        _FACT_WEIGHT if token.kind is not TokenKind.WORD or token.name else 1.0
        for token in alignment.claim.tokens
    ]
    held = [w for w, carried in zip(weights, alignment.carried, strict=True) if carried]
    return sum(held) / sum(weights) if weights else 0.0


def _support(alignment: Alignment, found: Sequence[Finding], score: float) -> Support:
    if any(finding.contradicts for finding in found) or not alignment.claim.tokens:
        return Support.UNSUPPORTED
    held = sum(place >= 0 for place in alignment.places)
    if held and not found:
        return Support.SUPPORTED
    if score >= PARTLY_FROM and _longest_carried(alignment) >= _LEAST_CARRIED:
        return Support.PARTLY
    return Support.UNSUPPORTED


def _longest_carried(alignment: Alignment) -> int:
    """Return the most content words of the claim in a row that stand close together there."""
    longest = run = 0
    before = -1
    for place in alignment.places:
        near = place >= 0 and (before < 0 or 0 < place - before <= _LEAST_CARRIED)
        run = run + 1 if near else int(place >= 0)
        before = place
        longest = max(longest, run)
    return longest


def _clauses_carried(claim: str, stretches: Sequence[Evidence]) -> Judgement | None:
    """Judge "A, and B" clause by clause: each may have its own place."""
    parts = list(_coordinate(read(claim, stretches[0].language)))
    if len(parts) < 2:  # noqa: PLR2004 - nothing to divide
        return None
    judged: list[Judgement] = []
    for part in reversed(parts):  # what was added to a true clause mostly stands last
        one = _verbatim(part, stretches) or _best(part, stretches, _ELSEWHERE_FROM)
        if one.support not in _CARRIED_IN_FULL:
            return None
        judged.insert(0, one)
    if not all(map(_begins_alike, parts[1:], judged[1:])):
        return None
    spans = tuple(dict.fromkeys(span for one in judged for span in one.spans))
    return Judgement(Support.SUPPORTED, spans, score=min(one.score for one in judged))


def _begins_alike(part: str, judged: Judgement) -> bool:
    """Whether a clause begins with what a sentence that carries it begins with."""
    own = read(part).tokens
    firsts = [read(span.quote).tokens[:1] for span in judged.spans]
    return any(own[:1] and first and own[0].key == first[0].key for first in firsts)


def _coordinate(statement: Statement) -> Iterator[str]:
    """Yield the clauses of a statement that each have a subject of their own."""
    start = begin = 0
    for number, gap in enumerate(statement.gaps[:-1]):
        token = statement.tokens[number]
        joins = any(mark in gap for mark in (";", "；")) or (
            "," in gap
            and any(
                f" {word} " in gap
                for word in (
                    "and",
                    "but",
                    "while",
                    "whereas",
                    "und",
                    "aber",
                    "während",
                    "et",
                    "mais",
                )
            )
        )
        if joins and number - begin >= _LEAST_CARRIED and (token.name or token.capital):
            yield statement.text[start : token.start].rstrip(" ,;").rsplit(",", 1)[0]
            start, begin = token.start, number
    if start and len(statement.tokens) - begin >= _LEAST_CARRIED:
        yield statement.text[start:]


# --- quotations ---------------------------------------------------------------------------------


def _long_quotations(claim: str) -> list[Quoted]:
    return [q for q in quotations(claim) if weight(words_of(q.text).words) >= _LEAST_QUOTATION]


def _stands(quoted: Quoted, stretches: Sequence[Evidence]) -> bool:
    """Whether a quotation stands there, or its parts between ellipses do, close together."""
    if next(find_words(words_of(quoted.text), stretches), None):
        return True
    parts = [
        part
        for part in quoted.text.replace("[...]", "…").replace("...", "…").split("…")
        if part.strip()
    ]
    if len(parts) < 2:  # noqa: PLR2004 - no ellipsis
        return False
    places = [next(find_words(words_of(part), stretches), None) for part in parts]
    known = [place for place in places if place]
    return len(known) == len(parts) and not any(
        apart(one, two, stretches) for one, two in pairwise(known)
    )


def _stitched(claim: str, stretches: Sequence[Evidence]) -> Judgement | None:
    """Judge what passes for a quotation and is put together from pieces."""
    for quoted in _long_quotations(claim):
        if _stands(quoted, stretches):
            continue
        found = pieces(quoted.text, stretches)
        if is_altered(found, weight(words_of(quoted.text).words)):
            return _franken(quoted.text, found, stretches)
    found = pieces(claim, stretches)
    if is_stitched(found, weight(words_of(claim).words), stretches):
        return _franken(claim, found, stretches)
    return None


def _franken(said: str, found: Sequence[Piece], stretches: Sequence[Evidence]) -> Judgement:
    spans = tuple(
        _quotation(stretches[piece.place.stretch], piece.place.start, piece.place.end)
        for piece in found
    )
    problem = Problem(ProblemKind.QUOTATION, said, " … ".join(span.quote for span in spans))
    total = weight(words_of(said).words)
    score = round(min(1.0, sum(piece.weight for piece in found) / total), 4)
    return Judgement(Support.FRANKENQUOTE, spans, (problem,), score)
