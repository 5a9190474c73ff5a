"""Figures that measures must reach, so that a change that makes answers worse stops a build."""

from collections.abc import Sequence
from dataclasses import dataclass

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.evaluate import Evaluation
from chapterhouse.evaluation.measures import RANKING_MEASURES, Measure, measure_named
from chapterhouse.evaluation.measuring import CHECKS

Floor = tuple[str, float]  # name of a measure and the least it may be


@dataclass(frozen=True, slots=True)
class Gate:
    """A measure held to a floor: ``figure`` is what it reached."""

    measure: str
    floor: float
    figure: float
    passed: bool


def parse_floor(text: str) -> Floor:
    """Read ``nDCG@10=.45``.

    Raises:
        UsageError: it is not a known measure, an equals sign and a number from 0 to 1.
    """
    name, _, figure = text.partition("=")
    try:
        floor = float(figure)
    except ValueError:
        floor = -1.0
    if not 0.0 <= floor <= 1.0:
        raise UsageError(
            f"'{text}' is not a measure and a figure from 0 to 1.",
            hint="Write it like: --fail-below nDCG@10=.45",
        )
    name = name.strip()
    return (name if name in CHECKS else measure_named(name).name), floor


def measures_for(floors: Sequence[Floor]) -> tuple[Measure, ...]:
    """Return the measures of every report and those that only a floor names."""
    names = {measure.name for measure in RANKING_MEASURES} | set(CHECKS)
    asked = dict.fromkeys(name for name, _ in floors if name not in names)
    return (*RANKING_MEASURES, *map(measure_named, asked))


def gates(floors: Sequence[Floor], found: Evaluation) -> tuple[Gate, ...]:
    """Hold measures to their floors.

    Raises:
        UsageError: a measure says nothing of these questions, as ``answer`` where none is expected.
    """
    made: list[Gate] = []
    for name, floor in floors:
        if name not in found.measures:
            raise UsageError(
                f"'{name}' cannot be held to {floor:g}: it judges no question of {found.name}.",
                hint=f"These are measured: {', '.join(found.measures)}.",
            )
        figure = found.measures[name].mean
        made.append(Gate(name, floor, figure, passed=figure >= floor))
    return tuple(made)
