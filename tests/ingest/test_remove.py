"""Documents leave with all that belongs to them, and nothing of them is in any file afterwards."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse import Library
from chapterhouse.errors import NotFoundError
from chapterhouse.ingest.remove import (
    Finder,
    _blocks,
    end_of,
    erase,
    pieces_of,
    remove_documents,
    search_files,
    traces_of,
)
from chapterhouse.store.connections import INLINE_MAXIMUM
from chapterhouse.types import JobState, Memory, RemovalState, Scope

pytestmark = pytest.mark.usefixtures("each_store")

EVERYTHING = Scope.everything()

LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


def test_nothing_of_a_removed_document_stays(home: Any) -> None:
    home.write("a.md", LARGE)
    home.write("b.md", "Small text of b.")
    report = home.add()
    gone, other = (outcome.record for outcome in report.outcomes)
    memory = Memory("", "", 1, 0, "?", "!", True, "", (gone.document_id,), 1)  # noqa: FBT003
    home.store.memories().remember(memory)
    reported: list[str] = []
    removal = remove_documents(
        [gone.document_id, gone.document_id],
        store=home.store,
        on_progress=lambda progress: reported.append(progress.current),
    )
    assert [document.source for document in removal.documents] == ["docs/a.md"]
    assert removal.state is RemovalState.UNSEARCHED
    assert reported == ["docs/a.md"]
    assert home.sources() == ["docs/b.md"]
    assert home.store.chunks_of(gone.document_id, EVERYTHING) == ()
    assert home.store.content(gone.sha256, EVERYTHING) is None
    assert list(home.blobs.hashes()) == []
    assert home.store.content(other.sha256, EVERYTHING) == b"Small text of b."
    assert home.store.memories().count([""]) == 0
    assert home.faults() == []


def test_a_removal_that_is_cut_short_left_all_of_a_document_or_nothing(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        home.write(f"{number}.md", f"Text of document {number}.")
    ids = [outcome.record.document_id for outcome in home.add().outcomes]
    monkeypatch.setattr("chapterhouse.ingest.remove._TOGETHER", 2)
    with pytest.raises(NotFoundError, match="nothing-1"):
        remove_documents([*ids, "nothing-1"], store=home.store)
    assert len(home.sources()) == 3

    def stop(progress: Any) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remove_documents(ids, store=home.store, on_progress=stop)
    assert home.sources() == ["docs/2.md"]
    assert home.faults() == []
    again = home.add()  # the files are still there: their documents come back
    assert [one.record.document_id for one in again.outcomes if one.changed] == ids[:2]


def test_one_search_serves_several_removals(library: Library) -> None:
    runtime = library._runtime
    ids = [document.id for document in library.documents.list()]
    chunks = sum(len(library.documents.chunks(one)) for one in ids[:2])
    removals = [remove_documents([one], store=runtime.store) for one in ids[:2]]
    traces = removals[0].traces + removals[1].traces
    listed = runtime.folder / "cache" / "listings.json"  # what a drive has, by name
    listed.parent.mkdir(exist_ok=True)
    listed.write_text(ids[0])
    search = erase(traces, runtime.store, runtime.folder, runtime.rebuild)
    assert not listed.exists()
    assert replace(removals[0], search=search).state is RemovalState.REMOVED
    assert search.searched >= chunks + 2 * 3  # passages; names, ids and hashes
    assert runtime.store.changes(0, 100)[-1].document is not None  # ids of removed ones went
    files = [path for path in library.folder.rglob("*") if path.is_file()]
    assert [path for path in files if ids[0].encode() in path.read_bytes()] == []


@pytest.mark.parametrize("prove", [False, True])
def test_an_upload_does_not_come_back_with_its_job(library: Library, *, prove: bool) -> None:
    runtime = library._runtime
    data = b"# Winter rules\n\nEvery berth is closed from November on.\n"
    with library.documents.receive() as upload:
        upload.write(data)
        file = upload.finish()
    job = library.documents.upload_later(file, "winter-rules.md")
    # Its worker stores the document and is killed before it can say so.
    assert runtime.runner.jobs.claim("killed", 1.0, 2.0, job.id) is not None
    library.documents.add_bytes(data, "winter-rules.md")
    removal = library.documents.remove("winter-rules.md", prove=prove)
    assert removal.state is (RemovalState.REMOVED if prove else RemovalState.UNSEARCHED)
    library.jobs.work(idle_seconds=0)
    assert "winter-rules" not in str([one.source for one in library.documents.list()])
    assert library.jobs.get(job.id).state is JobState.CANCELLED
    assert "winter" not in str(library.jobs.get(job.id))
    assert list((library.folder / "uploads").iterdir()) == []


def test_names_and_hashes_leave_the_records_of_jobs(library: Library) -> None:
    for name in ("harbour-office.md", "other.md"):
        with library.documents.receive() as upload:
            upload.write(f"# What {name} says\n\nAll of it is here.\n".encode())
            file = upload.finish()
        library.documents.upload_later(file, name)
    library.jobs.work(idle_seconds=0)
    sha256 = library.documents.get("harbour-office.md").sha256
    assert library.documents.remove("harbour-office.md").state is RemovalState.REMOVED
    jobs = str(library.jobs.list())
    assert "harbour-office" not in jobs
    assert sha256[:8] not in jobs


# --- what was removed stays in no file; what is left is found ---


@given(
    st.lists(st.binary(min_size=12, max_size=24), min_size=1, max_size=8, unique=True),
    st.binary(max_size=200),
    st.integers(0, 60),
    st.integers(24, 64),
)
def test_probes_are_found_wherever_they_stand(
    tmp_path_factory: pytest.TempPathFactory,
    probes: list[bytes],
    rest: bytes,
    at: int,
    block: int,
) -> None:
    path = tmp_path_factory.mktemp("probes") / "file"
    data = rest[:at] + probes[0] + rest[at:]
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chapterhouse.ingest.remove._BLOCK", block)
        finder = Finder(probes)
        found = {probe for block in _blocks(path) for probe in finder.find(block)}
    assert found == {probe for probe in probes if probe in data}


def test_probes_stand_in_a_text_and_in_its_json_alike() -> None:
    text = 'She said: "the ferry leaves\nat seven in the morning", and was\u00a0right about it.'
    probes = pieces_of(text)
    assert probes
    assert all(probe in text.encode() and b'"' not in probe for probe in probes)
    assert pieces_of("Yes.") == pieces_of(" " * 100 + "|\n" + "| --- " * 20) == frozenset()
    assert pieces_of("Der Fährmann heißt überall Jürgen Größenwahn.")


def test_what_is_left_anywhere_is_found_but_not_what_another_document_says(
    library: Library, folder: Path
) -> None:
    (folder / "copy-of-it.md").write_bytes(next(folder.glob("*.md")).read_bytes())
    library.documents.add(folder)
    assert library.documents.remove("copy-of-it.md").state is RemovalState.REMOVED
    store, place = library._runtime.store, library.folder
    (folder / "harbour-dues.md").write_text("# Dues\n\nEvery berth costs eleven crowns.\n")
    library.documents.add(folder)
    document = library.documents.get("harbour-dues.md")
    traces = traces_of([document], store)
    assert search_files(traces, place, store).found == 0  # it is there
    for name, text in (
        ("chat.json", store.chunks_of(document.id, Scope.everything())[0].text),
        ("background/note.txt", f"reading {document.source}"),
        ("jobs.txt", document.id),
        ("list.txt", document.sha256),
        (f"uploads/{document.sha256}", "nothing"),
    ):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
        removal = library.documents.remove(document.id)
        assert removal.state is RemovalState.INCOMPLETE, name
        assert removal.search is not None
        assert removal.search.places == (name,)
        assert removal.search.files == len([one for one in place.rglob("*") if one.is_file()])
        (place / name).unlink()
        library.documents.add(folder)


def test_a_name_is_known_by_its_end() -> None:
    assert end_of("dossier-about-the-harbour-4ec15632") == {b"bout-the-harbour-4ec15632"[-24:]}
    assert end_of("a.md") == frozenset()
