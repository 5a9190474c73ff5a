"""Figures that measures must reach, so that a change that makes answers worse stops a build."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.measures import RANKING_MEASURES, Measure, measure_named
from chapterhouse.evaluation.measuring import CHECKS, Evaluation, Scored

Floor = tuple[str, float]  # name of a measure and the least it may be
# What XML 1.0 cannot hold, not even as a reference.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_Case = tuple[str, str]  # name, and why it failed or nothing


@dataclass(frozen=True, slots=True)
class Gate:
    """A measure held to a floor: ``figure`` is what it reached."""

    measure: str
    floor: float
    figure: float
    passed: bool


def require_writable(path: Path) -> None:
    """Refuse a place that cannot be written, before the work whose result should go there.

    Raises:
        UsageError: it is a folder, or its folder is not there or may not be written.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", hint="Name the file to write.")
    if not path.parent.is_dir():
        raise UsageError(
            f"The folder {path.parent} is not there, so {path.name} cannot be written.",
            hint="Make the folder first, or name another place.",
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written.", hint="Look at the permissions.")


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


def junit(found: Evaluation, held: Sequence[Gate]) -> str:
    """Return the XML of an evaluation."""
    cases = [_gate(gate) for gate in held] or [_question(entry) for entry in found.scored]
    failures = sum(bool(why) for _, why in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}
    name = _plain(f"chapterhouse eval {found.name}")
    root = Element("testsuites", {"name": "chapterhouse eval", **counts})
    suite = SubElement(root, "testsuite", {"name": name, **counts, "skipped": "0"})
    for title, failure in cases:
        case = SubElement(suite, "testcase", {"classname": name, "name": _plain(title)})
        if failure:
            SubElement(case, "failure", {"type": "assertion", "message": _plain(failure)})
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'


def _gate(gate: Gate) -> _Case:
    failed = f"{gate.measure} is {gate.figure:.4f}, below {gate.floor:g}"
    return f"{gate.measure} >= {gate.floor:g}", "" if gate.passed else failed


def _question(entry: Scored) -> _Case:
    question = entry.case.question
    return f"{question.id} {question.text}", "; ".join(entry.failures)


def _plain(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", text)
