"""Composing an answer from hits."""

from collections.abc import Sequence
from dataclasses import replace

from chapterhouse.answering.cite import text_hash
from chapterhouse.answering.extractive import Reference, answer
from chapterhouse.chunking.build import build_chunks
from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.types import Answer, Body, Census, Document, Hit, Query, SearchResult, Section

EMBEDDER = StaticEmbedder()
OLD = "A passenger may claim the fare back within 14 days of the cancelled sailing."
NEW = "A passenger may claim the fare back within 30 days of the cancelled sailing."
ASKED = "Within how many days may a passenger claim the fare back?"


class Shelf:
    """Documents by name, and an answer from all of them."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.bodies = {
            name: Body(text, (Section(0, 0, (), 0, len(text)),)) for name, text in texts.items()
        }
        self.documents = {
            name: Document(
                name, f"a/{name}", f"/a/{name}", name, "md", "t", "", text_hash(text), 1, 0,
                language="en",
            )
            for name, text in texts.items()
        }  # fmt: skip

    def hits(self) -> tuple[Hit, ...]:
        chunks = [
            (chunk, self.documents[name])
            for name, body in self.bodies.items()
            for chunk in build_chunks(name, body, chunk_by_sentence(body), len)
        ]
        return tuple(Hit(n, 1.0 / n, chunk, doc) for n, (chunk, doc) in enumerate(chunks, 1))

    def reference(self) -> Reference:
        def frequency(term: str) -> int:
            return sum(term in body.text.casefold() for body in self.bodies.values())

        return Reference(EMBEDDER, frequency, self.documents.get, self.bodies.get)

    def ask(self, question: str, sentences: int = 3, hits: Sequence[Hit] | None = None) -> Answer:
        found = self.hits() if hits is None else tuple(hits)
        census = Census(len(self.bodies), len(found), {"en": len(self.bodies)})
        result = SearchResult(Query(question), found, (), ("en",), (), census.documents, len(found))
        return answer(result, census, self.reference(), sentences)


def test_two_claims_that_differ_in_a_number_are_both_told() -> None:
    told = Shelf({"old": OLD, "new": NEW}).ask(ASKED)
    assert "14 days" in told.text
    assert "30 days" in told.text


def test_the_same_claim_is_told_once() -> None:
    told = Shelf({"one": NEW, "other": NEW}).ask(ASKED)
    assert len(told.sentences) == 1


def test_no_more_sentences_than_asked_for() -> None:
    told = Shelf({"old": OLD, "new": NEW}).ask(ASKED, sentences=1)
    assert len(told.sentences) == 1


def test_a_sentence_that_cannot_be_verified_is_not_told() -> None:
    shelf = Shelf({"old": OLD, "new": NEW})
    hits = shelf.hits()
    shelf.bodies["old"] = Body(OLD.replace("14", "99"))  # changed after the search
    told = shelf.ask(ASKED, hits=hits)
    assert [citation.document_id for citation in told.citations] == ["new"]
    assert [citation.number for citation in told.citations] == [1]
    assert all(citation.verified for citation in told.citations)


def test_when_nothing_can_be_verified_there_is_no_answer() -> None:
    shelf = Shelf({"new": NEW})
    hits = [
        replace(hit, document=replace(hit.document, text_sha256="0" * 64)) for hit in shelf.hits()
    ]
    shelf.documents = {hit.document.id: hit.document for hit in hits}
    told = shelf.ask(ASKED, hits=hits)
    assert not told.found


def test_no_hits_is_no_answer() -> None:
    told = Shelf({}).ask(ASKED)
    assert not told.found
    assert told.confidence == 0


def test_what_hardly_holds_the_answer_is_not_told() -> None:
    other = "The ferry office in the harbour is painted white every spring."
    told = Shelf({"new": NEW, "other": other}).ask(ASKED)
    assert [citation.document_id for citation in told.citations] == ["new"]


def test_a_question_about_a_year_is_not_answered_from_another() -> None:
    shelf = Shelf({"minutes": "# Minutes of 2025\n\nThe summer fair earned 6,470 euros."})
    assert shelf.ask("What did the summer fair earn in 2025?").found
    assert not shelf.ask("What did the summer fair earn in 2023?").found


def test_file_names_and_pieces_of_chinese_are_not_called_missing() -> None:
    told = Shelf({"minutes": OLD}).ask("渡轮什么时候开 budget-2026.xlsx zeppelin")
    assert told.searched.missing_terms == ("zeppelin",)
