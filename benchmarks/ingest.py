"""Ten thousand small Markdown files, 20 MB in all: added, added again, some removed and added back.

    python benchmarks/ingest.py [--files 10000]
    python benchmarks/ingest.py --many

The files are the same in every run. Takes about two minutes on two cores. ``--many`` adds
100,000 files of 300 characters instead, and looks at the memory on the way: four to five minutes.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from chapterhouse.library import Library
from chapterhouse.types import Progress, Status
from measuring import Bar, Machine, Memory, MemoryWatch, Table, finish, peak_megabytes

Value = TypeVar("Value")
FILES = 10_000
CHARACTERS = 1_800  # of one file, on average, before its last block
SECONDS = 60
MEGABYTES = 500
REMOVED = 1_000
MANY = 100_000
MANY_CHARACTERS = 300
MANY_A_SECOND = 400
GROWTH = 1.5  # of the memory from the first fifth of them to the end
_VOWELS = "aeiou"
_CONSONANTS = "bdfghklmnprstvw"
_SYLLABLES = [a + b + c for a in _CONSONANTS for b in _VOWELS for c in ("", "l", "n", "r")]
_ENGLISH = [
    *("the", "of", "and", "to", "in", "is", "for", "that", "with", "as", "on", "are", "by", "this"),
    *("be", "it", "from", "at", "or", "an", "was", "which", "when", "has", "not", "can", "before"),
    *("after", "each", "must", "only", "between", "under", "while", "during", "without", "every"),
]


def write_files(folder: Path, count: int, characters: int = CHARACTERS) -> int:
    """Write ``count`` Markdown files in folders of 100; return the number of bytes."""
    chance = random.Random(20_260)
    words = _vocabulary(chance)
    total = 0
    for number in range(count):
        path = folder / f"{number // 100:03}" / f"note-{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        total += path.write_bytes(_document(chance, words, number, characters).encode())
    return total


def _vocabulary(chance: random.Random) -> list[str]:
    """Return words so that a choice among them follows Zipf's law, roughly."""
    made = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(20_000)]
    return chance.choices(made, [1 / (rank + 10) for rank in range(len(made))], k=50_000)


def _document(chance: random.Random, words: Sequence[str], number: int, characters: int) -> str:
    wanted = chance.randint(characters // 2, characters * 3 // 2)
    parts = [f"# {_title(chance, words)} {number}"]
    length = 0
    while length < wanted:
        kind = chance.random()
        if kind < 0.2:
            part = f"{'#' * chance.randint(2, 3)} {_title(chance, words)}"
        elif kind < 0.27:
            part = _table(chance, words)
        elif kind < 0.33:
            part = f"```python\n{_code(chance, words)}\n```"
        elif kind < 0.42:
            part = "\n".join(f"- {_sentence(chance, words)}" for _ in range(3))
        else:
            part = " ".join(_sentence(chance, words) for _ in range(chance.randint(2, 6)))
        parts.append(part)
        length += len(part)
    return "\n\n".join(parts) + "\n"


def _title(chance: random.Random, words: Sequence[str]) -> str:
    return " ".join(chance.choices(words, k=3)).capitalize()


def _sentence(chance: random.Random, words: Sequence[str]) -> str:
    chosen = [
        chance.choice(_ENGLISH if chance.random() < 0.4 else words)
        for _ in range(chance.randint(6, 18))
    ]
    return " ".join(chosen).capitalize() + "."


def _table(chance: random.Random, words: Sequence[str]) -> str:
    rows = [chance.choices(words, k=3) for _ in range(chance.randint(3, 8))]
    lines = ["| name | kind | place |", "| --- | --- | --- |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _code(chance: random.Random, words: Sequence[str]) -> str:
    return "\n".join(
        f"{chance.choice(words)}_{chance.choice(words)} = {chance.randint(1, 999)}"
        for _ in range(5)
    )


# --- the whole way -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds of each step, and what it took."""

    first: float
    second: float
    remove: float
    add_again: float
    ready: int
    unchanged: int
    chunks: int
    disk_megabytes: float
    memory: Memory


def measure(folder: Path, files: int) -> Run:
    """Add the folder to a new home, add it again, remove some and add them back."""
    with TemporaryDirectory() as home, MemoryWatch() as watch, Library.open(home) as library:
        add = partial(library.documents.add, folder)
        first, report = _timed(add)
        second, again = _timed(add)
        status = library.status()
        chosen = [document.id for document in library.documents.list()][:: max(files // REMOVED, 1)]
        remove, _ = _timed(partial(library.documents.remove, *chosen))
        add_again, _ = _timed(add)
    return Run(
        first,
        second,
        remove,
        add_again,
        report.count(Status.READY),
        again.count(Status.SKIPPED) - again.changed,
        status.chunks,
        status.disk_bytes / 1e6,
        watch.peaks(),
    )


def _timed(call: Callable[[], Value]) -> tuple[float, Value]:
    began = time.perf_counter()
    value = call()
    return time.perf_counter() - began, value


def bars(run: Run, files: int) -> list[Bar]:
    """Return what must hold."""
    return [
        Bar("files not ready", files - run.ready, most=0),
        Bar("seconds for all", run.first, most=SECONDS),
        Bar("peak memory of all processes together, MB", run.memory.together, most=MEGABYTES),
        Bar("files of the second add that were not known", files - run.unchanged, most=0),
        Bar("second add, seconds per 1,000 files", run.second / files * 1000, most=1),
    ]


def whole(run: Run, files: int, size: int) -> Table:
    """Return the steps of the run."""
    rows: tuple[tuple[str | float, ...], ...] = (
        ("files", files),
        ("megabytes of Markdown", size / 1e6),
        ("chunks", run.chunks),
        ("first add, s", run.first),
        ("files per second", files / run.first),
        ("second add, s", run.second),
        (f"removal of {REMOVED}, s", run.remove),
        (f"add with {REMOVED} to read again, s", run.add_again),
        ("library on disk, MB", run.disk_megabytes),
        ("peak memory of the parent, MB", run.memory.parent),
        ("peak memory of the largest reading process, MB", run.memory.largest_child),
        ("peak memory of all together, MB (at most)", run.memory.together),
    )
    return Table("Whole run", ("what", "value"), rows)


def measure_many(folder: Path, machine: Machine) -> int:
    """Add very many very small files, and look at the memory on the way."""
    size = write_files(folder, MANY, MANY_CHARACTERS)
    held: dict[int, float] = {}

    def look(progress: Progress) -> None:
        if progress.done % (MANY // 5) == 0:
            held[progress.done] = peak_megabytes()

    with TemporaryDirectory() as home, Library.open(home) as library:
        before = time.process_time()
        seconds, report = _timed(partial(library.documents.add, folder, on_progress=look))
        processor = time.process_time() - before
        chunks = library.status().chunks
    rate, growth = MANY / seconds, held[MANY] / held[MANY // 5]
    found = [
        Bar("files not ready", MANY - report.count(Status.READY), most=0),
        Bar("files per second", rate, least=MANY_A_SECOND),
        Bar("memory at the end to that after a fifth", growth, most=GROWTH),
    ]
    rows: list[tuple[str | float, ...]] = [
        ("files", MANY),
        ("megabytes of Markdown", size / 1e6),
        ("chunks", chunks),
        ("add, s", seconds),
        ("processor time of the parent, ms a file", processor / MANY * 1e3),
    ]
    rows += [
        (f"peak memory of the parent up to file {done:,}, MB", held[done]) for done in sorted(held)
    ]
    table = Table("Whole run", ("what", "value"), tuple(rows))
    return finish(
        "ingest_many", "A hundred thousand very small files", found, [table], machine.setting()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--many", action="store_true", help="100,000 files of 300 characters")
    chosen = parser.parse_args()
    machine = Machine()
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if chosen.many:
            return measure_many(folder, machine)
        size = write_files(folder, chosen.files)
        run = measure(folder, chosen.files)
        tables = [whole(run, chosen.files, size)]
    if chosen.files != FILES:
        print(*tables, sep="\n")
        return 0
    title = "Ten thousand small files"
    return finish("ingest", title, bars(run, chosen.files), tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
