"""Several files in one transaction: what is told is safe, for everybody who looks."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import ChapterhouseError
from chapterhouse.ingest.groups import Write, groups, write_group
from chapterhouse.ingest.look import Look
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import FileOutcome, FileRecord, Status

LARGE = 64 * 2**10 + 1


def write(name: str, size: int = 1, apply: Callable[[], object] = lambda: None) -> Write:
    """Return a write of a file that does as ``apply`` says."""
    record = FileRecord(f"/{name}", name, size, 1, "ab" * 32, Status.SKIPPED)
    file = SourceFile(Path("/"), (name,), f"/{name}", name)
    content = Content(b"x" * size, record.sha256, size, 1, 1)

    def outcome() -> FileOutcome:
        apply()
        return FileOutcome(record, changed=True)

    return Write(Look(file, None, content), outcome)


def sizes(group_sizes: list[int | None]) -> list[list[int]]:
    """Return the sizes in each group; None is where the next file will be waited for."""
    writes = (None if size is None else write("a", size) for size in group_sizes)
    return [[one.look.size for one in group] for group in groups(writes)]


@given(st.lists(st.none() | st.sampled_from([1, LARGE - 1, LARGE]), max_size=120))
def test_no_file_is_lost_nor_moved(group_sizes: list[int | None]) -> None:
    found = sizes(group_sizes)
    assert [size for group in found for size in group] == [s for s in group_sizes if s is not None]
    assert all(0 < len(group) <= 50 for group in found)
    assert all(len(group) == 1 for group in found if LARGE in group)


def test_a_large_file_is_written_alone_and_nothing_waits_behind_a_slow_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chapterhouse.ingest.groups.time.monotonic", lambda: 0.0)
    assert sizes([1, 1, LARGE, 1]) == [[1, 1], [LARGE], [1]]
    assert sizes([1, None, 1, 1]) == [[1], [1, 1]]
    assert [len(group) for group in sizes([1] * 120)] == [50, 50, 20]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, CancelledError])
def test_what_is_ready_when_all_is_stopped_is_kept(stop: type[BaseException]) -> None:
    def writes() -> Iterator[Write]:
        yield write("a")
        raise stop

    kept: list[str] = []
    with pytest.raises(stop):
        kept.extend(one.look.file.source for group in groups(writes()) for one in group)
    assert kept == ["a"]


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """A library as it is written, and as another program sees it."""
    path, blobs = tmp_path / "library.db", FolderBlobs(tmp_path / "blobs")
    with SqliteStore(path, blobs=blobs) as store, SqliteStore(path, blobs=blobs) as other:
        yield store, other


def recording(store: SqliteStore, name: str) -> Write:
    made = write(name)
    return write(name, apply=lambda: store.record_file(made.apply().record))


def test_an_outcome_is_told_when_others_can_see_it(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    store, other = stores
    told = []
    for look, outcome in write_group([recording(store, name) for name in "abc"], store):
        assert {record.source for record in other.files()} == {"a", "b", "c"}
        assert outcome.seconds >= 0
        told.append(look.file.source)
    assert told == ["a", "b", "c"]


def test_where_one_cannot_be_written_those_before_it_are(
    stores: tuple[SqliteStore, SqliteStore],
) -> None:
    store, other = stores

    def refuse() -> None:
        raise ChapterhouseError("no space left")

    told: list[str] = []
    group = [recording(store, "a"), write("b", apply=refuse), recording(store, "c")]
    with pytest.raises(ChapterhouseError, match="no space left"):
        told.extend(look.file.source for look, _ in write_group(group, store))
    assert told == ["a"]
    assert [record.source for record in other.files()] == ["a"]
