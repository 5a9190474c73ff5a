"""The best candidates, read: what boosts and rerankers look at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chapterhouse.text.terms import text_of_section
from chapterhouse.types import Chunk, Document, Question, TermRows


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """Candidates in order of their first-stage score, with what is known of each.

    Attributes:
        chunks: The candidates, best first.
        scores: Their first-stage scores, 0 to 1.
    """

    question: Question
    chunks: tuple[Chunk, ...]
    scores: tuple[float, ...]
    documents: Mapping[str, Document]
    rows: TermRows
    frequencies: Callable[[Sequence[str]], Sequence[int]]
    size: int


# One score a candidate, 0 to 1, in the order of the shortlist.
Rerank = Callable[[Shortlist], Sequence[float]]


def passage_text(chunk: Chunk, document: Document | None) -> str:
    """Return a chunk as a model reads it: where it stands, then what it says."""
    place = " / ".join(filter(None, (document.title if document else "",
                                     text_of_section(chunk.section_path))))  # fmt: skip
    return f"{place}\n{chunk.header}{chunk.text}".strip()
