"""What ``--json`` shows of checked answers and of memories."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.types import Memory, MemoryHit

if TYPE_CHECKING:
    from chapterhouse.answering.cite import CitationCheck
    from chapterhouse.interfaces.cli.bundles import Examined


def rechecked(question: str, found: "Sequence[CitationCheck]") -> dict[str, object]:
    """Shape what has become of the citations of an answer or of minutes."""
    return {
        "question": question,
        "holds": all(one.holds for one in found),
        "citations": [_citation(one) for one in found],
    }


def verified(examined: "Examined", found: "Sequence[CitationCheck] | None") -> dict[str, object]:
    """Shape what was found of a bundle; ``citations`` is null where there was no library."""
    return {
        "question": examined.held.question,
        "trusted": examined.trusted,
        "checks": plain(examined.checks),
        "versions": plain(examined.versions),
        "citations": None if found is None else [_citation(one) for one in found],
    }


def memories(found: Sequence[Memory]) -> list[object]:
    """Shape memories."""
    return [plain(memory) for memory in found]


def memory_hits(found: Sequence[MemoryHit]) -> list[object]:
    """Shape memories that fit some words."""
    return [{"score": hit.score, "memory": plain(hit.memory)} for hit in found]


def _citation(one: "CitationCheck") -> dict[str, object]:
    return {
        "number": one.citation.number,
        "title": one.citation.title,
        "document_id": one.citation.document_id,
        "quote": one.citation.quote,
        "source": one.source.value,
        "quotation": one.quote.value,
        "document_now": one.document_id,
        "source_now": one.source_now,
        "start": one.start,
        "end": one.end,
    }
