from collections.abc import Callable
from pathlib import Path

from chapterhouse.index import forward
from chapterhouse.index.entries import Entries, compare
from chapterhouse.index.ranking import open_index
from chapterhouse.index.schema import entry_of, make_schema
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Scope


def _entries(store: SqliteStore, name: str, *more: int) -> Entries:
    """Return an index of one document, some of its chunks once more."""
    schema = make_schema()
    index = open_index(schema)
    writer = index.writer(16_000_000, num_threads=1)
    document = store.document(name, Scope.everything())
    assert document is not None
    keys = [chunk.key for chunk in store.chunks_of(name, Scope.everything())]
    for key in (*keys, *more):
        writer.add_document(entry_of(document, key, (["ferry"], [], [])))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return Entries(schema, index.searcher())


def test_entries_are_looked_up_by_document_and_by_shelf(
    store: SqliteStore, put: Callable[..., str]
) -> None:
    put("a", "The ferry.\n\nThe gate.", shelves=("crew",))
    held = _entries(store, "a")
    assert held.keys("document", "a") == held.keys("shelf", "crew") == [1, 2]
    assert held.keys("document", "b") == []


def test_doubled_entries_and_missing_terms_are_named(
    tmp_path: Path, store: SqliteStore, put: Callable[..., str]
) -> None:
    put("a", "The ferry.\n\nThe gate.")
    held = _entries(store, "a", 2)
    every = held.keys("document", "a")
    found = list(compare(every, held, forward.NOTHING, store, (), thorough=False))
    assert found == ["has 1 chunk of document a more than once", "lacks the terms of document a"]
    rows = forward.Rows(forward.NOTHING)
    rows.add(1, (["odd"], [], []))
    rows.add(2, (["odd"], [], []))
    loaded = forward.load(tmp_path, rows.write(tmp_path))
    found = list(compare(every, held, loaded, store, (), thorough=True))
    assert "has other terms of document a than its text" in found
