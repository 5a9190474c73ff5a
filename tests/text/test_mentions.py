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

FORMS = """city cities|knife Knives|fireman firemen|tooth teeth|mice mouse|criterion criteria
index indices|analysis analyses|Haus Häuser|München Muenchen|Straße Strasse|Museum Museen
cheval chevaux|travail travaux|luz luces|coração corações|amica amiche|boom bomen|huis huizen
bok böcker|café cafes|stop stopped""".replace("\n", "|")


def test_forms_of_a_word_are_mentions_of_it() -> None:
    for asked, stated in map(str.split, FORMS.split("|")):
        assert asked in Mentions(stated.casefold())
        assert stated in Mentions(asked.casefold())


def test_a_compound_mentions_its_parts_and_they_mention_it() -> None:
    for asked, stated in (
        ("boat", "lifeboats"),
        ("Wahl", "bundestagswahlkampf"),
        ("Nachttarif", "tarif\nnacht"),
        ("Friedenspfeife", "frieden\npfeifen"),
        ("2025", "tariff2025pdf"),
        ("B7", "berthb7md"),
    ):
        assert asked in Mentions(stated), asked
    for word in ("dentist", "zeppelin", "Falmer", "world", "Gürteltier"):
        assert word not in Mentions("the\nharbour\ngate\ncloses\nidentity\nfall\nword"), word


def test_words_of_the_form_of_a_question_are_known_in_any_language() -> None:
    words = "List summarised Cuánto cuanto Wie hoch DER Combien October Euros Zeppelin"
    assert [word for word in words.split() if not is_form_word(word)] == ["Zeppelin"]


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
        ("confidanciels", "confidentiels", 1.9),
        ("nowledge", "knowledge", 1.3),  # the first letter
        ("poach", "roach", None),  # a consonant for another in a short word
        ("house", "horses", None),  # two edits in a short word
        ("orraires", "horaires", None),  # two edits, one at the first letter
        ("cat", "cats", None),
    ],
)
def test_common_misspellings_are_near(written: str, meant: str, cost: float | None) -> None:
    assert edit_cost(written, meant) == (cost and pytest.approx(cost))


@given(WORDS, WORDS)
def test_what_is_near_differs_by_few_letters(written: str, meant: str) -> None:
    cost = edit_cost(written, meant)
    if cost is not None:
        assert abs(len(written) - len(meant)) <= most_edits(written)
        assert (cost == 0) == (written == meant)


def test_words_are_folded() -> None:
    text = "The Harbour gate-keeper's café, 2nd form; 港口的大门 ok"
    assert words_of(text) == {"the", "harbour", "gate", "keeper", "café", "nd", "form", "ok"}
