"""What a question asks for, and which sentences offer it."""

import pytest

from chapterhouse.answering.answer_types import AnswerType, asked_for, offers


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the bridge built?", AnswerType.DATE),
        ("In which year did she die?", AnswerType.DATE),
        ("How many ships are there?", AnswerType.NUMBER),
        ("Who founded the company?", AnswerType.PERSON),
        ("Where is the harbour?", AnswerType.PLACE),
        ("Why was the sailing cancelled?", AnswerType.REASON),
        ("What is a turbine?", AnswerType.UNKNOWN),
        ("Wann wurde die Brücke gebaut?", AnswerType.DATE),
        ("Wie viele Schiffe gibt es?", AnswerType.NUMBER),
        ("Wer gründete die Firma?", AnswerType.PERSON),
        ("这座桥是什么时候建成的？", AnswerType.DATE),
        ("黑豹队的防守丢了多少分？", AnswerType.NUMBER),
        ("谁创办了公司？", AnswerType.PERSON),
        ("Quand le pont a-t-il été construit ?", AnswerType.DATE),
        ("¿Cuántos barcos hay?", AnswerType.NUMBER),
        ("Hoeveel schepen zijn er?", AnswerType.NUMBER),
        ("Где находится порт?", AnswerType.PLACE),
    ],
)
def test_the_kind_is_told_from_function_words(question: str, kind: AnswerType) -> None:
    assert asked_for(question) is kind


@pytest.mark.parametrize(
    ("kind", "sentence", "question", "offered"),
    [
        (AnswerType.DATE, "It was built in 1871.", "When was it built?", True),
        (AnswerType.DATE, "The 1871 bridge is old.", "When was the 1871 bridge built?", False),
        (AnswerType.DATE, "Departure at 21:30.", "When does it leave?", True),
        (AnswerType.NUMBER, "There are twelve ships.", "How many ships are there?", True),
        (AnswerType.NUMBER, "There are ships.", "How many ships are there?", False),
        (AnswerType.NUMBER, "黑豹队只丢了308分。", "丢了多少分？", True),
        (AnswerType.PERSON, "The firm was founded by Ada Berg.", "Who founded it?", True),
        (AnswerType.PERSON, "The firm was founded long ago.", "Who founded it?", False),
        (AnswerType.REASON, "It was cancelled because of fog.", "Why?", True),
        (AnswerType.UNKNOWN, "It was built in 1871.", "What is it?", False),
    ],
)
def test_only_what_is_new_is_offered(
    kind: AnswerType, sentence: str, question: str, *, offered: bool
) -> None:
    assert offers(kind, sentence, question) is offered
