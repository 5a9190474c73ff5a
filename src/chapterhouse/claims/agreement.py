"""What keeps two sentences with the same words from saying the same.

An exception, a supposition, another one beside the subject, or a figure where the other has words
of its own.
"""

import re
from collections.abc import Sequence
from typing import Final

from chapterhouse.claims.difference import Difference
from chapterhouse.claims.statement import Statement, Token
from chapterhouse.claims.wording import words_of

_JOINED: Final = re.compile(r"\s*(?:and|und|,)\s*(?:the|der|die|das|an?|ein\w{0,2})?\s*")
_Tokens = Sequence[tuple[Token, bool]]  # of one sentence, and whether the other has each


def says_otherwise(told: Difference) -> bool:
    """Whether what only one of two sentences says keeps them from saying the same."""
    one, two = told.alignment.claim, told.alignment.window.statements[0]
    mine, theirs = _tokens(told)
    return (
        _excepts(one) != _excepts(two)
        or _only_supposed(one, two, theirs)
        or _has_company(one, mine)
        or _has_company(two, theirs)
        or (_has_figure(mine) and bool(told.right))  # "every two hours", "every hour"
        or (_has_figure(theirs) and bool(told.left))
    )


def _tokens(told: Difference) -> tuple[_Tokens, _Tokens]:
    """Return the tokens of both, each with whether the other side has it."""
    alignment = told.alignment
    claim = zip(alignment.claim.tokens, alignment.places, strict=True)
    return (
        [(token, place >= 0) for token, place in claim],
        [(t, n in alignment.places) for n, (t, _) in enumerate(alignment.window.tokens)],
    )


def _excepts(statement: Statement) -> bool:
    listed = words_of(statement.language).exceptions
    return bool(listed and re.search(rf"\b(?:{listed})\b", statement.text, re.IGNORECASE))


def _only_supposed(one: Statement, two: Statement, theirs: _Tokens) -> bool:
    """Whether the longer merely supposes what the shorter states: "when a ferry is late, …"."""
    listed = words_of(one.language).suppositions
    pattern = re.compile(rf"(?:{listed or '(?!)'})\b", re.IGNORECASE)
    if pattern.match(one.text) or not pattern.match(two.text):
        return False
    return all(token.clause == 0 for token, held in theirs if held)


def _has_company(statement: Statement, tokens: _Tokens) -> bool:
    """Whether a sentence has another subject beside the shared one: "the master and the mate"."""
    if len(tokens) < 2 or tokens[0][1] or not tokens[1][1] or tokens[0][0].preposition:  # noqa: PLR2004 - two subjects
        return False
    between = statement.text[tokens[0][0].end : tokens[1][0].start]
    return _JOINED.fullmatch(between.lower()) is not None


def _has_figure(tokens: _Tokens) -> bool:
    """Whether a sentence has a figure of its own in a clause that the other has too."""
    shared = {token.clause for token, held in tokens if held}
    return any(t.number and not held and t.clause in shared for t, held in tokens)
