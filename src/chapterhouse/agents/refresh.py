"""What bringing the documents of a persona or a council up to date did."""

from collections.abc import Callable
from dataclasses import dataclass

from chapterhouse.agents.curated import CurationReport
from chapterhouse.agents.sync import SyncReport
from chapterhouse.types import Progress

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Refresh:
    """What bringing a persona's documents up to date did; false where there was nothing to do.

    Attributes:
        curation: What became of RAW-DOCS, or None where nothing in it had changed.
        sync: What was indexed and taken out, or None where nothing had changed.
        warnings: What could not be looked at.
    """

    slug: str
    display_name: str
    curation: CurationReport | None = None
    sync: SyncReport | None = None
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was read, indexed or taken out."""
        curated = self.curation is not None and self.curation.changed > 0
        return curated or (self.sync is not None and self.sync.changed > 0)

    @property
    def sentence(self) -> str:
        """What was done, for people; empty where nothing was."""
        if not self.changed:
            return ""
        written = self.sync.files.changed if self.sync else 0
        removed = len(self.sync.removed) if self.sync else 0
        moved = len(self.sync.moves) if self.sync else 0
        counts = ((written, "read"), (removed, "removed"), (moved, "moved between shelves"))
        done = ", ".join(f"{count} {verb}" for count, verb in counts if count)
        return f"The documents of {self.display_name} had changed: {done or 'curated anew'}."

    def __bool__(self) -> bool:
        """Whether anything was read, indexed or taken out."""
        return self.changed
