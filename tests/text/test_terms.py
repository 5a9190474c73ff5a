"""Index terms, their numbers, and how many words and tokens a text has."""

import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chapterhouse
import chapterhouse.text.terms as terms_module
from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import counted, estimate_tokens
from chapterhouse.text.dates import date_terms
from chapterhouse.text.terms import each_number, term_numbers, text_of_section


@given(st.lists(st.text(max_size=5)))
def test_a_number_is_the_checksum_of_the_term(terms: list[str]) -> None:
    numbers = term_numbers(terms)
    assert numbers.dtype == np.uint32
    assert numbers.tolist() == list(each_number(terms))
    assert numbers.tolist() == [zlib.crc32(one.encode("utf-8", "surrogatepass")) for one in terms]


def test_numbers_never_change_nor_the_name_of_a_section() -> None:
    assert list(each_number(["harbour"])) == [1_533_582_490]  # written into every index there is
    assert (text_of_section(("One", "Two")), text_of_section(())) == ("One / Two", "")


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms_module, "_KNOWN", 3)
    monkeypatch.setattr(terms_module, "_NUMBERS", terms_module._Numbers())
    numbers = list(each_number(f"t{n}" for n in range(10)))
    assert numbers == [zlib.crc32(b"t%d" % n) for n in range(10)]
    assert len(terms_module._NUMBERS) <= 3


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
        ("Wörter", "xx", ["worter"]),
        ("running cafés", "", ["run", "cafes"]),  # unknown: English stems for ASCII alone
        ("المدرسة مُحَمَّـد", "ar", ["مدرس", "محمد"]),
        ("کتاب\u200cهای علي", "fa", ["كتاب", "علي"]),
        ("שָׁלוֹם", "he", ["שלומ"]),
        ("हिन्दी किताबें", "hi", ["हिन्द", "किताब"]),
        ("ท่าเรือ", "th", ["ท่", "่า", "าเ", "เร", "รื", "ือ"]),
        ("C++ and C#.", "en", ["c++", "c", "and", "c#", "c"]),
        ("Dvořák Åsa Łódź Ærø", "en", ["dvorak", "asa", "lodz", "aero"]),
        ("García Garcia", "es", ["garci", "garci"]),
        (
            "NO93 8601 1117 947.",
            "en",
            ["no93", "no", "93", "8601", "1117", "947", "no9386011117947"],
        ),
        ("212-555-0123", "en", ["212-555-0123", "2125550123", "212", "555", "0123"]),
    ],
)
def test_known_cases(text: str, language: str, terms: list[str]) -> None:
    assert analyse(text, language) == terms


def test_a_date_has_the_same_terms_however_it_is_written() -> None:
    for text in (
        "2024-05-06",
        "6.5.2024",
        "May 6th, 2024",
        "6 May 2024",
        "am 6. Mai 2024",
        "le 6 mai 2024",
    ):
        assert date_terms(text, "de") == ["2024-05-06", "2024-05"], text
    assert date_terms("in March 2021 and on 3 April") == ["2021-03", "--04-03"]
    assert date_terms("in March, 12 May ships, 2024") == ["--05-12"]


@given(st.text(), st.sampled_from(["", "en", "de", "zh", "ru"]))
def test_terms_hold_no_space_and_are_short(text: str, language: str) -> None:
    for term in analyse(text, language):
        assert term
        assert not any(character.isspace() for character in term)
        assert len(term) <= 64


@given(st.text(alphabet=st.characters(categories=["Lu", "Ll"], max_codepoint=0x7F), min_size=1))
def test_case_of_ordinary_words_does_not_matter(word: str) -> None:
    assert analyse(word.lower(), "en") == analyse(word.lower().upper(), "en")


@pytest.mark.timeout(120)  # a quadratic rule would take hours
def test_hostile_runs_are_analysed() -> None:
    for unit in ("a", "a.", "aB", "人", "_"):
        assert analyse(unit * 200_000, "en")


def test_forms_of_one_letter_are_one() -> None:
    for one, other, language in (
        ("أحمد", "احمد", "ar"),
        ("مدرسة", "مدرسه", "ar"),
        ("كتاب", "کتاب", "fa"),
        ("علی", "علي", "fa"),
        ("ארוך", "ארוכ", "he"),
    ):
        assert analyse(one, language) == analyse(other, language), one


SOURCES = sorted(Path(chapterhouse.__file__).parent.rglob("*.py"))
OWN_PLURAL = re.compile(r"'' if [^}]+ else 's'|'s' if [^}]+ else ''")


def test_a_number_stands_with_its_noun() -> None:
    told = ["0 files", "1 file", "2 files", "4,904 files"]
    assert [counted(number, "file") for number in (0, 1, 2, 4904)] == told
    assert counted(1, "page is", "pages are") == "1 page is"
    assert counted(2, "page is", "pages are") == "2 pages are"


def test_no_module_makes_plurals_of_its_own() -> None:
    found = [path.name for path in SOURCES if OWN_PLURAL.search(path.read_text("utf-8"))]
    assert found == ["rounds.py"]  # seconds, which need not be whole


ENGLISH = (
    "The chapter house is the room in which a council met. It was named after the chapter that "
    "was read aloud before the members spoke, each from what he had read himself. "
) * 4


@given(st.text(), st.text())
def test_longer_texts_cost_no_less_and_english_is_estimated_within_a_fifth(
    one: str, other: str
) -> None:
    longest = max(estimate_tokens(one), estimate_tokens(other))
    assert estimate_tokens(one + "\n" + other) >= longest - 1 >= -1
    assert abs(estimate_tokens(ENGLISH) / built_in_encoder().count_tokens(ENGLISH) - 1) < 0.2
