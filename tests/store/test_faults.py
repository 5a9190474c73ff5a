"""Let the disk fail at the first, second, … write or synchronisation of a ``put``.

After every failure the library is as it was before or as it should be after, the error says
what to do, and the next ``put`` on the same connection works (https://www.sqlite.org/testing.html).
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from chapterhouse.errors import ChapterhouseError
from chapterhouse.store import connections
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Scope

EVERYTHING = Scope.everything()

MOST_CALLS = 500


class Fault:
    """Counts down to the call that fails."""

    def __init__(self) -> None:
        self.operation = ""
        self.error: type[apsw.Error] = apsw.IOError
        self.left = 0

    def arm(self, operation: str, error: type[apsw.Error], call: int) -> None:
        self.operation, self.error, self.left = operation, error, call

    def happens(self, operation: str) -> None:
        if operation == self.operation and self.left:
            self.left -= 1
            if not self.left:
                raise self.error("the disk failed, as arranged")


class FailingFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], fault: Fault) -> None:
        self._fault = fault
        super().__init__("unix", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._fault.happens("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self._fault.happens("sync")
        super().xSync(flags)


class FailingVFS(apsw.VFS):
    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        super().__init__("failing", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return FailingFile(name, flags, self._fault)


@pytest.fixture
def fault() -> Iterator[Fault]:
    arranged = Fault()
    failing = FailingVFS(arranged)
    yield arranged
    failing.unregister()


@pytest.mark.parametrize(
    ("operation", "error"),
    [("write", apsw.IOError), ("write", apsw.FullError), ("sync", apsw.IOError)],
    ids=["write-fails", "disk-full", "sync-fails"],
)
def test_a_failing_disk_harms_nothing(
    tmp_path: Path,
    fault: Fault,
    make_parts: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    error: type[apsw.Error],
) -> None:
    monkeypatch.setattr(connections, "_CHECKPOINT_PAGES", 20)  # checkpoints fail too
    path, blobs = tmp_path / "library.db", Blobs(tmp_path / "blobs")
    good, failed = make_parts("good"), 0
    with Store(path, blobs=blobs) as store:
        store.put(*good)
        for call in range(1, MOST_CALLS):
            parts = make_parts("tried", f"Attempt {call}\n" + "words and words\n" * 50)
            before = store.sequence()
            fault.arm(operation, error, call)
            try:
                store.put(*parts)
                assert store.sequence() == before + 1
            except ChapterhouseError as raised:
                failed += 1
                assert raised.hint  # noqa: PT017 - it may also succeed, when a checkpoint failed
            happened = not fault.left
            fault.arm("", error, 0)
            body = store.body("tried-0001", EVERYTHING)
            assert store.sequence() in (before, before + 1)
            if store.sequence() == before + 1:
                assert body == parts.body
            assert store.document("good-0001", EVERYTHING) == good.document
            if not happened:
                break
        else:
            pytest.fail(f"a put makes more than {MOST_CALLS} calls")
        assert failed
        assert not list(store.examination().faults(thorough=True))
    with Store(path, blobs=blobs) as store:
        assert store.body("tried-0001", EVERYTHING) == parts.body
        assert not list(store.examination().faults(thorough=True))
