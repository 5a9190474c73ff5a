"""Misspelled words of a question."""

import pytest

from chapterhouse.retrieval.exhaustive import find_all
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.spelling import find_absent_words
from chapterhouse.text.mentions import Mentions, words_of
from chapterhouse.types import Correction, Query, Scope, SearchResult, VariantKind

from .scripted import library

TEXTS = library(
    [
        ("a", "The warranty covers the harbour gate for two years."),
        ("b", "Every harbour has a warden. The harbour is old."),
        ("c", "Tickets for the ferry are sold by the crew of NATO-4."),
    ]
)


def ask(question: str) -> SearchResult:
    return retrieve(Query(question, Scope.everything()), TEXTS.sources())


def test_a_misspelled_word_is_searched_as_it_is_meant_and_reported() -> None:
    result = ask("How long is the Waranty?")
    assert result.corrections == (Correction("Waranty", "warranty"),)
    assert result.question.text == "How long is the warranty?"
    assert result.query.text == "How long is the Waranty?"
    assert result.hits[0].document.id == "a"
    assert result.warnings == ("Searched also for: warranty (you wrote: Waranty)",)
    assert [each.kind for each in result.variants] == [VariantKind.ASKED, VariantKind.AS_WRITTEN]


def test_of_equally_near_words_the_most_frequent_is_meant() -> None:
    assert ask("hrbour harboor").corrections[0].meant == "harbour"


def test_what_is_right_or_meant_to_the_letter_is_left() -> None:
    for question in (
        "the warranty or warranties",  # whose stem is there
        "waran",  # near nothing
        'the "waranty"',
        "waranty.pdf",
        "the NATA gate",
        "waranty7 fer",
        "Combien de temps est-ce que la waranty dure ?",  # French, and no document is
    ):
        assert ask(question).corrections == ()


def test_a_complete_list_is_of_the_words_that_are_meant() -> None:
    result = find_all(Query("harbuor", Scope.everything()), TEXTS.sources())
    assert {hit.document.id for hit in result.hits} == {"a", "b"}
    assert result.corrections == (Correction("harbuor", "harbour"),)


@pytest.mark.parametrize(
    ("asked", "languages", "absent"),
    [
        ("How long does Falmer's zeppelin fly?", {"en": 3}, ("Falmer", "zeppelin", "fly")),
        ("List the harbours, ferries and wardens", {"en": 3}, ()),
        ("What did NATO-4 do in 2025?", {"en": 3}, ("2025",)),
        ("What of NATO 4, nato-5 and GATE7?", {"en": 3}, ("nato-5", "GATE7")),
        ("Wie hoch ist der Turm?", {"": 3}, ("Turm",)),  # no language of the documents is known
        ("Missä on zeppelin?", {"fi": 3, "en": 3}, ()),  # forms that cannot be told
        ("渡轮什么时候开 budget-2026.xlsx", {"en": 3}, ()),
        ("the\x1b[31m gate 1,500 12:30", {"en": 3}, ()),
    ],
)
def test_what_no_document_mentions_in_any_form_is_absent(
    asked: str, languages: dict[str, int], absent: tuple[str, ...]
) -> None:
    question = parse_question(asked, languages)
    words = "\n".join(word for chunk in TEXTS.chunks.values() for word in words_of(chunk.text))
    mentions = Mentions(words)
    found = find_absent_words(question, Scope.everything(), TEXTS, lambda word, _: word in mentions)
    assert found == absent
