"""Whether a claim keeps the relations of its evidence: who did what, and whose number it is.

The same words in another order may say something else. A claim may move a phrase with its
preposition, swap the items of a list, turn a sentence with "is" round, or change voice; what else
leaves the order of the evidence, or jumps over another subject, is not carried by it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from chapterhouse.claims.align import Alignment, begins_with_pronoun
from chapterhouse.claims.statement import Token, TokenKind, is_listed
from chapterhouse.claims.wording import BY, CONJUNCTIONS, COPULAS, PREPOSITIONS, word_set
from chapterhouse.types import Problem, ProblemKind

_LETTERS = re.compile(r"[^\W\d_]+")
_MARK = re.compile(r"[,;:()|—，；：。（）]|\s[–-]\s")
_RESPECTIVELY = re.compile(r"respectively|beziehungsweise|bzw|respectivement|分别", re.IGNORECASE)
_DETERMINERS: Final = word_set(
    "the a an its his her their this these der die das ein eine le la les un une el los las il lo"
)
_VERB_SECOND: Final = frozenset({"de", "nl", "sv", "da", "no", "nb", "nn"})
_AGENT_WITHIN: Final = 4  # content words between a verb and its "by"
_SUBJECT_WITHIN: Final = 2  # content words of a sentence before its subject
_MOVES: Final = 1  # phrases that a claim may have in another place
_MOVES_WHEN_VOICE_CHANGES: Final = 3


def order_problems(alignment: Alignment) -> Iterator[Problem]:
    """Yield what stands in another relation in the evidence."""
    steps = [
        (one, two)
        for one, two in _steps(alignment)
        if alignment.places[one] != alignment.places[two]
    ]
    turned = _voice_changes(alignment)
    if _voice_swapped(alignment, steps, turned):
        yield _problem(alignment, *steps[0])
        return
    back = [step for step in steps if alignment.places[step[1]] < alignment.places[step[0]]]
    moved = [
        step
        for step in back
        if not _in_list(alignment, *step) and not _inverted(alignment, *step, back)
    ]
    allowed = _MOVES_WHEN_VOICE_CHANGES if turned else _MOVES
    wrong = [
        step
        for step in moved
        if not (turned and _one_sentence(alignment, *step)) and not _may_move(alignment, *step)
    ]
    if wrong or len(moved) > allowed:
        yield _problem(alignment, *(wrong or moved)[0])
    for step in steps:
        if step not in back and _changes_hands(alignment, *step):
            yield _problem(alignment, *step)
            return


def _steps(alignment: Alignment) -> Iterator[tuple[int, int]]:
    """Yield neighbouring tokens of the claim that both stand in the window."""
    placed = [number for number, place in enumerate(alignment.places) if place >= 0]
    yield from pairwise(placed)


def _one_sentence(alignment: Alignment, one: int, two: int) -> bool:
    tokens, places = alignment.window.tokens, alignment.places
    return tokens[places[one]][1] == tokens[places[two]][1]


def _problem(alignment: Alignment, one: int, two: int) -> Problem:
    first, second = alignment.claim.tokens[one], alignment.claim.tokens[two]
    kind = ProblemKind.WORDS
    if first.kind is TokenKind.NUMBER or second.kind is TokenKind.NUMBER:
        kind = ProblemKind.NUMBER
    elif first.kind is TokenKind.DATE or second.kind is TokenKind.DATE:
        kind = ProblemKind.DATE
    elif first.name or second.name:
        kind = ProblemKind.NAME
    said = alignment.claim.text[first.start : second.end]
    places = sorted((alignment.places[one], alignment.places[two]))
    (start, number), (end, last) = (alignment.window.tokens[place] for place in places)
    text = alignment.window.statements[number].text
    found = text[start.start : end.end] if number == last else text[start.start :]
    return Problem(kind, said, found)


def _gap(alignment: Alignment, number: int) -> str:
    return alignment.claim.gaps[number]


def _words(gap: str) -> list[str]:
    return _LETTERS.findall(gap)


def _type(token: Token) -> str:
    """Return the kind of thing a token stands for; empty for plain words."""
    if token.kind is not TokenKind.WORD:
        return token.kind.value
    return "name" if token.name else ""


# --- moves --------------------------------------------------------------------------------------


def _may_move(alignment: Alignment, one: int, two: int) -> bool:
    """Whether the claim may have what begins at ``two`` behind what ends at ``one``."""
    gap = _gap(alignment, two)
    before, after = alignment.places[one], alignment.places[two]
    tokens = alignment.window.tokens
    if tokens[after][1] != tokens[before][1]:
        return _may_cross(alignment, one, two)
    if _same_copula(alignment, one, two):
        return True
    first = next(n for n, place in enumerate(alignment.places) if place >= 0)
    fronted = _keeps_preposition(alignment, first) and (
        _MARK.search(gap) is not None or alignment.claim.language in _VERB_SECOND
    )
    behind = _keeps_preposition(alignment, two)
    if not (fronted or behind):
        return False
    mover = range(first, one + 1) if fronted else range(two, len(alignment.places))
    return not any(_has_rival(alignment, number) for number in mover)


def _keeps_preposition(alignment: Alignment, number: int) -> bool:
    own = alignment.claim.tokens[number].preposition
    stated = alignment.window.tokens[alignment.places[number]][0].preposition
    return own == stated and bool(own)


def _has_rival(alignment: Alignment, number: int) -> bool:
    """Whether the evidence has another thing of this type that the claim leaves out."""
    place = alignment.places[number]
    if place < 0:
        return False
    own, sentence = alignment.window.tokens[place]
    if own.kind is TokenKind.WORD:
        return False
    return any(
        token.kind is own.kind
        and position not in alignment.places
        and other == sentence
        and token.preposition == own.preposition
        for position, (token, other) in enumerate(alignment.window.tokens)
    )


def _same_copula(alignment: Alignment, one: int, two: int) -> bool:
    """Whether "X is Y" stands there as "Y is X"."""
    if COPULAS.isdisjoint(_words(_gap(alignment, two))):
        return False
    start = min(place for place in alignment.places[: one + 1] if place >= 0)
    return not COPULAS.isdisjoint(_words(alignment.window.gap(start)))


def _inverted(alignment: Alignment, one: int, two: int, back: Sequence[tuple[int, int]]) -> bool:
    """Whether a verb stands before its subject because a phrase stands before both.

    "Am Montag fährt die Fähre" for "Die Fähre fährt am Montag", in languages that do so.
    """
    verb = alignment.claim.tokens[one]
    if alignment.claim.language not in _VERB_SECOND or _type(verb) or verb.capital:
        return False
    first = next(n for n, place in enumerate(alignment.places) if place >= 0)
    fronted = [step for step in back if step[1] == one]
    near = 0 < alignment.places[one] - alignment.places[two] <= _SUBJECT_WITHIN
    return bool(fronted) and near and _keeps_preposition(alignment, first)


def _in_list(alignment: Alignment, one: int, two: int) -> bool:
    """Whether both are items of one list in claim and evidence, where order says nothing."""
    places = sorted((alignment.places[one], alignment.places[two]))
    window, claim = alignment.window, alignment.claim
    between = range(places[0] + 1, places[1] + 1)
    runs = any(is_listed(window.gap(place)) for place in between)
    plain = all(is_listed(window.gap(p)) or not window.gap(p).strip() for p in between)
    types = {_type(window.tokens[place][0]) for place in (places[0], *between)}
    if not runs or not plain or len(types) > 1 or types & {"number", "date"}:
        return False
    if not any(is_listed(claim.gaps[number]) for number in range(one, two + 1)):
        return False
    if _RESPECTIVELY.search(claim.text) or any(
        _RESPECTIVELY.search(statement.text) for statement in window.statements
    ):
        return False
    return _closes(alignment, places[1]) or _opens(alignment, places[0])


def _closes(alignment: Alignment, place: int) -> bool:
    """Whether a list that ends here is followed by a mark, a preposition or nothing."""
    tokens = alignment.window.tokens
    after = place + 1
    if after >= len(tokens) or tokens[after][1] != tokens[place][1]:
        return True
    gap = alignment.window.gap(after)
    return bool(_MARK.search(gap)) or not PREPOSITIONS.isdisjoint(_words(gap))


def _opens(alignment: Alignment, place: int) -> bool:
    token, _ = alignment.window.tokens[place]
    return token.initial


# --- jumps --------------------------------------------------------------------------------------


def _changes_hands(alignment: Alignment, one: int, two: int) -> bool:
    """Whether a step forward leaves out what its second half is said of."""
    window, tokens = alignment.window, alignment.window.tokens
    before, after = alignment.places[one], alignment.places[two]
    if tokens[before][1] != tokens[after][1]:
        return not _may_cross(alignment, one, two)
    skipped = [p for p in range(before + 1, after) if p not in alignment.places]
    if not skipped:
        return False
    enclosed = _MARK.search(window.gap(skipped[0])) and _MARK.search(window.gap(after))
    if enclosed and not _type(tokens[after][0]):
        return False
    landing, leaving = tokens[after][0], tokens[before][0]
    if is_listed(window.gap(after)) and not _type(landing):
        return False
    if _new_subject(alignment, skipped[-1], after):
        return True
    same = [p for p in skipped if _type(tokens[p][0]) and _is_rival(tokens[p][0], landing, leaving)]
    return bool(same) and not enclosed and not _all_listed(alignment, before, after)


def _is_rival(skipped: Token, landing: Token, leaving: Token) -> bool:
    kind = _type(skipped)
    if kind == "name" and (landing.name or leaving.name):
        return landing.name and skipped.preposition == landing.preposition != ""
    return kind in (_type(landing), _type(leaving)) and (kind != _type(leaving) or kind != "name")


def _all_listed(alignment: Alignment, before: int, after: int) -> bool:
    """Whether everything between is a list: "A, B and C won" says that A won."""
    window = alignment.window
    return all(
        is_listed(window.gap(place)) or not window.gap(place).strip()
        for place in range(before + 1, after)
    )


def _new_subject(alignment: Alignment, last: int, after: int) -> bool:
    """Whether what is left out right before ``after`` is what the evidence says it of."""
    window, tokens = alignment.window, alignment.window.tokens
    if last != after - 1 or _MARK.search(window.gap(after)) or _type(tokens[after][0]) == "date":
        return False
    start = last
    while start and not window.gap(start).strip() and tokens[start - 1][1] == tokens[last][1]:
        start -= 1
    if start in alignment.places:
        return False
    words = set(_words(window.gap(start)))
    joined = bool(words & CONJUNCTIONS or _MARK.search(window.gap(start)))
    if words & PREPOSITIONS - CONJUNCTIONS and not words & {"while", "when", "because", "although"}:
        return False
    if tokens[last][0].name:
        return joined or bool(words & {"while", "but", "when", "because", "although"})
    return joined and bool(words & _DETERMINERS) and _type(tokens[after][0]) != "name"


def _may_cross(alignment: Alignment, one: int, two: int) -> bool:
    """Whether the claim may go on in another sentence of the evidence with this token.

    Either a clause of the claim begins with what that sentence begins with; or the sentence
    points back with its first word, and the claim puts the subject of the other in its place.
    """
    window = alignment.window
    number = window.tokens[alignment.places[two]][1]
    first = sum(len(s.tokens) for s in window.statements[:number])
    gap = _gap(alignment, two)
    joined = _MARK.search(gap) or not CONJUNCTIONS.isdisjoint(_words(gap))
    if joined and alignment.places[two] == first:
        return True
    return begins_with_pronoun(window.statements[number]) and _only_subject(alignment, one)


def _only_subject(alignment: Alignment, last: int) -> bool:
    """Whether the claim up to here is a run of words with which a sentence begins."""
    window = alignment.window
    placed = [place for place in alignment.places[: last + 1] if place >= 0]
    number = window.tokens[placed[0]][1]
    first = sum(len(s.tokens) for s in window.statements[:number])
    consecutive = placed == list(range(placed[0], placed[0] + len(placed)))
    together = all(not window.gap(place).strip() for place in placed[1:])
    return consecutive and together and placed[0] - first <= _SUBJECT_WITHIN


# --- voice --------------------------------------------------------------------------------------


def _is_be(gap: str) -> bool:
    words = set(_words(gap))
    return bool(words & COPULAS or words & {"wurde", "wurden", "werden", "wird"})


def _verbs(alignment: Alignment) -> Iterator[tuple[int, bool]]:
    """Yield the plain words of both that may be verbs, and whether only one is passive.

    A passive without its "by" is no sign: "was built" may stand for "was built by".
    """
    claim, window = alignment.claim, alignment.window
    for number, place in enumerate(alignment.places):
        if place < 0 or _type(claim.tokens[number]):
            continue
        own, stated = _is_be(claim.gaps[number]), _is_be(window.gap(place))
        if own == stated:
            yield number, False
            continue
        if own:
            agent = " ".join(claim.gaps[number + 1 : number + _AGENT_WITHIN])
        else:
            behind = range(place + 1, min(place + _AGENT_WITHIN, len(window.tokens)))
            agent = " ".join(window.gap(position) for position in behind)
        yield number, not BY.isdisjoint(_words(agent))


def _voice_changes(alignment: Alignment) -> bool:
    return any(changed for _, changed in _verbs(alignment))


def _voice_swapped(alignment: Alignment, steps: list[tuple[int, int]], turned: bool) -> bool:  # noqa: FBT001 - a fact
    """Whether the voice changed but the order did not: then the roles did."""
    if not turned:
        return False
    for number, changed in _verbs(alignment):
        if not changed:
            continue
        left = [alignment.places[one] for one, two in steps if two == number]
        right = [alignment.places[two] for one, two in steps if one == number]
        place = alignment.places[number]
        if left and right and left[0] < place < right[0]:
            return True
    return False
