"""How to retrieve: the functions and figures of every stage, in one frozen value.

A stage that is not wanted is left out of the value rather than switched off by a flag; the
evaluation takes stages out one by one to see what each is worth.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.retrieval.fuse import RankedList, best_scores, combine_scores
from chapterhouse.retrieval.rerank import Recency, Rerank
from chapterhouse.types import Query, Question, Variant

SIMILARITY: Final = 0.9  # Jaccard similarity of terms from which two chunks say the same

# One score a chunk, 0 to 1, out of the lexical and the vector list of one variant, and the figures
# of the embedder that made the latter.
Fuse = Callable[[Sequence[RankedList]], Mapping[int, float]]
# One score a chunk, 0 to 1, out of those of every variant and the variants' weights.
Merge = Callable[[Sequence[Mapping[int, float]], Sequence[float]], Mapping[int, float]]
# More ways of putting a question, for a library of these languages (with document counts).
Expand = Callable[[Question, Query, Mapping[str, int]], Sequence[Variant]]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a chunk must reach to be a hit.

    Attributes:
        bm25: Least BM25 score of a chunk found by its words; scores have no upper end.
        cosine: Least cosine of a chunk found by its vector, -1 to 1.
        score: Least final score, 0 to 1.
    """

    bm25: float = 0.0
    cosine: float = -1.0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hop:
    """How mentions count; chosen on ``2wiki-open``, and on the other open sets for harm.

    Attributes:
        hits: First hits whose text is looked through.
        documents: At most so many documents are brought in.
        mentioned: Share of the score of a hit that the documents it mentions have.
        named: Share of the best score that documents named in the question have.
    """

    hits: int = 4
    documents: int = 12
    mentioned: float = 0.6
    named: float = 0.9


@dataclass(frozen=True, slots=True)
class Method:
    """The stages of retrieval.

    Attributes:
        fuse: Makes one list out of the lexical and the vector list of a variant.
        expand: Finds more ways of putting the question, those that ask a model last: after the
            first that fails, none is tried.
        merge: Makes one list out of those of several variants.
        rerank: Puts the shortlist in a better order, or None.
        duplicates: Similarity from which a chunk repeats a better one; above 1 none does.
        shortlist: Candidates that are read and reranked.
    """

    fuse: Fuse = combine_scores
    expand: tuple[Expand, ...] = ()
    merge: Merge = best_scores
    rerank: Rerank | None = None
    recency: Recency | None = None
    hop: Hop | None = Hop()
    thresholds: Thresholds = Thresholds()
    duplicates: float = SIMILARITY
    lexical_depth: int = 200
    vector_depth: int = 100
    shortlist: int = 60
