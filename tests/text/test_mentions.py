"""What a text mentions in any form, and how far words are apart as people misspell them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.mentions import (
    Mentions,
    edit_cost,
    is_form_word,
    most_edits,
    parts_to_find,
    words_of,
)


@pytest.mark.parametrize(
    ("asked", "stated"),
    [
        ("city", "cities"),
        ("knife", "Knives"),
        ("fireman", "firemen"),
        ("tooth", "teeth"),
        ("mice", "mouse"),
        ("criterion", "criteria"),
        ("index", "indices"),
        ("analysis", "analyses"),
        ("Haus", "Häuser"),
        ("München", "Muenchen"),
        ("Straße", "Strasse"),
        ("Museum", "Museen"),
        ("cheval", "chevaux"),
        ("travail", "travaux"),
        ("luz", "luces"),
        ("coração", "corações"),
        ("amica", "amiche"),
        ("boom", "bomen"),
        ("huis", "huizen"),
        ("bok", "böcker"),
        ("café", "cafes"),
        ("stop", "stopped"),
    ],
)
def test_forms_of_a_word_are_mentions_of_it(asked: str, stated: str) -> None:
    assert asked in Mentions(stated.casefold())
    assert stated in Mentions(asked.casefold())


@pytest.mark.parametrize(
    ("asked", "stated"),
    [
        ("boat", "lifeboats"),
        ("Wahl", "bundestagswahlkampf"),
        ("cup", "teacup"),
        ("Nachttarif", "tarif\nnacht"),
        ("Friedenspfeife", "frieden\npfeifen"),
        ("2025", "tariff2025pdf"),
        ("B7", "berthb7md"),
    ],
)
def test_a_compound_mentions_its_parts_and_they_mention_it(asked: str, stated: str) -> None:
    assert asked in Mentions(stated)


@pytest.mark.parametrize("word", ["dentist", "zeppelin", "Falmer", "world", "Gürteltier"])
def test_what_stands_nowhere_is_no_mention(word: str) -> None:
    assert word not in Mentions("the\nharbour\ngate\ncloses\nidentity\nfall\nword")


@pytest.mark.parametrize(
    "word",
    ["List", "summarised", "Cuánto", "cuanto", "Wie", "hoch", "DER", "Combien", "October", "Euros"],
)
def test_words_of_the_form_of_a_question_are_known_in_any_language(word: str) -> None:
    assert is_form_word(word)
    assert not is_form_word("Zeppelin")


def test_what_is_looked_for_has_letters_of_a_known_script() -> None:
    assert parts_to_find("O’Brien’s") == ("Brien",)
    assert parts_to_find("l'horaire") == ("horaire",)
    assert parts_to_find("Anglo-Dutch") == ("Anglo", "Dutch")
    assert parts_to_find("渡轮") == parts_to_find("U.S.") == parts_to_find("كتاب") == ()


WORDS = st.text(alphabet="abcde", min_size=4, max_size=9)


@pytest.mark.parametrize(
    ("written", "meant", "cost"),
    [
        ("waranty", "warranty", 0.6),  # a doubled letter
        ("hosptial", "hospital", 0.7),  # two letters swapped
        ("reqest", "request", 0.8),  # a vowel
        ("univercity", "university", 1.1),
        ("wich", "which", 1.0),
        ("expariment", "experiment", 0.8),
        ("confidanciels", "confidentiels", 1.9),
        ("nowledge", "knowledge", 1.3),  # the first letter
    ],
)
def test_common_misspellings_are_near(written: str, meant: str, cost: float) -> None:
    assert edit_cost(written, meant) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("poach", "roach"),  # a consonant for another in a short word
        ("breaking", "bearing"),
        ("house", "horses"),  # two edits in a short word
        ("orraires", "horaires"),  # two edits, one at the first letter
        ("cat", "cats"),
    ],
)
def test_other_words_are_not(written: str, meant: str) -> None:
    assert edit_cost(written, meant) is None


@given(WORDS, WORDS)
def test_what_is_near_differs_by_few_letters(written: str, meant: str) -> None:
    cost = edit_cost(written, meant)
    if cost is not None:
        assert abs(len(written) - len(meant)) <= most_edits(written)
        assert (cost == 0) == (written == meant)


def test_words_are_folded() -> None:
    text = "The Harbour gate-keeper's café, 2nd form; 港口的大门 ok"
    assert words_of(text) == {"the", "harbour", "gate", "keeper", "café", "nd", "form", "ok"}
