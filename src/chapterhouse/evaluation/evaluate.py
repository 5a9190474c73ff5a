"""An evaluation from its task to its figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from chapterhouse.evaluation.measures import RANKING_MEASURES, Measure
from chapterhouse.evaluation.measuring import Scored, Tell, estimates, measure_task
from chapterhouse.evaluation.significance import Estimate
from chapterhouse.evaluation.synthetic import LIMITS
from chapterhouse.evaluation.tasks import Task

_PERCENTILES: Final = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles of the time of one search for ten passages, in seconds."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of a task.

    Attributes:
        name: What was measured.
        kind: ``collection``, ``questions`` or ``synthetic``.
        documents: Number in the library.
        chunks: Number in the library.
        measures: Means with intervals, by name.
        scored: Every question with what came of it.
        latency: How long the searches took.
        warnings: What does not fit together, and what did not work in the searches.
    """

    name: str
    kind: str
    documents: int
    chunks: int
    measures: Mapping[str, Estimate]
    scored: tuple[Scored, ...]
    latency: Latency
    warnings: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What the figures cannot show, or empty."""
        return LIMITS if self.kind == "synthetic" else ""


def evaluate(
    task: Task,
    measures: Sequence[Measure] = RANKING_MEASURES,
    on_progress: Tell | None = None,
) -> Evaluation:
    """Ask every question of ``task`` and measure what comes back.

    Raises:
        ChapterhouseError: the library refuses a question; the message says which.
    """
    state = task.library.status()
    scored = measure_task(task, measures, on_progress)
    times = [entry.seconds for entry in scored]
    return Evaluation(
        name=task.name,
        kind=task.kind,
        documents=state.documents,
        chunks=state.chunks,
        measures=estimates(scored),
        scored=scored,
        latency=Latency(*(float(value) for value in np.percentile(times, _PERCENTILES))),
        warnings=(*task.warnings, *_of_the_searches(scored)),
    )


def _of_the_searches(scored: Sequence[Scored]) -> tuple[str, ...]:
    """Return each warning once: figures of a search by words alone must not pass for others."""
    counts = Counter(warning for entry in scored for warning in dict.fromkeys(entry.warnings))
    return tuple(
        f"{warning} (in {count:,} of {len(scored):,} searches)" for warning, count in counts.items()
    )
