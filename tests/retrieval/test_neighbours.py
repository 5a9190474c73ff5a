"""Passages that name what the first hits name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chapterhouse.retrieval.among import among
from chapterhouse.retrieval.candidates import Method, Neighbours, Sources
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.types import Query, Scope, SearchResult

from .scripted import Texts, library

MAYOR = "Ross Alger was the mayor of Calgary. He was an accountant."
SKIER = "Franck Piccard won the Super-G in Calgary."
QUESTION = "Who won the Super-G at the games in the city whose mayor was Ross Alger?"
RUNNERS = [(f"runner{n}", f"Runner {n} won the games of city number {n}.") for n in range(7)]
BEHIND = Neighbours(near=2.0)  # no hit is so good that it counts
METHOD = Method(hop=None, duplicates=2.0, neighbours=BEHIND)
OFF = replace(METHOD, neighbours=None)


@dataclass
class Named:
    """What documents name, by the words of their texts."""

    texts: Texts
    names: Sequence[str] = ("ross alger", "calgary", "franck piccard")

    def entities_in(self, document: str, start: int, end: int, scope: Scope) -> Sequence[str]:  # noqa: ARG002 - the seam's signature
        return [name for name in self.names if document in self._naming(name)]

    def documents_naming(
        self,
        entities: Sequence[str],
        scope: Scope,  # noqa: ARG002 - likewise
        most: int,
    ) -> Mapping[str, Sequence[str]]:
        found = {name: self._naming(name) for name in entities}
        return {name: own for name, own in found.items() if len(own) <= most}

    def _naming(self, name: str) -> Sequence[str]:
        chunks = self.texts.chunks.values()
        return sorted({one.document_id for one in chunks if name in one.text.casefold()})


def made(*more: tuple[str, str], skier: str = SKIER) -> Sources:
    texts = library([("mayor", MAYOR), ("skier", skier), *RUNNERS, *more])
    return replace(texts.sources(), mentions=Named(texts))


def ask(sources: Sources, method: Method = METHOD, question: str = QUESTION) -> SearchResult:
    return retrieve(Query(question, Scope.everything(), limit=8, per_document=0), sources, method)


def found(result: SearchResult) -> list[str]:
    return [hit.document.id for hit in result.hits]


def test_what_names_the_same_and_says_the_rest_stands_behind_the_first_hits() -> None:
    sources = made(skier="In Calgary a Frenchman came first.")  # in words of its own
    assert "skier" not in found(ask(sources, OFF))
    result = ask(sources)
    assert found(result)[:5] == found(ask(sources, OFF))[:5]
    brought = result.hits[5]
    assert brought.document.id == "skier"
    assert brought.stages["neighbour"] == brought.score == result.hits[4].score


def test_hits_that_come_near_the_best_stay_before_all_neighbours() -> None:
    sources = made(skier="In Calgary a Frenchman came first.")
    before = ask(sources, OFF)
    share = before.hits[7].score / before.hits[0].score
    assert found(ask(sources, replace(METHOD, neighbours=Neighbours(near=share)))) == found(before)


def test_words_that_are_left_open_decide_between_neighbours() -> None:
    other = ("aaa", "Calgary has a zoo.")
    assert (
        found(ask(made(other), replace(METHOD, neighbours=replace(BEHIND, behind=1))))[1] == "skier"
    )


def test_a_name_that_too_many_documents_have_leads_nowhere() -> None:
    sources = made(skier="In Calgary a Frenchman came first.")
    hub = replace(METHOD, neighbours=replace(BEHIND, documents=1))
    assert found(ask(sources, hub)) == found(ask(sources, OFF))


def test_most_questions_have_none() -> None:
    sources = made()
    plain = "Who won the games of the city?"  # names nothing that a first hit names
    covered = "Was Ross Alger the mayor of Calgary?"  # the first hit says all of it
    quoted = 'Who was "Ross Alger" in the games?'
    for question in (plain, covered, quoted):
        stages = [hit.stages for hit in ask(sources, question=question).hits]
        assert not any("neighbour" in one for one in stages), question
    unread = replace(sources, mentions=None)
    assert found(ask(unread)) == found(ask(unread, OFF))


def test_some_documents_alone_have_no_other_neighbours() -> None:
    sources = made(skier="In Calgary a Frenchman came first.")
    names = {"mayor", *(name for name, _ in RUNNERS)}
    assert "skier" not in found(ask(among(sources, names)))
    assert "skier" in found(ask(among(sources, {*names, "skier"})))
