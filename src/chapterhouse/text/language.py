"""Which language a text is in, as an ISO 639-1 code.

The wrong answer is worse than none, because a document's words are stemmed by it: on short
lower-case abstracts a statistical detector alone cost seven points of nDCG. So the script decides
where it can, by letters that only one of its languages has, then the function words, of which every
text of some length has many; py3langid is asked about the rest and believed only when it is nearly
certain. What is written in Arabic letters is never English, however short it is.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from chapterhouse import lazy_pattern
from chapterhouse.text.counting import script_language
from chapterhouse.text.language_data import STOPWORDS

_SAMPLE: Final = 4_000
_MINIMUM_LETTERS: Final = 20
_NOISE = lazy_pattern(r"[\W\d_]+|https?://\S+")
_MARK_SHARE: Final = 0.01  # of a language's own letters: one may stand in a foreign name
_LEAST_SCRIPT_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Script:
    """A script: its letters, its likeliest language, and the letters of single languages in it."""

    letters: re.Pattern[str]
    language: str
    marks: tuple[tuple[str, re.Pattern[str]], ...] = ()
    others: frozenset[str] = frozenset()  # which statistics may choose instead

    def languages(self) -> frozenset[str]:
        return self.others | {self.language, *(name for name, _ in self.marks)}


def _script(letters: str, language: str, others: str = "", **marks: str) -> _Script:
    own = tuple((name, lazy_pattern(f"[{found}]")) for name, found in marks.items())
    return _Script(lazy_pattern(f"[{letters}]"), language, own, frozenset(others.split()))


_SCRIPTS: Final = (
    _script("\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff", "ar", "ps ug",
            ur="ٹڈڑںےۓھہ", fa="پچژگیک"),
    _script("\u0590-\u05ff\ufb1d-\ufb4f", "he", yi="\u05f0-\u05f2"),
    _script("\u0400-\u052f", "ru", "bg mk sr kk ky mn",
            uk="іїєґІЇЄҐ", be="ўЎ", sr="јљњћђЈЉЊЋЂ", mk="ѓќѕЃЌЅ"),
    _script("\u0370-\u03ff\u1f00-\u1fff", "el"),
    _script("\u0900-\u097f", "hi", "mr ne"),
    _script("\u0980-\u09ff", "bn", "as"),
    _script("\u0a00-\u0a7f", "pa"),
    _script("\u0a80-\u0aff", "gu"),
    _script("\u0b00-\u0b7f", "or"),
    _script("\u0b80-\u0bff", "ta"),
    _script("\u0c00-\u0c7f", "te"),
    _script("\u0c80-\u0cff", "kn"),
    _script("\u0d00-\u0d7f", "ml"),
    _script("\u0d80-\u0dff", "si"),
    _script("\u0530-\u058f", "hy"),
    _script("\u10a0-\u10ff", "ka"),
    _script("\u1200-\u139f", "am"),
)  # fmt: skip
# Function words are a quarter to a half of running text in every language listed.
_FUNCTION_SHARE: Final = 0.12
_MINIMUM_FUNCTION_WORDS: Final = 3
_CLEAR_WORDS: Final = 2  # of a question's function words, more than of any other language
_MARGIN: Final = 1.3  # over the next language: Danish and Norwegian share most of theirs
_CERTAIN: Final = 0.95
_CERTAIN_FROM_LETTERS: Final = 80
_CERTAIN_FROM_FOREIGN_LETTERS: Final = 40  # a script other than ASCII says much by itself

_LANGUAGES_OF_WORD: Final = {
    word: tuple(name for name, words in STOPWORDS.items() if word in words)
    for word in frozenset[str]().union(*STOPWORDS.values())
    if len(word) > 1  # initials and units look like elided French
}


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def detect(text: str) -> str:
    """Return the language of the beginning of ``text``, or an empty string."""
    letters = _NOISE.sub(" ", text[:_SAMPLE]).strip()
    own = language_of_script(letters)
    if own or len(letters) < _MINIMUM_LETTERS:
        return own
    return _by_function_words(letters) or _by_statistics(letters)


def foreign_to(text: str, languages: Iterable[str]) -> str:
    """Return the language of a question where it is clearly none of some languages; else nothing.

    A question is short: it is told by its script, or by function words that these languages lack.
    """
    known = frozenset(filter(None, languages))
    if not known:
        return ""
    if own := language_of_script(text):
        return own if own not in known else ""
    counts: Counter[str] = Counter()
    for word in _NOISE.sub(" ", text.casefold()).split():
        counts.update(_LANGUAGES_OF_WORD.get(word, ()))
    best = min(counts, key=lambda name: (-counts[name], name), default="")
    clear = counts[best] >= _CLEAR_WORDS + max(counts[name] for name in known)
    return best if clear else ""


def language_of_script(text: str) -> str:
    """Return the likeliest language of a text that is not in Latin letters, else nothing."""
    if text.isascii():
        return ""
    most = _LEAST_SCRIPT_SHARE * sum(map(str.isalpha, text))
    script = next((each for each in _SCRIPTS if len(each.letters.findall(text)) > most), None)
    return script_language(text) or (_within(script, text) if script else "")


def _within(script: _Script, letters: str) -> str:
    """Return the language of a text in this script."""
    least = max(1.0, _MARK_SHARE * len(letters))
    for language, own in script.marks:
        if len(own.findall(letters)) >= least:
            return language
    guess = _by_statistics(letters) if script.others else ""
    return guess if guess in script.languages() else script.language


def _by_function_words(letters: str) -> str:
    words = letters.casefold().split()
    counts = Counter(name for word in words for name in _LANGUAGES_OF_WORD.get(word, ()))
    (first, most), (_, next_most) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    enough = most >= max(_MINIMUM_FUNCTION_WORDS, _FUNCTION_SHARE * len(words))
    return first if enough and most >= _MARGIN * next_most else ""


def _by_statistics(letters: str) -> str:
    enough = _CERTAIN_FROM_LETTERS if letters.isascii() else _CERTAIN_FROM_FOREIGN_LETTERS
    if len(letters) < enough:
        return ""
    language, probability = _identifier().classify(letters)
    return str(language) if probability >= _CERTAIN else ""
