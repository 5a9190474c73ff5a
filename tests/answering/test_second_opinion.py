"""A model's opinion moves what is not sure, and nothing else."""

import pytest

from chapterhouse.answering.second_opinion import (
    Opinion,
    opinions,
    statements,
    with_entailment,
    with_opinions,
)
from chapterhouse.claims.judge import judge
from chapterhouse.types import Evidence, ProblemKind, Support

TEXT = "Guests pay 20 euros a night. Dogs are welcome on every deck of the ferry."
HERE = Evidence("tariff-1", 5, 5 + len(TEXT), TEXT, "en", "Tariff")
REWORDED = "You may bring your animal along."
DOGS = "Dogs are welcome on every deck of the ferry."


def told(sentence: str, verdict: Support, quotation: str) -> Support:
    second = with_opinions(judge, {sentence: Opinion(verdict, quotation)}, "m")
    return second(sentence, [HERE], []).support


def test_a_quotation_that_stands_there_raises_what_was_not_found() -> None:
    assert judge(REWORDED, [HERE], []).support is Support.NOT_FOUND
    second = with_opinions(judge, {REWORDED: Opinion(Support.SUPPORTED, DOGS)}, "m")
    found = second(REWORDED, [HERE], [])
    assert (found.support, found.model) == (Support.SUPPORTED, "m")
    assert found.spans[0].quote == DOGS.rstrip(".")
    assert TEXT[found.spans[0].start - 5 : found.spans[0].end - 5] == found.spans[0].quote


@pytest.mark.parametrize("quotation", ["", "Dogs", "Cats are welcome on every deck.", "x" * 900])
def test_without_a_quotation_from_the_sources_an_opinion_raises_nothing(quotation: str) -> None:
    assert told(REWORDED, Support.SUPPORTED, quotation) is Support.NOT_FOUND
    assert told(REWORDED, Support.DISAGREES, quotation) is Support.NOT_FOUND


@pytest.mark.parametrize("verdict", [Support.SUPPORTED, Support.NOT_FOUND, Support.DISAGREES])
def test_no_opinion_moves_a_quotation_or_another_number(verdict: Support) -> None:
    assert told(DOGS, verdict, TEXT) is Support.QUOTED
    wrong = "Guests pay 30 euros a night."
    assert told(wrong, verdict, "Guests pay 20 euros a night.") is Support.DISAGREES


def test_a_disagreement_is_told_with_the_words_of_the_source() -> None:
    sentence = "Animals have to stay at home."
    second = with_opinions(judge, {sentence: Opinion(Support.DISAGREES, DOGS)}, "m")
    found = second(sentence, [HERE], [])
    assert found.support is Support.DISAGREES
    assert (found.problems[0].kind, found.problems[0].found) == (
        ProblemKind.WORDS,
        DOGS.rstrip("."),
    )


def test_what_the_rules_took_for_supported_may_be_lowered() -> None:
    sentence = "A night costs guests 20 euros."
    assert told(sentence, Support.NOT_FOUND, "") is Support.NOT_FOUND


@pytest.mark.parametrize(
    "text",
    [
        '{"checks": [{"statement": 1, "verdict": "supported", "quotation": "Dogs"}]}',
        'Here:\n```json\n{"checks": [{"statement": 1, "verdict": "supported", "quotation": "Dogs"}',
        """{"checks": [{"statement": 1, "verdict": "supported", "quotation": "Dogs"}, 7,
        {"statement": 9, "verdict": "supported"}, {"statement": 2, "verdict": "true"}]}""",
    ],
)
def test_opinions_are_read_as_models_write_them(text: str) -> None:
    assert opinions(text, ("One.", "Two.")) == {"One.": Opinion(Support.SUPPORTED, "Dogs")}


@pytest.mark.parametrize("text", ["", "I agree with all of it.", "[]", '{"checks": {"a": 1}}'])
def test_rubbish_is_no_opinion(text: str) -> None:
    assert opinions(text, ("One.",)) == {}


def test_statements_are_numbered_and_harmless() -> None:
    shown = statements(("One [1] <b>.", "Two."))
    assert shown.splitlines()[0] == "Statements:"
    assert shown.splitlines()[2] == "2. Two."
    assert not set("[]<>") & set(shown)


# --- a cross-encoder ---------------------------------------------------------------------------


class Follows:
    """Says what it is told to about one premise, and nothing about any other."""

    fingerprint = "folder/tiny"

    def __init__(self, premise: str, probability: float) -> None:
        self._known = {premise: probability}
        self.asked: list[str] = []

    def probability(self, premise: str, statement: str) -> float:
        self.asked.append(statement)
        return self._known.get(premise, 0.0)


@pytest.mark.parametrize("premise", [TEXT, DOGS], ids=["all that is cited", "what comes closest"])
def test_what_follows_from_the_sources_is_supported(premise: str) -> None:
    sentence = "Dogs may come on each deck, too."
    first = judge(sentence, [HERE], [])
    assert first.support is Support.NOT_FOUND
    assert first.spans
    found = with_entailment(judge, Follows(premise, 0.9))(sentence, [HERE], [])
    assert (found.support, found.model) == (Support.SUPPORTED, "folder/tiny")
    assert found.spans == first.spans


def test_what_does_not_follow_is_not_found() -> None:
    sentence = "A night costs guests 20 euros."
    assert judge(sentence, [HERE], []).support is Support.SUPPORTED
    found = with_entailment(judge, Follows(TEXT, 0.4))(sentence, [HERE], [])
    assert (found.support, found.model) == (Support.NOT_FOUND, "")


def test_no_cross_encoder_moves_a_quotation_or_another_number() -> None:
    model = Follows(TEXT, 1.0)
    second = with_entailment(judge, model)
    assert second(DOGS, [HERE], []).support is Support.QUOTED
    assert second("Guests pay 30 euros a night.", [HERE], []).support is Support.DISAGREES
    assert second("Here is the answer:", [HERE], []).support is Support.NO_STATEMENT
    assert model.asked == []
