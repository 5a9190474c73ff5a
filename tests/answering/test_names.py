"""What a question names binds the answer."""

from collections.abc import Mapping

import numpy as np
import pytest
from tests.answering.test_extractive import UNSURE, Shelf

from chapterhouse.answering.names import (
    Names,
    _things,
    find_names,
    find_steps,
    named_documents,
)
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.sentence_model import Judged
from chapterhouse.retrieval.sentences import split_hits
from chapterhouse.types import AnswerOutcome, Chunk, Document, Hit, Question

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
    question = parse_question(asked, {"en": 2})

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
    question = parse_question("Wann endet der Vertrag mit der GEMA?", {"de": 2})
    found = find_names(question, hits(TEXTS), lambda _: 1, lambda name: TEXTS[name])
    assert {question.words[number][0] for number in found.words} == {"GEMA"}


def test_the_share_that_is_missing() -> None:
    question, found = named("When does the contract with Acme end?")
    weights = np.full(len(question.words), 1 / len(question.words))
    assert found.missing_share(question, weights, "Acme pays.") == 0.0
    assert found.missing_share(question, weights, "They pay.") == pytest.approx(weights[0])
    assert Names().missing_share(question, weights, "") == 0.0


FERRY = "The Grey Gull is a ferry of 1931 built by Osk Falmer.\n\nIt carries sheep and mail."
BUILDER = "Osk Falmer was a builder of boats. He was born in Tarn in 1880 and died on 3 May 1944."
OTHER = "The Blue Heron is a ferry of 1936 built by Ida Lund."
OTHER_BUILDER = "Ida Lund was a builder of ferries. She died on 9 June 1951 in Vik."
NOISE = "When the builder of a ferry died, the harbour office flew its flag at half mast."
FERRIES: Mapping[str, str] = {
    "Harbour customs": NOISE,
    "The Grey Gull": FERRY,
    "Osk Falmer": BUILDER,
    "The Blue Heron": OTHER,
    "Ida Lund": OTHER_BUILDER,
}


@pytest.mark.parametrize("meaning", [True, False])
def test_the_thing_that_is_named_leads_on_to_another(meaning: bool) -> None:  # noqa: FBT001 - a parameter of the test
    told = Shelf(FERRIES, meaning=meaning).ask("When did the builder of The Grey Gull die?")
    assert [one.document_id for one in told.citations[:2]] == ["The Grey Gull", "Osk Falmer"]
    assert "3 May 1944" in told.text


def test_each_of_two_things_has_its_own_steps() -> None:
    asked = "Which ferry has the builder who died first, The Grey Gull or The Blue Heron?"
    told = Shelf(FERRIES, meaning=True).ask(asked, UNSURE)
    assert told.outcome is AnswerOutcome.PASSAGES
    assert {one.document_id for one in told.citations} >= {*FERRIES} - {"Harbour customs"}
    assert len(told.sentences) == 4


def test_of_two_things_that_lead_nowhere_each_has_a_sentence() -> None:
    told = Shelf({name: FERRIES[name] for name in ("The Grey Gull", "The Blue Heron")}).ask(
        "Is The Blue Heron older than The Grey Gull?"
    )
    assert [one.document_id for one in told.citations][:2] == ["The Blue Heron", "The Grey Gull"]


def test_what_leads_on_is_not_called_another_document() -> None:
    told = Shelf(FERRIES).ask("When did the builder of The Grey Gull die?")
    notes = {one.citations[0]: one.note for one in told.sentences}
    assert notes[1] == notes[2] == ""


@pytest.mark.parametrize(
    "asked",
    [
        "When did the builder of the grey gull die?",  # not written as a name
        "When did the builder of the Red Gull die?",
        "When did a builder die?",
    ],
)
def test_nothing_leads_on_from_what_is_not_named(asked: str) -> None:
    hits = Shelf(FERRIES).hits()

    def judge(question: Question) -> Judged:
        raise AssertionError(question.text)  # nothing is judged twice for no gain

    question = parse_question(asked, {"en": len(FERRIES)})
    assert find_steps(question, split_hits(hits), hits, judge, bool) == ()


def test_a_name_that_many_documents_share_says_nothing() -> None:
    assert _things(dict.fromkeys("abcd", (0, 5))) == {}
    assert _things({"a": (4, 9), "b": (0, 9), "c": (12, 20)}) == {(0, 9): ["b"], (12, 20): ["c"]}


def test_documents_that_are_named_are_in_the_order_of_the_question() -> None:
    asked = "Did Ida Lund know Osk Falmer?"
    assert named_documents(asked, Shelf(FERRIES).hits()) == ("Ida Lund", "Osk Falmer")
