"""What is read of the store: within a scope, in order, and nothing beside it."""

from dataclasses import replace

import pytest

from chapterhouse.store.sqlite import Store
from chapterhouse.types import CorpusCounts, FileRecord, Scope, Status

from .conftest import MakeParts

EVERYTHING = Scope.everything()


def test_an_empty_library_holds_nothing(store: Store) -> None:
    assert store.sequence() == 0
    assert list(store.documents(EVERYTHING)) == []
    assert list(store.files()) == []
    assert store.changes(0, 10) == ()
    assert store.document("x", EVERYTHING) is None
    assert store.body("x", EVERYTHING) is None
    assert store.content("0" * 64, EVERYTHING) is None
    assert store.chunks([1, 2], EVERYTHING) == {}
    assert store.chunks_of("x", EVERYTHING) == ()
    assert store.remove("x") is None
    assert store.set_shelves("x", ["y"]) is None
    keys, vectors = store.vectors_of("x", "f")
    assert keys == []
    assert vectors.size == 0


def test_changes_are_oldest_first_and_paged(store: Store, make_parts: MakeParts) -> None:
    for name in "abcde":
        store.put(*make_parts(name))
    store.remove("b-0001")
    store.set_shelves("a-0001", ["new"])
    seen, after = [], 0
    while page := store.changes(after, 2):
        seen += [(change.sequence, change.document_id) for change in page]
        after = page[-1].sequence
    assert seen == [
        (3, "c-0001"), (4, "d-0001"), (5, "e-0001"), (6, "b-0001"), (7, "a-0001"),
    ]  # fmt: skip
    assert after == store.sequence()


def test_shelves_choose_documents(store: Store, make_parts: MakeParts) -> None:
    store.put(*make_parts("a", shelves=("x", "y")))
    store.put(*make_parts("b", shelves=("y",)))
    store.put(*make_parts("c", shelves=()))
    assert [d.id for d in store.documents(Scope.of(["x", "y"]))] == ["a-0001", "b-0001"]
    assert [d.id for d in store.documents(Scope.of(["library"]))] == ["c-0001"]
    assert list(store.documents(Scope.of(["none"]))) == []
    store.set_shelves("b-0001", ["z", "x", "z"])
    found = store.document("b-0001", EVERYTHING)
    assert found is not None
    assert found.shelves == ("x", "z")


def test_what_is_outside_a_scope_is_not_there(store: Store, make_parts: MakeParts) -> None:
    inside, outside = make_parts("a", "One.\n", shelves=("x",)), make_parts("b", shelves=("y", "z"))
    for parts in (inside, outside):
        store.put(*parts)
    scope = Scope.of(["x"])
    keys = {
        name: [chunk.key for chunk in store.chunks_of(name, EVERYTHING)]
        for name in ("a-0001", "b-0001")
    }
    every = [key for own in keys.values() for key in own]
    assert store.document("a-0001", scope) is not None
    assert store.body("a-0001", scope) is not None
    assert store.content(inside.document.sha256, scope) is not None
    assert store.document("b-0001", scope) is None
    assert store.body("b-0001", scope) is None
    assert store.chunks_of("b-0001", scope) == ()
    assert store.content(outside.document.sha256, scope) is None
    assert list(store.chunks(every, scope)) == keys["a-0001"]
    assert set(store.documents_of(every, scope).values()) == {"a-0001"}
    assert set(store.documents_among(["a-0001", "b-0001"], scope)) == {"a-0001"}
    assert set(store.documents_among(["a-0001", "b-0001"], EVERYTHING)) == {"a-0001", "b-0001"}
    assert store.documents_among([], EVERYTHING) == {}
    assert store.counts(scope)["shelf"] == {"x": 1}
    assert store.counts(EVERYTHING)["shelf"] == {"x": 1, "y": 1, "z": 1}
    assert sum(store.counts(scope)["status"].values()) == 1
    assert store.census(scope) == CorpusCounts(1, 1, {"en": 1})
    assert store.census(EVERYTHING) == CorpusCounts(2, 4, {"en": 2})
    assert store.unknown_shelves(EVERYTHING) == ()


def test_an_empty_scope_sees_nothing(store: Store, make_parts: MakeParts) -> None:
    parts = make_parts("a")
    store.put(*parts)
    nothing = Scope.of(())
    key = store.chunks_of("a-0001", EVERYTHING)[0].key
    assert store.document("a-0001", nothing) is None
    assert list(store.documents(nothing)) == []
    assert store.body("a-0001", nothing) is None
    assert store.content(parts.document.sha256, nothing) is None
    assert store.chunks([key], nothing) == {}
    assert store.census(nothing) == CorpusCounts(0, 0, {})
    assert store.counts(nothing) == {"format": {}, "status": {}, "shelf": {}}
    assert store.chunks_named("a.txt", nothing) == ()
    assert store.partly_read(nothing) == ()


def test_many_documents_come_in_order_of_id(
    store: Store, make_parts: MakeParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chapterhouse.store.reading._BATCH", 3)
    names = [f"n{number:02}" for number in range(10)]
    for name in reversed(names):
        store.put(*make_parts(name, "x\n"))
    for scope in (EVERYTHING, Scope.of(["library"])):
        found = [document.id for document in store.documents(scope)]
        assert found == [f"{name}-0001" for name in names]


def test_files_below_a_folder(store: Store) -> None:
    places = ["/a", "/a/b", "/a/b/c", "/a/bc", "/a.b", "/a0", "/é/x"]
    for place in places:
        store.record_file(FileRecord(place, f"s{place}", 1, 1, "", Status.REJECTED, "code"))
    assert [record.location for record in store.files("/a")] == ["/a", "/a/b", "/a/b/c", "/a/bc"]
    assert [record.location for record in store.files("/a/b/")] == ["/a/b", "/a/b/c"]
    assert [record.location for record in store.files("/é")] == ["/é/x"]
    assert len(list(store.files("/"))) == len(list(store.files())) == len(places)


def test_roots_have_one_label_each(store: Store) -> None:
    assert store.label_root("/a/docs", "docs") == "docs"
    assert store.label_root("/b/docs", "docs") == "docs-2"
    assert store.label_root("/c/docs", "docs") == "docs-3"
    assert store.label_root("/b/docs", "docs") == "docs-2"
    assert store.roots() == (("docs", "/a/docs"), ("docs-2", "/b/docs"), ("docs-3", "/c/docs"))


def test_files_that_are_read_in_part_are_named(store: Store, make_parts: MakeParts) -> None:
    for name, shelf in (("b", "crew"), ("a", "guests")):
        store.put(*make_parts(name, shelves=(shelf,)))
    whole = make_parts("c", shelves=("crew",))
    store.put(*whole._replace(document=replace(whole.document, status=Status.READY)))
    crew, nobody = Scope.of(["crew"]), Scope.of(["nobody"])
    found = [store.partly_read(scope) for scope in (EVERYTHING, crew, nobody)]
    assert found == [("notes/a.txt", "notes/b.txt"), ("notes/b.txt",), ()]
    assert [store.leaves_text_out(scope) for scope in (EVERYTHING, nobody)] == [True, False]


def test_chunks_are_found_by_the_name_of_their_file(store: Store, make_parts: MakeParts) -> None:
    parts = make_parts("Note", shelves=("crew",))
    store.put(*parts)
    own = tuple(chunk.key for chunk in store.chunks_of(parts.document.id, EVERYTHING))
    for name, scope, found in (
        ("note.TXT", EVERYTHING, own),
        ("note.txt", Scope.of(["crew"]), own),
        ("note.txt", Scope.of(["guests"]), ()),
        ("ote.txt", EVERYTHING, ()),
        ("%", EVERYTHING, ()),
        ("", EVERYTHING, ()),
    ):
        assert tuple(store.chunks_named(name, scope)) == found, name


def test_shelves_that_nothing_stands_on_are_told(store: Store, make_parts: MakeParts) -> None:
    store.put(*make_parts("a", shelves=("crew", "guests")))
    asked = Scope.of(["nobody", "crew", "guests", "all", "nobody"])
    assert store.unknown_shelves(asked) == ("all", "nobody")
    assert store.unknown_shelves(Scope.of([])) == ()


def test_documents_are_listed_by_what_they_are_called_and_who_wrote_them(
    store: Store, make_parts: MakeParts
) -> None:
    for name, author in (("a", "Ada Byron"), ("b", "")):
        parts = make_parts(name, f"{name}\n")
        store.put(*parts._replace(document=replace(parts.document, author=author)))
    found = {
        text: [one.id for one in store.documents(EVERYTHING, text=text)] for text in ("BYRON", "")
    }
    assert found == {"BYRON": ["a-0001"], "": ["a-0001", "b-0001"]}
