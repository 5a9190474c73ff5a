"""What a claim says that a window of the evidence does not, and whether that contradicts it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.claims.align import Alignment, without_strays
from chapterhouse.claims.order import order_problems
from chapterhouse.claims.statement import Statement, Token, TokenKind
from chapterhouse.claims.wording import MAY_BE_ADDED, MAY_BE_DROPPED, antonyms, word_set
from chapterhouse.types import Problem, ProblemKind

_NEIGHBOURS: Final = 3  # content words on each side that say what a fact is about
_CARRIED_AROUND: Final = 0.5
_LAST: Final = word_set("last final letzte letzten letzter letztes dernier dernière")
# Where words hardly move, every one of them must be denied alike, not only the first.
_ORDER_IS_FIXED: Final = frozenset({"zh", "ja"})
# Words by which a claim says that a figure is a limit, wherever they stand.
_BOUNDS: Final = {
    "upto": word_set(
        "may can limit limits maximum capacity allowed permitted darf dürfen höchstens"
    ),
    "least": word_set("minimum must required needs muss müssen mindestens"),
}
_OF_NUMBERS: Final = frozenset({"least", "upto", "over", "under"})


@dataclass(frozen=True, slots=True)
class Finding:
    """A disagreement.

    Attributes:
        contradicts: Whether the evidence says something else of the same thing, rather than
            nothing.
    """

    problem: Problem
    contradicts: bool


def findings(alignment: Alignment) -> tuple[Finding, ...]:
    """Return what a window does not carry of a claim, in the order of the claim."""
    kept = without_strays(alignment)
    found = [
        *_missing(alignment),
        *(Finding(problem, contradicts=True) for problem in order_problems(kept)),
        *_polarity(kept),
        *_scopes(kept),
        *_ranks_left_out(kept),
    ]
    return tuple(dict.fromkeys(found))


# --- what is missing ----------------------------------------------------------------------------


def _missing(alignment: Alignment) -> Iterator[Finding]:
    carried = alignment.carried
    for number, token in enumerate(alignment.claim.tokens):
        if carried[number]:
            continue
        kind = _kind(token)
        if kind is ProblemKind.DATE and _is_around(token, alignment):
            continue
        opposite = _opposite(alignment, token)
        if opposite:
            yield Finding(Problem(ProblemKind.NEGATION, token.text, opposite), contradicts=True)
        elif kind is ProblemKind.WORDS:
            yield Finding(Problem(kind, token.text), contradicts=False)
        else:
            around = share_around(alignment, number)
            found = _instead(alignment, number)
            yield Finding(Problem(kind, token.text, found), around >= _CARRIED_AROUND)


def _kind(token: Token) -> ProblemKind:
    if token.kind is TokenKind.NUMBER:
        return ProblemKind.NUMBER
    if token.kind is TokenKind.DATE:
        return ProblemKind.DATE
    return ProblemKind.NAME if token.name else ProblemKind.WORDS


def share_around(alignment: Alignment, number: int) -> float:
    """Return the share of a token's neighbours that the window carries."""
    tokens, carried = alignment.claim.tokens, alignment.carried
    clause = tokens[number].clause
    around = [
        n
        for n in range(len(tokens))
        if n != number and tokens[n].clause == clause and abs(n - number) <= 2 * _NEIGHBOURS
    ]
    if not around:
        low, high = max(0, number - _NEIGHBOURS), number + _NEIGHBOURS + 1
        around = [n for n in range(low, min(high, len(tokens))) if n != number]
    return sum(carried[n] for n in around) / len(around) if around else 0.0


def _instead(alignment: Alignment, number: int) -> str:
    """Return what of its kind the window has near where the claim's neighbours stand."""
    own, places = alignment.claim.tokens[number], alignment.places
    anchors = [p for p in places[max(0, number - 2) : number + 3] if p >= 0]
    if not anchors:
        return ""
    middle = sum(anchors) / len(anchors)
    rivals = [
        (abs(position - middle), position)
        for position, (token, _) in enumerate(alignment.window.tokens)
        if position not in places and token.kind is own.kind and token.name == own.name
    ]
    return alignment.window.tokens[min(rivals)[1]][0].text if rivals else ""


def _opposite(alignment: Alignment, token: Token) -> str:
    if token.kind is not TokenKind.WORD:
        return ""
    if token.text.lower() in _LAST:
        for position, (other, _) in enumerate(alignment.window.tokens):
            if position not in alignment.places and other.number and other.number.ordinal:
                return other.text
    opposite = antonyms(alignment.claim.language).get(token.key)
    if not opposite:
        return ""
    for position, (other, _) in enumerate(alignment.window.tokens):
        if position not in alignment.places and other.key in opposite:
            return other.text
    return ""


def _ranks_left_out(alignment: Alignment) -> Iterator[Finding]:
    """Yield the rank of "the second largest" where the claim says "the largest"."""
    window = alignment.window
    held = {place: number for number, place in enumerate(alignment.places) if place >= 0}
    for place, (token, _) in enumerate(window.tokens):
        rank = token.number is not None and token.number.ordinal and token.number.value > 1
        if rank and place not in held and place + 1 in held and not window.gap(place + 1).strip():
            own = alignment.claim.tokens[held[place + 1]]
            yield Finding(Problem(ProblemKind.NUMBER, own.text, token.text), contradicts=True)


# --- polarity -----------------------------------------------------------------------------------


def _polarity(alignment: Alignment) -> Iterator[Finding]:
    differing = polarity_differs(alignment)
    if differing:
        own, other = differing
        yield Finding(Problem(ProblemKind.NEGATION, own.text, other.text), contradicts=True)
        return
    statements = alignment.window.statements
    if len(statements) != 1 or sum(place >= 0 for place in alignment.places) < len(
        statements[0].tokens
    ):
        return
    said, found = _cues(alignment.claim), _cues(statements[0])
    if len(said) != len(found):  # the whole sentence, but for a denial
        problem = Problem(ProblemKind.NEGATION, " ".join(said), " ".join(found))
        yield Finding(problem, contradicts=True)


def _cues(statement: Statement) -> list[str]:
    return [statement.text[cue.start : cue.end] for cue in statement.facts.negations]


def polarity_differs(alignment: Alignment) -> tuple[Token, Token] | None:
    """Return a word of the claim and its place in the window that are not denied alike.

    Looked at are the first denied word of each clause that both sides have, and the words that
    differ by a prefix which denies.
    """
    tokens, places = alignment.claim.tokens, alignment.places
    held = {place: number for number, place in enumerate(places) if place >= 0}
    ours = _first_of_runs([(n, tokens[n]) for n in range(len(tokens)) if places[n] >= 0])
    stated = [(held[p], t) for p, (t, _) in enumerate(alignment.window.tokens) if p in held]
    flipped = [
        number for number, flip in enumerate(alignment.flips) if flip and places[number] >= 0
    ]
    order = [*ours, *_first_of_runs(stated), *flipped]
    if alignment.claim.language in _ORDER_IS_FIXED:
        order = [number for number, place in enumerate(places) if place >= 0]
    for number in dict.fromkeys(order):
        own, other = tokens[number], alignment.window.tokens[places[number]][0]
        if not _same_polarity(own, other, flipped=alignment.flips[number]):
            return own, other
    return None


def _same_polarity(own: Token, other: Token, *, flipped: bool) -> bool:
    """Whether both are denied alike; "impossible" denies once what "possible" does not."""
    if not flipped:
        return own.negated == other.negated
    return own.negated == other.negated + 1 or own.negated + 1 == other.negated


def _first_of_runs(tokens: list[tuple[int, Token]]) -> Iterator[int]:
    """Yield the first denied token of each clause."""
    seen: set[int] = set()
    for number, token in tokens:
        if token.negated and token.clause not in seen:
            seen.add(token.clause)
            yield number


def _is_around(token: Token, alignment: Alignment) -> bool:
    """Whether the title, a heading or the date of the document has the year that a claim names."""
    evidence = alignment.window.evidence
    year = token.text.strip()
    around = " ".join((evidence.title, *evidence.section_path, evidence.date))
    return year.isdecimal() and len(year) == len("2026") and year in around


# --- scope --------------------------------------------------------------------------------------


def _scopes(alignment: Alignment) -> Iterator[Finding]:
    """Yield words such as "all", "only", "at least" and "before" on one side only."""
    tokens, window = alignment.claim.tokens, alignment.window
    held = {place: number for number, place in enumerate(alignment.places) if place >= 0}
    words = frozenset(alignment.claim.text.lower().split())
    for number, token in enumerate(tokens):
        place = alignment.places[number]
        if place < 0 or not token.scopes - MAY_BE_ADDED:
            continue
        near = [window.tokens[p][0] for p in _near(place, len(window.tokens))]
        stated = frozenset[str]().union(*(other.scopes for other in near))
        for scope in sorted(token.scopes - MAY_BE_ADDED - stated):
            yield _scope_finding(scope, token, window.tokens[place][0])
    for place, (other, _) in enumerate(window.tokens):
        matched = held.get(place)
        if matched is None or not other.scopes - MAY_BE_DROPPED:
            continue
        said = frozenset[str]().union(*(tokens[n].scopes for n in _near(matched, len(tokens))))
        for scope in sorted(other.scopes - MAY_BE_DROPPED - said):
            finding = _scope_finding(scope, tokens[matched], other)
            if scope not in _BOUNDS:
                yield finding
            elif not words & _BOUNDS[scope]:  # the figure is right, that it is a limit is not said
                yield replace(finding, contradicts=False)


def _near(position: int, length: int) -> range:
    return range(max(0, position - 2), min(length, position + 3))


def _scope_finding(scope: str, own: Token, other: Token) -> Finding:
    kind = ProblemKind.NUMBER if scope in _OF_NUMBERS else ProblemKind.WORDS
    if TokenKind.DATE in (own.kind, other.kind):
        kind = ProblemKind.DATE
    said = " ".join((*sorted(own.scopes), own.text))
    found = " ".join((*sorted(other.scopes), other.text))
    return Finding(Problem(kind, said, found), contradicts=True)
