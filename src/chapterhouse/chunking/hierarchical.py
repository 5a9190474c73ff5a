"""Small chunks inside the larger stretches that an answer may grow to."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from chapterhouse.chunking.analysis import analyse_body
from chapterhouse.chunking.segment import best_starts, spans_from, structure_costs
from chapterhouse.chunking.units import DEFAULT, Border, Limits
from chapterhouse.types import Body, Range, Section, Span

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
