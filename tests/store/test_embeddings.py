"""Vectors that come after their documents, and the roles of encoders."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from chapterhouse.store.embeddings import ACTIVE, BUILDING, PREVIOUS
from chapterhouse.store.sqlite import Store
from chapterhouse.types import EncoderRecord, Scope

TABLE = EncoderRecord("test:8", "{}")
NEW, NEWER = EncoderRecord("new:4", '{"engine":"folder"}'), EncoderRecord("newer:2", "{}")
MakeParts = Callable[..., Any]


@pytest.fixture
def filled(store: Store, make_parts: MakeParts) -> Store:
    """Three documents, each with three chunks and the table's vectors."""
    for name in ("a", "b", "c"):
        store.put(*make_parts(name, f"One line of {name}.\nAnother line.\nA third.\n"))
    return store


def keys_of(store: Store, document_id: str) -> list[int]:
    return [chunk.key for chunk in store.chunks_of(document_id, Scope.everything())]


def put(store: Store, document_id: str, record: EncoderRecord = NEW) -> bool:
    size = int(record.fingerprint.partition(":")[2])
    keys = keys_of(store, document_id)
    rows = np.eye(len(keys), size, dtype=np.float32)
    return store.embeddings().put(document_id, keys, record.fingerprint, rows)


def pending(store: Store, record: EncoderRecord = NEW, languages: Any = ("en",)) -> list[str]:
    found = store.embeddings().pending(record.fingerprint, languages, "", 100)
    return [document.id for document in found]


def test_what_lacks_vectors_is_pending_until_they_are_put(filled: Store) -> None:
    embeddings = filled.embeddings()
    assert pending(filled) == ["a-0001", "b-0001", "c-0001"]
    assert pending(filled, TABLE) == []
    assert pending(filled, languages=("de", "")) == []
    assert [d.id for d in embeddings.pending("new:4", ("en",), "a-0001", 1)] == ["b-0001"]
    assert put(filled, "b-0001")
    assert pending(filled) == ["a-0001", "c-0001"]
    progress = embeddings.progress("new:4", ("en",))
    assert (progress.done, progress.total, progress.pending, progress.chunks) == (1, 3, 2, 6)
    assert filled.fingerprints() == {"new:4": 1, "test:8": 3}


def test_later_vectors_change_no_document(filled: Store) -> None:
    before = filled.sequence()
    assert put(filled, "a-0001")
    assert put(filled, "c-0001")
    assert filled.sequence() == before
    embeddings = filled.embeddings()
    assert embeddings.last("new:4") == 2
    assert embeddings.last("test:8") == 0  # came with their documents
    changes = embeddings.added("new:4", 0, 10)
    found = [(change.sequence, change.document_id) for change in changes]
    assert found == [(1, "a-0001"), (2, "c-0001")]
    assert changes[0].document == filled.document("a-0001", Scope.everything())
    assert [change.sequence for change in embeddings.added("new:4", 1, 10)] == [2]
    keys, vectors = filled.vectors_of("a-0001", "new:4")
    assert keys == keys_of(filled, "a-0001")
    assert np.array_equal(vectors, np.eye(3, 4, dtype=np.float32))


def test_vectors_of_a_document_that_changed_meanwhile_are_refused(
    filled: Store, make_parts: MakeParts
) -> None:
    keys = keys_of(filled, "a-0001")
    rows = np.eye(3, 4, dtype=np.float32)
    # The same text again: other chunks all the same, for it may have been cut in another way.
    filled.put(*make_parts("a", "One line of a.\nAnother line.\nA third.\n"))
    assert not filled.embeddings().put("a-0001", keys, "new:4", rows)
    filled.remove("b-0001")
    assert not filled.embeddings().put("b-0001", keys, "new:4", rows)
    few_flat_and_no_numbers: tuple[Any, ...] = (np.zeros((2, 4)), np.zeros(3), rows * np.nan)
    for bad in few_flat_and_no_numbers:
        with pytest.raises(ValueError, match=r"vectors|finite"):
            filled.embeddings().put("a-0001", keys_of(filled, "a-0001"), "new:4", bad)
    assert filled.fingerprints() == {"test:8": 2}
    assert put(filled, "a-0001")
    filled.set_shelves("a-0001", ["other"])  # its chunks stay
    assert pending(filled) == ["c-0001"]
    filled.put(*make_parts("a", "A new text.\n"))
    assert pending(filled) == ["a-0001", "c-0001"]


def test_an_encoder_takes_over_only_when_it_is_complete(filled: Store) -> None:
    embeddings = filled.embeddings()
    assert embeddings.encoders() == {}
    embeddings.build(NEW)
    for problem in ("The service is down.", ""):
        embeddings.record_problem("new:4", problem)
        assert embeddings.encoders()[BUILDING].problem == problem
    for name in ("a-0001", "b-0001"):
        put(filled, name)
        assert not embeddings.activate(NEW, TABLE, ("en",))
    assert list(embeddings.encoders()) == [BUILDING]
    put(filled, "c-0001")
    assert not embeddings.activate(NEW, TABLE, ("fi",))  # serves no document here
    assert embeddings.activate(NEW, TABLE, ("en",))
    assert dict(embeddings.encoders()) == {ACTIVE: NEW, PREVIOUS: TABLE}


def test_the_way_back_and_what_is_deleted(filled: Store) -> None:
    embeddings = filled.embeddings()
    for record in (NEW, NEWER):
        embeddings.build(record)
        for name in ("a-0001", "b-0001", "c-0001"):
            put(filled, name, record)
        assert embeddings.activate(record, TABLE, ("en",))
    assert dict(embeddings.encoders()) == {ACTIVE: NEWER, PREVIOUS: NEW}
    assert embeddings.activate(NEW, TABLE, None)
    assert dict(embeddings.encoders()) == {ACTIVE: NEW, PREVIOUS: NEWER}
    embeddings.forget(PREVIOUS)
    assert embeddings.drop_others(["new:4", "test:8"]) == 3
    assert filled.fingerprints() == {"new:4": 3, "test:8": 3}
