"""How often a council's table says what its members' documents say, without a model.

    python benchmarks/councils/council_score.py [--part open|test|all] [--write]

Real folders, questions and gold by readers of the documents (``BRIEF.md``). A cell is right where
its sentence or values hold every fact of the gold, where its yes, no or condition is the gold's, or
where it is silent as the gold is. Weights are fitted on the open councils;
one bound, of silence, was lowered after the test councils had been scored once.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from council_cases import SAID_NOTHING, Gold, align, councils, is_quoted, is_right, make_library
from council_cases import quotations as quotations_of

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.types import Minutes, PositionKind, PositionRelation
from measuring import Bar, Machine, Row, Table, finish, percentile

RESAMPLES = 1000
OPPOSED = (PositionRelation.DIFFER, PositionRelation.CONDITIONAL)


@dataclass
class Tally:
    """What was counted of one council.

    Attributes:
        cells: Kind of the gold, and whether the cell is right.
        lost: Cells with a position that were called silent.
        foreign: Positions quoted from documents of another member.
        found, missed: Differences of the gold.
        real, false: Differences that were announced.
        grounds: Whether each ground is a sentence of the gold, or its cell is right.
        decided: Questions that ask for no decision, and decisions announced for them.
    """

    cells: list[tuple[str, bool]] = field(default_factory=list)
    lost: int = 0
    foreign: int = 0
    found: int = 0
    missed: int = 0
    real: int = 0
    false: int = 0
    grounds: list[bool] = field(default_factory=list)
    decided: Counter[bool] = field(default_factory=Counter)


def hold(council: Gold, folder: Path) -> Tally:
    """Put every question of a council to it, and count."""
    tally = Tally()
    with Library.open(make_library(council, folder)) as library:
        made = Council.new(council["council"])
        for member in council["members"]:
            made = made.add_member(
                name=member["id"], shelves=(member["id"],), instructions="Read your documents."
            )
        made = made.add_round("independent_analysis")
        for question in council["questions"]:
            options = tuple(question["options"]) or None
            asked = MeetingOptions(model="none", remember=False, options=options)
            minutes = library.councils.convene(made, question["question"], options=asked)
            count(tally, council, question, minutes)
    return tally


def count(tally: Tally, council: Gold, question: Gold, minutes: Minutes) -> None:
    """Count what the minutes of one question say."""
    owned = {
        m["id"]: {name.rpartition("/")[2] for name in m["documents"]} for m in council["members"]
    }
    cited = {citation.number: citation for citation in minutes.citations}
    keys = dict(
        zip((m["id"] for m in council["members"]), (m.key for m in minutes.members), strict=True)
    )
    cells = {(cell.aspect, cell.member): cell for cell in minutes.reading.positions}
    relations = {one.aspect: one.relation for one in minutes.reading.comparisons}
    for aspect, gold in align(minutes.reading.aspects, question.get("aspects", ())):
        for member, cell in gold["cells"].items():
            own = cells[aspect.id, keys[member]]
            right = is_right(cell, own.kind.value, own.text, own.values)
            tally.cells.append((cell["position"], right))
            silent = own.kind is PositionKind.SILENT
            tally.lost += silent and cell["position"] not in SAID_NOTHING
            tally.foreign += any(
                cited[number].source.rpartition("/")[2] not in owned[member]
                for number in own.citations
            )
            if not silent:
                tally.grounds.append(right or is_quoted(own.text, quotations_of(cell)))
        differs = gold["comparable"] and len(gold["groups"]) > 1
        announced = relations[aspect.id] in OPPOSED
        tally.found += differs and announced
        tally.missed += differs and not announced
        tally.real += announced and differs
        tally.false += announced and not differs
    if not question["options"]:
        tally.decided[bool(minutes.decided)] += 1


def summary(tallies: Sequence[Tally]) -> dict[str, float]:
    """Return the figures of several councils together, in percent."""
    cells = [cell for tally in tallies for cell in tally.cells]
    spoken = [right for kind, right in cells if kind not in SAID_NOTHING]
    grounds = [right for tally in tallies for right in tally.grounds]
    found, missed = sum(t.found for t in tallies), sum(t.missed for t in tallies)
    real, false = sum(t.real for t in tallies), sum(t.false for t in tallies)
    return {
        "cells": _percent(sum(right for _, right in cells), len(cells)),
        "silent, wrongly": _percent(sum(t.lost for t in tallies), len(spoken)),
        "of others": _percent(sum(t.foreign for t in tallies), len(cells)),
        "differences found": _percent(found, found + missed),
        "differences real": _percent(real, real + false),
        "grounds": _percent(sum(grounds), len(grounds)),
    }


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def by_kind(tallies: Sequence[Tally]) -> Iterator[Row]:
    """Yield how many cells of each kind of gold are right."""
    cells = [cell for tally in tallies for cell in tally.cells]
    for kind in dict.fromkeys(kind for kind, _ in sorted(cells)):
        right = [ok for name, ok in cells if name == kind]
        yield (kind, len(right), _percent(sum(right), len(right)))


def interval(tallies: Sequence[Tally]) -> str:
    """Return the 95 % interval of the share of cells that are right, councils resampled."""
    chooser = random.Random(7)
    shares = sorted(
        summary(chooser.choices(tallies, k=len(tallies)))["cells"] for _ in range(RESAMPLES)
    )
    return f"{percentile(shares, 0.025):.0f}–{percentile(shares, 0.975):.0f}"


def main() -> int:
    """Measure, print, and write where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    machine = Machine()
    held: dict[str, dict[str, Tally]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for council in councils(chosen.part):
            tally = hold(council, Path(folder))
            held.setdefault(council["part"], {})[council["council"]] = tally
    bars, tables = [], []
    for part, named in held.items():
        tallies = list(named.values())
        whole = summary(tallies)
        bars += list(_bars(part, whole, tallies))
        rows: list[Row] = [
            (name, len(t.cells), *summary([t]).values()) for name, t in named.items()
        ]
        rows.append(("all", sum(len(t.cells) for t in tallies), *whole.values()))
        note = f"Cells right: 95 % interval over councils {interval(tallies)}."
        tables.append(Table(f"Councils, {part}", ("council", "cells", *whole), tuple(rows), note))
        kinds = ("what the gold says", "cells", "right")
        tables.append(Table(f"By position, {part}", kinds, tuple(by_kind(tallies))))
    title = "Councils over real folders, without a model"
    return finish("councils", title, bars, tables, machine.setting(), write=chosen.write)


def _bars(part: str, whole: dict[str, float], tallies: Sequence[Tally]) -> Iterator[Bar]:
    yield Bar(f"cells right, {part}", whole["cells"], least=70)
    yield Bar(f"silent, wrongly, {part}", whole["silent, wrongly"], most=10)
    yield Bar(f"values of other members, {part}", whole["of others"], most=3)
    yield Bar(f"differences found, {part}", whole["differences found"], least=70)
    yield Bar(f"announced differences real, {part}", whole["differences real"], least=90)
    yield Bar(f"grounds about the question, {part}", whole["grounds"], least=85)
    decided = sum(tally.decided[True] for tally in tallies)
    yield Bar(f"decisions where none was asked for, {part}", decided, most=0)


if __name__ == "__main__":
    sys.exit(main())
