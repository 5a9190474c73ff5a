"""The work that is killed, and the points at which it ends itself with ``SIGKILL``.

Each runs in a process that was forked from one that had opened nothing: to load Python anew would
take longer than the work. What is told on the pipe is acknowledged. The points are hooked here,
never in the product.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import apsw

from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import ChapterhouseError
from chapterhouse.index import forward, lexical, vectors
from chapterhouse.ingest import mirror, remove, uploads
from chapterhouse.library import Library
from chapterhouse.store import connections
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Progress
from processes import FAILED, run_forked


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class _Countdown:
    """Ends the process the n-th time it is come by."""

    left: int

    def come_by(self) -> None:
        self.left -= 1
        if self.left <= 0:
            _die()


def _around(place: Any, name: str, at: _Countdown, *, after: bool) -> None:
    """Let a function come by the countdown before or after it does its work."""
    does = getattr(place, name)

    def with_end(*arguments: Any, **options: Any) -> Any:
        if not after:
            at.come_by()
        value = does(*arguments, **options)
        if after:
            at.come_by()
        return value

    setattr(place, name, with_end)


def _at_commit(at: _Countdown, *, after: bool) -> None:
    configure = connections._configure  # noqa: SLF001 - every connection passes here

    def traced(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        if sql == "COMMIT":
            at.come_by()
        return True

    def logged(_connection: apsw.Connection, _database: str, _pages: int) -> int:
        at.come_by()
        return apsw.SQLITE_OK

    def configure_hooked(connection: apsw.Connection) -> None:
        configure(connection)
        if after:
            connection.set_wal_hook(logged)
        else:
            connection.set_exec_trace(traced)

    connections._configure = configure_hooked  # noqa: SLF001


def _in_migration(at: _Countdown) -> None:
    migrate = connections._migrate  # noqa: SLF001

    def traced(_cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
        at.come_by()
        return True

    def migrate_hooked(connection: apsw.Connection, path: Path, migrations: Sequence[str]) -> int:
        connection.set_exec_trace(traced)
        try:
            return migrate(connection, path, migrations)
        finally:
            connection.set_exec_trace(None)

    connections._migrate = migrate_hooked  # noqa: SLF001


POINTS: Final[Mapping[str, Callable[[_Countdown], None]]] = {
    "after a blob": lambda at: _around(Blobs, "put", at, after=True),
    "before a commit": lambda at: _at_commit(at, after=False),
    "after a commit": lambda at: _at_commit(at, after=True),
    "lexical rows written, not committed": lambda at: _around(
        forward.Rows, "write", at, after=True
    ),
    "lexical index committed, not published": lambda at: _around(
        lexical, "write_state", at, after=False
    ),
    "vectors written, not published": lambda at: _around(vectors, "write_state", at, after=False),
    "files moved, nothing read yet": lambda at: _around(Store, "move_files", at, after=True),
    "all read, nothing removed yet": lambda at: _around(mirror, "_take_off", at, after=False),
    "removed, not erased": lambda at: _around(remove, "erase", at, after=False),
    "in a migration": _in_migration,
    "received, no job yet": lambda at: _around(uploads.Upload, "finish", at, after=True),
    "stored, not indexed": lambda at: _around(Runtime, "catch_up", at, after=False),
    "done, file still there": lambda at: _around(uploads, "drop", at, after=False),
    "file deleted, job not ended": lambda at: _around(uploads, "drop", at, after=True),
}


# --- the work ----------------------------------------------------------------------------------


def work(kind: str, home: Path, docs: Path, names: Sequence[str]) -> None:
    """Do one kind of work, and tell what is safe."""
    with Library.open(home) as library:
        match kind:
            case "add":
                library.documents.add(docs, on_progress=_acknowledge)
            case "sync":
                library.sources.sync(on_progress=_acknowledge, prove=False)
                _tell("synced", "")
            case "index":
                _tell("begun", "")
                library.reindex()
            case "remove":
                for name in names:
                    library.documents.remove(name)
                    _tell("removed", name)
            case "migrate":
                _tell("opened", "")
            case "receive":
                (text,) = names
                with library.documents.receive() as upload:
                    upload.write(text.encode())
                    library.documents.upload_later(upload.finish(), "note.md")
                _tell("received", "")
            case "work":
                library.jobs.work(idle_seconds=0)


def _acknowledge(progress: Progress) -> None:
    outcome = progress.outcome
    if outcome is not None and outcome.changed:
        _tell(outcome.record.location, outcome.record.sha256)


def _tell(what: str, more: str) -> None:
    os.write(1, f"{what}\t{more}\n".encode())


def start(
    kind: str, home: Path, docs: Path, names: Sequence[str] = (), point: str = "", count: int = 1
) -> tuple[int, int]:
    """Start work in a forked process; return its id and the pipe on which it tells."""
    ours, theirs = os.pipe()
    process = os.fork()
    if process:
        os.close(theirs)
        return process, ours
    code = 1
    try:
        os.close(ours)
        os.dup2(theirs, 1)
        if point:
            POINTS[point](_Countdown(count))
        work(kind, home, docs, names)
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


# --- the look afterwards -----------------------------------------------------------------------


def look(home: Path, words: Mapping[str, str], *, recover: bool) -> dict[str, Any]:
    """Open a library in a forked process and return what it is like.

    Args:
        home: Of the library.
        words: By location, a word of each version that was ever there.
        recover: Whether to sync it then.
    """
    (seen,) = run_forked(lambda: _looked(home, words, recover=recover))
    return {"faults": [f"it cannot be used: {seen[FAILED]}"]} if FAILED in seen else seen


def _looked(home: Path, words: Mapping[str, str], *, recover: bool) -> dict[str, Any]:
    began = time.perf_counter()
    with Library.open(home) as library:
        library.search.hits("lighthouse", limit=1)
        ready = time.perf_counter() - began
        documents = {one.location: one.sha256 for one in library.documents.list()}
        faults = list(library.faults())
        for sha256, word in words.items():
            hits = library.search.hits(f'"{word}"', limit=1).hits
            found = {hit.document.sha256 for hit in hits if hit.stages.get("exact")}
            if found != ({sha256} & set(documents.values())):
                faults.append(f"a search for {word} finds {found or 'nothing'}")
        synced, died = 0.0, 0
        parked = len(library.documents.quarantined())
        if recover:
            library.documents.release_quarantined()
            began = time.perf_counter()
            died += _recover(library)
            synced = time.perf_counter() - began
        after = {one.location: one.sha256 for one in library.documents.list()}
    seen = {"ready": ready, "synced": synced, "parked": parked, "died": died}
    return {**seen, "documents": documents, "after": after, "faults": faults}


def _recover(library: Library) -> int:
    """Sync; a job whose process died three times says so first, and counts as 1."""
    try:
        library.sources.sync(prove=False)
    except ChapterhouseError as error:
        if "died 3 times" not in error.message:
            raise
        library.sources.sync(prove=False)
        return 1
    return 0
