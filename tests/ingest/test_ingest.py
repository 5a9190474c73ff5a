import os
from typing import Any

import pytest

from chapterhouse.errors import ChapterhouseError, NotFoundError, RejectedError
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.reprocess import reprocess
from chapterhouse.types import ExtractedPage, Extraction, Scope, Status

EVERYTHING = Scope.everything()

PROSE = "# Badges\n\nA badge is valid for a year. It is blue and has a picture of its owner.\n"


def test_a_folder_becomes_a_library(home: Any) -> None:
    home.write("b/two.md", "# Two\n\nSecond text, in another folder than the first one.\n")
    home.write("a.md", PROSE)
    report = home.add()
    assert [o.record.source for o in report.outcomes] == ["docs/a.md", "docs/b/two.md"]
    assert [o.record.status for o in report.outcomes] == [Status.READY, Status.READY]
    assert report.changed == 2
    assert not report.interrupted
    assert home.sources() == ["docs/a.md", "docs/b/two.md"]
    first = home.store.document(report.outcomes[0].record.document_id, EVERYTHING)
    assert first.id.startswith("a-")
    assert first.title == "Badges"
    assert first.language == "en"
    assert first.metadata == {"author": "Ada Lovelace"}
    assert first.shelves == ("library",)
    assert home.store.body(first.id, EVERYTHING).text == PROSE.rstrip("\n")
    assert len(home.store.chunks_of(first.id, EVERYTHING)) == first.chunks > 0
    assert home.faults() == []


def test_a_second_add_opens_and_writes_nothing(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("a.md", PROSE)
    home.write("bad.md", "ENCRYPTED")
    home.add()
    sequence, changes = home.store.sequence(), home.store._connections._writer.total_changes()
    monkeypatch.setattr("chapterhouse.connectors.content.open_source", None)
    report = home.add()
    assert [o.record.code for o in report.outcomes] == ["unchanged", "unchanged"]
    assert report.outcomes[1].record.sentence == "bad.md needs a password. Remove it."
    assert report.count(Status.SKIPPED) == 2
    assert report.changed == 0
    assert home.store.sequence() == sequence
    assert home.store._connections._writer.total_changes() == changes
    assert home.store.file(str(home.folder / "bad.md")).code == "encrypted"


def test_a_change_of_this_moment_is_not_missed(home: Any) -> None:
    path = home.write("a.md", "One text of words.")
    os.utime(path)
    home.add()
    stamp = path.stat()
    path.write_text("Two text of words.")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    (outcome,) = home.add().outcomes
    assert outcome.changed
    assert home.store.body(outcome.record.document_id, EVERYTHING).text == "Two text of words."


def test_a_file_that_cannot_be_opened_now_keeps_its_document(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("a.md", PROSE)
    home.add()
    home.write("a.md", PROSE + "More.", time=1_700_000_000)

    def refuse(*_: Any, **__: Any) -> None:
        raise RejectedError("cannot-open", "docs/a.md cannot be read: Permission denied.")

    with monkeypatch.context() as closed:
        closed.setattr("chapterhouse.connectors.content.open_source", refuse)
        (outcome,) = home.add().outcomes
    assert (outcome.record.code, outcome.changed) == ("cannot-open", False)
    assert outcome.record.sentence.endswith("What was read earlier stays in the library.")
    assert home.sources() == ["docs/a.md"]
    assert home.add().outcomes[0].changed


def test_a_file_too_large_for_now_is_read_under_another_limit(home: Any) -> None:
    home.write("a.md", PROSE)
    assert home.add(maximum_bytes=10).outcomes[0].record.code == "too-large"
    assert home.add().outcomes[0].record.code == "unchanged"
    assert home.add(retry=True).outcomes[0].record.status is Status.READY


def test_files_that_are_gone_are_told_and_stay(home: Any) -> None:
    gone, rejected = home.write("gone.md", PROSE), home.write("bad.md", "ENCRYPTED")
    home.write("here.md", PROSE)
    home.add()
    gone.unlink()
    rejected.unlink()
    report = home.add()
    assert report.missing == ("docs/gone.md",)
    assert home.sources() == ["docs/gone.md", "docs/here.md"]
    assert home.store.file(str(rejected)) is None


def test_sources_name_the_folder_that_was_added(home: Any) -> None:
    home.write("sub/deep/a.md", PROSE)
    home.write("sub/b.md", PROSE)
    home.write("c.md", PROSE)
    other = home.folder.parent / "other" / "sub"
    other.mkdir(parents=True)
    (other / "b.md").write_text(PROSE)
    assert home.add(home.folder / "sub").outcomes[0].record.source == "sub/b.md"
    # A file below keeps its name, whichever way it is reached.
    assert [o.record.source for o in home.add().outcomes] == [
        "docs/c.md", "sub/b.md", "sub/deep/a.md",
    ]  # fmt: skip
    (outcome,) = home.add(home.folder / "sub" / "deep").outcomes
    assert outcome.record.source == "sub/deep/a.md"
    (outcome,) = home.add(other / "b.md").outcomes
    assert outcome.record.source == "sub-2/b.md"
    assert len({document.id for document in home.store.documents(EVERYTHING)}) == 4
    assert dict(home.store.roots()) == {
        "sub": str(home.folder / "sub"), "docs": str(home.folder), "sub-2": str(other),
    }  # fmt: skip


def test_a_path_that_is_not_there_stops_before_anything(home: Any) -> None:
    home.write("a.md", PROSE)
    with pytest.raises(NotFoundError):
        home.add(home.folder, home.folder / "nothing")
    assert home.sources() == []
    assert home.store.roots() == ()


def test_a_full_disk_is_said_and_what_was_told_is_safe(home: Any) -> None:
    for number in range(6):
        home.write(f"{number}.md", f"Text number {number}. " * 400)
    told: list[str] = []
    writer = home.store._connections._writer
    home.add(home.folder / "0.md")
    writer.pragma("max_page_count", writer.pragma("page_count") + 20)
    with pytest.raises(ChapterhouseError, match="no space left"):
        home.add(on_progress=lambda progress: told.append(progress.current))
    assert told
    assert home.sources() == sorted({"docs/0.md", *told})
    writer.pragma("max_page_count", 1_000_000)
    home.add()
    assert len(home.sources()) == 6
    assert home.faults() == []


def _again(home: Any, *document_ids: str) -> Any:
    return reprocess(document_ids, ReadingContext(home.store, home.read, home.prepare))


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


def test_it_is_read_from_the_folder_and_what_is_gone_or_a_link_from_the_bytes_kept(
    home: Any,
) -> None:
    path = home.write("a.md", "The old text of a.")
    (outcome,) = home.add().outcomes

    def text() -> str:
        (again,) = _again(home, outcome.record.document_id).outcomes
        assert again.record.document_id == outcome.record.document_id
        return str(home.store.body(again.record.document_id, EVERYTHING).text)

    secret = home.folder.parent / "secret.md"
    secret.write_text("Secret text.")
    path.unlink()
    path.symlink_to(secret)
    assert text() == "The old text of a."
    path.unlink()
    home.reader = _better
    assert text() == "The new text of a."
    assert home.store.document(outcome.record.document_id, EVERYTHING).modified == 1_600_000_000
    home.write("a.md", "Quite another text.", time=1_700_000_000)
    assert text() == "Quite another text."
    assert home.add().changed == 0
    with pytest.raises(NotFoundError, match="nothing-1"):
        _again(home, "nothing-1")


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
