"""Whether a text mentions a word in any form: what is said to be absent must be absent.

Letters are folded so that the forms of a word begin alike: without marks, "ie" and "y", "f" and
"v", one letter for two. What is left after an ending is looked for inside words, as compounds have
it. So rather too much is a form of a word than too little, and a word is called absent less often
than it is.
"""

import re
import unicodedata
from functools import cache
from typing import Final

from chapterhouse.text.language_data import STOPWORDS, language_data

# Of these languages the endings are known, and forms hardly differ in more. Others, such as
# Finnish, Russian and Arabic, also change the middle of a word.
LANGUAGES: Final = frozenset({"", *["da", "de", "en", "es", "fr", "it", "nl", "no", "pt", "sv"]})
_WORD: Final = re.compile(r"[^\W\d_]+")
_POSSESSIVE: Final = re.compile(r"['’](?:s|S)?$")
_ELIDED: Final = re.compile(r"^[^\W\d_]{1,2}['’](?=[^\W\d_]{2})")
_MARKS: Final = re.compile(r"[\u0300-\u036f]")
_LETTERS: Final = str.maketrans(
    {"æ": "a", "œ": "o", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
# In order; the last ones make one letter of two.
_ALIKE: Final = (
    ("ae", "a"), ("oe", "o"), ("ue", "u"), ("y", "i"), ("v", "f"), ("ce", "se"), ("ci", "si"),
    ("z", "s"), ("ck", "k"), *((letter * 2, letter) for letter in "abcdefghijklmnoprstu"),
)  # fmt: skip
_ENDINGS: Final = """
    s es e u ue us ues ex ix ices izes ed d ing er ers ly ion ions ation ations ment ments
    en em ern n nen um us on ung ungen
    x al als ail aux el els eaux ent ait ant ants ante
    a o i as os is ais eis ois ol il ao oes aes m ns he hi ini
    et erne erna arna orna na ene ar or r t heid heden
"""
_SHORTEST: Final = 3  # letters that are left before an ending
_ANYWHERE: Final = 4  # letters that are looked for inside words, too
_OTHER_FORMS: Final = tuple(
    tuple(pair.split())
    for pair in (
        "man men", "foot feet", "tooth teeth", "goose geese", "mouse mice", "louse lice",
        "child children", "person people", "penny pence",
    )
)  # fmt: skip
_LINKS: Final = ("", "s", "n", "en", "e", "es", "er")  # between the parts of a compound


def fold_letters(text: str) -> str:
    """Return a text in lower case with the letters of which forms of words differ made alike."""
    plain = text.casefold()
    if not plain.isascii():
        plain = _MARKS.sub("", unicodedata.normalize("NFKD", plain)).translate(_LETTERS)
    for written, other in _ALIKE:
        plain = plain.replace(written, other)
    return plain


def bare_word(word: str) -> str:
    """Return a word without its possessive ending and without an article that is elided."""
    return _ELIDED.sub("", _POSSESSIVE.sub("", word))


def parts_to_find(word: str) -> tuple[str, ...]:
    """Return the runs of letters of a word that can be looked for: of known scripts, not short."""
    runs = _WORD.findall(unicodedata.normalize("NFKC", bare_word(word)))
    return tuple(run for run in runs if len(run) >= _SHORTEST and max(run) < "\u0530")


def beginnings(word: str) -> frozenset[str]:
    """Return what forms of a word begin with, folded: itself, and what is left before an ending."""
    written = word.casefold()
    forms = [written]
    for one, other in (*_OTHER_FORMS, *(pair[::-1] for pair in _OTHER_FORMS)):
        if written.endswith(one):
            forms.append(f"{written.removesuffix(one)}{other}")
    folded = list(map(fold_letters, forms))
    cut = {form.removesuffix(ending) for form in folded for ending in _folded_endings()}
    return frozenset({*folded, *(one for one in cut if len(one) >= _SHORTEST)})


@cache
def _folded_endings() -> frozenset[str]:
    return frozenset(map(fold_letters, _ENDINGS.split()))


@cache
def _form_words() -> frozenset[str]:
    known = frozenset[str]().union(
        *(
            {*data.number_words, *data.date_words, *data.empty_words, *data.form_words}
            for data in language_data().values()
        ),
        *STOPWORDS.values(),
    )
    return frozenset[str]().union(*map(beginnings, known))


def is_form_word(word: str) -> bool:
    """Whether a word of a question says in which form it is answered, not what it is about."""
    return not _form_words().isdisjoint(beginnings(word))


class Mentions:
    """The words of some documents, a line each, in which forms of others are looked for."""

    def __init__(self, lines: str) -> None:
        self._lines = f"\n{fold_letters(lines)}\n"

    def __contains__(self, word: str) -> bool:
        """Whether a form of a word may be among these: alone, in a compound, or as its parts."""
        if any(map(str.isdigit, word)):
            return fold_letters(word) in self._lines
        return any(map(self._holds, beginnings(word))) or self._holds_parts(word.casefold())

    def _holds(self, beginning: str) -> bool:
        if len(beginning) >= _ANYWHERE:
            return beginning in self._lines
        return f"\n{beginning}" in self._lines or f"{beginning}\n" in self._lines

    def _holds_parts(self, word: str) -> bool:
        """Whether a word is made of two that are here."""
        for at in range(_SHORTEST, len(word) - _SHORTEST + 1):
            first = word[:at]
            whole = {first.removesuffix(link) for link in _LINKS}
            here = any(
                len(one) >= _SHORTEST and f"\n{fold_letters(one)}\n" in self._lines for one in whole
            )
            if here and any(f"\n{one}" in self._lines for one in beginnings(word[at:])):
                return True
        return False
