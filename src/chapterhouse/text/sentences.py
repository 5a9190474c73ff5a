"""Where sentences end.

Rules, not a model: the same text gives the same sentences everywhere, at some ten megabytes a
second. A sentence ends at a terminator and what closes behind it, when what follows can start a
sentence; at a blank line; at the end of a heading; and at a line that starts a list item, table row
or heading. Known abbreviations, initials, numbers and ordinals do not end one, nor does a short
word before a number ("Misd. 2"); nothing ends one inside a table row. Chinese and Japanese
terminators need no space behind them.
"""

import re
from collections.abc import Iterator

from chapterhouse.loading import lazy_pattern

_ABBREVIATION_LIST = """
    mr mrs ms dr prof sr jr st vs etc e.g eg i.e ie cf al misd fig figs eq eqs sec ch vol no nos
    pp ed eds
    inc ltd co corp dept est approx gen col sgt capt lt rev hon jan feb mar apr jun jul aug sep
    sept oct nov dec mon tue wed thu fri sat sun a.m p.m u.s u.k ph.d m.d b.a m.a art para
    bzw ca evtl ggf inkl max min nr str tel usw vgl z.b d.h u.a s.o o.ä abs bsp hr fr
    av env p.ex c.-à-d mme mlle ej pág sra dra ud uds ecc sig pag dott bijv blz mevr dhr
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
# "am 3. Oktober": an ordinal number before one of these is part of a date.
_MONTHS = lazy_pattern(
    r"\s+(?:Jan|Feb|Mär|Maer|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|januar|februar|marts|mars|april"
    r"|maj|mai|juni|juli|august|september|oktober|november|desember|december)"
)
_TERMINATOR = lazy_pattern(
    # Spaces follow. Only from the start of a run of marks: a long one would be tried at each.
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s)"
    r"|[。！？｡]+[」』”’）\]]*"  # no space needed
    r"|\n(?=[ \t]*\n)"  # a blank line
    r"|\n(?=[ \t]*(?:[-*+•‣▪][ \t]|\(?(?:\d{1,3}|[a-z])[.)][ \t]|\||#{1,6}[ \t]|>))"
    r"|(?m:^)#{1,6}[ \t][^\n]*(?=\n)"  # a heading, whether a blank line follows or not
)
_LAST_WORD = re.compile(r"[\w.\-]+$")
_NEXT = re.compile(r"\s*([\"'“‘«(\[*_]*)(.)", re.DOTALL)
_SHORT = re.compile(r"[^\W\d_]{1,4}")
_BEFORE_NUMBER = re.compile(r"\s+\d")
_INITIAL = re.compile(r"(?:^|\.)[^\W\d_]$")
_LOOK_BACK = 24


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets behind each sentence and its trailing white space; the last is ``end``."""
    previous = start
    for match in _TERMINATOR.finditer(text, start, end):
        if match.start() < previous or not _ends_sentence(text, match, end):
            continue
        boundary = match.end()
        while boundary < end and text[boundary].isspace():
            boundary += 1
        if text[previous : match.end()].strip() and boundary < end:
            yield boundary
            previous = boundary
    if previous < end:
        yield end


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of ``text[start:end]`` as spans that follow one another and cover it."""
    previous = start
    for boundary in sentence_ends(text, start, end):
        yield previous, boundary
        previous = boundary


def _ends_sentence(text: str, match: re.Match[str], end: int) -> bool:
    mark = match.group()
    if mark[0] in "\n#":
        return True
    if text.startswith("|", text.rfind("\n", 0, match.start()) + 1):
        return False
    if mark[0] not in ".!?…":  # a mark that needs no space
        return True
    following = _NEXT.match(text, match.end(), end)
    if following and following.group(2).islower():
        return False
    if following is None or mark[0] != "." or mark.startswith(".."):
        return True
    before = _LAST_WORD.search(text, max(0, match.start() - _LOOK_BACK), match.start())
    return before is None or not _is_abbreviated(text, before, match.end())


def _is_abbreviated(text: str, before: re.Match[str], following: int) -> bool:
    word = before.group().casefold().strip(".-_")
    if word in _ABBREVIATIONS or _INITIAL.search(word):
        return True
    if _SHORT.fullmatch(word) and _BEFORE_NUMBER.match(text, following):
        return True
    if not word.isdecimal() or len(word) > 2:  # noqa: PLR2004 - "in 2019. The" ends a sentence
        return False
    return _starts_line(text, before.start()) or _MONTHS.match(text, following) is not None


def _starts_line(text: str, position: int) -> bool:
    line = text.rfind("\n", 0, position) + 1
    return not text[line:position].strip(" \t>*-#")
