"""The graph as an index: what it says after any history is what the documents say now."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chapterhouse.index.graph import GraphIndex, likelihood_ratio
from chapterhouse.store.sqlite import Store
from chapterhouse.text.entity_names import name_entities
from chapterhouse.types import Body, Chunk, Document, Scope
from chapterhouse.types.graph import Entity, EntityKind, EntityNames, Mention

ALL = Scope.everything()
NAMES = ("Ingrid Tolle", "Oskar Lindt", "Kiel", "Harbour Traffic Authority", "HTA", "Tolle")
Put = Callable[..., str]


def read(document: Document, body: Body, chunks: Sequence[Chunk]) -> EntityNames:
    """Find the names above, as a head would."""
    found = sorted(
        (at, name)
        for name in NAMES
        for at in range(len(body.text))
        if body.text.startswith(name, at)
        and not any(body.text.startswith(other, at - 7) for other in NAMES if other != name)
    )
    mentions: list[Mention] = []
    for at, name in found:
        if not mentions or at >= mentions[-1].end:
            kind = EntityKind.LOCATION if name == "Kiel" else EntityKind.PERSON
            kind = EntityKind.ORGANIZATION if name[0] == "H" else kind
            mentions.append(Mention(at, at + len(name), kind, 0.9))
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    return name_entities(document.title, body.text, spans, mentions)


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
    links = graph.related(known, scope)
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
    assert known["harbour traffic authority"].merged == ("hta",)
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


def test_the_last_name_alone_is_the_one_person_of_its_document(
    graph: GraphIndex, store: Store, put: Put
) -> None:
    put("a", "Ingrid Tolle met Kiel. Tolle left.")
    known = names(filled(graph, store))
    assert known["ingrid tolle"].names == ("Ingrid Tolle", "Tolle")
    assert "tolle" not in known


def test_what_is_outside_a_scope_moves_nothing(graph: GraphIndex, store: Store, put: Put) -> None:
    put("a", "Ingrid Tolle met Oskar Lindt. Harbour Traffic Authority (HTA).", shelves=("open",))
    before = everything(filled(graph, store), Scope.of(["open"]))
    put(
        "b", "Ingrid Tolle met Kiel. HTA and Oskar Lindt. Other Authority (HTA).", shelves=("shut",)
    )
    filled(graph, store)
    assert everything(graph, Scope.of(["open"])) == before
    assert not names(graph, Scope.of([]))
    assert everything(graph) != before


texts = st.lists(st.sampled_from(NAMES), min_size=0, max_size=6).map(
    lambda found: " met ".join(found) + ". Then it rained."
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

    def changing(document: Document, body: Body, chunks: Sequence[Chunk]) -> EntityNames:
        monkeypatch.setattr(graph, "_read_names", reads)
        found = reads(document, body, chunks)
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
