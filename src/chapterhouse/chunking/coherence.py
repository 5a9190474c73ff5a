"""From how alike two neighbouring stretches are to what a cut between them costs."""

import math
from collections.abc import Sequence

from chapterhouse.chunking.analysed import analysed
from chapterhouse.chunking.limits import Limits
from chapterhouse.chunking.segment import best_starts, spans_from, structure_costs
from chapterhouse.types import Body, Span

# A border at which coherence lies one standard deviation below the document's mean is worth this
# much more to cut. Small, so that it decides between borders of one rank and not over the rank:
# weights from .1 to .6 lie within each other's intervals (benchmarks/chunking.py).
_WEIGHT = 0.25
_COHERENT = 2.0  # a cut where the threshold is reached: only to keep within the limits


def cut_where_incoherent(
    body: Body, limits: Limits, coherence: Sequence[float], threshold: float
) -> Sequence[Span]:
    """Cut ``body`` at the lowest points of coherence that are below ``threshold``.

    A threshold alone does not cut well: single sentences share so few words that nearly every
    border lies below .3. So coherence is measured against the document's own mean and spread,
    and the best cuts near the target length are chosen among the borders below the threshold.

    Args:
        body: What to cut.
        limits: Lengths to keep.
        coherence: How alike both sides of the border before each unit are; the first is unused.
        threshold: From which on a border is not cut unless the limits demand it.
    """
    units = analysed(body).units(limits).units
    mean, spread = _mean_and_spread(coherence[1:])
    costs = [
        structure + _WEIGHT * (value - mean) / spread + (_COHERENT if value >= threshold else 0.0)
        for structure, value in zip(structure_costs(units), coherence, strict=True)
    ]
    return spans_from(units, best_starts(units, costs, limits))


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    return mean, math.sqrt(variance) or 1.0
