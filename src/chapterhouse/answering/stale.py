"""Remembered answers whose sources changed, moved or went since they were given."""

from collections.abc import Sequence
from dataclasses import dataclass

from chapterhouse.answering.cite import (
    CitationCheck,
    Holdings,
    QuoteState,
    SourceState,
    recheck_citations,
)
from chapterhouse.ports.memories import Memories
from chapterhouse.types import Citation, Memory, MemoryCitation

_MOST = 1_000_000  # memories: all of them


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """A remembered answer, and what has become of its sources.

    Attributes:
        checks: One for each quotation; none where the memory is of before they were recorded.
        missing: Documents that are gone, where nothing more is known of the memory's sources.
    """

    memory: Memory
    checks: tuple[CitationCheck, ...]
    missing: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether it was recorded what was cited."""
        return self.memory.citations is not None

    @property
    def is_stale(self) -> bool:
        """Whether a source is not as it was; of an older memory, whether one is gone."""
        changed = any(one.source is not SourceState.SAME for one in self.checks)
        lost = any(one.quote is not QuoteState.FOUND for one in self.checks)
        return changed or lost or bool(self.missing)


def remembered(citations: Sequence[Citation]) -> tuple[MemoryCitation, ...]:
    """Return what a memory records of citations; what a tool returned is in no document."""
    return tuple(
        MemoryCitation(
            one.document_id,
            one.source,
            one.text_sha256,
            one.start,
            one.end,
            one.quote,
            one.header,
        )
        for one in citations
        if not one.tool
    )


def stale_answers(
    memories: Memories, owners: Sequence[str], now: int, holdings: Holdings
) -> tuple[StaleAnswer, ...]:
    """Return the answers that are stale or of which that is not known, newest first.

    Args:
        memories: Of the library.
        owners: Whose.
        now: In seconds.
        holdings: What there is now.
    """
    found = memories.memories(owners, _MOST, now)
    cited = [citation for one in found for citation in _citations(one)]
    checks = iter(recheck_citations(cited, holdings))
    looked = []
    for memory in found:
        own = tuple(next(checks) for _ in memory.citations or ())
        unknown = memory.sources if memory.citations is None else ()
        missing = tuple(name for name in unknown if holdings.document(name) is None)
        looked.append(StaleAnswer(memory, own, missing))
    return tuple(one for one in looked if one.is_stale or (one.memory.sources and not one.is_known))


def _citations(memory: Memory) -> Sequence[Citation]:
    return [
        Citation(
            number=number,
            document_id=one.document_id,
            title="",
            source=one.source,
            section_path=(),
            page=None,
            page_kind="",
            page_label="",
            start=one.start,
            end=one.end,
            quote=one.quote,
            text_sha256=one.text_sha256,
            header=one.header,
        )
        for number, one in enumerate(memory.citations or (), start=1)
    ]
