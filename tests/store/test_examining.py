from collections.abc import Callable
from typing import Any

from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Memory, Remedy, Scope


def _memory(question: str = "Where is the gate?") -> Memory:
    return Memory("", "", 1, 0, question, "At the harbour.", found=True, method="extractive")


def _spoil(store: SqliteStore, statement: str) -> None:
    writer = store._connections._writer
    writer.pragma("foreign_keys", 0)
    writer.execute(statement)
    writer.pragma("foreign_keys", 1)


def test_the_rows_of_a_document_have_their_checksum_until_one_changes(
    store: SqliteStore, make_parts: Callable[..., Any]
) -> None:
    name = store.put(*make_parts())
    examination = store.examination()
    assert examination.row_fault(name) == ""
    store.set_shelves(name, ("crew",))
    assert examination.row_fault(name) == ""
    _spoil(store, "UPDATE chunk SET page_label = 'odd' WHERE ordinal = 1")
    assert examination.row_fault(name)
    _spoil(store, "DELETE FROM checksum")  # as of a library of before
    assert examination.row_fault(name) == ""
    assert examination.row_fault("nobody") == ""


def test_keys_and_hashes_are_listed_by_document(
    store: SqliteStore, make_parts: Callable[..., Any]
) -> None:
    name = store.put(*make_parts())
    large = store.put(*make_parts("large", padding=100_000))
    examination = store.examination()
    assert examination.document_ids() == sorted([name, large])
    assert examination.chunk_keys() == {name: [1, 2, 3], large: [4, 5, 6]}
    assert sorted(examination.hashes().values()) == [False, True]


def test_shelves_are_restored_from_the_checksum_and_never_widened(
    store: SqliteStore, make_parts: Callable[..., Any]
) -> None:
    name = store.put(*make_parts(shelves=("secret",)))
    for statement in ("DELETE FROM membership", "UPDATE membership SET shelf = 'library'"):
        _spoil(store, statement)
        assert "shelves" in {one.part for one in store.examination().findings()}
        store.examination().drop_orphans()
        assert [
            one.shelves for one in store.documents_among([name], Scope.everything()).values()
        ] == [("secret",)]


def test_memories_and_their_index_of_words_are_compared(store: SqliteStore) -> None:
    store.memories().remember(_memory())
    store.memories().remember(_memory("When does the ferry leave?"))
    assert not list(store.examination().findings())
    _spoil(store, "DELETE FROM memory_terms WHERE rowid = 1")
    _spoil(store, "UPDATE memory SET sources = '[' WHERE key = 2")
    found = list(store.examination().findings())
    assert {(one.part, one.remedy) for one in found} == {("memories", Remedy.DROP)}
    store.examination().drop_orphans()
    assert not list(store.examination().findings())
    assert [one.memory.id for one in store.memories().search("gate", [""], 5, 0)] == ["m1"]


def test_a_document_that_cannot_be_read_is_reset_and_can_be(
    store: SqliteStore, make_parts: Callable[..., Any]
) -> None:
    name = store.put(*make_parts())
    _spoil(store, "UPDATE document SET status = 'odd', notices = '{'")
    store.examination().reset(name)
    assert store.document(name, Scope.everything()) is not None
