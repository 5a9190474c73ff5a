"""Negations in running text: the words that deny, and how far they reach.

A cue reaches to the end of its clause; in German, where the denial may close the clause, over the
whole of it. Two cues over one word strengthen each other in the Romance languages and are counted
in the others, where "not without" is not the same as "not". Turns such as "not only" or "no later
than" deny nothing.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from chapterhouse.claims.wording import words_or_english

_EAST_CUE = re.compile(
    r"(?:(?<![是否])不(?![仅但断久同管论只得少足过]|一定)|没有?|无(?![论数线]|疑)|未(?!来)|(?<![南北西东中是])非(?![常洲])|别(?=[再把让])|从不|并非)"
)
_STRENGTHEN: Final = frozenset({"fr", "es", "it", "pt", "ru"})
_WHOLE_CLAUSE: Final = frozenset({"de", "nl", "sv", "da", "no"})
_REACH: Final = 300  # characters at most; a clause is seldom longer
# "Neither A nor B": one denial.
_PAIRS = re.compile(r"(?:neither|weder)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Negation:
    """A cue and what it denies: ``text[scope_start:scope_end]``."""

    start: int
    end: int
    scope_start: int
    scope_end: int
    asides: tuple[tuple[int, int], ...] = ()  # what stands in parentheses there is not denied


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    own = words_or_english(language, "denials")
    cue = re.compile(rf"(?<!\w)(?:{own.denials})(?!\w)", re.IGNORECASE)
    harmless = re.compile(rf"(?<!\w)(?:{own.harmless_denials or '(?!)'})", re.IGNORECASE)
    words = own.clause_openers or "(?!)"
    breaks = re.compile(rf"[,;:—|\n]|\s[–-]\s|(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
    return cue, harmless, breaks


_ASIDE = re.compile(r"\([^()]{0,300}\)|（[^（）]{0,300}）")
_EAST_BREAK = re.compile("[，。；：！？,;:|\n]|但是?|而且?")


def negations(text: str, language: str = "") -> tuple[Negation, ...]:
    """Return the negations of a sentence in order.

    Args:
        text: One sentence.
        language: ISO 639-1 code; one without cue words of its own is read as English.
    """
    if language in {"zh", "ja"}:
        return tuple(
            _scoped(text, m.start(), m.end(), _EAST_BREAK, language)
            for m in _EAST_CUE.finditer(text)
        )
    cue, harmless, breaks = _patterns(language)
    spared = bytearray(len(text) + 1)
    for match in harmless.finditer(text):
        spared[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    found: list[Negation] = []
    for match in cue.finditer(text):
        if spared[match.start()]:
            continue
        if match.group().lower() in {"nor", "noch"} and _PAIRS.search(
            text, max(0, match.start() - _REACH), match.start()
        ):
            continue
        found.append(_scoped(text, match.start(), match.end(), breaks, language))
    return tuple(found)


def _scoped(text: str, start: int, end: int, breaks: re.Pattern[str], language: str) -> Negation:
    following = breaks.search(text, end, end + _REACH)
    stop = following.start() if following else min(len(text), end + _REACH)
    begin = end
    if language in _WHOLE_CLAUSE:
        first = max(0, start - _REACH)
        begin = max((match.end() for match in breaks.finditer(text, first, start)), default=first)
    asides = tuple(match.span() for match in _ASIDE.finditer(text, begin, stop))
    return Negation(start, end, begin, stop, asides)


def denials(text: str, found: tuple[Negation, ...], language: str = "") -> list[int]:
    """Count for each character how often it is denied; at most once where cues strengthen.

    Args:
        text: The sentence.
        found: Its negations.
        language: ISO 639-1 code of the sentence.
    """
    counts = [0] * (len(text) + 1)
    for cue in found:
        spared = [(cue.start, cue.end), *cue.asides]
        for position in range(cue.scope_start, cue.scope_end):
            counts[position] += not any(start <= position < end for start, end in spared)
    return [min(count, 1) for count in counts] if language in _STRENGTHEN else counts
