"""The graph as an index: what it says after any history is what the documents say now."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chapterhouse.index.graph import GraphIndex
from chapterhouse.index.relations import likelihood_ratio
from chapterhouse.store.sqlite import Store
from chapterhouse.text.entity_names import name_entities
from chapterhouse.types import Body, Chunk, Document, Scope
from chapterhouse.types.graph import (
    Entity,
    EntityKind,
    EntityNames,
    Mention,
    MergedName,
    MergeReason,
    NameDecision,
)

ALL = Scope.everything()
NAMES = (
    *("Ingrid Tolle", "I. Tolle", "Oskar Lindt", "Óskar Lindt", "Kiel", "Tolle"),
    *("Harbour Traffic Authority", "HTA", "Lindt Ferries Ltd", "Lindt Ferries", "Seelog"),
    "Company",
)
KINDS = {
    "Kiel": EntityKind.LOCATION, "Seelog": EntityKind.CONCEPT, "HTA": EntityKind.ORGANIZATION,
    "Harbour Traffic Authority": EntityKind.ORGANIZATION,
    "Lindt Ferries": EntityKind.ORGANIZATION, "Lindt Ferries Ltd": EntityKind.ORGANIZATION,
    "Company": EntityKind.ORGANIZATION,
}  # fmt: skip
Put = Callable[..., str]
Texts = Sequence[tuple[Document, Body, Sequence[Chunk]]]


def read(texts: Texts) -> list[tuple[EntityNames, None]]:
    """Find the names above, as a head would."""
    return [(names_in(*one), None) for one in texts]


def names_in(document: Document, body: Body, chunks: Sequence[Chunk]) -> EntityNames:
    every = re.finditer("|".join(sorted(NAMES, key=len, reverse=True)), body.text)
    mentions = [
        Mention(one.start(), one.end(), KINDS.get(one.group(), EntityKind.PERSON), 0.9)
        for one in every
    ]
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    return name_entities(document.title, body.text, spans, mentions, "en")


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[GraphIndex]:
    with closing(GraphIndex(tmp_path / "graph", read, wait_seconds=0.5)) as opened:
        yield opened


def filled(graph: GraphIndex, store: Store) -> GraphIndex:
    graph.catch_up(store)
    graph.fill(store)
    assert graph.pending() == 0
    return graph


def names(graph: GraphIndex, scope: Scope = ALL) -> dict[str, Entity]:
    return {one.id: one for one in graph.entities(scope, limit=99)[0]}


def everything(graph: GraphIndex, scope: Scope = ALL) -> object:
    known = names(graph, scope)
    links = graph.connections(known, scope)
    return known, links, {key: graph.sentences(key, scope, 99) for key in known}


def test_who_stands_in_a_sentence_is_related_and_a_path_leads_over_them(
    graph: GraphIndex, store: Store, put: Put
) -> None:
    one = put("a", "Ingrid Tolle met Oskar Lindt. Ingrid Tolle lives here.")
    two = put("b", "Oskar Lindt sails to Kiel. Harbour Traffic Authority (HTA).")
    put("c", "HTA is in Kiel. Tolle knows.")
    filled(graph, store)
    known = names(graph)
    assert known["ingrid tolle"].sentences == 2
    assert known["harbour traffic authority"].merged == (MergedName("HTA", MergeReason.ACRONYM),)
    assert known["harbour traffic authority"].documents == 2
    assert "hta" not in known
    assert "tolle" in known  # nobody of that name is in its document
    (link,) = graph.related(["ingrid tolle"], ALL)
    assert (link.target, link.together) == ("oskar lindt", 1)
    assert (link.evidence.document_id, link.evidence.start) == (one, 0)
    way = graph.path("ingrid tolle", "harbour traffic authority", ALL)
    assert [step.target for step in way] == ["oskar lindt", "kiel", "harbour traffic authority"]
    assert way[1].evidence.document_id == two
    assert not graph.path("ingrid tolle", "tolle", ALL)
    found = graph.entity("hta", ALL)
    assert found is not None
    assert found.id == "harbour traffic authority"
    assert [one.id for one in graph.entities(ALL, "tolle")[0]] == ["ingrid tolle", "tolle"]
    assert [one.id for one in graph.entities(ALL, "", EntityKind.LOCATION)[0]] == ["kiel"]


def test_what_a_part_names_is_followed_to_the_documents_of_a_scope(
    graph: GraphIndex, store: Store, put: Put
) -> None:
    one = put("a", "Ingrid Tolle met Oskar Lindt. Kiel is near.", shelves=("open",))
    two = put("b", "Oskar Lindt sails to Kiel.", shelves=("shut",))
    graph.catch_up(store)
    assert not graph.entities_in(one, 0, 99, ALL)  # nothing is read because it is asked for
    filled(graph, store)
    assert graph.entities_in(one, 0, 30, ALL) == ["ingrid tolle", "oskar lindt"]
    assert graph.entities_in(one, 30, 99, Scope.of(["open"])) == ["kiel"]
    assert not graph.entities_in(one, 0, 99, Scope.of(["shut"]))
    names = ["oskar lindt", "ingrid tolle"]
    every = {"oskar lindt": sorted([one, two]), "ingrid tolle": [one]}
    assert graph.documents_naming(names, ALL, 2) == every
    assert graph.documents_naming(names, ALL, 1) == {"ingrid tolle": [one]}
    assert graph.documents_naming(names[:1], Scope.of(["open"]), 1) == {"oskar lindt": [one]}


def test_the_last_name_alone_is_the_one_person_of_its_document(
    graph: GraphIndex, store: Store, put: Put
) -> None:
    put("a", "Ingrid Tolle met Kiel. Tolle left.")
    known = names(filled(graph, store))
    assert known["ingrid tolle"].names == ("Ingrid Tolle", "Tolle")
    assert "tolle" not in known


def test_what_a_sentence_says_is_told_with_it_and_goes_with_its_document(
    graph: GraphIndex, store: Store, put: Put
) -> None:
    first = put("a", "Ingrid Tolle founded Lindt Ferries. Ingrid Tolle met Lindt Ferries.")
    second = put("b", "Lindt Ferries uses Seelog. Lindt Ferries was founded by Ingrid Tolle.")
    filled(graph, store)
    made, used = graph.connections(["lindt ferries"], ALL)
    assert (made.relation, made.target, made.inverse) == ("created_by", "ingrid tolle", False)
    assert (made.together, made.evidence.document_id, made.evidence.start) == (2, first, 0)
    assert (used.relation, used.target, used.together) == ("uses", "seelog", 1)
    (back,) = graph.connections(["seelog"], ALL)
    assert (back.relation, back.target, back.inverse) == ("uses", "lindt ferries", True)
    way = graph.path("ingrid tolle", "seelog", ALL)
    assert [(one.relation, one.inverse) for one in way] == [("created_by", True), ("uses", False)]
    assert graph.documents("lindt ferries", ALL, 9) == [(first, 2), (second, 2)]
    store.remove(second)
    graph.catch_up(store)
    (left,) = graph.connections(["lindt ferries"], ALL)
    assert (left.relation, left.together) == ("created_by", 1)
    store.remove(first)
    graph.catch_up(store)
    with graph._read() as connection:
        assert connection.execute("SELECT count(*) FROM relation").get == 0


def test_each_other_way_to_write_a_name_has_its_reason(
    graph: GraphIndex, store: Store, put: Put
) -> None:
    put("a", "Ingrid Tolle left. I. Tolle met Kiel. Tolle met Oskar Lindt.")
    put("b", "Lindt Ferries Ltd met Óskar Lindt. Lindt Ferries met Kiel.")
    known = names(filled(graph, store))
    assert {key: {one.name: one.reason for one in own.merged} for key, own in known.items()} == {
        "ingrid tolle": {"I. Tolle": "initials", "Tolle": "last name"},
        "lindt ferries": {"Lindt Ferries Ltd": "company form"},
        "oskar lindt": {"Óskar Lindt": "accents"},
        "kiel": {},
    }
    assert known["oskar lindt"].documents == 2


@pytest.mark.parametrize(
    ("decided", "expected"),
    [
        ({"hta": "hta"}, {"harbour traffic authority", "hta", "kiel", "ingrid tolle"}),
        ({"kiel": "ingrid tolle"}, {"harbour traffic authority", "ingrid tolle"}),
        ({"kiel": "nowhere", "hta": "nowhere"},
         {"harbour traffic authority", "hta", "ingrid tolle"}),
        ({"kiel": "ingrid tolle", "ingrid tolle": "kiel"},
         {"harbour traffic authority", "ingrid tolle"}),
        ({"ingrid tolle|tolle": "tolle"},
         {"harbour traffic authority", "kiel", "ingrid tolle", "tolle"}),
    ],
)  # fmt: skip
def test_what_a_person_decides_holds(
    tmp_path: Path, store: Store, put: Put, decided: dict[str, str], expected: set[str]
) -> None:
    put("a", "Ingrid Tolle met Kiel. Harbour Traffic Authority (HTA). HTA met Kiel. Tolle left.")
    said = tuple(NameDecision(name, to, 1, "me") for name, to in decided.items())
    with closing(GraphIndex(tmp_path / "graph", read, lambda: said)) as graph:
        found = names(filled(graph, store))
        assert found.keys() == expected
        assert sum(one.mentions for one in found.values()) == 7
        by_hand = {one.reason for own in found.values() for one in own.merged}
        assert (MergeReason.BY_HAND in by_hand) == (decided.keys() != {"hta"})
        for key in found:
            assert graph.connections([key], ALL) is not None


def test_what_a_party_is_called_holds_in_its_document_and_terms_come_last(
    graph: GraphIndex, store: Store, put: Put
) -> None:
    put("a", 'Lindt Ferries Ltd (the "Company") met Kiel. Company left. “Seelog” means a log.')
    put("b", "The Company met Oskar Lindt. Company left. Seelog left.")
    known = names(filled(graph, store))
    assert known["lindt ferries ltd"].merged == (MergedName("Company", MergeReason.PARTY),)
    assert (known["lindt ferries ltd"].mentions, known["company"].documents) == (3, 1)
    assert list(known)[-1] == "seelog"  # though two documents name it
    assert known["seelog"].kind is EntityKind.CONCEPT


def test_what_is_outside_a_scope_moves_nothing(graph: GraphIndex, store: Store, put: Put) -> None:
    put(
        "a",
        "Ingrid Tolle founded Oskar Lindt. Harbour Traffic Authority (HTA). Óskar Lindt uses HTA."
        " Lindt Ferries Ltd met Kiel.",
        shelves=("open",),
    )
    before = everything(filled(graph, store), Scope.of(["open"]))
    put(
        "b",
        "Ingrid Tolle met Kiel. HTA and Oskar Lindt. Other Authority (HTA). Lindt Ferries left."
        " Ingrid Tolle uses HTA. Lindt Ferries Ltd is a part of Kiel. Tolle uses Seelog.",
        shelves=("shut",),
    )
    filled(graph, store)
    assert everything(graph, Scope.of(["open"])) == before
    assert not names(graph, Scope.of([]))
    assert everything(graph) != before


WORDS = (" met ", " founded ", " uses ", " is a part of ", ". ", ", the CEO of ", " (", ") ")
texts = st.lists(st.sampled_from((*NAMES, *WORDS)), max_size=12).map(
    lambda found: "".join(found) + ". Then it rained."
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(history=st.lists(st.tuples(st.sampled_from("abc"), st.none() | texts, st.booleans())))
def test_any_history_gives_what_is_read_from_scratch(
    tmp_path_factory: pytest.TempPathFactory,
    store: Store,
    put: Put,
    history: Sequence[tuple[str, str | None, bool]],
) -> None:
    for document in list(store.documents(ALL)):
        store.remove(document.id)
    place = tmp_path_factory.mktemp("history")
    with (
        closing(GraphIndex(place / "one", read)) as one,
        closing(GraphIndex(place / "two", read)) as two,
    ):
        for name, text, fills in history:
            if text is None:
                store.remove(name)
            else:
                put(name, text)
            one.catch_up(store)
            if fills:
                one.fill(store)
            assert not one.differing(store, thorough=True)
        assert everything(filled(one, store)) == everything(filled(two, store))


def test_what_is_changed_while_it_is_read_is_read_again(
    graph: GraphIndex, store: Store, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("a", "Ingrid Tolle met Kiel.")
    graph.catch_up(store)
    reads = graph._read_names

    def changing(texts: Texts) -> object:
        monkeypatch.setattr(graph, "_read_names", reads)
        found = reads(texts)
        put("a", "Oskar Lindt met Kiel.")
        graph.catch_up(store)
        return found

    monkeypatch.setattr(graph, "_read_names", changing)
    graph.fill(store)
    assert names(graph).keys() == {"oskar lindt", "kiel"}


def test_reading_can_be_stopped_and_goes_on(graph: GraphIndex, store: Store, put: Put) -> None:
    for number in range(20):
        put(f"d{number}", "Ingrid Tolle met Kiel.")
    graph.catch_up(store)
    told: list[int] = []

    def goes_on(left: int) -> bool:
        told.append(left)
        return len(told) < 2

    graph.fill(store, goes_on)
    assert told == [20, 12]
    assert graph.pending() == 12
    assert names(filled(graph, store))["kiel"].documents == 20


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_significance_is_never_negative_and_rises_with_what_is_common(
    together: int, one: int, other: int, rest: int
) -> None:
    total = together + one + other + rest
    found = likelihood_ratio(together, together + one, together + other, total)
    assert found >= -1e-9
    if one and other:
        more = likelihood_ratio(together + 1, together + one, together + other, total)
        assert more >= found - 1e-9
