"""Misspelled words of a question."""

import pytest

from chapterhouse.retrieval.exhaustive import find_all
from chapterhouse.retrieval.pipeline import retrieve
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


@pytest.mark.parametrize(
    "question",
    [
        "the warranty",
        "warranties",  # its stem is there
        "waran",  # near nothing
        'the "waranty"',
        "waranty.pdf",
        "the NATA gate",
        "waranty7",
        "fery"[:3],
        "Combien de temps est-ce que la waranty dure ?",  # French, and no document is
    ],
)
def test_what_is_right_or_meant_to_the_letter_is_left(question: str) -> None:
    assert ask(question).corrections == ()


def test_a_complete_list_is_of_the_words_that_are_meant() -> None:
    result = find_all(Query("harbuor", Scope.everything()), TEXTS.sources())
    assert {hit.document.id for hit in result.hits} == {"a", "b"}
    assert result.corrections == (Correction("harbuor", "harbour"),)
