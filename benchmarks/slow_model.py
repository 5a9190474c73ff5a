"""A council of three on a small, slow language model that answers one request at a time.

    make .venv-model/bin/.installed && python benchmarks/slow_model.py [--budget "9 calls"]

SmolLM2 (135 million parameters) by llama.cpp on two threads, one slot. What it writes is nonsense:
measured are turns that are lost to our own time limits, the estimate that is told before the first
round beside what it took, and whether a budget is kept.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from tests.model_server.test_model_server import LONG, RULES, served, settings

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.budget import Budget, parse_budget
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.types import CouncilEvent, MeetingEvent, MeetingEventKind, Minutes
from measuring import Bar, Machine, Row, Table, finish

QUESTION = "How fast may a vessel go inside the harbour?"
SHELVES = {"a": RULES, "b": RULES.replace("4 knots", "6 knots"), "c": LONG}
ROUNDS = ("independent_analysis", "cross_examination", "rebuttal", "synthesis")
MODEL = {"maximum_tokens": 300, "timeout_seconds": 120, "server": "llama.cpp"}


class Watch:
    """When the estimate was told and what it was, and when the last turn ended."""

    def __init__(self) -> None:
        self.told = ""
        self.began = self.ended = 0.0

    def __call__(self, event: CouncilEvent) -> None:
        """Take in what happened."""
        self.ended = time.perf_counter()
        if isinstance(event, MeetingEvent) and event.kind is MeetingEventKind.ESTIMATED:
            self.told, self.began = event.text, self.ended


def hold(address: str, folder: Path, budget: Budget | None, watch: Watch) -> Minutes:
    """Hold a meeting."""
    home = folder / "home"
    home.mkdir()
    (home / "chapterhouse.toml").write_text(settings(address, more="", **MODEL), "utf-8")
    made = Council.new("speed").chair(name="Agnes Merrow", instructions="Sum up.")
    for name in ROUNDS:
        made = made.add_round(name)
    with Library.open(home) as library:
        for shelf, text in SHELVES.items():
            (folder / f"{shelf}.md").write_text(text, "utf-8")
            library.documents.add(folder / f"{shelf}.md", shelf=shelf)
            made = made.add_member(name=f"Reader {shelf}", instructions="Read.", shelves=(shelf,))
        options = MeetingOptions(remember=False, budget=budget)
        return library.councils.convene(made, QUESTION, options=options, on_event=watch)


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", action="append")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    machine, watch = Machine(), Watch()
    budget = parse_budget(chosen.budget) if chosen.budget else None
    with tempfile.TemporaryDirectory() as folder, served(4_096, 1) as (address, _):
        minutes = hold(address, Path(folder), budget, watch)
    seconds = watch.ended - watch.began
    told = _seconds(watch.told)
    written = [one for one in minutes.statements if one.method != "extractive"]
    calls = minutes.usage.calls if minutes.usage else 0
    bars = [
        Bar("turns lost to a time limit", len(minutes.absences), most=0),
        Bar("statements of the model in the minutes", len(written), least=3),
        Bar("time beside the estimate", max(seconds, told) / min(seconds, told), most=2),
    ]
    if budget and budget.calls:
        bars.append(Bar("calls, of a budget", calls, most=budget.calls))
    rows: tuple[Row, ...] = (
        ("told before", watch.told),
        ("took, seconds", round(seconds)),
        ("calls", calls),
        ("warnings", len(minutes.warnings)),
        *(("warning", warning) for warning in minutes.warnings),
    )
    table = Table("The meeting", ("", ""), rows)
    title = "A council on a slow model with one slot"
    return finish("slow_model", title, bars, [table], machine.setting(), write=chosen.write)


def _seconds(told: str) -> float:
    """Return the seconds that an estimate states."""
    number, unit = told.split()[1:3]
    return float(number) * (60 if unit.startswith("minute") else 1)


if __name__ == "__main__":
    sys.exit(main())
