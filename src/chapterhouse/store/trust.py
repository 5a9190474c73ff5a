"""How far documents are trusted: as far as the source that their names begin with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import apsw

from chapterhouse.store.statements import run
from chapterhouse.text.naming import source_name
from chapterhouse.types import Document, SourceKind, Trust


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


def read_trust(connection: apsw.Connection) -> TrustLevels:
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
