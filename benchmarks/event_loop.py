"""What eight questions at once do to the event loop that they are asked from.

    python benchmarks/event_loop.py [--write] [FOLDER ...]

Every question of the folders (one open natural one) is asked without a model, first one after the
other, then eight at a time, from one event loop that also looks at the clock each millisecond. The
longest time between two looks is the longest that anything kept the loop from others. In turns,
three times; medians.
"""

import argparse
import asyncio
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse.answering.request import AskOptions
from chapterhouse.library import Library
from libraries import opened
from measuring import Bar, Machine, Table, finish
from questions import read_questions

FOLDERS: Final = ("site-policies",)
AT_ONCE: Final = (1, 8)
TURNS: Final = 3
WARM: Final = 8
LONGEST: Final = 20.0  # milliseconds that the loop may stand still
FASTER: Final = 1.6  # times as many questions a second, on two cores
_LOOK: Final = 0.001  # seconds
_CHOICES: Final = AskOptions(model="none", remember=False, use_cache=False, drafts=False)


@dataclass(frozen=True, slots=True)
class Taken:
    """Questions a second, and the longest that the loop stood still, in milliseconds."""

    a_second: float
    longest: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--write", action="store_true", help="write the result page")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = Machine()
    found: dict[int, list[Taken]] = {number: [] for number in AT_ONCE}
    for folder in wanted.folders:
        asked = [question.question for question in read_questions(folder)]
        with opened(folder, "built-in") as library:
            asyncio.run(ask_all(library, asked[:WARM], 1))
            for _ in range(TURNS):
                for number in AT_ONCE:
                    found[number].append(asyncio.run(ask_all(library, asked, number)))
    rows: list[tuple[int, float, float]] = [
        (
            number,
            round(median(t.a_second for t in taken), 2),
            round(max(t.longest for t in taken), 1),
        )
        for number, taken in found.items()
    ]
    one, many = rows[0], rows[-1]
    bars = (
        Bar("longest stop with eight at once, ms", many[2], most=LONGEST),
        Bar("questions a second, eight at once over one", many[1] / one[1], least=FASTER),
    )
    table = Table("Questions", ("at once", "a second", "longest stop, ms"), tuple(rows))
    note = " ".join(__doc__.split("\n\n")[2].split())
    title = "Many questions from one event loop"
    return finish(
        "event_loop", title, bars, [table], machine.setting(), (note,), write=wanted.write
    )


async def ask_all(library: Library, asked: Sequence[str], at_once: int) -> Taken:
    """Ask every question, so many at a time."""
    places = asyncio.Semaphore(at_once)
    longest = 0.0

    async def look() -> None:
        nonlocal longest
        while True:
            began = time.perf_counter()
            await asyncio.sleep(_LOOK)
            longest = max(longest, time.perf_counter() - began - _LOOK)

    async def one(text: str) -> None:
        async with places:
            await library.answers.ask_async(text, options=_CHOICES)

    looking = asyncio.ensure_future(look())
    began = time.perf_counter()
    await asyncio.gather(*map(one, asked))
    taken = time.perf_counter() - began
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking
    return Taken(len(asked) / taken, longest * 1e3)


if __name__ == "__main__":
    sys.exit(main())
