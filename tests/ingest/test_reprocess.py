from dataclasses import replace
from typing import Any

import pytest

from chapterhouse.errors import NotFoundError, RejectedError
from chapterhouse.ingest.look import Work
from chapterhouse.ingest.reprocess import reprocess
from chapterhouse.types import ExtractedPage, Extraction, Scope, Status

EVERYTHING = Scope.everything()


def _again(home: Any, *document_ids: str) -> Any:
    return reprocess(document_ids, Work(home.store, home.read, home.prepare))


def _better(data: bytes, name: str) -> Extraction:
    del name
    text = data.decode().replace("old", "new")
    return Extraction((ExtractedPage(text),), "markdown", "test 2")


def test_everything_is_read_again_and_keeps_id_and_shelves(home: Any) -> None:
    home.write("a.md", "The old text of a.")
    home.write("b.md", "The old text of b.")
    home.add(shelf="s")
    before = {document.id: document for document in home.store.documents(EVERYTHING)}
    home.reader = _better
    report = _again(home)
    assert report.count(Status.READY) == 2
    for document in home.store.documents(EVERYTHING):
        assert document.method == "test 2"
        assert document.shelves == before[document.id].shelves == ("s",)
        assert "new" in home.store.body(document.id, EVERYTHING).text
    assert home.add(shelf="s").changed == 0
    assert home.faults() == []


def test_what_is_gone_is_read_from_the_bytes_kept(home: Any) -> None:
    path = home.write("a.md", "The old text of a.")
    (outcome,) = home.add().outcomes
    path.unlink()
    home.reader = _better
    (again,) = _again(home, outcome.record.document_id).outcomes
    assert again.record.document_id == outcome.record.document_id
    assert home.store.body(again.record.document_id, EVERYTHING).text == "The new text of a."
    assert home.store.document(again.record.document_id, EVERYTHING).modified == 1_600_000_000


def test_what_changed_in_the_folder_is_read_from_there(home: Any) -> None:
    home.write("a.md", "The old text of a.")
    (outcome,) = home.add().outcomes
    home.write("a.md", "Quite another text.", time=1_700_000_000)
    (again,) = _again(home, outcome.record.document_id).outcomes
    assert home.store.body(again.record.document_id, EVERYTHING).text == "Quite another text."
    assert home.add().changed == 0


def test_a_link_in_the_place_of_a_file_is_not_followed(home: Any) -> None:
    path = home.write("a.md", "The old text of a.")
    (outcome,) = home.add().outcomes
    secret = home.folder.parent / "secret.md"
    secret.write_text("Secret text.")
    path.unlink()
    path.symlink_to(secret)
    (again,) = _again(home).outcomes
    assert home.store.body(again.record.document_id, EVERYTHING).text == "The old text of a."
    assert again.record.document_id == outcome.record.document_id


def test_a_reader_that_fails_on_the_same_bytes_takes_nothing_away(home: Any) -> None:
    home.write("a.md", "The old text of a.")
    (outcome,) = home.add().outcomes

    def slow(data: bytes, name: str) -> Extraction:
        raise RejectedError("timed-out", f"{name} took too long.")

    home.reader = slow
    (again,) = _again(home).outcomes
    assert again.record.status is Status.FAILED
    assert not again.changed
    assert home.store.document(outcome.record.document_id, EVERYTHING) is not None
    assert home.store.file(outcome.record.location) == outcome.record


def test_bytes_that_are_nowhere_are_told(home: Any) -> None:
    path = home.write("a.md", "The old text of a.")
    home.add()
    path.unlink()
    with home.store._connections.write() as connection:
        connection.execute("DELETE FROM content")
    (outcome,) = _again(home).outcomes
    assert outcome.record.code == "vanished"
    assert home.sources() == ["docs/a.md"]


def test_an_unknown_id_reads_nothing(home: Any) -> None:
    with pytest.raises(NotFoundError, match="nothing-1"):
        _again(home, "nothing-1")


def test_ids_stay_when_a_label_was_numbered(home: Any) -> None:
    home.write("a.md", "The old text of a.")
    home.add()
    (document,) = home.store.documents(EVERYTHING)
    _again(home)
    assert [replace(d, method="") for d in home.store.documents(EVERYTHING)] == [
        replace(document, method="")
    ]
