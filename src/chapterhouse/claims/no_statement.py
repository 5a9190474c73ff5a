"""Which sentences of an answer state no fact, and what of a sentence is only its frame.

A sentence that is wrongly taken to state nothing escapes the judge. So a polite word in front of a
claim does not make it harmless, and neither does a remark about the sources with a "but" behind it.
"""

import re
from functools import cache
from typing import Final

from chapterhouse.claims.facts import facts_of
from chapterhouse.claims.wording import LanguageWords, every_language
from chapterhouse.text.scripts import east_asian_letters

_MARKER = re.compile(
    r"\s?\[(?:\^[^\[\]\n]{1,200}|\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,9})\](?!\()"
    r"|\s?【[^】\n]{0,100}】|(?<=[.!?,;])[\u2070-\u2079\u00b9\u00b2\u00b3]+(?=\s|$)"
)
_BULLET = re.compile(r"^\s*(?:#{1,6}\s+|>\s*|[-*+•–]\s+|\d{1,3}[.)]\s+(?=\D))+")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`")
_HEADING = re.compile(r"\s*(?:#{1,6}\s+[^\n]{1,120}|(?:\*\*|__)[^\n.!?]{1,80}(?:\*\*|__):?)\s*")
_SHORT_HEADING: Final = 2  # words
_SHORT_EAST: Final = 6  # characters
_LEAD_IN: Final = 12  # words before a colon
_POLITE_REST: Final = 4  # words behind "thank you"
_CLAIM_BEHIND: Final = 4  # words behind "but" that make a claim


@cache
def _pattern(template: str, *names: str) -> re.Pattern[str]:
    """Return a pattern in which each ``%s`` is what all languages have of a name."""
    listed = []
    for name in names:
        own = [_filled(words, getattr(words, name)) for words in every_language().values()]
        listed.append("|".join(filter(None, own)))
    return re.compile(template % tuple(listed), re.IGNORECASE)


def _filled(words: LanguageWords, pattern: str) -> str:
    filled = pattern.replace("{sources}", words.sources)
    return filled.replace("{reporting}", f"(?:{words.reporting})")


def _opener() -> re.Pattern[str]:
    return _pattern(r"(?:%s)(?![\w])[\s,.!:，。！–-]*", "openers")


def _polite() -> re.Pattern[str]:
    return _pattern(r"(?:%s)(?![a-zà-ÿ])(?! to the)[\s,.!，。！–-]*", "greetings")


def _nothing() -> re.Pattern[str]:
    return _pattern(
        r"(?:(?:%s)[,，]? )?(?:很遗憾，)?(?:%s|%s)", "regrets", "about_sources", "about_answer"
    )


def _turn() -> re.Pattern[str]:
    return _pattern(r"[,;–—.]\s+(?:%s)\s+|；|，(?:但是?|而且?|不过)|;\s", "turns")


def _frame() -> re.Pattern[str]:
    return _pattern(r"^(?:%s)", "frames")


def bare(sentence: str) -> str:
    """Return a sentence without citation markers, bullets and emphasis."""
    return _EMPHASIS.sub("", _BULLET.sub("", _MARKER.sub("", sentence))).strip()


def essence(sentence: str) -> str:
    """Return what a bare sentence claims, without what introduces it."""
    for _ in range(2):
        match = _frame().match(sentence)
        if not match or match.end() >= len(sentence):
            break
        sentence = sentence[match.end() :]
    return sentence.strip()


def states_nothing(sentence: str) -> bool:
    """Whether a sentence is a greeting, question, heading, or speaks of sources or answer only.

    Args:
        sentence: As it was written, with its markup.
    """
    if _HEADING.fullmatch(sentence):
        return True
    plain = bare(sentence).strip(" \"'“”„«»()[]¡¿\t\n")
    if not any(character.isalnum() for character in plain):
        return True
    return plain.endswith(("?", "？")) or _is_heading(plain) or _is_talk(plain)


def _is_talk(plain: str) -> bool:
    """Whether a sentence is addressed to the reader, or about the sources."""
    opener = _opener().match(plain)
    rest = plain[opener.end() :] if opener else plain
    if not rest:
        return True
    polite = _polite().match(rest)
    if polite:
        rest = rest[polite.end() :]
        if not any(character.isdigit() for character in rest) and _length(rest) <= _POLITE_REST:
            return True
    if not _nothing().match(rest):
        return False
    turn = _turn().search(rest)
    behind = rest[turn.end() :] if turn else ""
    return _length(behind) < _CLAIM_BEHIND or _nothing().match(behind) is not None


def _length(text: str) -> float:
    """Return how many words these are; two characters of Chinese count for one."""
    east = east_asian_letters(text)
    return east / 2 if east else len(text.split())


def _is_heading(plain: str) -> bool:
    """Whether a line is a heading or a lead-in: short, without facts, not closed by a full stop."""
    facts = facts_of(plain)
    if facts.numbers or facts.dates:
        return False
    if plain.endswith((":", "：")):
        return _length(plain) <= _LEAD_IN and not facts.names
    if plain.endswith((".", "!", "。", "！", ";", "；", "…")):
        return False
    if east_asian_letters(plain[-1]):
        return len(plain) <= _SHORT_EAST
    return len(plain.split()) <= _SHORT_HEADING
