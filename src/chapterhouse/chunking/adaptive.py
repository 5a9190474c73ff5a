"""Several strategies side by side, and the best of them for each document."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from chapterhouse.chunking.analysed import Units, analysed
from chapterhouse.chunking.density import chunk_by_density
from chapterhouse.chunking.hierarchical import chunk_by_hierarchy
from chapterhouse.chunking.limits import DEFAULT, Limits
from chapterhouse.chunking.topic import chunk_by_topic, jaccard
from chapterhouse.chunking.units import Border
from chapterhouse.ports.models import Chunker
from chapterhouse.types import Body, Span


def lexical_candidates(limits: Limits) -> Mapping[str, Chunker]:
    """Return the strategies that need no embedder, so that a megabyte takes under a second."""
    return MappingProxyType(
        {
            "hierarchical": lambda body: chunk_by_hierarchy(body, limits),
            "topic": lambda body: chunk_by_topic(body, limits),
            "density": lambda body: chunk_by_density(body, limits),
        }
    )


def chunk_adaptively(
    body: Body, limits: Limits = DEFAULT, candidates: Mapping[str, Chunker] | None = None
) -> Sequence[Span]:
    """Cut in every way there is and return the one of best quality; ties go to the first.

    Args:
        body: What to cut; it is analysed once for all candidates.
        limits: Lengths that the candidates keep and by which they are judged.
        candidates: Strategies by name, at least one; the lexical ones if not given. Their cuts
            must stand between the units of ``limits``.
    """
    known = analysed(body)
    chunkers = lexical_candidates(limits) if candidates is None else candidates
    best: Sequence[Span] = ()
    best_score = -math.inf
    for chunker in chunkers.values():
        spans = chunker(known)
        score = score_cutting(known.units(limits), spans, limits)
        if score > best_score:
            best, best_score = spans, score
    return best


def score_cutting(units: Units, spans: Sequence[Span], limits: Limits) -> float:
    """Return how good a cutting is, 0 to 1: the mean of three shares.

    * separation: 1 − the mean Jaccard similarity of neighbouring chunks' keywords;
    * shape: the mean over cuts of 1 at a heading, ⅔ at another block, ⅓ at a sentence, 0 inside;
    * evenness: the mean over characters of exp(−ln²(length / target)).

    One chunk scores 1 for separation and shape: nothing was torn apart.
    """
    if not spans:
        return 0.0
    number_of = {unit.start: number for number, unit in enumerate(units.units)}
    first = [number_of[span.start] for span in spans]
    words = [
        frozenset[str]().union(*units.keywords[start:stop])
        for start, stop in zip(first, [*first[1:], len(units.units)], strict=True)
    ]
    cuts = len(spans) - 1
    similar = math.fsum(jaccard(words[i], words[i + 1]) for i in range(cuts))
    shape = math.fsum(units.units[number].border for number in first[1:]) / Border.HEADING
    lengths = [span.end - span.start for span in spans]
    even = math.fsum(
        length * math.exp(-(math.log(length / limits.target) ** 2)) for length in lengths
    ) / sum(lengths)
    return ((1 - similar / cuts if cuts else 1.0) + (shape / cuts if cuts else 1.0) + even) / 3
