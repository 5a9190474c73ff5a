"""The day that a document states for itself in its own words, near its beginning."""

import re
from typing import Final

from chapterhouse.claims.dates import dates

_LOOKED_AT: Final = 1_000  # characters
_AHEAD: Final = 40  # characters behind the word, in which the date must stand
# At the beginning of a line or sentence: "Dated 20 November 2025", "**Stand:** 3. Mai 2024".
_NAMED: Final = re.compile(
    r"(?:^|[.;,]\s)[^\w\n]{0,6}(?:dated|date|written|issued|published|datum|stand|erstellt am|date"
    r"|daté du|fecha|日期)(?!\w)[*_]{0,2}[:：]?[*_]{0,2}\s{0,3}(?:on\s|am\s|vom\s)?",
    re.IGNORECASE | re.MULTILINE,
)
# A line of its own: "Minutes of 9 May 2017.", "Gültig ab 1. Januar 2021", "Valid from 1 July 2016".
_LINE: Final = re.compile(
    r"^[*_]{0,2}(?:[^\W\d_]+\s){1,3}(?:of|on|from|vom|am|ab|du)\s(?=\S[^\n]{3,30}$)",
    re.IGNORECASE | re.MULTILINE,
)


def dateline(text: str, language: str = "") -> str:
    """Return the day of a document as ``YYYY-MM-DD``, where its text states one; or empty.

    That is the date behind a word such as "dated", or one on a line like "Minutes of 9 May 2017".

    Args:
        text: Of the document.
        language: ISO 639-1 code, or empty.
    """
    beginning = text[:_LOOKED_AT]
    for pattern in (_NAMED, _LINE):
        for match in pattern.finditer(beginning):
            ahead = text[match.end() : match.end() + _AHEAD]
            found = next(iter(dates(ahead, language)), None)
            if not found or found.start or not (found.year and found.month and found.day):
                continue
            rest = ahead[found.end :].partition("\n")[0]
            if pattern is _NAMED or not any(character.isalnum() for character in rest):
                return f"{found.year:04d}-{found.month:02d}-{found.day:02d}"
    return ""


def is_dateline(sentence: str, language: str = "") -> bool:
    """Whether a sentence says when its document was written, and nothing else."""
    match = _NAMED.match(sentence) or _LINE.match(sentence)
    if match is None:
        return False
    found = next(iter(dates(sentence[match.end() :], language)), None)
    rest = sentence[match.end() + found.end :] if found and not found.start else sentence
    return not any(character.isalnum() for character in rest)
