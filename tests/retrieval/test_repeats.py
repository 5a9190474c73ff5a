"""Which of several copies is shown."""

import pytest

from chapterhouse.retrieval.method import Method
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.types import Query, Scope, SearchResult

from .scripted import document, library

CLAUSE = "Either side may end this agreement with thirty days of notice given in writing by post."
TITLES = {"a": "Supply Agreement", "b": "Loan of Machines Agreement", "c": "Rent"}


def ask(question: str) -> SearchResult:
    texts = library(
        [
            ("a", "Between the Harbour Board and Greenstorm Limited."),
            ("a", CLAUSE),
            ("b", "Between the Harbour Board and Sintec."),
            ("b", CLAUSE),
            ("c", "The rent is due."),
        ],
        documents={
            name: document(name, title=title, source=f"root/{name}-{title.split()[0].lower()}.txt")
            for name, title in TITLES.items()
        },
    )
    return retrieve(Query(question, Scope.everything()), texts.sources(), Method())


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("notice to end the agreement", "a:1"),
        ("notice to end the agreement in b-loan.txt", "b:1"),
        ("notice in the loan of machines agreement", "b:1"),
        ("notice to end the loan", "b:1"),
        ("notice to end the agreement with Sintec", "b:1"),
        ("notice to end the agreement with Greenstorm", "a:1"),
    ],
)
def test_the_copy_of_the_document_asked_about_is_shown(question: str, shown: str) -> None:
    hits = ask(question).hits
    copies = [hit for hit in hits if hit.chunk.text == CLAUSE]
    assert [hit.chunk.id for hit in copies] == [shown]
    assert copies[0].repeats == ({"a:1": "b:1", "b:1": "a:1"}[shown],)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_copy_of_a_file_is_shown_once_however_short_it_is() -> None:
    texts = library(
        [("a", "It is Knut's."), ("b", "It is Knut's."), ("c", "It is Knut's.")],
        documents={
            "a": document("a", text_sha256="same"),
            "b": document("b", text_sha256="same"),
            "c": document("c", text_sha256="other"),
        },
    )
    hits = retrieve(Query("Knut's", Scope.everything()), texts.sources(), Method()).hits
    assert [(hit.chunk.id, hit.repeats) for hit in hits] == [("a:0", ("b:0",)), ("c:0", ())]
