"""What is retained of removed documents, and that no bytes go that are needed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import INLINE_MAXIMUM, SqliteStore
from chapterhouse.types import Memory, RemovedDocument, Scope

EVERYTHING = Scope.everything()

MakeParts = Callable[..., Any]


def entry_of(parts: Any, **changes: Any) -> RemovedDocument:
    document = parts.document
    entry = RemovedDocument(
        id=document.id,
        source=document.source,
        location=document.location,
        title=document.title,
        format=document.format,
        shelves=("library", "maria"),
        container="notes.zip",
        sha256=document.sha256,
        size=document.size,
        modified=document.modified,
        mtime_ns=parts.record.mtime_ns,
        number=1,
        removed=100,
        until=200,
    )
    return replace(entry, **changes)


@pytest.mark.parametrize("padding", [0, INLINE_MAXIMUM])
def test_bytes_stay_as_long_as_they_are_retained(
    store: SqliteStore, blobs: FolderBlobs, make_parts: MakeParts, padding: int
) -> None:
    parts = make_parts(padding=padding)
    store.put(*parts)
    entry = entry_of(parts)
    with store.together():
        store.removed().add([entry])
        store.remove(parts.document.id)
    assert store.collect_garbage(0.0) == 0
    assert store.content(parts.document.sha256, EVERYTHING) == parts.content
    assert store.removed().entries() == (entry,)
    assert store.removed().drop([entry.location, entry.location, "/nowhere"]) == 1
    assert store.content(parts.document.sha256, EVERYTHING) is None
    assert list(blobs.hashes()) == []
    assert store.removed().entries() == ()


@pytest.mark.parametrize("padding", [0, INLINE_MAXIMUM])
def test_bytes_that_a_document_has_stay_when_they_are_dropped(
    store: SqliteStore, make_parts: MakeParts, padding: int
) -> None:
    parts, other = make_parts(padding=padding), make_parts("other", padding=padding)
    store.put(*other)
    store.removed().add([entry_of(parts)])
    store.removed().drop([parts.document.location])
    assert store.content(other.document.sha256, EVERYTHING) == other.content


def test_entries_come_by_removal_and_expire_by_time(
    store: SqliteStore, make_parts: MakeParts
) -> None:
    names = {"a": (1, 150), "b": (2, 0), "c": (2, 300), "d": (3, 151)}
    for name, (number, until) in names.items():
        store.removed().add([entry_of(make_parts(name), number=number, until=until)])
    found = [entry.id[0] for entry in store.removed().entries()]
    assert found == ["d", "b", "c", "a"]
    assert [entry.id[0] for entry in store.removed().expired(149)] == []
    assert [entry.id[0] for entry in store.removed().expired(150)] == ["a"]
    assert [entry.id[0] for entry in store.removed().expired(10_000)] == ["d", "c", "a"]


def test_it_says_what_still_names_a_document(store: SqliteStore, make_parts: MakeParts) -> None:
    parts = make_parts()
    ids = [parts.document.id, "other-1"]
    assert store.removed().naming(ids) == {}
    store.put(*parts)
    assert store.removed().naming(ids) == {parts.document.id: ("documents", "files")}
    store.remove(parts.document.id)
    assert store.removed().naming(ids) == {}
    memory = Memory("", "", 1, 0, "?", "!", True, "", (parts.document.id, "x"), 1)  # noqa: FBT003
    store.memories().remember(memory)
    answer = f'{{"document": "{parts.document.id}"}}'
    store.memories().cache_answer("k", EVERYTHING, store.sequence(), answer)
    assert store.removed().naming(ids) == {parts.document.id: ("cached answers", "memories")}
    assert store.removed().naming([parts.document.id[:-1]]) == {}


def test_ids_of_removed_documents_are_forgotten_up_to_a_change(
    store: SqliteStore, make_parts: MakeParts
) -> None:
    sequences = []
    for name in ("a", "b"):
        parts = make_parts(name)
        store.put(*parts)
        sequences.append(store.remove(parts.document.id))
    store.removed().forget_removals(sequences[0] or 0)
    assert [change.document_id for change in store.changes(0, 10)] == ["b-0001"]
    assert store.sequence() == sequences[1]
    assert not list(store.examination().findings())
