"""Removed documents that may come back: a row each, and their bytes as long as there is one."""

import json
from collections.abc import Callable, Iterable
from typing import Final

from chapterhouse.store import rows
from chapterhouse.store.connections import Connections
from chapterhouse.store.statements import first, run, run_many
from chapterhouse.types import RemovedDocument

_REMOVED: Final = "(removed)"


class RemovedStore:
    """What is retained of the removed documents of one workspace.

    Args:
        connections: To the database.
        drop_blob: Deletes the blob of a hash unless something needs it.
    """

    def __init__(self, connections: Connections, drop_blob: Callable[[str], object]) -> None:
        self._connections = connections
        self._drop_blob = drop_blob

    def add(self, entries: Iterable[RemovedDocument]) -> None:
        """Retain the bytes of documents that are about to be removed, one of each place."""
        with self._connections.write() as connection:
            run_many(connection, "put_removed", map(rows.removed_row, entries))

    def entries(self) -> tuple[RemovedDocument, ...]:
        """Return what is retained, the latest removal first, each in order of source."""
        with self._connections.read() as connection:
            return tuple(map(rows.removed_from, run(connection, "removed_entries")))

    def expired(self, now: int) -> tuple[RemovedDocument, ...]:
        """Return what is retained no longer than ``now``, in seconds."""
        with self._connections.read() as connection:
            return tuple(map(rows.removed_from, run(connection, "expired_removed", now)))

    def drop(self, locations: Iterable[str]) -> int:
        """Drop what is retained of these places, with bytes that nothing else needs; count it."""
        gone: list[str] = []
        with self._connections.write() as connection:
            for location in dict.fromkeys(locations):
                found = first(connection, "removed_at", location)
                if found:
                    run(connection, "drop_removed", location)
                    run(connection, "drop_content", found[0])
                    gone.append(found[0])
        for sha256 in gone:
            self._drop_blob(sha256)
        return len(gone)

    def forget_names(self, names: Iterable[str]) -> None:
        """Take ids and names of removed documents out of the records of jobs that have ended."""
        needles = [json.dumps(name)[1:-1] for name in dict.fromkeys(names) if name]
        with self._connections.write() as connection:
            for key, *texts in run(connection, "ended_jobs"):
                without = tuple(_without(str(text), needles) for text in texts)
                if without != tuple(texts):
                    run(connection, "rewrite_job", key, *without)

    def naming(self, document_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return in which tables documents are still named, by those ids that are."""
        found: dict[str, set[str]] = {}
        with self._connections.read() as connection:
            for identifier, table in run(connection, "naming", json.dumps(list(document_ids))):
                found.setdefault(identifier, set()).add(table)
        return {identifier: tuple(sorted(tables)) for identifier, tables in found.items()}

    def forget_removals(self, sequence: int) -> None:
        """Drop the ids of documents removed up to a change that every index has applied."""
        with self._connections.write() as connection:
            run(connection, "forget_removals", sequence)


def _without(text: str, needles: Iterable[str]) -> str:
    for needle in needles:
        text = text.replace(needle, _REMOVED)
    return text
