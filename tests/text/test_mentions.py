"""What a text mentions in any form is never called absent."""

import pytest

from chapterhouse.text.mentions import Mentions, is_form_word, parts_to_find


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
