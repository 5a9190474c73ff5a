import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.answering.test_extractive import UNSURE, Shelf

from chapterhouse.answering.choosing import beginning
from chapterhouse.types import AnswerOutcome

RULES = "---\ntitle: x\n---\n# Hall rules\n\nThe hall opens at nine. It closes at ten.\n\nNo dogs."


@given(st.integers(0, 30))
def test_whole_sentences_within_a_number_of_words(words: int) -> None:
    shelf = Shelf({"rules": RULES})
    text = shelf.bodies["rules"].text
    part = beginning(text, shelf.hits()[0], words)
    shown = part.text(text) if part else ""
    assert len(shown.split()) <= words
    assert not shown or (shown.startswith("The hall opens") and shown.endswith("."))
    assert bool(shown) == (words >= 5)


@pytest.mark.parametrize("asked", ["Summarise the Hall Rules", "Fasse die Hall Rules zusammen"])
def test_a_summary_shows_how_the_document_begins_that_is_named(asked: str) -> None:
    shelf = Shelf({"Hall Rules": RULES, "Other": "Rules of the hall are here summarised."})
    told = shelf.ask(asked)
    assert told.outcome is AnswerOutcome.PASSAGES
    assert told.notice == "A summary needs a model. This is how “Hall Rules” begins:"
    assert told.text.startswith("The hall opens at nine. It closes at ten.")
    assert shelf.ask(asked, UNSURE).text == told.text


def test_a_summary_of_nothing_in_particular_shows_passages() -> None:
    told = Shelf({"rules": RULES}).ask("Summarise what it says of dogs")
    assert told.outcome is AnswerOutcome.PASSAGES
    assert told.notice == "A summary needs a model. These are passages it would sum up:"


def test_what_leads_in_to_items_stands_before_the_first_of_them_that_is_shown() -> None:
    text = """\
Gifts are a matter of taste.

Here are things that are not allowed:

- winery tours with customers
- a football that a player has signed
- a contribution to a charity of the customer's choice

Here are things that are allowed:

- a box of chocolates for the customer
"""
    shelf = Shelf({"gifts": text})
    for asked in (
        "contribution to a charity, or a football?",
        "winery tours? chocolates? charity?",
    ):
        shown = shelf.ask(asked, UNSURE).text
        forbidden, allowed = shown.find("not allowed:"), shown.find("are allowed:")
        for item in ("winery", "football", "charity"):
            assert shown.find(item) == -1 or forbidden < shown.find(item)
        assert shown.find("chocolates") == -1 or allowed < shown.find("chocolates")
        assert shown.count("not allowed:") == 1
