"""Text to index terms: one analyser for documents and questions, in every language.

NFKC, case folding, Snowball stems by language, letters without their marks, bigrams for scripts
that write no spaces, one form of each Arabic and Hebrew letter, and identifiers, codes and numbers
kept whole beside their parts. The order of terms is the order of words, so that phrases can be
found.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Final

import Stemmer

from chapterhouse import lazy_pattern
from chapterhouse.text.counting import EAST_ASIAN

# Part of the index's fingerprint: change it when the same text gives other terms.
ANALYSER_VERSION: Final = "3"

SNOWBALL: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque",
    "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "nb": "norwegian", "nn": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

_EAST: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3" + EAST_ASIAN  # without spaces
# Vowel signs of Indic scripts, which are no word characters to ``re`` and yet part of words.
_SIGNS: Final = (
    "\u0300-\u036f\u0900-\u0963\u0971-\u0df3\u0e31-\u0e4e\u0eb1-\u0ece\u102b-\u103e\u17b6-\u17d3"
)
_LETTER: Final = rf"(?:[^\W_{_EAST}]|[{_SIGNS}])"
# A run of word characters, joined over the marks that hold numbers, codes and names together.
# First what signs make another name: C++, C#.
_TOKEN = lazy_pattern(
    rf"(?<![\w+#])[A-Za-z](?:\+\+|#)(?![\w+#])|[\w{_SIGNS}]+(?:[.,:/'’\-][\w{_SIGNS}]+)*"
)
_SIMPLE = lazy_pattern(rf"(?:[^\W\d_]|[{_SIGNS}])+")
_PARTS = lazy_pattern(rf"[{_EAST}]+|{_LETTER}+")
_EAST_RUN = lazy_pattern(rf"[{_EAST}]")
_CASE_PARTS = re.compile(
    rf"[A-Z]+(?![a-z])|[A-Z]?[a-zà-ÿ\u0300-\u036f]+|\d+|(?:[^\W\d_A-Za-zà-ÿ]|[{_SIGNS}])+"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:[,.]\d{3})+")
# Telephone, account and serial numbers, which some write in groups and others do not.
_GROUPS = lazy_pattern(
    r"(?<![\w.,])(?:[A-Z]{2}\d{2}(?: [A-Z0-9]{2,4}){2,8}|\+?\d{1,5}(?: \d{2,5}){2,8}(?: \d)?)(?!\w)"
)
_SEPARATED = re.compile(r"\+?\d+(?:[.,:/\-]\d+)+")
_LEAST_DIGITS = 7  # of a number that is found however it is grouped
_MAXIMUM_TERM = 64  # longer runs are data, not words
_NEAR_EAST = re.compile("[\u0591-\u07ff\u200b-\u200f]")
# Points and vowel signs, tatweel and joiners are written at will; a letter has one form.
_OPTIONAL: Final = {
    code: None
    for first, last in ((0x0591, 0x05BD), (0x05BF, 0x05BF), (0x05C1, 0x05C2), (0x05C4, 0x05C7),
                        (0x0610, 0x061A), (0x0640, 0x0640), (0x064B, 0x065F), (0x0670, 0x0670),
                        (0x06D6, 0x06ED), (0x200B, 0x200F))
    for code in range(first, last + 1)
}  # fmt: skip
_ONE_FORM: Final = str.maketrans("أإآٱىیےکةۀہھךםןףץ", "اااايييكههههכמנפצ")
# Letters with marks, and those that are written as another where a keyboard lacks them.
_UNMARKED: Final = {
    **{
        code: base
        for first, last in ((0xC0, 0x24F), (0x370, 0x3FF), (0x1E00, 0x1FFF))
        for code in range(first, last + 1)
        if (base := re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", chr(code))))
        != chr(code)
    },
    **str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "ё": "е"}),
}
# Others, such as Turkish, have marks by which a stem is told.
_STEMMED_WITHOUT_MARKS: Final = frozenset(
    ("ca", "da", "de", "en", "es", "fi", "fr", "it", "nb", "nl", "nn", "no", "pt", "sv")
)
_CACHE_LIMIT = 50_000  # tokens a language; some ten megabytes


class _Analyser:
    """Terms of one language; remembers each distinct token's terms."""

    def __init__(self, language: str) -> None:
        name = SNOWBALL.get(language or "en")
        self._plain = language in _STEMMED_WITHOUT_MARKS
        self._own = bool(language)  # a text of unknown language has English stems if any
        # Stemming is cached here, per token; the stemmer's own cache would only cost memory.
        self._stem = Stemmer.Stemmer(name, 0).stemWord if name else None
        self._known: dict[str, tuple[str, ...]] = {}

    def terms(self, text: str) -> list[str]:
        known = self._known
        if len(known) > _CACHE_LIMIT:
            known.clear()
        result: list[str] = []
        normal = unicodedata.normalize("NFKC", text)
        if _NEAR_EAST.search(normal):
            normal = normal.translate(_OPTIONAL)
        for token in _TOKEN.findall(normal):
            terms = known.get(token)
            if terms is None:
                terms = known[token] = tuple(self._terms_of(token))
            result.extend(terms)
        for group in _GROUPS.findall(normal):
            joined = group.replace(" ", "").lstrip("+").casefold()
            if sum(map(str.isdigit, joined)) >= _LEAST_DIGITS:
                result.append(joined[:_MAXIMUM_TERM])
        return result

    def _terms_of(self, token: str) -> Iterable[str]:
        if _SIMPLE.fullmatch(token) and not _EAST_RUN.search(token):
            yield from self._word(token)
            return
        whole = token.casefold()
        parts = [term for part in _PARTS.findall(token) for term in self._part(part)]
        if _THOUSANDS.fullmatch(token):
            yield re.sub("[,.]", "", token)
        elif _is_identifier(token) and [whole] != parts:
            yield whole[:_MAXIMUM_TERM]
            joined = re.sub(r"\D", "", token) if _SEPARATED.fullmatch(token) else ""
            if len(joined) >= _LEAST_DIGITS:
                yield joined[:_MAXIMUM_TERM]
        yield from parts

    def _word(self, word: str) -> Iterable[str]:
        split = _case_parts(word)
        if len(split) > 1:
            yield word.casefold()[:_MAXIMUM_TERM]
        for part in split:
            yield self._stemmed(part)

    def _part(self, part: str) -> Iterable[str]:
        if _EAST_RUN.match(part):
            yield from _bigrams(part)
            return
        for piece in _case_parts(part):
            if len(piece) > 1 or piece == part:
                yield self._stemmed(piece)

    def _stemmed(self, word: str) -> str:
        folded = word.casefold()[:_MAXIMUM_TERM]
        if self._plain:
            folded = folded.translate(_UNMARKED)
        if self._stem and (self._own or folded.isascii()):
            folded = str(self._stem(folded))
        folded = folded if folded.isascii() else folded.translate(_UNMARKED)
        return folded.translate(_ONE_FORM) if _NEAR_EAST.match(folded) else folded


def _bigrams(run: str) -> Iterable[str]:
    if len(run) == 1:
        yield run
    for position in range(len(run) - 1):
        yield run[position : position + 2]


def _case_parts(word: str) -> list[str]:
    """Split camelCase and letters from digits; leave ordinary words and acronyms whole."""
    if word.islower() or word.isupper() or word.istitle() or word.isdecimal():
        return _CASE_PARTS.findall(word) if not word.isalpha() and not word.isdecimal() else [word]
    return _CASE_PARTS.findall(word) or [word]


def _is_identifier(token: str) -> bool:
    """Whether a token with marks, digits or underscores is a name worth keeping whole."""
    return token[-1] in "_+#" or "_" in token or any(map(str.isdigit, token))


_analyser = cache(_Analyser)


def analyse(text: str, language: str = "") -> list[str]:
    """Return the index terms of ``text`` in order; its language is an ISO 639-1 code.

    Words of a language without a Snowball stemmer are only folded; those of an unknown language are
    stemmed as English if they are in ASCII: most lists, code and short notes are.
    """
    return _analyser(language).terms(text)


_NAMES: Final = {
    "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "th": "Thai", "he": "Hebrew",
    "uk": "Ukrainian", "bg": "Bulgarian", "la": "Latin", "ur": "Urdu", "sk": "Slovak",
    "sl": "Slovenian", "hr": "Croatian",
    "vi": "Vietnamese", "ka": "Georgian", "bn": "Bengali", "mk": "Macedonian", "be": "Belarusian",
}  # fmt: skip


def language_name(code: str) -> str:
    """Return the English name of a language, or its code where none is known."""
    return _NAMES.get(code) or SNOWBALL.get(code, code).title()
