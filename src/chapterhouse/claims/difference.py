"""What two sentences have in common, and what only one of them says.

From that follows whether they are two statements, by another subject, group, day, event or counted
thing, a part beside the whole, the figure of another year or a number that is a name; and whether
sentences that share their words say the same: not where one excepts or supposes something.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.claims.align import Alignment, Sentence, Window, align
from chapterhouse.claims.statement import Statement, Token, TokenKind
from chapterhouse.claims.wording import antonyms, words_of
from chapterhouse.types import Evidence

ALIKE: Final = 0.5  # share of all content words of both that both have
CONTAINED: Final = 3  # content words of a sentence that the other has whole, with more around
_SHORTENED: Final = 0.8  # as ALIKE, where one of them goes on and the other does not
LEAST_SHARED: Final = 2  # content words
_MEASURED: Final = frozenset({"%", "pp"})
_JOINED: Final = re.compile(r"\s*(?:and|und|,)\s*(?:the|der|die|das|an?|ein\w{0,2})?\s*")

Tokens = tuple[tuple[Token, bool], ...]  # of a sentence, each with whether the other has it


@dataclass(frozen=True, slots=True)
class Difference:
    """What two aligned sentences have in common, and what only one of them has.

    Attributes:
        left: Words of the first that the second lacks, without clauses that only add something.
        right: The same of the second.
        first: All tokens of the first, each with whether the second has it.
        second: The same of the second.
        opposed: A word of each that are opposites.
        alike: Share of the words of both that both have, clauses that only add something aside.
        overall: The same share, with them.
    """

    alignment: Alignment
    shared: tuple[str, ...]
    left: tuple[Token, ...]
    right: tuple[Token, ...]
    first: Tokens
    second: Tokens
    opposed: tuple[Token, Token] | None
    alike: float
    overall: float

    @property
    def sure(self) -> bool:
        """Whether they are alike enough to contradict each other."""
        return self.overall >= ALIKE or (self.alike >= _SHORTENED and len(self.shared) >= CONTAINED)

    def tokens(self, pair: tuple[int, int]) -> tuple[Token, Token]:
        """Return a token of each by its place there."""
        return self.alignment.claim.tokens[pair[0]], self.alignment.window.tokens[pair[1]][0]

    @property
    def contained(self) -> bool:
        """Whether one of them has all words of the other."""
        return not self.left or not self.right


def difference(one: Statement, other: Statement) -> Difference:
    """Align the first with the second, which is the longer, and return what is left over."""
    return _difference(align_words(one, other))


def align_words(claim: Statement, stated: Statement) -> Alignment:
    """Return where the words of one sentence stand in another, numbers and dates once each."""
    text, language = stated.text, stated.language
    sentence = Sentence(0, len(text), text, frozenset(), row=False)
    evidence = Evidence("", 0, len(text), text, language)
    tokens = tuple((token, 0) for token in stated.tokens)
    alignment = align(claim, Window(evidence, (sentence,), (stated,), tokens))
    return replace(alignment, places=_each_once(claim, alignment.places))


def _each_once(claim: Statement, places: Sequence[int]) -> tuple[int, ...]:
    """Let no two numbers or dates stand in one place: "50 men and 50 women", "50 and 95"."""
    seen: set[int] = set()
    unique: list[int] = []
    for token, place in zip(claim.tokens, places, strict=True):
        again = token.kind is not TokenKind.WORD and place in seen
        unique.append(-1 if again else place)
        seen.add(place)
    return tuple(unique)


def _difference(alignment: Alignment) -> Difference:
    opposed = _opposed(alignment)
    places = alignment.places
    first = tuple((t, at >= 0) for t, at in zip(alignment.claim.tokens, places, strict=True))
    second = tuple((t, n in places) for n, (t, _) in enumerate(alignment.window.tokens))
    left, more = _left_over(first, opposed and opposed[0])
    right, also = _left_over(second, opposed and opposed[1])
    extra = len(more) + len(also)
    if more and also:  # each has a clause of its own
        left, right, extra = (*left, *more), (*right, *also), 0
    shared = tuple(t.text for t, held in first if held and t.kind is TokenKind.WORD)
    held = sum(place >= 0 for place in alignment.places)
    total = held + len(left) + len(right)
    return Difference(
        alignment=alignment,
        shared=shared,
        left=left,
        right=right,
        first=first,
        second=second,
        opposed=opposed,
        alike=held / total if total else 0.0,
        overall=held / (total + extra) if total else 0.0,
    )


def _left_over(
    tokens: Tokens, without: Token | None
) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Return the words that the other side lacks: those of shared clauses, those of the rest."""
    shared = {token.clause for token, held in tokens if held}
    over = [t for t, held in tokens if not held and t.kind is TokenKind.WORD and t is not without]
    inside = [t for t in over if t.clause in shared or (t.clause == 0 and t.preposition)]
    return tuple(inside), tuple(t for t in over if t not in inside)


def _opposed(alignment: Alignment) -> tuple[Token, Token] | None:
    """Return a word of each side that are opposites, where the other side lacks it."""
    opposites = antonyms(alignment.claim.language, further=True)
    for number, token in enumerate(alignment.claim.tokens):
        if alignment.places[number] >= 0:
            continue
        for place, (other, _) in enumerate(alignment.window.tokens):
            if place not in alignment.places and other.key in opposites.get(token.key, ()):
                return token, other
    return None


def other_subject(difference_found: Difference) -> bool:
    """Whether both sides have a name, a qualification or a beginning of their own."""
    left, right = difference_found.left, difference_found.right
    named = any(t.name or t.capital for t in left) and any(t.name or t.capital for t in right)
    qualified = any(t.preposition for t in left) and any(t.preposition for t in right)
    return named or qualified or _begins_otherwise(difference_found)


def _begins_otherwise(difference_found: Difference) -> bool:
    """Whether both begin with a word that the other lacks: mostly they have other subjects."""
    own = next((t for t, _ in difference_found.first if t.kind is TokenKind.WORD), None)
    other = next((t for t, _ in difference_found.second if t.kind is TokenKind.WORD), None)
    return own in difference_found.left and other in difference_found.right


def is_narrowed(difference_found: Difference, differing: tuple[int, int]) -> bool:
    """Whether what only one side says, or an opposite, names the part that a fact is true of."""
    if difference_found.opposed and all(token.preposition for token in difference_found.opposed):
        return True
    facts = difference_found.tokens(differing)
    for over, fact in zip((difference_found.left, difference_found.right), facts, strict=True):
        if any(t.name and t.clause == fact.clause for t in over) and len(over) > 1:
            return True
    return (
        _weekday(difference_found.first) and any(t.preposition for t in difference_found.right)
    ) or (_weekday(difference_found.second) and any(t.preposition for t in difference_found.left))


def _weekday(tokens: Tokens) -> bool:
    """Whether one side alone names a day of the week."""
    return any(token.date and token.date.weekday for token, held in tokens if not held)


def is_measured(difference_found: Difference) -> bool:
    """Whether both give a figure of something that has one every year."""
    claim = difference_found.alignment.claim
    numbers = [t.number for t in claim.tokens if t.number and not t.number.ordinal]
    if any(number.unit in _MEASURED for number in numbers):
        return True
    measures = words_of(claim.language).measures  # not their stems: "attended"
    words = [token.text.casefold() for token in claim.tokens]
    return bool(numbers) and any(w in measures or w.rstrip("sn") in measures for w in words)


def other_event(difference_found: Difference) -> bool:
    """Whether each tells of something that the other does not: "founded", "sold"."""
    language = difference_found.alignment.claim.language
    return any(_is_event(t, language) for t in difference_found.left) and any(
        _is_event(t, language) for t in difference_found.right
    )


def _is_event(token: Token, language: str) -> bool:
    """Whether a word has the form of what happened; in other languages none is known."""
    form = words_of(language).events
    return not form or re.fullmatch(form, token.text) is not None


def other_thing(difference_found: Difference, numbers: tuple[int, int]) -> bool:
    """Whether the word after the number is another on both sides: "3 ships", "4 lamps"."""
    own, other = difference_found.tokens(numbers)
    after = next((t for t, _ in difference_found.first if t.start > own.start), None)
    stated = next((t for t, _ in difference_found.second if t.start > other.start), None)
    return after in difference_found.left and stated in difference_found.right


def is_label(difference_found: Difference, numbers: tuple[int, int]) -> bool:
    """Whether the numbers tell things apart: "Prompt 1", "second stage"."""
    own, other = difference_found.tokens(numbers)
    if own.number and own.number.ordinal:
        return len(difference_found.shared) < LEAST_SHARED
    one, two = difference_found.alignment.claim, difference_found.alignment.window.statements[0]
    if _enumerates(one, own) or _enumerates(two, other):
        return True
    if _is_numbered(one, own) and _is_numbered(two, other):
        return True
    return follows_capital(one, own) and follows_capital(two, other)


def _enumerates(statement: Statement, token: Token) -> bool:
    """Whether a number opens an item of a list: "2. Choose a berth"."""
    text = statement.text
    alone = not text[: token.start].strip(" *_-#(")
    return alone and text[token.end :].startswith((". ", ") ", ".)"))


def _is_numbered(statement: Statement, token: Token) -> bool:
    """Whether the word before a number is one of what is numbered: "version 3"."""
    before = [t for t in statement.tokens if t.end < token.start][-1:]
    listed = words_of(statement.language).labels
    return any(
        t.text.casefold() in listed and not statement.text[t.end : token.start].strip(" .#")
        for t in before
    )


def follows_capital(statement: Statement, token: Token) -> bool:
    """Whether a number without a unit stands right behind a word with a capital: "Schedule 4"."""
    if statement.language == "de" or not token.number or token.number.unit:
        return False  # where all nouns have capitals, they tell nothing
    return any(t.capital and t.end + 1 == token.start for t in statement.tokens)


def says_otherwise(difference_found: Difference) -> bool:
    """Whether what only one of two sentences says keeps them from saying the same."""
    one, two = difference_found.alignment.claim, difference_found.alignment.window.statements[0]
    mine, theirs = difference_found.first, difference_found.second
    return (
        _excepts(one) != _excepts(two)
        or _only_supposed(one, two, theirs)
        or _has_company(one, mine)
        or _has_company(two, theirs)
        or (_has_figure(mine) and bool(difference_found.right))  # "every two hours", "every hour"
        or (_has_figure(theirs) and bool(difference_found.left))
    )


def _excepts(statement: Statement) -> bool:
    listed = words_of(statement.language).exceptions
    return bool(listed and re.search(rf"\b(?:{listed})\b", statement.text, re.IGNORECASE))


def _only_supposed(one: Statement, two: Statement, theirs: Tokens) -> bool:
    """Whether the longer merely supposes what the shorter states: "when a ferry is late, …"."""
    listed = words_of(one.language).suppositions
    pattern = re.compile(rf"(?:{listed or '(?!)'})\b", re.IGNORECASE)
    if pattern.match(one.text) or not pattern.match(two.text):
        return False
    return all(token.clause == 0 for token, held in theirs if held)


def _has_company(statement: Statement, tokens: Tokens) -> bool:
    """Whether a sentence has another subject beside the shared one: "the master and the mate"."""
    if len(tokens) < 2 or tokens[0][1] or not tokens[1][1] or tokens[0][0].preposition:  # noqa: PLR2004 - two subjects
        return False
    between = statement.text[tokens[0][0].end : tokens[1][0].start]
    return _JOINED.fullmatch(between.lower()) is not None


def _has_figure(tokens: Tokens) -> bool:
    """Whether a sentence has a figure of its own in a clause that the other has too."""
    shared = {token.clause for token, held in tokens if held}
    return any(t.number and not held and t.clause in shared for t, held in tokens)
