"""The strategies by name, the one that takes the best of several, and the choice by file type."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

from chapterhouse.chunking.analysis import Units, analyse_body
from chapterhouse.chunking.content import (
    Embed,
    chunk_by_density,
    chunk_by_meaning,
    chunk_by_topic,
    jaccard,
)
from chapterhouse.chunking.hierarchical import chunk_by_hierarchy
from chapterhouse.chunking.units import DEFAULT, Border, Limits
from chapterhouse.types import Body, Span
from chapterhouse.types.engines import Chunker

STRATEGIES: Final = ("topic", "semantic", "density", "hierarchical", "adaptive")


def strategies(embed: Embed, limits: Limits = DEFAULT) -> Mapping[str, Chunker]:
    """Return every strategy that keeps ``limits``, by name; ``embed`` gives unit vectors."""
    return MappingProxyType(
        {
            "topic": partial(chunk_by_topic, limits=limits),
            "semantic": partial(chunk_by_meaning, embed=embed, limits=limits),
            "density": partial(chunk_by_density, limits=limits),
            "hierarchical": partial(chunk_by_hierarchy, limits=limits),
            "adaptive": partial(chunk_adaptively, limits=limits),
        }
    )


def chunk_by_format(
    body: Body, chunkers: Mapping[str, Chunker], otherwise: Chunker
) -> Sequence[Span]:
    """Cut a body with the chunker for its file's extension, else for its format, else another."""
    known = analyse_body(body)
    chunker = next((chunkers[name] for name in known.formats if name in chunkers), otherwise)
    return chunker(known)


def chunk_adaptively(body: Body, limits: Limits = DEFAULT) -> Sequence[Span]:
    """Cut by hierarchy, topic and density and return the cutting of the best score.

    Ties go to the first. ``semantic`` is not tried, so that a megabyte takes under a second.
    """
    known = analyse_body(body)
    cuttings = [
        chunk(known, limits) for chunk in (chunk_by_hierarchy, chunk_by_topic, chunk_by_density)
    ]
    return max(cuttings, key=lambda spans: score_cutting(known.units(limits), spans, limits))


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
