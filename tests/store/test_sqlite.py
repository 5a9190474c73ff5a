"""What any store must do."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.databases import in_a_file

from chapterhouse.errors import UsageError
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.connections import INLINE_MAXIMUM
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Change, FileMove, Notice, Scope, Status

EVERYTHING = Scope.everything()

MakeParts = Callable[..., Any]


def test_everything_put_comes_back(store: Store, make_parts: MakeParts) -> None:
    parts = make_parts()
    store.put(*parts)
    assert store.sequence() == 1
    assert store.document(parts.document.id, EVERYTHING) == parts.document
    assert store.body(parts.document.id, EVERYTHING) == parts.body
    assert store.content(parts.document.sha256, EVERYTHING) == parts.content
    assert store.file(parts.record.location) == parts.record
    chunks = store.chunks_of(parts.document.id, EVERYTHING)
    assert tuple(replace(chunk, key=0) for chunk in chunks) == parts.chunks
    assert store.chunks([chunk.key for chunk in chunks], EVERYTHING) == {c.key: c for c in chunks}
    assert store.fingerprints_of(parts.document.id) == ()


def test_a_document_without_chunks_is_kept(store: Store, make_parts: MakeParts) -> None:
    parts = make_parts()
    bare = parts._replace(chunks=(), document=replace(parts.document, chunks=0, metadata={}))
    store.put(*bare)
    assert store.document(parts.document.id, EVERYTHING) == bare.document


def test_keys_of_removed_chunks_are_never_given_again(store: Store, make_parts: MakeParts) -> None:
    seen: set[int] = set()
    for _ in range(3):
        store.put(*make_parts())
        keys = {chunk.key for chunk in store.chunks_of("note-0001", EVERYTHING)}
        assert not keys & seen
        seen |= keys
        store.remove("note-0001")


def test_a_replacement_keeps_the_id_and_leaves_nothing_of_the_old(
    store: Store, make_parts: MakeParts
) -> None:
    old = make_parts(text="Old one.\nOld two.\nOld three.\n")
    new = make_parts(text="New.\n", identifier="another-id", shelves=("b", "a"))
    store.put(*old)
    old_keys = [chunk.key for chunk in store.chunks_of(old.document.id, EVERYTHING)]
    store.put(*new)
    kept = store.document(old.document.id, EVERYTHING)
    assert kept == replace(new.document, id=old.document.id, shelves=("a", "b"))
    assert store.document("another-id", EVERYTHING) is None
    assert store.chunks(old_keys, EVERYTHING) == {}
    (chunk,) = store.chunks_of(old.document.id, EVERYTHING)
    assert (chunk.document_id, chunk.key > max(old_keys)) == (old.document.id, True)
    assert store.content(old.document.sha256, EVERYTHING) is None
    record = store.file(new.record.location)
    assert record is not None
    assert record.document_id == old.document.id
    assert [change.sequence for change in store.changes(0, 10)] == [2]


def test_an_id_that_another_location_has_gets_a_number(store: Store, make_parts: MakeParts) -> None:
    for name, text in (("one", "1\n"), ("two", "2\n"), ("three", "3\n"), ("two", "Changed.\n")):
        store.put(*make_parts(name, text, identifier="same"))
    documents = [document.id for document in store.documents(EVERYTHING)]
    assert documents == ["same", "same-2", "same-3"]
    record = store.file("/home/user/notes/three.txt")
    assert record is not None
    assert record.document_id == "same-3"
    assert not list(store.examination().faults(thorough=True))


def test_content_stays_for_another_document_and_goes_with_the_last(
    store: Store, make_parts: MakeParts
) -> None:
    one, two = make_parts("one"), make_parts("two")
    for parts in (one, two):
        store.put(*parts)
    store.remove(one.document.id)
    assert store.content(two.document.sha256, EVERYTHING) == two.content
    assert store.file(one.record.location) is None
    store.remove(two.document.id)
    assert store.content(two.document.sha256, EVERYTHING) is None
    assert store.changes(3, 10) == (Change(4, two.document.id, None),)


def test_a_rejected_file_takes_its_document_with_it(store: Store, make_parts: MakeParts) -> None:
    parts = make_parts()
    store.put(*parts)
    rejected = replace(parts.record, status=Status.REJECTED, code="damaged", document_id="")
    store.record_file(rejected)
    assert store.file(parts.record.location) == rejected
    assert store.document(parts.document.id, EVERYTHING) is None
    store.forget_file(parts.record.location)
    assert store.file(parts.record.location) is None


BAD = "half \ud83d character"


def test_lone_surrogates_are_refused_and_nothing_is_written(
    store: Store, make_parts: MakeParts
) -> None:
    parts = make_parts()
    changes: tuple[dict[str, Any], ...] = (
        {"source": BAD},
        {"title": BAD},
        {"metadata": {"author": BAD}},
        {"notices": (Notice("a", BAD),)},
    )
    bad = [parts._replace(body=replace(parts.body, text=BAD))]
    bad += [parts._replace(document=replace(parts.document, **change)) for change in changes]
    for one in bad:
        with pytest.raises(UsageError, match="lone surrogate"):
            store.put(*one)
    assert store.sequence() == 0
    assert list(store.documents(EVERYTHING)) == []


def test_parts_that_contradict_each_other_are_refused(store: Store, make_parts: MakeParts) -> None:
    parts = make_parts()
    spoiled: tuple[dict[str, Any], ...] = (
        {"content": b"other"},
        {"chunks": parts.chunks[1:]},
        {"chunks": parts.chunks[::-1]},  # numbered otherwise
        {"record": replace(parts.record, location="/elsewhere")},
    )
    for changed in spoiled:
        with pytest.raises(ValueError, match="note"):
            store.put(*parts._replace(**changed))
    assert store.sequence() == 0


def test_readers_neither_wait_for_a_writer_nor_see_its_work(
    store: Store, make_parts: MakeParts
) -> None:
    store.put(*make_parts("before"))
    with store._connections.write() as connection:
        connection.execute("DELETE FROM document")
        found: list[str] = []
        reader = threading.Thread(
            target=lambda: found.extend(d.id for d in store.documents(EVERYTHING))
        )
        reader.start()
        reader.join(timeout=2)
        assert found == ["before-0001"]
        connection.execute("INSERT INTO document SELECT * FROM document WHERE 1 = 0")
    assert list(store.documents(EVERYTHING)) == []


def test_threads_write_and_read_at_once(store: Store, make_parts: MakeParts) -> None:
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for number in range(15):
                name = f"w{worker}n{number}"
                store.put(*make_parts(name))
                assert store.document(f"{name}-0001", EVERYTHING) is not None
                assert len(store.chunks_of(f"{name}-0001", EVERYTHING)) == 3
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert store.sequence() == 60
    assert [change.sequence for change in store.changes(0, 100)] == list(range(1, 61))


@in_a_file
def test_garbage_collection_takes_only_what_is_old_and_unneeded(
    store: Store, blobs: Blobs, make_parts: MakeParts
) -> None:
    kept = make_parts("kept", padding=INLINE_MAXIMUM)
    gone = make_parts("gone", "Another text.\n", padding=INLINE_MAXIMUM)
    store.put(*kept)
    store.put(*gone)
    store.remove(gone.document.id)
    assert list(blobs.hashes()) == [kept.document.sha256]  # what was needed by it alone is gone
    blobs.put(gone.content)
    assert store.collect_garbage(3600) == 0  # young: its document may be on its way
    assert store.collect_garbage(0) == 1
    assert list(blobs.hashes()) == [kept.document.sha256]
    assert store.content(kept.document.sha256, EVERYTHING) == kept.content


def test_a_blob_collected_while_its_document_is_put_is_written_again(
    tmp_path: Path, make_parts: MakeParts
) -> None:
    class Hasty(Blobs):
        """Loses the first blob right after it was put, as a collector elsewhere might."""

        lost = 0

        def put(self, data: bytes) -> str:
            sha256 = super().put(data)
            if not self.lost:
                self.lost += 1
                self.delete(sha256)
            return sha256

    parts = make_parts(padding=INLINE_MAXIMUM)
    blobs = Hasty(tmp_path / "blobs")
    with Store(tmp_path / "library.db", blobs=blobs) as store:
        store.put(*parts)
        assert blobs.lost == 1
        assert store.content(parts.document.sha256, EVERYTHING) == parts.content


def _fail_together(store: Store, parts: Any) -> None:
    with store.together():
        store.put(*parts)
        assert parts.document.id in store.documents_among([parts.document.id], EVERYTHING)
        assert store.census(EVERYTHING).documents
        raise InterruptedError


def test_what_is_written_together_is_there_together_or_not_at_all(
    store: Store, make_parts: MakeParts
) -> None:
    seen: list[int] = []
    with store.together():
        store.put(*make_parts("one"))
        store.put(*make_parts("two"))
        assert store.census(EVERYTHING).documents == 2  # a thread sees what it wrote
        other = threading.Thread(target=lambda: seen.append(store.sequence()))
        other.start()
        other.join()
    assert seen == [0]  # and nobody else does before the end
    assert store.sequence() == 2
    with pytest.raises(InterruptedError):
        _fail_together(store, make_parts("three"))
    assert store.census(EVERYTHING).documents == 2
    store.put(*make_parts("four"))  # takes the number of what never came to be
    documents = [document.id for document in store.documents(EVERYTHING)]
    assert documents == ["four-0001", "one-0001", "two-0001"]
    assert set(store.documents_among(["three-0001", "four-0001"], EVERYTHING)) == {"four-0001"}


def test_bytes_replaced_together_stay_until_the_end(store: Store, make_parts: MakeParts) -> None:
    large = make_parts(padding=INLINE_MAXIMUM)
    store.put(*large)
    with pytest.raises(InterruptedError):
        _fail_together(store, make_parts(text="Other.\n"))
    assert store.content(large.document.sha256, EVERYTHING) == large.content
    with store.together():
        store.put(*make_parts(text="Other.\n"))
    assert store.content(large.document.sha256, EVERYTHING) is None


def test_chunks_get_new_keys_where_a_document_moves(store: Store, make_parts: Any) -> None:
    parts = make_parts()
    identifier = store.put(*parts)
    record = store.file(parts.document.location)
    assert record is not None

    def moved(place: str, title: str) -> list[int]:
        now = replace(record, location=place, source=f"notes/{title}.txt")
        store.move_files([FileMove(where, now, title, 1)])
        return [one.key for one in store.chunks_of(identifier, EVERYTHING)]

    where, before = parts.document.location, store.chunks_of(identifier, EVERYTHING)
    keys = [one.key for one in before]
    assert set(moved("/home/user/notes/b.txt", parts.document.title)).isdisjoint(keys)
    where = "/home/user/notes/b.txt"
    assert set(moved("/home/user/notes/c.txt", "Another")).isdisjoint(keys)
    after = store.chunks_of(identifier, EVERYTHING)
    assert [replace(one, key=0) for one in after] == [replace(one, key=0) for one in before]
    assert not list(store.examination().faults(thorough=True))
