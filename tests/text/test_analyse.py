"""Index terms in many languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.analyse import analyse
from chapterhouse.text.language_data import STOPWORDS


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("Running boats", "en", ["run", "boat"]),
        ("die Häfen", "de", ["die", "haf"]),
        ("ＦＵＬＬ width", "en", ["full", "width"]),
        ("人口", "zh", ["人口"]),
        ("東京都", "ja", ["東京", "京都"]),
        ("getUserName", "en", ["getusername", "get", "user", "name"]),
        ("snake_case", "en", ["snake_case", "snake", "case"]),
        ("ERR-4012", "en", ["err-4012", "err", "4012"]),
        ("1,400", "en", ["1400", "1", "400"]),
        ("3.14", "en", ["3.14", "3", "14"]),
        ("", "en", []),
        ("Wörter", "xx", ["wörter"]),
        ("running cafés", "", ["run", "cafés"]),  # unknown: English stems for ASCII alone
        ("المدرسة مُحَمَّـد", "ar", ["مدرس", "محمد"]),
        ("کتاب\u200cهای علي", "fa", ["كتاب", "علي"]),
        ("שָׁלוֹם", "he", ["שלומ"]),
        ("हिन्दी किताबें", "hi", ["हिन्द", "किताब"]),
        ("ท่าเรือ", "th", ["ท่", "่า", "าเ", "เร", "รื", "ือ"]),
    ],
)
def test_known_cases(text: str, language: str, terms: list[str]) -> None:
    assert analyse(text, language) == terms


@given(st.text(), st.sampled_from(["", "en", "de", "zh", "ru"]))
def test_terms_hold_no_space_and_are_short(text: str, language: str) -> None:
    for term in analyse(text, language):
        assert term
        assert not any(character.isspace() for character in term)
        assert len(term) <= 64


@given(st.text())
def test_the_same_text_gives_the_same_terms(text: str) -> None:
    assert analyse(text, "en") == analyse(text, "en")


@given(st.text(alphabet=st.characters(categories=["Lu", "Ll"], max_codepoint=0x7F), min_size=1))
def test_case_of_ordinary_words_does_not_matter(word: str) -> None:
    assert analyse(word.lower(), "en") == analyse(word.lower().upper(), "en")


@pytest.mark.timeout(120)  # a quadratic rule would take hours
def test_hostile_runs_are_analysed() -> None:
    for text in ("a" * 1_000_000, "a." * 500_000, "aB" * 500_000, "人" * 500_000, "_" * 1_000_000):
        assert analyse(text, "en")


def test_function_words_are_folded() -> None:
    for words in STOPWORDS.values():
        assert all(word == word.casefold() and " " not in word for word in words)


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("أحمد", "احمد", "ar"),
        ("مدرسة", "مدرسه", "ar"),
        ("كتاب", "کتاب", "fa"),
        ("علی", "علي", "fa"),
        ("ארוך", "ארוכ", "he"),
    ],
)
def test_forms_of_one_letter_are_one(one: str, other: str, language: str) -> None:
    assert analyse(one, language) == analyse(other, language)
