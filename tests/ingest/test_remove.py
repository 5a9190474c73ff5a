"""Documents leave with all that belongs to them; their bytes stay as long as is wanted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError
from chapterhouse.ingest.remove import AT_ONCE, BY_HAND, drop_expired, prove, remove_documents
from chapterhouse.store.sqlite import INLINE_MAXIMUM
from chapterhouse.types import Memory, Scope

EVERYTHING = Scope.everything()

LARGE = "Many words are here. " * (INLINE_MAXIMUM // 20)


def _remove(home: Any, *ids: str, grace: int | None = AT_ONCE, **options: Any) -> Any:
    return remove_documents(ids, store=home.store, grace_seconds=grace, now=1_000, **options)


def test_nothing_of_a_removed_document_stays(home: Any) -> None:
    home.write("a.md", LARGE)
    home.write("b.md", "Small text of b.")
    report = home.add()
    gone, other = (outcome.record for outcome in report.outcomes)
    memory = Memory("", "", 1, 0, "?", "!", True, "", (gone.document_id,), 1)  # noqa: FBT003
    home.store.memories().remember(memory)
    reported: list[str] = []
    removal = _remove(
        home,
        gone.document_id,
        gone.document_id,
        on_progress=lambda progress: reported.append(progress.current),
    )
    assert [document.source for document in removal.documents] == ["docs/a.md"]
    assert (removal.retained, removal.receipt) == ((), None)
    assert reported == ["docs/a.md"]
    assert home.sources() == ["docs/b.md"]
    assert home.store.chunks_of(gone.document_id, EVERYTHING) == ()
    assert home.store.content(gone.sha256, EVERYTHING) is None
    assert list(home.blobs.hashes()) == []
    assert home.store.content(other.sha256, EVERYTHING) == b"Small text of b."
    assert home.store.memories().count([""]) == 0
    assert home.faults() == []


@pytest.mark.parametrize(("grace", "until"), [(50, 1_050), (BY_HAND, 0)])
def test_only_the_bytes_are_retained(home: Any, grace: int | None, until: int) -> None:
    for name in ("a.md", "b.md"):
        home.write(name, f"{name} {LARGE}")
    ids = [outcome.record.document_id for outcome in home.add(shelf="s").outcomes]
    first, second = (_remove(home, one, grace=grace).retained for one in ids)
    (entry,) = first
    assert (entry.removed, entry.until, entry.number) == (1_000, until, 1)
    assert (entry.id, entry.shelves) == (ids[0], ("s",))
    assert second[0].number == 2
    assert home.store.content(entry.sha256, EVERYTHING) is not None
    assert home.store.chunks_of(ids[0], EVERYTHING) == ()
    assert home.faults() == []
    assert drop_expired(home.store, 1_049) == 0
    assert drop_expired(home.store, 1_050) == (2 if until else 0)
    assert len(list(home.blobs.hashes())) == (0 if until else 2)


def test_removed_at_once_nothing_earlier_of_the_same_place_stays(home: Any) -> None:
    home.write("a.md", LARGE)
    (outcome,) = home.add().outcomes
    _remove(home, outcome.record.document_id, grace=50)
    home.add()
    _remove(home, outcome.record.document_id)
    assert home.store.removed().entries() == ()
    assert list(home.blobs.hashes()) == []


def test_a_file_that_is_still_there_comes_back(home: Any) -> None:
    home.write("a.md", "Text of a document.")
    (outcome,) = home.add().outcomes
    _remove(home, outcome.record.document_id, grace=50)
    (again,) = home.add().outcomes
    assert again.changed
    assert again.record.document_id == outcome.record.document_id


def test_an_unknown_id_removes_nothing(home: Any) -> None:
    home.write("a.md", "Text of a document.")
    (outcome,) = home.add().outcomes
    with pytest.raises(NotFoundError, match="nothing-1"):
        _remove(home, outcome.record.document_id, "nothing-1")
    assert home.sources() == ["docs/a.md"]


def test_a_removal_that_is_cut_short_left_all_of_a_document_or_its_entry(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        home.write(f"{number}.md", f"Text of document {number}.")
    ids = [outcome.record.document_id for outcome in home.add().outcomes]
    monkeypatch.setattr("chapterhouse.ingest.remove._TOGETHER", 2)

    def stop(progress: Any) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _remove(home, *ids, grace=50, on_progress=stop)
    assert home.sources() == ["docs/2.md"]
    assert [entry.id for entry in home.store.removed().entries()] == ids[:2]
    assert home.faults() == []


def test_one_proof_serves_several_removals(library: Library) -> None:
    runtime = library._runtime
    purged: list[int] = []

    def purge() -> int:
        purged.append(1)
        return runtime.purge()

    searches = replace(runtime.searches(), purge=purge)
    ids = [document.id for document in library.documents.list()]
    removal = remove_documents(ids[:2], store=runtime.store, grace_seconds=AT_ONCE, now=0)
    receipt = prove(removal, searches)
    assert purged == [1]
    assert (receipt.found, receipt.ids.searched) == (0, 2)
    assert all(path.searched for path in receipt.paths.values())
    assert runtime.store.changes(0, 100)[-1].document is not None  # ids of removed ones went
    held = {p for p in _files(library.folder) if ids[0].encode() in p.read_bytes()}
    assert held == set()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
