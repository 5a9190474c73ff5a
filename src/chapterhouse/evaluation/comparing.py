"""Two ways of ranking on the same questions: what is gained, and whether that is chance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.collection import Case, Task
from chapterhouse.evaluation.measures import (
    RANKING_MEASURES,
    Difference,
    Estimate,
    Measure,
    compare,
    estimate,
)
from chapterhouse.evaluation.measuring import (
    OnProgress,
    Scored,
    as_run,
    estimates,
    measure_task,
    rank_task,
)
from chapterhouse.evaluation.runs import Run
from chapterhouse.evaluation.synthetic import LIMITS
from chapterhouse.retrieval.method import without_stages

_PERCENTILES: Final = (50, 95, 99)
_DIGITS: Final = 6


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
    on_progress: OnProgress | None = None,
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """An evaluation beside another ranking of its questions.

    Attributes:
        name: The other.
        others: Means of the other, by measure.
        differences: What ours gains over it, by measure.
        unranked: Questions that the other does not rank; each scores 0.
        changes: What each question that changed gains in the first measure, most lost first.
    """

    name: str
    others: Mapping[str, Estimate]
    differences: Mapping[str, Difference]
    unranked: int
    changes: tuple[tuple[str, float], ...]


def compare_with_run(
    found: Evaluation, other: Run, name: str, measures: Sequence[Measure] = RANKING_MEASURES
) -> Comparison:
    """Compare an evaluation with a run of the same questions.

    Raises:
        UsageError: the run ranks none of the questions.
    """
    cases = _judged(found)
    if not any(case.question.id in other for case in cases):
        raise UsageError(
            f"{name} ranks none of the {len(cases):,} questions of {found.name}.",
            hint="A run belongs to one collection or file of questions, with the same ids.",
        )
    return _comparison(name, as_run(found.scored), other, cases, measures)


def ablate(
    task: Task,
    found: Evaluation,
    measures: Sequence[Measure] = RANKING_MEASURES,
    on_progress: OnProgress | None = None,
) -> tuple[Comparison, ...]:
    """Compare an evaluation with itself less one stage of retrieval at a time.

    What is gained over the rest is what the stage is worth.
    """
    cases, ours = _judged(found), as_run(found.scored)
    return tuple(
        _comparison(name, ours, rank_task(task, method, on_progress), cases, measures)
        for name, method in without_stages(task.library.search.method)
    )


def _judged(found: Evaluation) -> list[Case]:
    cases = [entry.case for entry in found.scored if entry.case.relevant]
    if not cases:
        raise UsageError(
            f"No question of {found.name} says which documents it requires: nothing to compare.",
            hint='Add "required" to the questions.',
        )
    return cases


def _comparison(
    name: str, ours: Run, other: Run, cases: Sequence[Case], measures: Sequence[Measure]
) -> Comparison:
    others: dict[str, Estimate] = {}
    differences: dict[str, Difference] = {}
    for measure in measures:
        first, second = _figures(measure, ours, cases), _figures(measure, other, cases)
        others[measure.name] = estimate(second)
        differences[measure.name] = compare(first, second)
    unranked = sum(case.question.id not in other for case in cases)
    changes = _changes(measures[0], ours, other, cases)
    return Comparison(name, others, differences, unranked, changes)


def _changes(
    measure: Measure, ours: Run, other: Run, cases: Sequence[Case]
) -> tuple[tuple[str, float], ...]:
    first, second = _figures(measure, ours, cases), _figures(measure, other, cases)
    gains = [
        (case.question.id, round(mine - theirs, _DIGITS))
        for case, mine, theirs in zip(cases, first, second, strict=True)
    ]
    changed = [(name, gain) for name, gain in gains if gain]
    return tuple(sorted(changed, key=lambda entry: (entry[1], entry[0])))


def _figures(measure: Measure, run: Run, cases: Sequence[Case]) -> list[float]:
    return [
        measure.of([entry.document for entry in run.get(case.question.id, ())], case.relevant)
        for case in cases
    ]
