"""Vectors that come after their documents, and the roles of encoders."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chapterhouse.store.embeddings import ACTIVE, BUILDING, PREVIOUS
from chapterhouse.store.sqlite import Store
from chapterhouse.types import EncoderRecord, Scope

OLD = EncoderRecord("test:8", "{}")
NEW, NEWER = EncoderRecord("test:4", '{"engine":"folder"}'), EncoderRecord("test:2", "{}")
Call = Callable[..., Any]
TEXT = "One line of {}.\nAnother line.\nA third.\n"


@pytest.fixture
def filled(store: Store, make_parts: Call, put_vectors: Call) -> Store:
    """Three documents, each with three chunks and the vectors of an old encoder."""
    for name in ("a", "b", "c"):
        put_vectors(store, store.put(*make_parts(name, TEXT.format(name))))
    return store


def keys_of(store: Store, document_id: str) -> list[int]:
    return [chunk.key for chunk in store.chunks_of(document_id, Scope.everything())]


def pending(store: Store, record: EncoderRecord = NEW, languages: Any = ("en",)) -> list[str]:
    found = store.embeddings().pending(record.fingerprint, languages, "", 100)
    return [document.id for document in found]


def test_what_lacks_vectors_is_pending_until_they_are_put(filled: Store, put_vectors: Call) -> None:
    embeddings = filled.embeddings()
    assert pending(filled) == ["a-0001", "b-0001", "c-0001"]
    assert pending(filled, OLD) == []
    assert pending(filled, languages=("de", "")) == []
    assert [d.id for d in embeddings.pending("test:4", ("en",), "a-0001", 1)] == ["b-0001"]
    assert put_vectors(filled, "b-0001", 4)
    assert pending(filled) == ["a-0001", "c-0001"]
    progress = embeddings.progress("test:4", ("en",))
    assert (progress.done, progress.total, progress.pending, progress.chunks) == (1, 3, 2, 6)
    assert filled.fingerprints() == {"test:4": 1, "test:8": 3}


def test_vectors_change_no_document(filled: Store, put_vectors: Call) -> None:
    before = filled.sequence()
    assert put_vectors(filled, "a-0001", 4)
    assert put_vectors(filled, "c-0001", 4)
    assert filled.sequence() == before
    embeddings = filled.embeddings()
    assert embeddings.last("test:8") == 3
    assert embeddings.last("test:4") == 5
    changes = embeddings.added("test:4", 0, 10)
    found = [(change.sequence, change.document_id) for change in changes]
    assert found == [(4, "a-0001"), (5, "c-0001")]
    assert changes[0].document == filled.document("a-0001", Scope.everything())
    assert [change.sequence for change in embeddings.added("test:4", 4, 10)] == [5]
    keys, vectors = filled.vectors_of("a-0001", "test:4")
    assert keys == keys_of(filled, "a-0001")
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, np.eye(3, 4, dtype=np.float32))
    assert filled.vectors_of("a-0001", "other")[0] == []


def test_vectors_of_a_document_that_changed_meanwhile_are_refused(
    filled: Store, make_parts: Call, put_vectors: Call
) -> None:
    keys = keys_of(filled, "a-0001")
    rows = np.eye(3, 4, dtype=np.float32)
    # The same text again: other chunks all the same, for it may have been cut in another way.
    filled.put(*make_parts("a", TEXT.format("a")))
    assert not filled.embeddings().put("a-0001", keys, "test:4", rows)
    filled.remove("b-0001")
    assert not filled.embeddings().put("b-0001", keys, "test:4", rows)
    few_flat_and_no_numbers: tuple[Any, ...] = (np.zeros((2, 4)), np.zeros(3), rows * np.nan)
    for bad in few_flat_and_no_numbers:
        with pytest.raises(ValueError, match=r"vectors|finite"):
            filled.embeddings().put("a-0001", keys_of(filled, "a-0001"), "test:4", bad)
    assert filled.fingerprints() == {"test:8": 2}
    assert put_vectors(filled, "a-0001", 4)
    filled.set_shelves("a-0001", ["other"])  # its chunks stay
    assert pending(filled) == ["c-0001"]
    filled.put(*make_parts("a", "A new text.\n"))
    assert pending(filled) == ["a-0001", "c-0001"]


def test_what_is_read_or_cut_again_keeps_the_vectors_of_all_its_encoders(
    filled: Store, make_parts: Call, put_vectors: Call
) -> None:
    parts = make_parts("a", TEXT.format("a"))
    assert put_vectors(filled, "a-0001", 4)

    def kept() -> bool:
        found = [filled.vectors_of("a-0001", name) for name in ("test:8", "test:4")]
        same = [np.array_equal(v, np.eye(3, v.shape[1])) for _, v in found]
        assert {keys == keys_of(filled, "a-0001") for keys, _ in found} == set(same)
        return all(same)

    before = keys_of(filled, "a-0001"), filled.embeddings().last("test:4")
    filled.put(*parts)
    assert kept()
    after = keys_of(filled, "a-0001"), filled.embeddings().last("test:4")
    assert before != after  # an index learns the new keys
    assert filled.cut_anew(parts.document, parts.chunks)
    assert kept()
    joined = (replace(parts.chunks[0], text=parts.body.text, end=len(parts.body.text)),)
    assert filled.cut_anew(replace(parts.document, chunks=1), joined)
    assert not kept()
    assert filled.fingerprints_of("a-0001") == ()
    assert not list(filled.examination().faults(thorough=True))


def test_an_encoder_takes_over_only_when_it_is_complete(filled: Store, put_vectors: Call) -> None:
    embeddings = filled.embeddings()
    assert embeddings.encoders() == {}
    embeddings.build(NEW)
    for problem in ("The service is down.", ""):
        embeddings.record_problem("test:4", problem)
        assert embeddings.encoders()[BUILDING].problem == problem
    for name in ("a-0001", "b-0001"):
        put_vectors(filled, name, 4)
        assert not embeddings.activate(NEW, ("en",))
    assert list(embeddings.encoders()) == [BUILDING]
    put_vectors(filled, "c-0001", 4)
    assert not embeddings.activate(NEW, ("fi",))  # serves no document here
    assert embeddings.activate(NEW, ("en",))
    assert dict(embeddings.encoders()) == {ACTIVE: NEW}  # the first leaves none behind it


def test_the_way_back_and_what_is_deleted(filled: Store, put_vectors: Call) -> None:
    embeddings = filled.embeddings()
    for record in (NEW, NEWER):
        embeddings.build(record)
        for name in ("a-0001", "b-0001", "c-0001"):
            put_vectors(filled, name, int(record.fingerprint[-1]))
        assert embeddings.activate(record, ("en",))
    assert dict(embeddings.encoders()) == {ACTIVE: NEWER, PREVIOUS: NEW}
    assert embeddings.activate(NEW, None)
    assert dict(embeddings.encoders()) == {ACTIVE: NEW, PREVIOUS: NEWER}
    embeddings.forget(PREVIOUS)
    assert embeddings.drop_others(["test:4", "test:8"]) == 3
    assert filled.fingerprints() == {"test:4": 3, "test:8": 3}
