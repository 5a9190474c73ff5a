"""Which table of the Latin script a text was written with, told by the words of its languages.

Every such table reads every text; but only in the right one do the letters beyond ASCII all belong
to one language, stand inside words where letters stand and signs where signs stand. So each table
is tried with each language that people wrote with it, and the best has the most possible words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_SAMPLE = 65_536
_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
_MOST_WORDS = 2_000  # different ones
# Letters beyond ASCII by language, with where they stand where that tells them from those that
# kindred tables have in their place.
_FRENCH = r"[âéêëîïôœûüÿ]|\B(?:è(?=[b-df-hj-np-tv-z]+[eé]|s\b)|æ)|[àù]\b|ç(?=[aàâou])"
_PORTUGUESE = r"[áàâéêíóôúü]|ã(?=[eio]|s?\b)|õ(?=e)|ç(?=[aáâãoóõuú])"
_WESTERN = (
    "[äöüßé]",  # German
    _FRENCH,
    "[áéíñóúü]",  # Spanish
    _PORTUGUESE,
    r"[àèéìòù]\b",  # Italian
    "[åäöé]",  # Swedish, Finnish
    "[åæøéèòóô]",  # Danish, Norwegian
    "[áèéëïóöü]",  # Dutch
    r"[àèéíïòóúü]|ç(?=[aàoòóuú]|s?\b)",  # Catalan
)
_CENTRAL = (
    "[ąćęłńóśźż]",  # Polish
    "[áčďéěíňóřšťúůýž]",  # Czech
    "[áäčďéíĺľňóôŕšťúýž]",  # Slovak
    "[áéíóöőúüű]",  # Hungarian
    "[ăâîşţșț]",  # Romanian
    "[čćđšž]",  # Croatian, Slovene
)
_TURKISH = r"[çıöşüâî]|\Bğ"
_BALTIC = ("[ąčęėįšųūž]", "[āčēģīķļņšūž]", "[äõöüšž]")  # Lithuanian, Latvian, Estonian
# In this order, in which equals are taken.
_TABLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cp1252", _WESTERN),
    ("cp1250", _CENTRAL),
    ("iso8859_2", _CENTRAL),
    ("cp1254", (_TURKISH,)),
    ("cp1252", ("[áéíóúýþæöð]", "[äõöüšž]")),  # Icelandic, Estonian
    ("cp1257", _BALTIC),
    ("iso8859_13", _BALTIC),
    ("iso8859_4", _BALTIC),
    ("iso8859_15", _WESTERN),
    ("mac_roman", _WESTERN),
    ("cp850", _WESTERN),
    ("cp852", _CENTRAL),
    ("mac_latin2", _CENTRAL),
)
# Of a text with words and names of several languages; left out are letters that stand for a
# frequent one of Hungarian, Turkish, Romanian or Portuguese in a kindred table.
_MIXED = ("[äöüßéèêëàâçñóíáúôûîïåæøòùìœ]",)
_MIXED_TABLES = tuple((name, _MIXED) for name in ("cp1252", "iso8859_15", "mac_roman", "cp850"))
_MIXED_SHARE = 0.95  # what such a possible word counts
ENCODINGS = frozenset(encoding for encoding, _ in _TABLES)
_BEFORE_WORDS = "„“”‚‘’«»‹›¿¡–—…•\u00a0\u00ad"
_AFTER_WORDS = "„“”‚‘’«»‹›–—…•™®°²³ªº\u00a0\u00ad"
_ALONE = frozenset(_BEFORE_WORDS + _AFTER_WORDS + "§£€©¹¼½¾±×÷·µ¶†‡‰¢¥¤¨´¸¬¦")
_BETWEEN = re.compile("[’‘–—…·\u00a0\u00ad]")
_LONG_RUN = re.compile(r"[^\x00-\x7f]{4}")  # as other scripts have them


class Fit(NamedTuple):
    """A table and the share of the words with signs beyond ASCII that are possible in it."""

    encoding: str
    share: float


def best_fit(data: bytes) -> Fit:
    """Return the table of the Latin script that fits these bytes best."""
    words = Counter(_WORD.findall(data[:_SAMPLE])).most_common(_MOST_WORDS)
    best = Fit(_TABLES[0][0], 0.0)
    for tables, worth in ((_TABLES, 1.0), (_MIXED_TABLES, _MIXED_SHARE)):
        for encoding, languages in tables:
            share = worth * _possible_share(words, encoding, languages)
            best = Fit(encoding, share) if share > best.share else best
            if best.share == 1:
                return best
    return best


def _possible_share(
    words: Sequence[tuple[bytes, int]], encoding: str, languages: Sequence[str]
) -> float:
    """Return the share of words that are possible in the language that has most of them."""
    decoded = [(word.decode(encoding, "replace"), number) for word, number in words]
    spelled = [(parts, number) for word, number in decoded if (parts := _parts(word)) is not None]
    most = max(
        sum(number for parts, number in spelled if _is_possible(parts, re.compile(letters)))
        for letters in languages
    )
    return most / max(1, sum(number for _, number in words))


def _parts(word: str) -> list[str] | None:
    """Return what stands between the signs of a word in small letters; None for no word."""
    if _ALONE.issuperset(word):
        return []
    inner = word.lstrip(_BEFORE_WORDS).rstrip(_AFTER_WORDS)
    if _LONG_RUN.search(inner) or any(map(_is_odd_capital, inner, inner[1:])):
        return None
    return _BETWEEN.split(inner.replace("İ", "i").lower())


def _is_possible(parts: Sequence[str], letters: re.Pattern[str]) -> bool:
    return all(letters.sub("", part).isascii() for part in parts)


def _is_odd_capital(before: str, letter: str) -> bool:
    return letter > "\x7f" and letter.isupper() and before.islower()
