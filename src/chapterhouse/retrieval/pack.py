"""Choose what fits a budget of tokens: an exact 0/1 knapsack with groups and headings.

Of one group (the versions of one passage, longer and shorter) at most one item is taken. The first
item of a document costs the document's heading besides.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.retrieval.sentences import Sentence
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.types import Body, Chunk, Excerpt, Range

_UNITS: Final = 2**32  # in a value of 1: whole numbers, so that equal sums are equal


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be chosen.

    Attributes:
        tokens: What it costs, at least 0.
        value: What it is worth, 0 to 1,000.
        group: At most one item of a document's group is chosen; an item without one stands alone.
        opening: What the first item of this document costs besides; the first item says it.
    """

    tokens: int
    value: float
    document: str = ""
    group: str = ""
    opening: int = 0


@dataclass(frozen=True, slots=True)
class _Version:
    place: int
    tokens: int
    value: int  # in units


@dataclass(frozen=True, slots=True)
class _Document:
    opening: int
    groups: tuple[tuple[_Version, ...], ...]


# By tokens left: the highest value that can still be had.
_Table = NDArray[np.int64]


def pack(items: Sequence[Item], maximum: int) -> Sequence[int]:
    """Return the places of the choice of highest value that costs at most ``maximum`` tokens.

    Dynamic programming over documents and their groups, from the last to the first, with the
    tokens left as its state. Values are rounded to 2^-32, so that sums are exact. Of several best
    choices it is the one with the fewest tokens; of these the one that holds the first item in
    which they differ, where documents and their groups come in the order of their first items.
    Items worth nothing are left out.

    Time is proportional to items times tokens.

    Raises:
        ValueError: a cost is negative, or a value is out of range.
    """
    _check(items)
    documents = _documents(items, maximum)
    later: _Table = np.zeros(_width(documents, maximum), np.int64)
    solved: list[list[_Table]] = []
    for document in reversed(documents):
        solved.append(_tables(document, later))
        later = solved[-1][0]
    left = int(np.argmax(later == later[-1]))  # the fewest tokens with the highest value
    chosen: list[int] = []
    for document, tables in zip(documents, reversed(solved), strict=True):
        found, left = _choose(document, tables, left)
        chosen.extend(found)
    return sorted(chosen)


def _tables(document: _Document, later: _Table) -> list[_Table]:
    """Return the tables before the document, before each of its groups, and behind it.

    Those of the groups take the heading as paid.
    """
    tables = [later]
    for versions in reversed(document.groups):
        behind, best = tables[-1], tables[-1].copy()
        for version in versions:
            _raise(best, behind, version.tokens, version.value)
        tables.append(best)
    before = later.copy()
    _raise(before, tables[-1], document.opening, 0)
    return [before, *reversed(tables)]


def _raise(best: _Table, source: _Table, tokens: int, value: int) -> None:
    """Raise ``best`` to what ``source`` gives with so many tokens less and so much value more."""
    if tokens < len(best):
        gained = source[: len(source) - tokens] + value
        np.maximum(best[tokens:], gained, out=best[tokens:])


def _choose(document: _Document, tables: Sequence[_Table], left: int) -> tuple[list[int], int]:
    """Return the places chosen of a document with ``left`` tokens, and the tokens that remain.

    ``left`` is always the least that reaches its value, so a heading is never paid for nothing.
    """
    opened = left - document.opening
    if opened < 0 or tables[1][opened] != tables[0][left]:
        return [], left
    chosen: list[int] = []
    left = opened
    for versions, best, behind in zip(document.groups, tables[1:-1], tables[2:], strict=True):
        for version in versions:
            remaining = left - version.tokens
            if remaining >= 0 and behind[remaining] + version.value == best[left]:
                chosen.append(version.place)
                left = remaining
                break
    return chosen, left


def _documents(items: Sequence[Item], maximum: int) -> list[_Document]:
    """Group what is worth something and fits."""
    openings = _openings(items)
    grouped: dict[str, dict[tuple[str, int], list[_Version]]] = {}
    for place, item in enumerate(items):
        value = round(item.value * _UNITS)
        if value and item.tokens + openings[item.document] <= maximum:
            group = (item.group, -1 if item.group else place)
            versions = grouped.setdefault(item.document, {}).setdefault(group, [])
            versions.append(_Version(place, item.tokens, value))
    return [
        _Document(openings[name], tuple(map(tuple, groups.values())))
        for name, groups in grouped.items()
    ]


def _width(documents: Sequence[_Document], maximum: int) -> int:
    """Return the number of budgets to look at: no more than everything together costs."""
    everything = sum(
        document.opening + sum(max(v.tokens for v in versions) for versions in document.groups)
        for document in documents
    )
    return max(min(maximum, everything), 0) + 1


def _openings(items: Sequence[Item]) -> Mapping[str, int]:
    openings: dict[str, int] = {}
    for item in items:
        openings.setdefault(item.document, item.opening)
    return openings


def _check(items: Sequence[Item]) -> None:
    for item in items:
        if item.tokens < 0 or item.opening < 0:
            raise ValueError(f"tokens must not be negative: {item}")
        if not 0 <= item.value <= 1_000:  # noqa: PLR2004 - stated at Item; also no NaN
            raise ValueError(f"a value must be 0 to 1,000: {item}")


Widen = Callable[[Chunk, Body], Range]
MOST_VERSIONS: Final = 6
LIMIT: Final = 400  # tokens of an excerpt that was widened


def with_surroundings(
    chunk: Chunk, body: Body, *, limit: int = LIMIT, count_tokens: Callable[[str], int]
) -> Range:
    """Return the chunk with whole sentences around it, at most ``limit`` tokens in all.

    It grows by a sentence after and a sentence before in turn, and stays in its section and, for
    a document with pages, slides or sheets, on the page on which it starts. A chunk of ``limit``
    tokens or more stays as it is.
    """
    low, high = _widest(chunk, body)
    before = [start for start, _ in sentence_spans(body.text, low, chunk.start)]
    after = [end for _, end in sentence_spans(body.text, chunk.end, high)][::-1]
    start, end = chunk.start, chunk.end
    forward = True
    while before or after:
        forward = (forward and bool(after)) or not before
        to = (start, after[-1]) if forward else (before[-1], end)
        if count_tokens(chunk.header + body.text[to[0] : to[1]]) > limit:
            (after if forward else before).clear()
            continue
        (after if forward else before).pop()
        start, end = to
        forward = not forward
    return start, end


def _widest(chunk: Chunk, body: Body) -> Range:
    low, high = 0, len(body.text)
    places = [(section.start, section.end) for section in body.sections]
    places += [(page.start, page.end) for page in body.pages]
    for start, end in places:
        if start <= chunk.start < end:
            low = max(low, start)
        if start < chunk.end <= end:
            high = min(high, end)
    return low, high


def with_parent(
    chunk: Chunk, body: Body, *, limit: int = LIMIT, count_tokens: Callable[[str], int]
) -> Range:
    """Return the smallest of the chunk's parents that is more than it, if ``limit`` allows it.

    Where even that has more than ``limit`` tokens, or there is none, the chunk stays as it is.
    """
    own = (chunk.start, chunk.end)
    larger = [
        parent
        for parent in chunk.parents
        if parent != own and parent[0] <= chunk.start and chunk.end <= parent[1] <= len(body.text)
    ]
    smallest = min(larger, key=lambda parent: (parent[1] - parent[0], parent), default=own)
    return smallest if count_tokens(body.text[slice(*smallest)]) <= limit else own


def merge_ranges(ranges: Sequence[Range]) -> Sequence[Range]:
    """Return stretches in order, those that overlap or touch as one."""
    result: list[Range] = []
    for start, end in sorted(ranges):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def best_windows(
    sentences: Sequence[Sentence], tokens: Sequence[int], most: int = MOST_VERSIONS
) -> Sequence[tuple[Range, float]]:
    """Return runs of whole sentences worth choosing from, the shortest first, with their shares.

    A run is worth it when none is as short and holds more, and when it lies on the concave hull of
    those: what it adds to the next shorter one is worth its tokens more than anything longer. The
    run that holds most is always the last. Runs do not cross a gap between sentences.
    """
    runs: list[tuple[int, float, int, int]] = []
    for first in range(len(sentences)):
        cost, share = 0, 0.0
        for last in range(first, len(sentences)):
            if last > first and sentences[last].start != sentences[last - 1].end:
                break
            cost += tokens[last]
            share += sentences[last].share
            runs.append((cost, share, first, last))
    hull: list[tuple[int, float, int, int]] = []
    for run in sorted(runs, key=lambda run: (run[0], -run[1], run[2])):
        if hull and run[1] <= hull[-1][1]:
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-2], run):
            hull.pop()
        hull.append(run)
    chosen_runs = _thinned(hull, most)
    return [((sentences[a].start, sentences[b].end), share) for _, share, a, b in chosen_runs]


def _slope(shorter: tuple[int, float, int, int], longer: tuple[int, float, int, int]) -> float:
    return (longer[1] - shorter[1]) / max(longer[0] - shorter[0], 1)


def _thinned(
    hull: list[tuple[int, float, int, int]], most: int
) -> list[tuple[int, float, int, int]]:
    """Keep the first, the last, and of those between the ones that add most."""
    if len(hull) <= most:
        return hull
    between = sorted(range(1, len(hull) - 1), key=lambda i: (hull[i - 1][1] - hull[i][1], i))
    return [hull[i] for i in sorted({0, len(hull) - 1, *between[: most - 2]})]


def shorten(excerpt: Excerpt, fits: Callable[[Excerpt], bool]) -> Excerpt | None:
    """Return the excerpt cut behind the last whole sentence with which it fits, or None.

    Its relevance falls by the share of the text that is lost.
    """
    length = excerpt.end - excerpt.start
    text = excerpt.text[len(excerpt.text) - length :]
    header = excerpt.text[: len(excerpt.text) - length]
    for begin, end in list(sentence_spans(text, 0, length))[::-1]:
        shortened_text = text[:end].rstrip()
        if text.startswith("#", begin):  # a heading that nothing follows
            continue
        shorter = Excerpt(
            excerpt.hit,
            excerpt.start,
            excerpt.start + len(shortened_text),
            header + shortened_text,
            excerpt.tokens,
            excerpt.relevance * len(shortened_text) / length,
        )
        if fits(shorter):
            return shorter
    return None
