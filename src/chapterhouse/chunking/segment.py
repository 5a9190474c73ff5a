"""The best way to cut a row of units, by dynamic programming.

Every strategy says what a cut costs at each border between units; the length of the chunks costs
too. Of all ways to cut within the limits the one with the least sum is taken, which is exact and
takes time linear in the text: a chunk spans only so many units. The shape is that of Utiyama and
Isahara, "A Statistical Model for Domain-Independent Text Segmentation", ACL 2001, with other
costs.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from chapterhouse.chunking.units import Border, Limits, Unit
from chapterhouse.types import Kind, Span

# What it costs to start a chunk with such a unit, before a strategy says more.
STRUCTURE = {Border.PIECE: 4.0, Border.SENTENCE: 0.6, Border.BLOCK: 0.0, Border.HEADING: -1.5}
_AFTER_HEADING = 6.0  # a heading belongs to what it heads
_MOST = 500  # units in a chunk beyond its minimum: bounds the work on crumbs of text
_MIXED = -1.5  # between prose and a table or code: as good as a heading


def structure_costs(units: Sequence[Unit]) -> list[float]:
    """Return what the shape of the text makes of a cut before each unit."""
    costs: list[float] = []
    previous: Unit | None = None
    for unit in units:
        cost = STRUCTURE[unit.border]
        if previous is not None:
            if previous.level:
                cost = _AFTER_HEADING + unit.level  # two headings: parted rather at the higher
            elif unit.kind is not previous.kind and not unit.level:
                cost = _MIXED
        costs.append(cost)
        previous = unit
    return costs


@lru_cache(maxsize=32)
def length_costs(limits: Limits, slack: float = 0.0) -> Sequence[float]:
    """Return what a chunk of each size costs, from 0 to four times the maximum.

    Within ``slack``, a share of the target, nothing is charged.
    """
    free = math.log1p(slack)
    return 0.0, *(
        max(0.0, abs(math.log(size / limits.target)) - free) ** 2 * size / limits.target
        for size in range(1, 4 * limits.maximum + 1)
    )


def best_starts(
    units: Sequence[Unit],
    costs: Sequence[float],
    limits: Limits,
    sizes: Sequence[float] | None = None,
    slack: float = 0.0,
) -> list[int]:
    """Return the numbers of the units with which chunks start, the first included.

    No unit may be longer than the limits let it be; a text shorter than the minimum is one chunk.
    ``costs`` are of a cut before each unit; that before the first is not charged. ``sizes``, scaled
    to characters, are what is to be near the target where that is not the characters themselves,
    and ``slack`` is the share of the target by which one may differ for nothing.
    """
    if not units:
        return []
    by_size = length_costs(limits, slack)
    largest = len(by_size) - 1
    starts = [unit.start for unit in units]
    reaches = [unit.start + limits.maximum - len(unit.header) for unit in units]
    before = list(accumulate(sizes, initial=0.0)) if sizes is not None else [*starts, units[-1].end]
    least = [0.0, *([math.inf] * len(units))]  # what the best way to cut up to a unit costs
    origin = [0] * (len(units) + 1)  # the unit with which its last chunk starts
    lowest = 0  # no chunk that starts before it can still reach the end
    for number, unit in enumerate(units, start=1):
        while starts[lowest] + limits.maximum < unit.end:
            lowest += 1
        beyond = bisect_right(starts, unit.end - limits.minimum, lowest, number)
        for start in range(max(lowest, beyond - _MOST), beyond):
            if unit.end > reaches[start]:
                continue
            cost = least[start] + by_size[min(int(before[number] - before[start]), largest)]
            if cost < least[number]:
                least[number], origin[number] = cost, start
        if number < len(units):
            least[number] += costs[number]
    found = [origin[-1] if least[-1] < math.inf else 0]
    while found[-1]:
        found.append(origin[found[-1]])
    return found[::-1]


def spans_from(units: Sequence[Unit], starts: Sequence[int]) -> tuple[Span, ...]:
    """Return the spans of chunks that start with the given units.

    A span's kind is that of most of its text; prose where they are even.
    """
    runs = (units[start:stop] for start, stop in pairwise([*starts, len(units)]) if starts)
    return tuple(Span(run[0].start, run[-1].end, _prevailing(run), run[0].header) for run in runs)


def _prevailing(units: Sequence[Unit]) -> Kind:
    kinds = {unit.kind for unit in units}
    if len(kinds) == 1:
        return kinds.pop()
    lengths = dict.fromkeys(Kind, 0)
    for unit in units:
        lengths[unit.kind] += unit.end - unit.start
    return max(Kind, key=lambda kind: lengths[kind])
