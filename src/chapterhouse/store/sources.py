"""The sources of a workspace, in a table of their own."""

import json

from chapterhouse.store.connections import Connections
from chapterhouse.store.rows import to_json
from chapterhouse.store.statements import Row, run
from chapterhouse.types import Source, SourceKind, Trust


class SourceStore:
    """The sources of one workspace, for several threads and processes at once."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def sources(self) -> tuple[Source, ...]:
        """Return all sources in order of name."""
        with self._connections.read() as connection:
            return tuple(map(_source, run(connection, "sources")))

    def save(self, source: Source) -> None:
        """Add a source, or replace the one of its name."""
        values = (
            source.name,
            source.kind.value,
            source.location,
            source.shelf,
            to_json(source.include),
            to_json(source.exclude),
            source.maximum_bytes,
            source.synced,
            source.state,
            source.problem,
            source.trust.value,
        )
        with self._connections.write() as connection:
            run(connection, "save_source", *values)

    def drop(self, name: str) -> None:
        """Forget a source, if there is one of this name; its documents stay."""
        with self._connections.write() as connection:
            run(connection, "drop_source", name)


def _source(row: Row) -> Source:
    name, kind, location, shelf, include, exclude, *rest = row
    maximum_bytes, synced, state, problem, trust = rest
    return Source(
        name=name,
        kind=SourceKind(kind),
        location=location,
        shelf=shelf,
        include=tuple(json.loads(include)),
        exclude=tuple(json.loads(exclude)),
        maximum_bytes=maximum_bytes,
        synced=synced,
        state=state,
        problem=problem,
        trust=Trust(trust),
    )
