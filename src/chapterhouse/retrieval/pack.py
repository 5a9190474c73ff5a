"""Choosing what fits a budget of tokens: exactly, greedily, or in order.

What is chosen from are items in groups: of one group (the versions of one passage, longer and
shorter) at most one is taken. The first item of a document costs its heading besides, and of a
document's items the most valuable counts whole and every further one ``1 - diversity_factor`` of
its value, so that a second source is preferred where it is nearly as good.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

DIVERSITY_FACTOR: Final = 0.3
_FINEST: Final = 40  # values are rounded to 2^-40, or more coarsely where sums need the room


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be chosen.

    Attributes:
        tokens: What it costs, at least 0.
        value: What it is worth, 0 to 1,000.
        document: The document it is from.
        group: At most one item of a document's group is chosen; an item without one stands alone.
        opening: What the first item of this document costs besides; the first item says it.
    """

    tokens: int
    value: float
    document: str = ""
    group: str = ""
    opening: int = 0


Pack = Callable[[Sequence[Item], int], Sequence[int]]


def pack_exactly(
    items: Sequence[Item], maximum: int, diversity_factor: float = DIVERSITY_FACTOR
) -> Sequence[int]:
    """Return the places of the choice of highest value that costs at most ``maximum`` tokens.

    The value of a choice is, summed over documents, ``best + (1 - diversity_factor) · the others``.
    It depends on the set, but it equals the maximum, over all ways to name at most one chosen item
    of each document "whole", of the sum in which named items count whole and the others
    discounted: naming the best is never worse than naming another, nor than naming none. So the
    best choice and the best naming may be sought together, and with a naming given every item has
    a value of its own. Dynamic programming over groups with the state (tokens left, document
    opened, whole item named) therefore finds the maximum: each choice with each naming is one
    path through the states, and each path is one choice.

    Values are rounded to a power of two, about a billionth of what all items are worth together,
    so that every sum is exact: the maximum is that of the rounded values. Of several best choices
    it is the one with the fewest tokens; of these the one that holds the first item in which they
    differ, where documents come in the order of their first items, and of one document the group
    of the most valuable item first. Items worth nothing are left out.

    Time is proportional to items times tokens, twice that where a document has several groups.

    Raises:
        ValueError: a cost is negative, a value or the factor out of range.
    """
    _check(items, diversity_factor)
    documents = _documents(items, maximum, diversity_factor)
    width = _width(documents, maximum)
    tables = _Tables(sum(document.tables for document in documents), width)
    later = np.zeros(width, dtype=np.int32)
    for document in reversed(documents):
        document.solve(later, tables)
        later = document.best
    left = int(np.argmax(later == later[-1]))  # the fewest tokens with the highest value
    chosen: list[int] = []
    for document in documents:
        found, left = document.walk(left)
        chosen.extend(found)
    return sorted(chosen)


def pack_greedily(
    items: Sequence[Item], maximum: int, diversity_factor: float = DIVERSITY_FACTOR
) -> Sequence[int]:
    """Return what is taken by always adding the item of highest value per token that fits.

    A document's heading is charged to its first item; an item counts discounted where its document
    has one already. Ties go to the first.
    """
    _check(items, diversity_factor)
    openings = _openings(items)
    taken: list[int] = []
    open_documents: set[str] = set()
    groups: set[tuple[str, str]] = set()
    left = maximum
    while True:
        best, best_density, best_cost = -1, 0.0, 0
        for place, item in enumerate(items):
            if item.value <= 0 or _group(place, item) in groups:
                continue
            again = item.document in open_documents
            cost = item.tokens + (0 if again else openings[item.document])
            value = item.value * (1 - diversity_factor) if again else item.value
            density = value / cost if cost else math.inf
            if cost <= left and density > best_density:
                best, best_density, best_cost = place, density, cost
        if best < 0:
            return sorted(taken)
        taken.append(best)
        open_documents.add(items[best].document)
        groups.add(_group(best, items[best]))
        left -= best_cost


def pack_in_order(items: Sequence[Item], maximum: int) -> Sequence[int]:
    """Return what is taken by going through the items in order and keeping all that still fit."""
    _check(items, 0.0)
    openings = _openings(items)
    taken: list[int] = []
    open_documents: set[str] = set()
    groups: set[tuple[str, str]] = set()
    left = maximum
    for place, item in enumerate(items):
        cost = item.tokens + (0 if item.document in open_documents else openings[item.document])
        if cost <= left and _group(place, item) not in groups:
            taken.append(place)
            open_documents.add(item.document)
            groups.add(_group(place, item))
            left -= cost
    return taken


def total_value(
    items: Sequence[Item], chosen: Iterable[int], diversity_factor: float = DIVERSITY_FACTOR
) -> float:
    """Return the value of a choice as ``pack_exactly`` counts it."""
    by_document: dict[str, list[float]] = {}
    for place in chosen:
        by_document.setdefault(items[place].document, []).append(items[place].value)
    return math.fsum(
        max(values) + (1 - diversity_factor) * (math.fsum(values) - max(values))
        for values in by_document.values()
    )


def total_tokens(items: Sequence[Item], chosen: Iterable[int]) -> int:
    """Return the cost of a choice, headings included."""
    openings = _openings(items)
    kept = [items[place] for place in chosen]
    return sum(item.tokens for item in kept) + sum(
        openings[name] for name in {item.document for item in kept}
    )


# --- the dynamic programme -----------------------------------------------------------------------

_Table = NDArray[np.int32]  # by tokens left: the highest value that can still be had


@dataclass(frozen=True, slots=True)
class _Version:
    place: int
    tokens: int
    whole: int  # in units
    further: int
    # Whether a later group holds something more valuable, for which "whole" may be kept.
    may_wait: bool = False


class _Tables:
    """Room for all tables in one piece: many small arrays would cost more than the arithmetic."""

    def __init__(self, count: int, width: int) -> None:
        self._room = np.empty((count, width), dtype=np.int32)
        self._scratch = np.empty(width, dtype=np.int32)
        self._used = 0

    def raised(self, base: _Table, steps: Iterable[tuple[_Table, int, int]]) -> _Table:
        """Return ``base``, raised to what each step gives: a source, tokens less, and value."""
        target: _Table = self._room[self._used]
        self._used += 1
        written = False
        for source, tokens, value in steps:
            if tokens < len(target):
                gained = np.add(source[: len(source) - tokens], value, out=self._scratch[tokens:])
                if written:
                    np.maximum(target[tokens:], gained, out=target[tokens:])
                else:
                    target[:tokens] = base[:tokens]
                    np.maximum(base[tokens:], gained, out=target[tokens:])
                written = True
        if not written:
            target[:] = base
        return target


@dataclass(slots=True)
class _Document:
    """The groups of one document and its tables: what it and all later documents can give."""

    opening: int
    groups: list[list[_Version]]
    free: list[_Table] = field(default_factory=list)  # before each group, nothing named yet
    named: list[_Table] = field(default_factory=list)  # likewise, when something is
    best: _Table = field(default_factory=lambda: np.zeros(0, np.int32))

    @property
    def tables(self) -> int:
        """Number of tables it fills at most."""
        return 2 * len(self.groups) + 1

    def solve(self, later: _Table, tables: _Tables) -> None:
        """Fill the tables from the last group to the first."""
        free = named = later
        self.free, self.named = [later], [later]
        for number in range(len(self.groups) - 1, -1, -1):
            versions = self.groups[number]
            steps = [(named, version.tokens, version.whole) for version in versions]
            steps += [(free, v.tokens, v.further) for v in versions if v.may_wait]
            free = tables.raised(free, steps)
            if number:  # nothing is named before the first group
                further = [(named, version.tokens, version.further) for version in versions]
                named = tables.raised(named, further)
            self.free.append(free)
            self.named.append(named)
        self.free.reverse()
        self.named.reverse()
        self.best = tables.raised(later, [(free, self.opening, 0)]) if self.opening else free

    def walk(self, left: int) -> tuple[list[int], int]:
        """Return the places chosen with ``left`` tokens, and the tokens that remain.

        ``left`` is the least that reaches its value, so nothing is wasted on the way: where the
        opened document is as good as going past it, something of it is chosen. Where several
        namings lead to the best value they are followed together, so that the choice depends on
        values and order alone.
        """
        opened = left - self.opening
        if opened < 0 or self.free[0][opened] != self.best[left]:
            return [], left
        chosen: list[int] = []
        states, left = {False}, opened
        for number, group in enumerate(self.groups):
            for version in group:
                reached = set(self._reached(number, version, left, states))
                if reached:
                    chosen.append(version.place)
                    states, left = reached, left - version.tokens
                    break
            else:
                states = {
                    named
                    for named in states
                    if self._table(number, named)[left] == self._table(number + 1, named)[left]
                }
        return chosen, left

    def _reached(
        self, number: int, version: _Version, left: int, states: set[bool]
    ) -> Iterator[bool]:
        remaining = left - version.tokens
        if remaining < 0:
            return
        for named in states:
            value = self._table(number, named)[left]
            if not named and self.named[number + 1][remaining] + version.whole == value:
                yield True
            if (named or version.may_wait) and (
                self._table(number + 1, named)[remaining] + version.further == value
            ):
                yield named

    def _table(self, number: int, named: bool) -> _Table:  # noqa: FBT001 - a state, not an option
        return self.named[number] if named else self.free[number]


def _documents(items: Sequence[Item], maximum: int, diversity_factor: float) -> list[_Document]:
    openings = _openings(items)
    units = _units(items)
    grouped: dict[str, dict[tuple[str, str], list[_Version]]] = {}
    for place, item in enumerate(items):
        whole = round(item.value * units)
        if whole and item.tokens + openings[item.document] <= maximum:
            further = round(item.value * (1 - diversity_factor) * units)
            groups = grouped.setdefault(item.document, {})
            versions = groups.setdefault(_group(place, item), [])
            versions.append(_Version(place, item.tokens, whole, further))
    return [_document(openings[name], list(groups.values())) for name, groups in grouped.items()]


def _document(opening: int, groups: list[list[_Version]]) -> _Document:
    """Put the most valuable group first: few items then have to wait for a better one."""
    groups.sort(key=lambda group: -max(version.whole for version in group))
    if len(groups) == 1:  # whatever is chosen opens the document
        alone = [_Version(v.place, v.tokens + opening, v.whole, v.further) for v in groups[0]]
        return _Document(0, [alone])
    best_later = [max(version.whole for version in group) for group in groups[1:]] + [0]
    marked = [
        [_Version(v.place, v.tokens, v.whole, v.further, may_wait=v.whole < best) for v in group]
        for group, best in zip(groups, best_later, strict=True)
    ]
    return _Document(opening, marked)


def _units(items: Sequence[Item]) -> float:
    """Return how many units a value of 1 has: a power of two that keeps every sum in 31 bits."""
    everything = max(math.fsum(item.value for item in items), 2.0**-_FINEST)
    most = 2**31 - 1 - len(items)  # each rounding may add a half
    return 2.0 ** min(math.floor(math.log2(most / everything)), _FINEST)


def _width(documents: Sequence[_Document], maximum: int) -> int:
    """Return the number of budgets to look at: no more than everything together costs."""
    everything = sum(
        document.opening + sum(max(v.tokens for v in group) for group in document.groups)
        for document in documents
    )
    return max(min(maximum, everything), 0) + 1


def _openings(items: Sequence[Item]) -> Mapping[str, int]:
    openings: dict[str, int] = {}
    for item in items:
        openings.setdefault(item.document, item.opening)
    return openings


def _group(place: int, item: Item) -> tuple[str, str]:
    return item.document, item.group or f"\0{place}"


def _check(items: Sequence[Item], diversity_factor: float) -> None:
    if not 0 <= diversity_factor <= 1:
        raise ValueError(f"the diversity factor must be 0 to 1, got {diversity_factor}")
    for item in items:
        if item.tokens < 0 or item.opening < 0:
            raise ValueError(f"tokens must not be negative: {item}")
        if not 0 <= item.value <= 1_000:  # noqa: PLR2004 - stated at Item; also no NaN
            raise ValueError(f"a value must be 0 to 1,000: {item}")
