"""What a question asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.retrieval.question import contains_exactly, parse_question, plain_words

ENGLISH = {"en": 10}


def test_words_are_weighed_in_their_order_without_function_words() -> None:
    question = parse_question("What is the speed of a storm after a storm?", ENGLISH)
    assert question.content == "speed storm storm"
    assert question.order == ("speed", "storm", "storm")
    assert {one.term: one.weight for one in question.terms}["storm"] == 2.0
    assert parse_question("Who are you?", ENGLISH).terms
    question = parse_question("?!", ENGLISH)
    assert (question.terms, question.exact) == ((), ())


@pytest.mark.parametrize(
    ("asked", "language", "content"),
    [
        ("¿Cuántas grúas hubo y debían ser pintadas?", "es", "grúas pintadas"),
        ("Quantos guindastes houve e podiam ter óleo?", "pt", "guindastes óleo"),
        ("Dov'erano le gru e quante avevano potuto?", "it", "gru"),
        (
            "Quelles grues auraient pu être peintes et devaient être là ?",
            "fr",
            "grues peintes",
        ),
        ("Wozu könnten wir Kräne gehabt haben und müssten sie?", "de", "Kräne"),
        ("Hoeveel kranen hadden er moeten zijn geweest?", "nl", "kranen"),
        ("Hvilke kraner har været her og burde ikke?", "da", "kraner"),
        ("Hvilke kraner har vært her og burde ikke?", "no", "kraner"),
        ("Vem borde ha varit vid kranen?", "sv", "kranen"),
        ("Какие краны могли быть и будут?", "ru", "краны"),
        ("Mitä nosturit olisivat olleet?", "fi", "nosturit"),
        ("What must and might the cranes have had?", "en", "cranes"),
    ],
)
def test_forms_of_auxiliaries_and_words_that_ask_are_no_content(
    asked: str, language: str, content: str
) -> None:
    assert parse_question(asked, {language: 3}).content == content


@pytest.mark.parametrize(
    ("text", "phrases", "identifiers", "file_names"),
    [
        ('the "dead slow" rule', ("dead slow",), (), ()),
        ("„nur für Gäste“ gilt", ("nur für Gäste",), (), ()),
        ("error ERR-4012 in getUserName", (), ("ERR-4012", "getUserName"), ()),
        ("what does budget-2026.xlsx say", (), (), ("budget-2026.xlsx",)),
        ("see snake_case and v2.1.3", (), ("snake_case", "v2.1.3"), ()),
        ("It costs 3.14. Really", (), (), ()),
        ("plain words only", (), (), ()),
    ],
)
def test_what_is_looked_for_to_the_letter(
    text: str, phrases: tuple[str, ...], identifiers: tuple[str, ...], file_names: tuple[str, ...]
) -> None:
    question = parse_question(text, ENGLISH)
    assert question.phrases == phrases
    assert question.identifiers == identifiers
    assert question.file_names == file_names


def test_a_question_is_stemmed_in_every_language_of_the_library() -> None:
    question = parse_question("Wann sind die Häfen geschlossen?", {"en": 5, "de": 3})
    assert question.languages[0] == "de"
    terms = {term.term for term in question.terms}
    assert "haf" in terms
    assert "die" not in terms


def test_chinese_is_judged_by_bigrams() -> None:
    question = parse_question("人口是多少", {"zh": 3, "en": 1})
    assert question.languages[0] == "zh"
    assert ("人口", ("人口",)) in question.words


@given(st.text(), st.dictionaries(st.sampled_from(["en", "de", "zh", "", "xx"]), st.integers(1, 9)))
def test_any_text_is_understood(text: str, languages: dict[str, int]) -> None:
    question = parse_question(text, languages)
    assert question.languages
    assert all(term.weight >= 1 for term in question.terms)
    assert all(terms for _, terms in question.words)


def test_containing_ignores_case_width_and_line_breaks() -> None:
    assert contains_exactly("the Dead\n  Slow rule", "dead slow")
    assert not contains_exactly("the dead, slow rule", "dead slow")


def test_plain_words_lose_the_marks_around_them() -> None:
    assert plain_words("„Was“ (is) that… ERR-4012?! -") == ["Was", "is", "that", "ERR-4012", "-"]
    assert plain_words(" ?! ") == []


@given(st.text(max_size=60), st.text(max_size=10), st.text(max_size=60))
def test_what_stands_in_a_text_is_contained_in_it(before: str, wanted: str, after: str) -> None:
    assert contains_exactly(f"{before} {wanted} {after}", wanted.upper().lower()) or (
        wanted.upper().lower().casefold() != wanted.casefold()
    )
    assert contains_exactly(f"{before}\n{wanted}\n{after}", wanted)


def test_an_abbreviation_is_no_function_word() -> None:
    assert parse_question("What is the IT policy of WHO?", ENGLISH).content == "IT policy WHO"
    assert parse_question("WHAT IS THE POLICY", ENGLISH).content == "POLICY"
    assert parse_question("Who did it? I did", ENGLISH).terms
