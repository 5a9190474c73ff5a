"""The strategies by name: by hierarchy, the best of several, and the choice by file type."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from chapterhouse.chunking.content import (
    Embed,
    chunk_by_density,
    chunk_by_meaning,
    chunk_by_topic,
    jaccard,
)
from chapterhouse.chunking.segment import best_starts, spans_from, structure_costs
from chapterhouse.chunking.units import DEFAULT, Border, Limits, Units, analyse_body
from chapterhouse.types import Body, Range, Section, Span
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


_HEADING = -1.5  # beside what structure gives: a section is a level of its own
_PASSAGE = 3  # target lengths


def chunk_by_hierarchy(body: Body, limits: Limits = DEFAULT) -> Sequence[Span]:
    """Cut inside sections; each chunk names the larger stretches that it lies in.

    Its parents are, from the innermost: a passage of neighbouring chunks of about three target
    lengths under one heading, where the chunk is not all of it; then every section around it with
    all sections below that one. So there are at least two levels wherever a text has more than
    one chunk, with headings or without.
    """
    units = analyse_body(body).units(limits).units
    costs = [
        cost + (_HEADING if unit.border is Border.HEADING else 0.0)
        for unit, cost in zip(units, structure_costs(units), strict=True)
    ]
    return with_parents(body, spans_from(units, best_starts(units, costs, limits)), limits)


def with_parents(body: Body, spans: Sequence[Span], limits: Limits) -> Sequence[Span]:
    """Return ``spans`` with their parents; each contains the ones before it."""
    whole, above = _tree(body.sections)
    starts = [section.start for section in body.sections]
    result: list[Span] = []
    for group in _passages(spans, starts, limits.target * _PASSAGE):
        candidates = [(group[0].start, group[-1].end)]
        number = bisect_right(starts, group[0].start) - 1
        while number >= 0:
            candidates.append(whole[number])
            number = above[number]
        result.extend(replace(span, parents=_nested(span, candidates)) for span in group)
    return tuple(result)


def _nested(span: Span, candidates: Sequence[Range]) -> tuple[Range, ...]:
    """Return those candidates that contain the span and the ones before them, and are larger."""
    inner = (span.start, span.end)
    parents: list[Range] = []
    for outer in candidates:
        if outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]:
            parents.append(outer)
            inner = outer
    return tuple(parents)


def _passages(spans: Sequence[Span], starts: Sequence[int], length: int) -> list[list[Span]]:
    """Group neighbours that start under one heading, up to ``length``; two always fit."""
    groups: list[list[Span]] = []
    section = -1
    for span in spans:
        own = bisect_right(starts, span.start) - 1
        fits = groups and span.end - groups[-1][0].start <= length
        if groups and own == section and (fits or len(groups[-1]) == 1):
            groups[-1].append(span)
        else:
            groups.append([span])
        section = own
    return groups


def _tree(sections: Sequence[Section]) -> tuple[list[Range], list[int]]:
    """Return each section's stretch with all below it, and the number of the one above or -1."""
    ends = [section.end for section in sections]
    above: list[int] = []
    trail: list[int] = []
    for number, section in enumerate(sections):
        while trail and sections[trail[-1]].level >= section.level:
            trail.pop()
        above.append(trail[-1] if trail else -1)
        if section.level:  # what stands before the first heading holds nothing else
            trail.append(number)
    for number in range(len(sections) - 1, -1, -1):
        if above[number] >= 0:
            ends[above[number]] = max(ends[above[number]], ends[number])
    return [(section.start, end) for section, end in zip(sections, ends, strict=True)], above
