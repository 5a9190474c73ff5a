"""The words of languages by which claims are read."""

import re
from dataclasses import fields

import pytest

from chapterhouse.claims.wording import (
    LanguageWords,
    antonyms,
    every_language,
    scope_pattern,
    synonyms,
    words_of,
    words_or_english,
)

LANGUAGES = every_language()
NAMES = {field.name for field in fields(LanguageWords)}
DATES = {"months", "weekdays", "cardinals", "tens", "ordinals", "ordinal_endings"}
MEANING = {"synonyms", "antonyms", "scopes"}
# What each language has beside words that deny; a name that is misspelled is an unknown field.
HAS = {
    "da": set(),
    "de": DATES | MEANING | {"short_months", "harmless_denials", "clause_openers"}
    | {"further_antonyms", "measures", "labels", "events", "exceptions", "suppositions"},
    "en": NAMES - {"no_numbers"},
    "es": DATES | {"harmless_denials", "clause_openers"},
    "fr": DATES | MEANING
    | {"no_numbers", "harmless_denials", "clause_openers"},
    "it": DATES | {"no_numbers", "harmless_denials", "clause_openers"},
    "nl": set(),
    "no": set(),
    "pt": set(),
    "ru": set(),
    "sv": set(),
    "zh": {"further_antonyms", "measures", "scopes"},
}  # fmt: skip


def test_every_language_has_what_is_said_of_it() -> None:
    found = {name: {f for f in NAMES if getattr(own, f)} for name, own in LANGUAGES.items()}
    assert found == {name: own | ({"denials"} - {name} if name != "zh" else set())
                     for name, own in HAS.items()}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_list_can_be_used(language: str) -> None:
    own = words_of(language)
    assert len(own.months) in {0, 12}
    assert len(own.short_months) in {0, 12}
    assert len(own.weekdays) in {0, 7}
    assert all(len(group) >= 2 for group in own.synonyms)
    assert all(len(pair) == 2 for pair in own.antonyms + own.further_antonyms)
    assert len(own.irregular_forms) % 2 == 0
    for listed in (own.synonyms, own.antonyms, own.measures, own.labels):
        assert len(set(listed)) == len(listed)
    for name in NAMES:
        value = getattr(own, name)
        if isinstance(value, str):
            assert not value or not re.compile(value.replace("{", "").replace("}", "")).fullmatch(
                "\0"
            )


def test_an_unknown_language_has_no_words_and_an_empty_one_is_english() -> None:
    assert words_of("xx") == words_of("../en") == LanguageWords()
    assert words_of("") is words_of("en")
    assert words_or_english("ru", "months") is words_of("en")
    assert words_or_english("de", "months") is words_of("de")


def test_words_of_one_meaning_have_one_term() -> None:
    same = synonyms("en")
    assert same["begin"] == same["commenc"] == same["start"] == same["began"]
    assert same.get("boat", "boat") == "boat"
    assert not synonyms("ru")


def test_opposites_are_mutual_and_further_ones_are_asked_for() -> None:
    for one, others in antonyms("en", further=True).items():
        assert all(one in antonyms("en", further=True)[other] for other in others)
    assert "highest" not in antonyms("en")
    assert antonyms("en", further=True)["highest"] == {"lowest"}


@pytest.mark.parametrize(
    ("language", "text", "scopes"),
    [
        ("en", "at least 5 of all boats", ["least", "all"]),
        ("de", "mindestens fünf", ["least"]),
        ("zh", "至少五个", ["least"]),
        ("ru", "at least", []),
    ],
)
def test_words_of_scope_have_a_class(language: str, text: str, scopes: list[str]) -> None:
    pattern, classes = scope_pattern(language)
    assert [classes[match.group()] for match in pattern.finditer(text)] == scopes
