"""Lists that must be complete: every document that holds all of the question."""

from tests.retrieval.scripted import Texts, library

from chapterhouse.retrieval.exhaustive import find_all
from chapterhouse.types import Query, Scope, SearchResult

TEXTS = library(
    [
        ("a", "The ferry leaves at nine."),
        ("a", "The ferry has a bar and a harbour pilot."),
        ("b", "The ferry leaves from the harbour at dawn."),
        ("c", "The harbour is closed in winter."),
        ("d", "Tolls are paid in cash."),
    ]
)


def find(text: str, texts: Texts = TEXTS, limit: int = 1) -> SearchResult:
    return find_all(Query(text, Scope.everything(), limit), texts.sources())


def test_every_document_with_all_words_is_listed_whatever_the_limit() -> None:
    found = find("ferry harbour")
    assert [hit.document.id for hit in found.hits] == ["b", "a"]  # a holds them in two chunks
    assert [hit.rank for hit in found.hits] == [1, 2]
    assert found.hits[0].score == 1.0
    assert found.warnings == ()


def test_where_no_document_holds_all_those_that_hold_most_are_listed() -> None:
    found = find("ferry harbour winter")
    assert {hit.document.id for hit in found.hits} == {"a", "b", "c"}
    assert found.warnings == (
        "No document holds all of it: these hold 2 of 3 words and quotations.",
    )


def test_a_quotation_stands_to_the_letter() -> None:
    assert [hit.document.id for hit in find('"leaves from the harbour"').hits] == ["b"]
    found = find('"harbour leaves"')
    assert "No document holds all of it" in "".join(found.warnings) or not found.hits


def test_the_order_in_which_chunks_were_stored_changes_nothing() -> None:
    texts = [(chunk.document_id, chunk.text) for chunk in TEXTS.chunks.values()]
    other = library(texts, order=[4, 2, 1, 3, 0])

    def shown(found: SearchResult) -> list[tuple[str, int, float]]:
        return [(hit.document.id, hit.chunk.ordinal, hit.score) for hit in found.hits]

    assert shown(find("ferry", other)) == shown(find("ferry"))


def test_equal_chunks_of_a_document_are_told_apart_by_their_place() -> None:
    texts = library([("a", "The ferry leaves."), ("a", "The ferry leaves.")], order=[1, 0])
    (hit,) = find("ferry", texts).hits
    assert hit.chunk.ordinal == 0
