"""Counting and finding documents."""

from dataclasses import replace

from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Scope, Status

from .conftest import MakeParts

EVERYTHING = Scope.everything()


def test_a_census_counts_documents_chunks_and_languages(
    store: SqliteStore, make_parts: MakeParts
) -> None:
    assert store.census(EVERYTHING).documents == 0
    for name, shelf in (("a", "crew"), ("b", "crew"), ("c", "guests")):
        store.put(*make_parts(name, shelves=(shelf,)))
    everything, crew = store.census(EVERYTHING), store.census(Scope.of(["crew"]))
    assert (everything.documents, crew.documents) == (3, 2)
    assert everything.chunks == sum(document.chunks for document in store.documents(EVERYTHING))
    assert sum(everything.languages.values()) == 3
    assert store.census(Scope.of(["nobody"])).chunks == 0


def test_files_that_are_read_in_part_are_named(store: SqliteStore, make_parts: MakeParts) -> None:
    for name, shelf in (("b", "crew"), ("a", "guests")):
        store.put(*make_parts(name, shelves=(shelf,)))
    whole = make_parts("c", shelves=("crew",))
    store.put(*whole._replace(document=replace(whole.document, status=Status.READY)))
    assert store.partly_read(EVERYTHING) == ("notes/a.txt", "notes/b.txt")
    assert store.partly_read(Scope.of(["crew"])) == ("notes/b.txt",)
    assert store.partly_read(Scope.of(["nobody"])) == ()
    assert store.leaves_text_out(EVERYTHING)
    assert not store.leaves_text_out(Scope.of(["nobody"]))


def test_counts_are_by_format_status_and_shelf(store: SqliteStore, make_parts: MakeParts) -> None:
    store.put(*make_parts("a", shelves=("crew", "guests")))
    counts = store.counts(EVERYTHING)
    assert sum(counts["format"].values()) == 1
    assert sum(counts["status"].values()) == 1
    assert counts["shelf"] == {"crew": 1, "guests": 1}


def test_documents_among_leaves_out_what_is_gone(store: SqliteStore, make_parts: MakeParts) -> None:
    parts = make_parts("a")
    store.put(*parts)
    name = parts.document.id
    assert list(store.documents_among({name, "gone"}, EVERYTHING)) == [name]
    assert store.documents_among([], EVERYTHING) == {}


def test_chunks_are_found_by_the_name_of_their_file(
    store: SqliteStore, make_parts: MakeParts
) -> None:
    parts = make_parts("Note", shelves=("crew",))
    store.put(*parts)
    own = [chunk.key for chunk in store.chunks_of(parts.document.id, EVERYTHING)]
    assert list(store.chunks_named("note.TXT", EVERYTHING)) == own
    assert list(store.chunks_named("note.txt", Scope.of(["crew"]))) == own
    assert store.chunks_named("note.txt", Scope.of(["guests"])) == ()
    assert store.chunks_named("ote.txt", EVERYTHING) == ()
    assert store.chunks_named("%", EVERYTHING) == ()
    assert store.chunks_named("", EVERYTHING) == ()


def test_shelves_that_nothing_stands_on_are_told(store: SqliteStore, make_parts: MakeParts) -> None:
    assert store.unknown_shelves(Scope.of(["crew"])) == ("crew",)
    store.put(*make_parts("a", shelves=("crew", "guests")))
    assert store.unknown_shelves(Scope.of(["nobody", "crew", "guests", "all", "nobody"])) == (
        "all",
        "nobody",
    )
    assert store.unknown_shelves(Scope.of([])) == ()
