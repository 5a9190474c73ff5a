"""Words that a judge of claims must know: of one meaning, of opposite meaning, and of scope.

Those of a language are in ``languages``, each read when it is first met. Only what is safe in every
subject stands there: a synonym that is right in most texts and wrong in a contract would let a
false claim pass.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any, Final

from chapterhouse.text.analyse import analyse
from chapterhouse.text.language_data import STOPWORDS

_FOLDER: Final = files("chapterhouse.claims") / "languages"


def word_set(listed: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(listed.split())


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """The words of a language by which claims are read; its file says what each of them is.

    Lists of words and of groups of words are tuples, and all else is regular expressions without
    groups around them; what a language lacks is empty.
    """

    months: tuple[str, ...] = ()
    short_months: tuple[str, ...] = ()
    weekdays: tuple[str, ...] = ()
    cardinals: tuple[str, ...] = ()
    tens: tuple[str, ...] = ()
    ordinals: tuple[str, ...] = ()
    ordinal_endings: tuple[str, ...] = ()
    no_numbers: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()
    antonyms: tuple[tuple[str, ...], ...] = ()
    further_antonyms: tuple[tuple[str, ...], ...] = ()
    irregular_forms: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    denials: str = ""
    harmless_denials: str = ""
    clause_openers: str = ""
    events: str = ""
    exceptions: str = ""
    suppositions: str = ""


_GROUPS: Final = frozenset({"synonyms", "antonyms", "further_antonyms"})
_PATTERNS: Final = frozenset(one.name for one in fields(LanguageWords) if one.type is str)


@cache
def words_of(language: str) -> LanguageWords:
    """Return the words of a language: none where it is not known, English where it is empty."""
    if not language:
        return words_of("en")
    file = _FOLDER / f"{language}.toml"
    if not language.isalpha() or not file.is_file():
        return LanguageWords()
    read = tomllib.loads(file.read_text("utf-8"))
    return LanguageWords(**{name: _value(name, value) for name, value in read.items()})


def _value(name: str, value: Any) -> Any:
    if name in _PATTERNS:
        return value if isinstance(value, str) else "|".join(value)
    if name in _GROUPS:
        return tuple(tuple(group.split()) for group in value.split("|"))
    if isinstance(value, dict):
        return {own: tuple(words.split()) for own, words in value.items()}
    return tuple(value.split() if isinstance(value, str) else value)


def words_or_english(language: str, name: str) -> LanguageWords:
    """Return the words of a language where it has some of this name, else those of English."""
    own = words_of(language)
    return own if getattr(own, name) else words_of("en")


def every_language() -> Mapping[str, LanguageWords]:
    """Return the words of every language by its ISO 639-1 code, in their order."""
    names = sorted(file.name.removesuffix(".toml") for file in _FOLDER.iterdir())
    return {name: words_of(name) for name in names}


PREPOSITIONS: Final = word_set("""
    in on at by for from with without during after before since until to into of as per via under
    over about through throughout within among between against because when while although if where
    according despite following upon across around along near like due
    im am um bei beim für von vom mit ohne während nach vor seit bis zu zum zur aus durch unter über
    wegen trotz laut gegen zwischen als wenn weil
    dans en à au aux pour avec sans pendant après avant depuis de du des par sous sur selon
    por para con sin durante desde hasta según entre
    nel nella per con senza dopo prima da dal dalla secondo tra""")
# Connectives and approximations, which add nothing that could be untrue.
_LIGHT: Final = word_set("""
    upon also however thus therefore moreover furthermore there's e.g i.e additionally notably
    indeed nevertheless nonetheless hence consequently similarly likewise meanwhile overall namely
    specifically accordingly instead rather quite really actually approximately around roughly circa
    ca inside within toward towards us
    etwa rund circa zudem außerdem jedoch daher somit ferner ebenfalls sowie insbesondere
    environ également ainsi donc cependant aproximadamente además también inoltre anche""")
EAST_LIGHT: Final = (
    "因此|所以|于是|并且|而且|但是|不过|然而|可是|由于|因为|例如|比如|如|虽然|尽管|此外|另外|同时|以及"
    "|已经|还有|还是|还|他们|它们|她们|我们|这些|那些|这个|那个|这种|其中|其他|以来|以便|用于|通过|根据"
    "|关于|对于|当时|当|大约|约|左右|一个|一种|一些|并非|没有|不是|就是|而是|则|却|又|再|很|非常|更加"
)
_EAST_STOP: Final = frozenset(
    "的了是在和与及也都就而着被把为于对从到等其这那此该有并或由以将会可上下中之"
)


def is_stop(word: str, language: str) -> bool:
    """Whether a word (in lower case) carries no content."""
    return word in _stop_words(language)


@cache
def _stop_words(language: str) -> frozenset[str]:
    if language in {"zh", "ja"}:
        return _EAST_STOP
    own = (STOPWORDS.get(language) or STOPWORDS["en"]) | _LIGHT
    if language and not words_of(language).scopes:
        return own
    return own | frozenset(
        part
        for name in (language, "en")
        for words in words_of(name).scopes.values()
        for part in words
        if "-" not in part
    )


@cache
def synonyms(language: str) -> Mapping[str, str]:
    """Return the term that stands for each term of a group of one meaning."""
    own = words_of(language)
    known: dict[str, str] = {}
    for group in own.synonyms:
        terms = [term for word in group for term in analyse(word, language)[:1]]
        target = next((known[term] for term in terms if term in known), terms[0])
        known |= {term: known.get(term, target) for term in terms}
    forms = [analyse(word, language)[0] for word in own.irregular_forms]
    bases = zip(forms[::2], forms[1::2], strict=True)
    return known | {irregular: known.get(base, base) for irregular, base in bases}


@cache
def antonyms(language: str, *, further: bool = False) -> Mapping[str, frozenset[str]]:
    """Return the terms of opposite meaning for each term that has some.

    Args:
        language: ISO 639-1 code, or empty, which is read as English.
        further: Also those by which two sentences contradict each other, but which a claim may
            have in other words.
    """
    same, own = synonyms(language), words_of(language)
    pairs: dict[str, frozenset[str]] = {}
    for group in own.antonyms + (own.further_antonyms if further else ()):
        terms = (analyse(word, language)[0] for word in group)
        one, other = (same.get(term, term) for term in terms)
        pairs[one] = pairs.get(one, frozenset()) | {other}
        pairs[other] = pairs.get(other, frozenset()) | {one}
    return pairs


_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non", "miss", "mis", "anti")


def opposite_by_prefix(one: str, other: str) -> bool:
    """Whether two terms differ in nothing but a prefix that denies: "possible", "impossible"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 4 and any(long == prefix + short for prefix in _PREFIXES)  # noqa: PLR2004 - "it", "unit"


@cache
def scope_pattern(language: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern of the words of scope, and the class of each."""
    classes = {
        word.replace("-", " "): scope
        for scope, words in words_of(language).scopes.items()
        for word in words
    }
    listed = "|".join(re.escape(word) for word in sorted(classes, key=len, reverse=True))
    edge, stop = ("", "") if language == "zh" else (r"(?<!\w)", r"(?!\w)")
    return re.compile(rf"{edge}(?:{listed or '(?!)'}){stop}", re.IGNORECASE), classes
