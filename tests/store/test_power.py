"""Cut the power at any moment: every acknowledged document is there, and nothing by halves.

A SQLite file system of our own records every write and synchronisation. A state of the disk
after a cut is what was synchronised, and any part of what was not: writes are dropped, kept,
reordered and torn at sectors. The same check must fail with ``synchronous=NORMAL``, or it would
prove nothing.
"""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import apsw
import pytest

from chapterhouse.errors import ChapterhouseError
from chapterhouse.ingest.remove import remove_documents
from chapterhouse.store import connections
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Document, FileMove, Scope

STATES = int(os.environ.get("CHAPTERHOUSE_POWER_STATES", "150"))  # 2,000 before a release
WRITES = 60
SECTOR = 512
SEED = 7
EVERYTHING = Scope.everything()
_CONFIGURE = connections._configure


@dataclass(frozen=True)
class Write:
    path: str
    offset: int
    data: bytes


@dataclass(frozen=True)
class Truncate:
    path: str
    size: int


@dataclass(frozen=True)
class Sync:
    path: str


@dataclass(frozen=True)
class Acknowledged:
    number: int  # of the write; what the library then holds is the state of this number


Event = Write | Truncate | Sync | Acknowledged


class RecordingFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], events: list[Event]) -> None:
        self._path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name).name
        self._events = events
        super().__init__("unix", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        super().xWrite(data, offset)
        self._events.append(Write(self._path, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802 - SQLite's name
        super().xTruncate(size)
        self._events.append(Truncate(self._path, size))

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        super().xSync(flags)
        self._events.append(Sync(self._path))


class RecordingVFS(apsw.VFS):
    def __init__(self, events: list[Event]) -> None:
        self._events = events
        super().__init__("recording", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        if name is None:  # a temporary file, which nothing durable rests on
            return apsw.VFSFile("unix", None, flags)
        return RecordingFile(name, flags, self._events)


@dataclass
class Disk:
    """Files as they are after a cut: what was synchronised, and the writes that were not."""

    files: dict[str, bytearray]
    loose: dict[str, list[Write | Truncate]] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        match event:
            case Write() | Truncate():
                self.loose.setdefault(event.path, []).append(event)
            case Sync():
                for loose in self.loose.pop(event.path, []):
                    self.apply(loose)
            case Acknowledged():
                pass

    def apply(self, event: Write | Truncate) -> None:
        content = self.files.setdefault(event.path, bytearray())
        if isinstance(event, Truncate):
            del content[event.size :]
            return
        content.extend(bytes(max(0, event.offset - len(content))))
        content[event.offset : event.offset + len(event.data)] = event.data

    def cut(self, chance: random.Random) -> None:
        """Let any part of the loose writes arrive, in any order."""
        kept = chance.choice([0.0, 0.5, 0.9, 1.0])
        torn = chance.choice([0.0, 0.3])
        loose = [event for events in self.loose.values() for event in events]
        for event in loose if chance.random() < 0.5 else chance.sample(loose, len(loose)):
            if chance.random() >= kept:
                continue
            if isinstance(event, Write) and chance.random() < torn:
                sectors = chance.randrange(len(event.data) // SECTOR + 1)
                event = Write(event.path, event.offset, event.data[: sectors * SECTOR])  # noqa: PLW2901 - the torn one takes its place
            self.apply(event)


@pytest.fixture
def recorded() -> Iterator[list[Event]]:
    events: list[Event] = []
    recording = RecordingVFS(events)
    yield events
    recording.unregister()


State = dict[str, str]  # text by location


def _record(
    path: Path, events: list[Event], make_parts: Callable[..., Any]
) -> tuple[bytes, list[State]]:
    """Fill a library; return its file as it was before, and its state after each write."""
    Store(path, blobs=Blobs(path.parent / "blobs")).close()
    before = path.read_bytes()
    events.clear()
    chance = random.Random(SEED)
    states: list[State] = [{}]
    with Store(path, blobs=Blobs(path.parent / "blobs")) as store:
        for version in range(1, WRITES + 1):
            _write(version, store, make_parts, chance)
            states.append(_state(store))
            events.append(Acknowledged(version))
        closed = len(events)
    del events[closed:]
    return before, states


def _write(
    version: int, store: Store, make_parts: Callable[..., Any], chance: random.Random
) -> None:
    """Do one of the writes of an ``add`` or a ``sync``: put, put two, move, remove for a while."""
    name = f"n{chance.randrange(12)}"
    parts = make_parts(name, f"{version}\n" + "words and words\n" * chance.randrange(200))
    documents = list(store.documents(EVERYTHING))
    if version % 5 == 0 and len(documents) > 1:
        store.move_files(tuple(_exchange(chance.sample(documents, 2), store)))
    elif version % 7 == 0 and documents:
        removed = [chance.choice(documents).id]
        remove_documents(removed, store=store)
    elif version % 3:
        store.put(*parts)
    else:
        with store.together():
            store.put(*parts)
            store.put(*make_parts(f"beside-{name}", f"{version}\n"))


def _exchange(documents: Sequence[Document], store: Store) -> Iterator[FileMove]:
    """Let two documents change places."""
    for one, other in (documents, documents[::-1]):
        record = store.file(one.location)
        assert record is not None
        moved = replace(record, location=other.location, source=other.source)
        yield FileMove(one.location, moved, other.title + "'", one.modified)


def _state(store: Store) -> State:
    state = {}
    for one in store.documents(EVERYTHING):
        record, body = store.file(one.location), store.body(one.id, EVERYTHING)
        state[one.location] = body.text if body and record and record.document_id == one.id else ""
    return state


def _state_after_cut(
    folder: Path, before: bytes, events: Sequence[Event], chance: random.Random
) -> int:
    """Write a possible state of the disk into ``folder``; return what was acknowledged by then."""
    disk = Disk({"library.db": bytearray(before)})
    acknowledged = 0
    for event in events[: chance.randrange(1, len(events) + 1)]:
        disk.take(event)
        if isinstance(event, Acknowledged):
            acknowledged = event.number
    disk.cut(chance)
    folder.mkdir()
    for name, content in disk.files.items():
        (folder / name).write_bytes(content)
    return acknowledged


def _fault(folder: Path, acknowledged: int, states: Sequence[State]) -> str:
    """Open a library after a cut and say what is wrong with it, if anything."""
    try:
        with Store(folder / "library.db", blobs=Blobs(folder / "blobs")) as store:
            state = _state(store)
            # The write under way at the cut may be there, too, but wholly.
            if state not in states[acknowledged : acknowledged + 2]:
                kind = "lost" if state in states else "by halves"
                return f"write {acknowledged} was acknowledged and is {kind}"
            return "; ".join(store.examination().faults(thorough=True))
    except ChapterhouseError as error:
        return error.message


def faults(
    folder: Path, events: list[Event], make_parts: Callable[..., Any], states: int
) -> tuple[list[str], int]:
    """Cut the power so many times; return what was wrong, and how much was acknowledged."""
    before, written = _record(folder / "recorded" / "library.db", events, make_parts)
    told = tuple(events)  # looking at a state is recorded too
    chance = random.Random(SEED)
    found, writes = [], 0
    for number in range(states):
        place = folder / f"state-{number}"
        acknowledged = _state_after_cut(place, before, told, chance)
        writes += acknowledged
        found.append(_fault(place, acknowledged, written))
        rmtree(place)
    return [fault for fault in found if fault], writes


def weaken(connection: apsw.Connection) -> None:
    """Set a connection so that a cut loses what was committed last."""
    _CONFIGURE(connection)
    connection.pragma("synchronous", "NORMAL")


@pytest.fixture(autouse=True)
def small_wal(monkeypatch: pytest.MonkeyPatch) -> None:
    # So that checkpoints and a WAL that starts again are among what is cut.
    monkeypatch.setattr(connections, "_CHECKPOINT_PAGES", 40)


def test_a_power_cut_loses_nothing_that_was_acknowledged(
    tmp_path: Path, recorded: list[Event], make_parts: Callable[..., Any]
) -> None:
    found, writes = faults(tmp_path, recorded, make_parts, STATES)
    assert found == []
    assert writes > STATES
    checkpoints = {event.path for event in recorded if isinstance(event, Sync)}
    assert checkpoints == {"library.db", "library.db-wal"}


def test_the_check_would_see_a_weaker_setting(
    tmp_path: Path,
    recorded: list[Event],
    make_parts: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "_configure", weaken)
    found, _ = faults(tmp_path, recorded, make_parts, STATES)
    assert any("acknowledged" in fault for fault in found)
