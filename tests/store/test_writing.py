"""A document whose parts contradict each other is refused before anything is written."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import FileMove, Scope


def spoiled(parts: Any, what: str) -> tuple[Any, ...]:
    """Return the parts of a document of which one does not fit the others."""
    document, body, chunks, vectors, fingerprint, record, content = parts
    match what:
        case "sha256":
            content += b"x"
        case "record":
            record = replace(record, location="/elsewhere")
        case "says 2 chunks":
            document = replace(document, chunks=2)
        case "numbered":
            chunks = chunks[::-1]
        case "shape":
            vectors = vectors[:-1]
        case "finite":
            vectors = np.full_like(vectors, np.nan)
    return document, body, chunks, vectors, fingerprint, record, content


@pytest.mark.parametrize(
    "what", ["sha256", "record", "says 2 chunks", "numbered", "shape", "finite"]
)
def test_what_contradicts_itself_is_refused(store: SqliteStore, make_parts: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        store.put(*spoiled(make_parts(), what))
    assert list(store.documents(Scope.everything())) == []
    assert store.sequence() == 0


def test_without_vectors_it_is_taken(store: SqliteStore, make_parts: Any) -> None:
    document, body, chunks, _, fingerprint, record, content = make_parts()
    assert store.put(document, body, chunks, None, fingerprint, record, content) == document.id


def test_a_name_that_another_file_has_is_made_free(store: SqliteStore, make_parts: Any) -> None:
    names = [store.put(*make_parts(name, identifier="same")) for name in ("a", "b", "c")]
    assert names == ["same", "same-2", "same-3"]


def test_chunks_get_new_keys_where_the_title_changes(store: SqliteStore, make_parts: Any) -> None:
    everything, parts = Scope.everything(), make_parts()
    identifier = store.put(*parts)
    record = store.file(parts.document.location)
    assert record is not None

    def moved(place: str, title: str) -> list[int]:
        now = replace(record, location=place, source=f"notes/{title}.txt")
        store.move_files([FileMove(where, now, title, 1)])
        return [one.key for one in store.chunks_of(identifier, everything)]

    where, before = parts.document.location, store.chunks_of(identifier, everything)
    keys = [one.key for one in before]
    assert moved("/home/user/notes/b.txt", parts.document.title) == keys
    where = "/home/user/notes/b.txt"
    assert set(moved("/home/user/notes/c.txt", "Another")).isdisjoint(keys)
    after = store.chunks_of(identifier, everything)
    assert [replace(one, key=0) for one in after] == [replace(one, key=0) for one in before]
    assert not list(store.examination().faults(thorough=True))
