"""Documents that the first hits mention by name."""

from dataclasses import replace

from chapterhouse.retrieval.candidates import Hop, Method
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.types import Query, Scope, SearchResult

from .scripted import Texts, document, library

FILM = "The River is a film directed by Clio Barnard in a valley."
DIRECTOR = "Clio Barnard was born in Otley. She went to school there."
OTHERS = [(f"other{number}", f"Tickets cost {number} crowns.") for number in range(4)]
HOP = Method(hop=Hop())


def films(*more: tuple[str, str], title: str = "Clio Barnard") -> Texts:
    titles = {"film": "The River (2017 film)", "director": title}
    documents = {name: document(name, title=text) for name, text in titles.items()}
    return library([("film", FILM), ("director", DIRECTOR), *more, *OTHERS], documents=documents)


def ask(texts: Texts, question: str, method: Method = HOP) -> SearchResult:
    return retrieve(Query(question, Scope.everything(), limit=5), texts.sources(), method)


def found(result: SearchResult) -> list[str]:
    return [hit.document.id for hit in result.hits]


def test_a_document_that_the_first_hit_mentions_is_found() -> None:
    question = "Which town does the director of the film come from?"
    result = ask(films(), question)
    assert found(result) == ["film", "director"]
    first, second = result.hits
    assert second.stages["mentioned"] == second.score == round(0.6 * first.score, 6)
    assert found(ask(films(), question, replace(HOP, hop=None))) == ["film"]


def test_a_document_that_the_question_names_is_followed_too() -> None:
    loud = [(f"loud{number}", "Music film music film music film.") for number in range(2)]
    result = ask(films(*loud), "The music in the film The River")
    assert set(found(result)) >= {"film", "director"}


def test_a_single_word_that_many_chunks_use_is_no_name() -> None:
    texts = films(*((f"p{n}", "Valley paths are steep.") for n in range(12)), title="Valley")
    assert "director" not in found(ask(texts, "Which film?"))
    assert "director" in found(ask(films(title="Barnard"), "Which film?"))


def test_a_mention_does_not_lower_a_score() -> None:
    question = "Where was Clio Barnard, director of the film, born?"
    with_hop = {hit.chunk.id: hit.score for hit in ask(films(), question).hits}
    without = ask(films(), question, replace(HOP, hop=None)).hits
    assert all(with_hop[hit.chunk.id] >= hit.score for hit in without)
