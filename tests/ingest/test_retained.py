"""Removed documents come back as they were, or it is said why not; or their bytes go for good."""

from dataclasses import astuple, replace
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, RejectedError, UsageError
from chapterhouse.ingest.look import Work
from chapterhouse.ingest.remove import remove_documents
from chapterhouse.ingest.retained import find_removed, last_removal, restore
from chapterhouse.types import Extraction, Scope

EVERYTHING = Scope.everything()


def _remove(home: Any, *ids: str) -> None:
    remove_documents(ids, store=home.store, grace_seconds=100, now=1_000)


def _restore(home: Any, *names: str) -> Any:
    work = Work(home.store, home.read, home.prepare, ahead=2)
    return restore(find_removed(names, home.store) or last_removal(home.store), work)


def _all_of(store: Any, document_id: str) -> Any:
    document = store.document(document_id, EVERYTHING)
    chunks = [astuple(replace(chunk, key=0)) for chunk in store.chunks_of(document_id, EVERYTHING)]
    vectors = store.vectors_of(document_id, "hash:8")[1].tobytes()
    record = replace(store.file(document.location), ctime_ns=0)  # that of a file, not of bytes
    return document, store.body(document_id, EVERYTHING), chunks, vectors, record


def test_a_document_comes_back_as_it_was(home: Any) -> None:
    for number in range(5):
        home.write(f"{number}.md", f"NOTED Text of document {number}. " * 200)
    ids = [outcome.record.document_id for outcome in home.add(shelf="s").outcomes]
    home.store.set_shelves(ids[0], ("s", "maria"))
    before = {one: _all_of(home.store, one) for one in ids}
    _remove(home, *ids)
    restored = _restore(home)
    assert restored.refused == ()
    assert [document.id for document in restored.documents] == ids
    assert {one: _all_of(home.store, one) for one in ids} == before
    assert home.store.removed().entries() == ()
    assert home.add(shelf="s").changed == 0
    assert home.faults() == []


def test_without_a_name_the_last_removal_comes_back(home: Any) -> None:
    for name in "abc":
        home.write(f"{name}.md", f"Text of {name}.")
    a, b, c = (outcome.record.document_id for outcome in home.add().outcomes)
    _remove(home, a)
    _remove(home, b, c)
    assert len(_restore(home).documents) == 2
    assert home.sources() == ["docs/b.md", "docs/c.md"]
    assert len(_restore(home, "A.MD").documents) == 1
    assert last_removal(home.store) == ()


def test_an_id_that_a_number_made_free_is_given_again(home: Any) -> None:
    home.write("a.md", "Text of a.")
    (outcome,) = home.add().outcomes
    _remove(home, outcome.record.document_id)
    (entry,) = home.store.removed().entries()
    numbered = replace(entry, id=f"{entry.id}-2")
    home.store.removed().add([replace(numbered, location="/elsewhere/a.md")])
    (document,) = _restore(home, numbered.id).documents
    assert (document.id, document.location) == (numbered.id, "/elsewhere/a.md")


def test_what_is_in_the_way_is_said_and_nothing_changes(home: Any) -> None:
    home.write("a.md", "Text of a.")
    home.write("b.md", "Text of b.")
    a, b = (outcome.record.document_id for outcome in home.add().outcomes)
    _remove(home, a, b)
    home.add(home.folder / "a.md")
    restored = _restore(home)
    assert [document.id for document in restored.documents] == [b]
    ((entry, reason),) = restored.refused
    assert (entry.id, "has a document again" in reason) == (a, True)
    assert [entry.id for entry in home.store.removed().entries()] == [a]
    home.store.removed().drop([entry.location])
    home.store.removed().add([replace(entry, location="/elsewhere/a.md")])
    ((_, reason),) = _restore(home).refused
    assert f"has its id '{a}' now" in reason
    assert home.faults() == []


def test_bytes_that_cannot_be_read_any_more_stay_retained(home: Any) -> None:
    home.write("a.md", "Text of a.")
    (outcome,) = home.add().outcomes
    _remove(home, outcome.record.document_id)

    def refuse(data: bytes, name: str) -> Extraction:
        raise RejectedError("missing-extra", f"{name} needs an engine.", hint="Install it.")

    home.reader = refuse
    ((_, reason),) = _restore(home).refused
    assert reason == "a.md needs an engine. Install it."
    assert len(home.store.removed().entries()) == 1


def test_names_are_found_as_those_of_documents_are(home: Any) -> None:
    for name in ("x/a.md", "y/a.md", "b.md"):
        home.write(name, f"Text of {name}.")
    ids = {outcome.record.source: outcome.record.document_id for outcome in home.add().outcomes}
    _remove(home, *ids.values())
    (found,) = find_removed([ids["docs/b.md"][:4], "b.md"], home.store)
    assert found.source == "docs/b.md"
    (found,) = find_removed(["docs/x/a.md"], home.store)
    assert found.id == ids["docs/x/a.md"]
    with pytest.raises(UsageError, match="fits 2 removed documents"):
        find_removed(["a.md"], home.store)
    with pytest.raises(NotFoundError, match=r"'c\.md'"):
        find_removed(["c.md"], home.store)
    with pytest.raises(UsageError, match="empty"):
        find_removed([" "], home.store)


def test_purged_bytes_are_searched_for(library: Library) -> None:
    first, *others = library.documents.list()
    library.documents.remove(first.id, others[0].id)
    purged = library.documents.purge(first.id)
    assert [entry.id for entry in purged.dropped] == [first.id]
    receipt = purged.receipt
    assert receipt is not None
    assert (receipt.found, receipt.retained) == (0, ())
    assert receipt.passages.searched > 1
    assert receipt.phrases.searched
    assert receipt.vectors.searched
    assert [entry.id for entry in library.documents.removed()] == [others[0].id]
