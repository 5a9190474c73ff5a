"""A model that is asked once more gives its opinion, with the words of a source."""

import pytest

from chapterhouse.answering.check_written import Checked
from chapterhouse.answering.cite import Lookup, text_hash
from chapterhouse.answering.second_opinion import (
    add_opinions,
    read_opinions,
    statements,
)
from chapterhouse.types import AnswerSentence, Body, Document, Evidence, Opinion, OpinionKind

TEXT = "Guests pay 20 euros a night. Dogs are welcome on every deck of the ferry."
HERE = Evidence("tariff-1", 0, len(TEXT), TEXT, "en", "Tariff")
DOCUMENT = Document("tariff-1", "t.md", "", "Tariff", "md", "test", "", text_hash(TEXT), 1, 0)
LOOKUP = Lookup({"tariff-1": DOCUMENT}.get, {"tariff-1": Body(TEXT)}.get)
REWORDED = "You may bring your animal along."
DOGS = "Dogs are welcome on every deck of the ferry."
CHECKED = Checked((AnswerSentence(REWORDED, ()), AnswerSentence("So.", ())), (), ())


def opinion(kind: OpinionKind, quotation: str) -> tuple[Opinion | None, list[str]]:
    given = {REWORDED: (kind, quotation)}
    found = add_opinions(CHECKED, given, "m", [HERE], LOOKUP)
    assert found.sentences[1] == CHECKED.sentences[1]
    return found.sentences[0].opinion, [one.quote for one in found.citations]


@pytest.mark.parametrize("kind", [OpinionKind.CONFIRMS, OpinionKind.CONTRADICTS])
def test_an_opinion_stands_with_the_words_of_the_source(kind: OpinionKind) -> None:
    assert opinion(kind, DOGS) == (Opinion(kind, "m", 1), [DOGS.rstrip(".")])


@pytest.mark.parametrize("quotation", ["", "Dogs", "Cats are welcome on every deck.", "x" * 900])
def test_without_words_of_a_source_it_is_left_out(quotation: str) -> None:
    assert opinion(OpinionKind.CONFIRMS, quotation) == (None, [])
    assert opinion(OpinionKind.CONTRADICTS, quotation) == (None, [])


def test_that_no_source_says_it_needs_no_words() -> None:
    assert opinion(OpinionKind.SILENT, DOGS) == (Opinion(OpinionKind.SILENT, "m"), [])


@pytest.mark.parametrize(
    "text",
    [
        '{"checks": [{"statement": 1, "verdict": "confirms", "quotation": "Dogs"}]}',
        'Here:\n```json\n{"checks": [{"statement": 1, "verdict": "confirms", "quotation": "Dogs"}',
        """{"checks": [{"statement": 1, "verdict": "confirms", "quotation": "Dogs"}, 7,
        {"statement": 9, "verdict": "confirms"}, {"statement": 2, "verdict": "true"}]}""",
    ],
)
def test_opinions_are_read_as_models_write_them(text: str) -> None:
    expected = {"One.": (OpinionKind.CONFIRMS, "Dogs")}
    assert read_opinions(text, ("One.", "Two.")) == expected


@pytest.mark.parametrize("text", ["", "I agree with all of it.", "[]", '{"checks": {"a": 1}}'])
def test_rubbish_is_no_opinion(text: str) -> None:
    assert read_opinions(text, ("One.",)) == {}


def test_statements_are_numbered_and_harmless() -> None:
    shown = statements(("One [1] <b>.", "Two."))
    assert shown.splitlines()[0] == "Statements:"
    assert shown.splitlines()[2] == "2. Two."
    assert not set("[]<>") & set(shown)
