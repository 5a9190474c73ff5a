"""How long councils take: rounds of slow models, one that hangs, whole meetings without any.

    python benchmarks/council.py [--members N]

The library holds 1,000 abstracts and paragraphs of the judged collections on 16 shelves, which the
members share out among them. Models are scripted: one writes in the form that is asked for and
takes a second for it, so that whatever a round takes beyond that second is ours. Medians of seven
meetings, each with another question that the library answers; of whole meetings without a model,
in a process of its own for each size, also the peak of its memory. ``--members`` is such a process.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.convene import convene
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.models.scripted import ScriptedModel, Step
from chapterhouse.types import CouncilEvent, MeetingEvent, MeetingEventKind, Minutes
from data_folder import data_folder
from judged_sets import load_dataset
from measuring import Bar, Machine, Row, Table, finish, peak_megabytes

COLLECTIONS: Final = ("xquad-en", "cranfield", "time", "pubmedqa")
DOCUMENTS: Final = 1_000
SHELVES: Final = 16
SIZES: Final = (3, 8, 16)
RUNS: Final = 7
SLOW: Final = 1.0  # seconds that the model takes
HANGS: Final = 3_600.0
TIMEOUT: Final = 2.0
MODELLED: Final = 8  # members of the rounds with a model
ROUNDS: Final = ("independent_analysis", "cross_examination", "rebuttal")
GROUNDS: Final = 4  # of each member in each round
BLOCK: Final = re.compile(r"^(\[\d+\]) [^\n]*\n((?:(?![\[<])[^\n]*\n)+)", re.MULTILINE)
SENTENCE: Final = re.compile(r"^(?:¦ )?([A-Z][^.\n]{40,300})\.(?= |$)", re.MULTILINE)
HANGING: Final = "You are Member 3."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--members", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.members:
        print(json.dumps(offline(chosen.home, chosen.members)))
        return 0
    machine = Machine()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        furnish(home, Path(folder) / "documents")
        with Library.open(home) as library:
            rounds = modelled(library)
            hanging = hung(library)
        meetings = [in_its_own_process(home, size) for size in SIZES]
    return written(rounds, hanging, meetings, machine)


# --- the library --------------------------------------------------------------------------------


def furnish(home: Path, folder: Path) -> None:
    """Make a library of 1,000 documents on 16 shelves."""
    sets = [load_dataset(data_folder() / "retrieval" / name) for name in COLLECTIONS]
    others = [document for dataset in sets[1:] for document in dataset.documents]
    asked_about = list(sets[0].documents)
    random.Random(1).shuffle(others)
    found = [*asked_about, *others[: DOCUMENTS - len(asked_about)]]
    random.Random(1).shuffle(found)
    with Library.open(home) as library:
        for shelf in range(SHELVES):
            own = folder / f"shelf-{shelf}"
            own.mkdir(parents=True)
            for number, document in enumerate(found[shelf::SHELVES]):
                text = f"# {document.title or document.id}\n\n{document.text}\n"
                (own / f"{number}.md").write_text(text, "utf-8")
            library.documents.add(own, shelf=own.name)


def questions() -> list[str]:
    """Return real questions, one for each meeting."""
    asked = list(load_dataset(data_folder() / "retrieval" / COLLECTIONS[0]).questions.values())
    return random.Random(1).sample(asked, RUNS)


def council(size: int, rounds: Sequence[str], *, hangs: bool = False) -> Council:
    """Return a council of roles who share the library out among them."""
    made = Council.new("speed")
    for seat in range(size):
        name = f"Member {seat + 1}"
        timeout = TIMEOUT if hangs and f"You are {name}." == HANGING else None
        made = made.add_member(
            name=name,
            instructions="Say what your documents say.",
            shelves=[f"shelf-{shelf}" for shelf in range(seat, SHELVES, size)],
            timeout_seconds=timeout,
        )
    for entry in rounds:
        made = made.add_round(entry)
    return made


# --- with a model -------------------------------------------------------------------------------


def model(*, hangs: bool = False) -> ScriptedModel:
    """Return a model that takes a second; or ever so long where one member asks it.

    It states the first sentences of the first blocks of its context, with their markers.
    """

    def script(instructions: str, prompt: str) -> Step:
        grounds = [one for block in BLOCK.findall(prompt) for one in stated(*block)][:GROUNDS]
        said = {"positions": [{"position": "That is so.", "grounds": grounds}]}
        seconds = HANGS if hangs and instructions.startswith(HANGING) else SLOW
        return Step(json.dumps(said), seconds=seconds)

    return ScriptedModel(script)


def stated(marker: str, text: str) -> Iterator[str]:
    """Yield the first sentence of a block with the block's marker."""
    for sentence in SENTENCE.findall(text)[:1]:
        yield f"{sentence}.{marker}"


class Clock:
    """Notes how long the rounds of a meeting take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def note(self, event: CouncilEvent) -> None:
        """Take notice of what happens."""
        if not isinstance(event, MeetingEvent):
            return
        if event.kind is MeetingEventKind.ROUND_BEGAN:
            self.seconds[event.round] = -time.perf_counter()
        elif event.kind is MeetingEventKind.ROUND_ENDED:
            self.seconds[event.round] += time.perf_counter()


def met(
    library: Library, council: Council, question: str, model: ScriptedModel | None
) -> tuple[Minutes, Clock]:
    """Hold a meeting; return its minutes and how long its rounds took."""
    own, clock = library._runtime, Clock()  # noqa: SLF001 - with a model of our own
    runtime = replace(own, language_model=lambda _: model)
    choices = MeetingOptions(remember=False)
    minutes = asyncio.run(convene(council, question, choices, runtime, clock.note))
    return minutes, clock


def modelled(library: Library) -> dict[str, list[float]]:
    """Return the seconds of each round of eight members, by round."""
    made, found = council(MODELLED, ROUNDS), dict[str, list[float]]()
    for question in questions():
        minutes, clock = met(library, made, question, model())
        assert not minutes.absences
        assert minutes.statements
        for name, seconds in clock.seconds.items():
            found.setdefault(name, []).append(seconds)
    return found


def hung(library: Library) -> list[float]:
    """Return the seconds of rounds in which one of eight members never answers."""
    made, found = council(MODELLED, ROUNDS[:1], hangs=True), list[float]()
    for question in questions():
        minutes, clock = met(library, made, question, model(hangs=True))
        assert len(minutes.absences) == 1
        assert len(minutes.turns) == MODELLED - 1
        found += clock.seconds.values()
    return found


# --- without a model ----------------------------------------------------------------------------


def offline(home: Path, size: int) -> dict[str, float]:
    """Return what whole meetings of so many members take."""
    rounds = (*ROUNDS, "synthesis")
    made = council(size, rounds).chair(name="Chair", instructions="Preside.")
    taken, quotations = list[float](), list[int]()
    with Library.open(home) as library:
        met(library, made, "What was measured?", None)  # opens what is opened once
        for question in questions():
            began = time.perf_counter()
            minutes, _ = met(library, made, question, None)
            taken.append(time.perf_counter() - began)
            quotations.append(len(minutes.citations))
    return {
        "members": size,
        "median": median(taken),
        "longest": max(taken),
        "quotations": median(quotations),
        "megabytes": peak_megabytes(),
    }


def in_its_own_process(home: Path, size: int) -> dict[str, float]:
    """Run the meetings of one size in a fresh process."""
    command = [sys.executable, __file__, "--members", str(size), "--home", str(home)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(ran.stdout)
    return found


# --- the result ---------------------------------------------------------------------------------


def written(
    rounds: dict[str, list[float]],
    hanging: list[float],
    meetings: Sequence[dict[str, float]],
    machine: Machine,
) -> int:
    """Write the result and return the exit code."""
    bars = [
        *(
            Bar(f"{name}, 8 members, a model of 1 s: median s", median(taken), most=1.3)
            for name, taken in rounds.items()
        ),
        Bar("one of 8 hangs, its timeout 2 s: median s", median(hanging), most=TIMEOUT + 0.3),
    ]
    tables = [
        Table(
            "Rounds with a model", ("round", "least s", "median s", "most s"), tuple(_rows(rounds))
        ),
        Table(
            "Whole meetings without a model",
            ("members", "median s", "most s", "quotations", "peak MB"),
            tuple(
                (
                    int(one["members"]),
                    one["median"],
                    one["longest"],
                    one["quotations"],
                    one["megabytes"],
                )
                for one in meetings
            ),
            "The table alone. The peak is of the whole process.",
        ),
    ]
    return finish("council", "Councils", bars, tables, machine.setting())


def _rows(rounds: dict[str, list[float]]) -> Iterator[Row]:
    for name, taken in rounds.items():
        yield name, min(taken), median(taken), max(taken)


if __name__ == "__main__":
    sys.exit(main())
