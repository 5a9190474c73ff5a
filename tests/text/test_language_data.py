"""What is known of languages is whole and can be used."""

import re

import pytest

from chapterhouse.answering.question_kind import QuestionKind
from chapterhouse.text.analyse import analyse
from chapterhouse.text.language_data import STOPWORDS, language_data

DATA = language_data()
FULL = ("ar", "de", "en", "es", "fr", "it", "ja", "nl", "pt", "ru", "zh")
KINDS = {kind.value for kind in QuestionKind} - {"open"}


def test_languages_are_in_order_and_read_once() -> None:
    assert list(DATA) == sorted(DATA)
    assert set(FULL) <= set(DATA)
    assert language_data() is DATA
    assert {name: data.function_words for name, data in DATA.items()} == STOPWORDS


@pytest.mark.parametrize("language", DATA)
def test_every_language_has_function_words_in_lower_case(language: str) -> None:
    data = DATA[language]
    assert data.function_words or language in {"zh", "ja", "ar"}
    for words in (
        data.function_words,
        data.pointing_words,
        data.number_words,
        data.date_words,
        data.side_words,
        data.linking_words,
    ):
        assert all(word == word.casefold() or "ß" in word for word in words)


@pytest.mark.parametrize("language", DATA)
def test_every_language_has_words_that_go_on_and_politeness_that_can_be_read(language: str) -> None:
    data = DATA[language]
    assert data.linking_words
    for phrase in data.polite_phrases:
        assert not re.compile(phrase, re.IGNORECASE).fullmatch("")


@pytest.mark.parametrize("language", DATA)
def test_every_cue_is_of_a_kind_and_can_be_read(language: str) -> None:
    data = DATA[language]
    assert set(data.questions) <= KINDS
    for cues in data.questions.values():
        assert cues
        for cue in cues:
            assert not re.compile(cue, re.IGNORECASE).fullmatch("")
    assert re.compile(data.reason_cues)


@pytest.mark.parametrize("language", FULL)
def test_a_language_that_is_fully_known_has_values_and_reasons(language: str) -> None:
    data = DATA[language]
    assert {"date", "number", "person", "place", "reason"} <= set(data.questions)
    assert data.reason_cues or language in {"ar", "ja"}


def test_no_number_is_a_function_word() -> None:
    for data in DATA.values():
        assert not {word for word in data.function_words if any(map(str.isdigit, word))}


def test_a_subject_is_no_function_word() -> None:
    for language, words in {"en": "harbour fee licence", "de": "hafen gebühr vertrag"}.items():
        assert not set(words.split()) & DATA[language].function_words
        assert analyse(words, language)
