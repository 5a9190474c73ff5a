"""How long the command line and the library take to start, in fresh processes.

    python benchmarks/startup.py
    python benchmarks/startup.py --home FOLDER   # keeps the library of 10,000 documents there

Medians of 15 runs each with bytecode cached, beside a bare Python. Commands on a library of 10,000
small documents run in turn with it, so that a busy machine is busy for all of them; what is
compared is how many times as long they take. What takes how long to import is shown by
``python -X importtime``.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest import write_files
from measuring import Bar, Machine, Row, Table, finish, percentile

RUNS = 15
WARM = 2
HELP = "chapterhouse --help"
IMPORT = "import chapterhouse"
COMMANDS = {
    "bare Python": ["-c", "pass"],
    IMPORT: ["-c", "import chapterhouse"],
    HELP: ["-m", "chapterhouse", "--help"],
    "chapterhouse --version": ["-m", "chapterhouse", "--version"],
    **{
        f"chapterhouse {name} --help": ["-m", "chapterhouse", name, "--help"]
        for name in ("search", "docs", "persona", "convene", "model", "eval")
    },
    "import chapterhouse.library": ["-c", "import chapterhouse.library"],
}


FILES, CHARACTERS = 10_000, 1_500
# What is asked of the library, and how many times as long as a bare Python it may take.
ASKED: Mapping[str, tuple[Sequence[str], float]] = {
    "--help": (["--help"], 6),
    "search": (["search", "hogun tariffs note 17"], 22),
    "ask": (["ask", "What does note 17 say of the tariffs?"], 28),
    "sync": (["sync"], 35),
}


def environment() -> dict[str, str]:
    """Return ours without what keeps Python from caching bytecode, and without workers."""
    own = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**own, "CHAPTERHOUSE_BACKGROUND": "0"}


def python(*arguments: str) -> float:
    """Run Python and return its wall time in milliseconds; 6 is the code of no answer."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], check=False, env=environment(), stdout=subprocess.DEVNULL
    )
    if done.returncode not in {0, 6}:
        raise RuntimeError(f"{arguments} ended with {done.returncode}.")
    return (time.perf_counter() - began) * 1e3


def milliseconds(arguments: Sequence[str]) -> list[float]:
    """Return the wall time of each run of Python with these arguments."""
    return [python(*arguments) for _ in range(WARM + RUNS)][WARM:]


def in_turn(home: Path) -> dict[str, list[float]]:
    """Return the times of a bare Python and of each command on a library, run one after another."""
    if not home.exists():
        write_files(home / "docs", FILES, CHARACTERS)
        for command in (["source", "add", str(home / "docs")], ["sync"], ["sync"]):
            python("-m", "chapterhouse", *command, "--home", str(home / "home"))
    commands = {"bare Python": ["-c", "pass"]}
    for name, (words, _) in ASKED.items():
        where = [] if name == "--help" else ["--home", str(home / "home")]
        commands[name] = ["-m", "chapterhouse", *words, *where]
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(WARM + RUNS):
        for name, arguments in commands.items():
            taken[name].append(python(*arguments))
    return {name: times[WARM:] for name, times in taken.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    chosen = parser.parse_args()
    machine = Machine()
    with TemporaryDirectory() as folder:
        compared = in_turn(chosen.home or Path(folder) / "library")
    taken = {name: milliseconds(arguments) for name, arguments in COMMANDS.items()}
    bare = percentile(compared["bare Python"], 0.5)
    times_as_long = {name: percentile(times, 0.5) / bare for name, times in compared.items()}
    bars = [
        Bar(f"{HELP}, median ms", percentile(taken[HELP], 0.5), most=300),
        Bar(f"{IMPORT}, median ms", percentile(taken[IMPORT], 0.5), most=150),
        *(
            Bar(f"{name}, times a bare Python", times_as_long[name], most=most)
            for name, (_, most) in ASKED.items()
        ),
    ]
    shares = (0.0, 0.5, 0.95)
    rows: list[Row] = [
        (name, *(percentile(times, share) for share in shares)) for name, times in taken.items()
    ]
    on_library: list[Row] = [
        (name, *(percentile(times, share) for share in shares), times_as_long[name])
        for name, times in compared.items()
    ]
    columns = ("command", "least ms", "median ms", "p95 ms")
    title = f"Commands on a library of {FILES:,} documents"
    tables = [
        Table("Whole processes", columns, tuple(rows)),
        Table(title, (*columns, "times a bare Python"), tuple(on_library)),
    ]
    return finish("startup", "Starting", bars, tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
