"""Choose what fits a budget of tokens: an exact 0/1 knapsack with groups and headings.

Of one group (the versions of one passage, longer and shorter) at most one item is taken. The first
item of a document costs the document's heading besides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
