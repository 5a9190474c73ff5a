"""The words of languages for numbers and dates, each language's in one file."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_FOLDER: Final = files("chapterhouse.text") / "wordings"


def word_set(listed: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(listed.split())


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """The words of a language; its file says what each of them is, and what it lacks is empty."""

    months: tuple[str, ...] = ()
    short_months: tuple[str, ...] = ()
    weekdays: tuple[str, ...] = ()
    cardinals: tuple[str, ...] = ()
    tens: tuple[str, ...] = ()
    ordinals: tuple[str, ...] = ()
    ordinal_endings: tuple[str, ...] = ()
    no_numbers: tuple[str, ...] = ()
    highest: tuple[str, ...] = ()
    lowest: tuple[str, ...] = ()
    most: tuple[str, ...] = ()
    fewest: tuple[str, ...] = ()
    dearest: tuple[str, ...] = ()
    cheapest: tuple[str, ...] = ()
    price_names: tuple[str, ...] = ()
    total_names: tuple[str, ...] = ()


@cache
def words_of(language: str) -> LanguageWords:
    """Return the words of a language: none where it is not known, English where it is empty."""
    file = _FOLDER / f"{language or 'en'}.toml"
    if not (language or "en").isalpha() or not file.is_file():
        return LanguageWords()
    read = tomllib.loads(file.read_text("utf-8"))
    return LanguageWords(
        **{name: tuple(v.split() if isinstance(v, str) else v) for name, v in read.items()}
    )


@cache
def languages_of_words() -> tuple[str, ...]:
    """Return the languages of which words are known."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in _FOLDER.iterdir()))


def words_or_english(language: str, name: str) -> LanguageWords:
    """Return the words of a language where it has some of this name, else those of English."""
    own = words_of(language)
    return own if getattr(own, name) else words_of("en")
