"""What people said of names: that two are one entity, or that one stands alone."""

from collections.abc import Iterable

from chapterhouse.store.rows import Database, repeatable, run
from chapterhouse.types.graph import NameDecision


@repeatable
class NameDecisionStore:
    """The decisions in the database of one workspace, by the key of the name."""

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def all(self) -> tuple[NameDecision, ...]:
        """Return all of them in the order of their names."""
        return tuple(NameDecision(*row) for row in self._connections.rows("name_decisions"))

    def write(self, decisions: Iterable[NameDecision], dropped: Iterable[str] = ()) -> None:
        """Write some and drop those of some names, all or none; the latest of a name holds."""
        with self._connections.write() as connection:
            for name in dropped:
                run(connection, "drop_name_decision", name)
            for one in decisions:
                run(
                    connection,
                    "put_name_decision",
                    one.name,
                    one.entity,
                    one.decided,
                    one.decided_by,
                )
