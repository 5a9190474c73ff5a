"""What a question names binds the answer."""

import numpy as np
import pytest

from chapterhouse.answering.names import Names, find_names
from chapterhouse.retrieval.question import Question, understand
from chapterhouse.types import Chunk, Document, Hit

TEXTS = {
    "acme": "Supply agreement with Acme Corporation.\n\nIt ends after 12 months.",
    "globex": "Supply agreement with Globex Limited.\n\nIt ends after 24 months.",
}


def hits(texts: dict[str, str]) -> list[Hit]:
    return [
        Hit(
            rank, 1 / rank, Chunk(name, 0, 0, len(text), text),
            Document(name, f"{name}.md", "", name, "md", "t", "", "", 1, 0, language="en"),
        )
        for rank, (name, text) in enumerate(texts.items(), 1)
    ]  # fmt: skip


def named(asked: str, texts: dict[str, str] = TEXTS) -> tuple[Question, Names]:
    question = understand(asked, {"en": 2})

    def frequency(term: str) -> int:
        return sum(term[:5] in text.casefold() for text in texts.values())

    return question, find_names(question, hits(texts), frequency, lambda name: texts[name])


def test_a_document_that_is_named_is_the_one_the_question_is_about() -> None:
    _, found = named("When does the contract with Acme end?")
    assert found.documents == {"acme"}
    assert found.absent == ()


def test_what_all_of_them_name_tells_them_not_apart() -> None:
    _, found = named("When does the Supply agreement end?")
    assert found.documents == frozenset()


def test_two_names_of_two_documents_bind_to_neither() -> None:
    _, found = named("Does the contract with Acme end before that with Globex?")
    assert found.documents == frozenset()


def test_a_name_that_no_document_has_is_absent() -> None:
    _, found = named("When does the contract with Initech end?")
    assert found.absent == ("Initech",)
    assert found.documents == frozenset()


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("Which contract ends first?", set()),  # the first word has a capital anyway
        ("WHICH CONTRACT ENDS FIRST?", set()),
        ("What does ERR-4012 mean?", {"ERR-4012"}),
        ("What was decided in 2024?", {"2024"}),
        ("Which of the 12 rules holds?", set()),
        ('What is "net weight"?', {"net", "weight"}),
    ],
)
def test_what_is_a_name(asked: str, names: set[str]) -> None:
    question, found = named(asked)
    assert {question.words[number][0] for number in found.words} == names


def test_a_german_noun_is_no_name_and_a_short_form_is_one() -> None:
    question = understand("Wann endet der Vertrag mit der GEMA?", {"de": 2})
    found = find_names(question, hits(TEXTS), lambda _: 1, lambda name: TEXTS[name])
    assert {question.words[number][0] for number in found.words} == {"GEMA"}


def test_the_share_that_is_missing() -> None:
    question, found = named("When does the contract with Acme end?")
    weights = np.full(len(question.words), 1 / len(question.words))
    assert found.missing_share(question, weights, "Acme pays.") == 0.0
    assert found.missing_share(question, weights, "They pay.") == pytest.approx(weights[0])
    assert Names().missing_share(question, weights, "") == 0.0
