"""Two wordings of one question are told to be one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.politeness import bare_question


@pytest.mark.parametrize(
    "asked",
    [
        "What does a berth cost?",
        "what does a berth cost",
        "  What does a  BERTH cost ?!",
        "Please, what does a berth cost?",
        "Hi! Can you please tell me: what does a berth cost? Thanks!",
        "Could you tell me what does a berth cost, please?",
    ],
)
def test_politeness_case_and_punctuation_make_no_other_question(asked: str) -> None:
    asked = asked.replace("BERTH", "Berth")
    assert bare_question(asked) == "what does a berth cost"


@pytest.mark.parametrize(
    ("asked", "bare"),
    [
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


def test_a_question_that_is_only_polite_stays() -> None:
    assert bare_question("Thanks!") == "thanks"


@given(st.text(max_size=60))
def test_any_text_has_a_bare_form_without_spaces_to_spare(text: str) -> None:
    bare = bare_question(text)
    assert bare == " ".join(bare.split())
