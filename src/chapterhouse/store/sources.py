"""The sources of a workspace, in a table of their own, and how far each is trusted.

A document is trusted as far as the source that its name begins with.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from chapterhouse.store.rows import Connection, Database, Row, repeatable, run, to_json
from chapterhouse.text.naming import source_name
from chapterhouse.types import Document, Source, SourceKind, Trust


@repeatable
class SourceStore:
    """The sources of one workspace, for several threads and processes at once."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def sources(self) -> tuple[Source, ...]:
        """Return all sources in order of name."""
        return tuple(map(_source, self._connections.rows("sources")))

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


# --- trust --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TrustLevels:
    """How far each source is trusted, by what the names of its documents begin with.

    Attributes:
        levels: Beginning, with ``/`` at its end, and level; the longest beginning first.
    """

    levels: tuple[tuple[str, Trust], ...] = ()

    def of(self, source: str) -> Trust:
        """Return how far a document with this source is trusted; its user's own without one."""
        return next((level for start, level in self.levels if source.startswith(start)), Trust.OWN)

    def applied(self, documents: Iterable[Document]) -> Iterable[Document]:
        """Yield documents with their levels."""
        for document in documents:
            level = self.of(document.source)
            yield document if level is document.trust else replace(document, trust=level)


def read_trust(connection: Connection) -> TrustLevels:
    """Return how far each source is trusted now; nothing where all are the user's own."""
    sources = run(connection, "trust_of_sources")
    if all(level == Trust.OWN for *_, level in sources):
        return TrustLevels()
    roots = {str(location): str(label) for label, location in run(connection, "roots")}
    levels = {
        f"{_beginning(str(name), SourceKind(kind), str(location), roots)}/": Trust(level)
        for name, kind, location, level in sources
    }
    return TrustLevels(tuple(sorted(levels.items(), key=lambda one: (-len(one[0]), one[0]))))


def _beginning(name: str, kind: SourceKind, location: str, roots: Mapping[str, str]) -> str:
    """Return what the names of a source's documents begin with: the label of its root."""
    if kind is SourceKind.LINKS:  # its pages lie in a folder of the workspace that is called so
        pages = (label for place, label in roots.items() if place.endswith(f"/pages/{name}"))
        return next(pages, name)
    if kind is not SourceKind.FOLDER:
        return name
    above = (place for place in roots if f"{location}/".startswith(f"{place.rstrip('/')}/"))
    root = max(above, key=len, default="")
    if not root:
        return name
    below = location[len(root.rstrip("/")) :].strip("/")
    return source_name(roots[root], below.split("/") if below else ())
