"""What a claim says of a number or date where its evidence says another one."""

from collections.abc import Iterator, Sequence
from typing import Final

from chapterhouse.claims.features import FEATURES, Reading, around, is_fact, is_small
from chapterhouse.claims.stated import DAYS, Presence
from chapterhouse.claims.statement import Token
from chapterhouse.types import Problem, ProblemKind

# Chosen on the statements of the open folders (``benchmarks/natural/statements.py``).
_LEAST_SHARE: Final = 0.35  # of the claim's words in the passage
_COPIED: Final = 0.5  # share from which a claim repeats its passage
_MOST_WORDS: Final = 0.5  # of the claim's words in one sentence
_COUNTED: Final = 2  # tokens between a number and what it counts
_FAR: Final = 12  # tokens beyond which two are as far apart as any


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
            found = reading.presence[number] is Presence.FOUND
            rival = _in_its_sentence(reading, number) if found else _rival(reading, number)
            if rival is not None:
                kind = ProblemKind.NUMBER if token.number else ProblemKind.DATE
                return Problem(kind, token.text, rival.text)
    return None


def missing(reading: Reading) -> Iterator[Problem]:
    """Yield the numbers, dates and names of a claim that its evidence does not state."""
    for token, presence in zip(reading.claim.tokens, reading.presence, strict=True):
        if is_fact(token) and presence is not Presence.FOUND and not is_small(token):
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
    lacking = [n for n, state in enumerate(reading.presence) if state is not Presence.FOUND]
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
    anchors = around(reading.places, number)
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
    stands = any(window.tokens[place][1] == most for place in places[number])
    if not places[number] or stands or counts[most] < _MOST_WORDS * len(words) or not words:
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
