"""What is known of languages is whole and can be used."""

import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.route import QuestionKind
from chapterhouse.text.language_data import (
    STOPWORDS,
    bare_question,
    cue_pattern,
    language_data,
)

DATA = language_data()
FULL = ("ar", "de", "en", "es", "fr", "it", "ja", "nl", "pt", "ru", "zh")
KINDS = {kind.value for kind in QuestionKind} - {"open"}


def test_languages_are_in_order_and_read_once() -> None:
    assert list(DATA) == sorted(DATA)
    assert set(FULL) <= set(DATA)
    assert language_data() is DATA
    assert {name: data.function_words for name, data in DATA.items()} == STOPWORDS


@pytest.mark.parametrize("language", DATA)
def test_the_words_of_every_language_can_be_used(language: str) -> None:
    data = DATA[language]
    assert data.linking_words
    assert data.pointing_words
    assert data.function_words or language in {"zh", "ja", "ar"}
    assert not any(map(str.isdigit, "".join(data.function_words)))
    assert set(data.questions) <= KINDS
    if language in FULL:
        assert {"date", "number", "person", "place", "reason"} <= set(data.questions)
        assert data.reason_cues or language in {"ar", "ja"}
    lists = (data.function_words, data.number_words, data.date_words, data.empty_words)
    for word in frozenset[str]().union(
        *lists, data.joining_words, data.linking_words, data.pointing_words
    ):
        assert word == word.casefold() or "ß" in word
    positions = [cue for cues in data.positions.values() for cue in cues]
    for cue in (*positions, *data.polite_phrases, *(c for q in data.questions.values() for c in q)):
        assert not re.compile(cue, re.IGNORECASE).fullmatch("")
    assert not any(re.compile(cue).groups for cue in positions)
    assert all(data.questions.values())
    assert re.compile(data.reason_cues)


def test_every_cue_of_positions_is_used_and_is_known() -> None:
    rooms = (files(f"chapterhouse.{room}") for room in ("answering", "council"))
    modules = (one for room in rooms for one in room.iterdir() if one.name.endswith(".py"))
    code = "".join(one.read_text("utf-8") for one in modules)
    used = set(re.findall(r"<([a-z_]+)>", code))
    assert used == {name for data in DATA.values() for name in data.positions}


def test_a_pattern_has_the_cues_of_all_languages_and_is_built_once() -> None:
    pattern = cue_pattern(r"^(?:<joins>)\b")
    found = [word for word in ("And now", "und", "ET", "Andrew") if pattern.match(word)]
    assert found == ["And now", "und", "ET"]
    assert cue_pattern(r"^(?:<joins>)\b") is pattern
    with pytest.raises(KeyError, match="perhaps"):
        cue_pattern("<perhaps>")


@pytest.mark.parametrize(
    ("asked", "bare"),
    [
        ("  What does a  Berth cost ?!", "what does a berth cost"),
        ("Please, what does a berth cost?", "what does a berth cost"),
        ("Hi! Can you please tell me: what does a berth cost? Thanks!", "what does a berth cost"),
        ("Could you tell me what does a berth cost, please?", "what does a berth cost"),
        ("Thanks!", "thanks"),
        ("Was kostet ein Liegeplatz bitte?", "was kostet ein liegeplatz"),
        ("Können Sie mir bitte sagen, was ein Platz kostet?", "was ein platz kostet"),
        ("Bonjour, combien coûte une place, s'il vous plaît ?", "combien coûte une place"),
        ("¿Cuánto cuesta, por favor?", "cuánto cuesta"),
        ("Пожалуйста, сколько стоит место?", "сколько стоит место"),
    ],
)
def test_each_language_has_its_own_politeness(asked: str, bare: str) -> None:
    assert bare_question(asked) == bare


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What does WHO say?", "What does who say?"),
        ('Where is "half strength"?', "Where is half strength?"),
        ("What is D-2025-32?", "What is D 2025 32?"),
        ("Who may please the queen?", "Who may the queen?"),
        ("What does a berth cost?", "What does a berth not cost?"),
    ],
)
def test_what_makes_a_difference_stays(one: str, other: str) -> None:
    assert bare_question(one) != bare_question(other)


@given(st.text(max_size=60))
def test_any_text_has_a_bare_form_without_spaces_to_spare(text: str) -> None:
    bare = bare_question(text)
    assert bare == " ".join(bare.split())
