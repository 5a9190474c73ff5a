"""How long the command line and the library take to start, in fresh processes.

    python benchmarks/startup.py

Medians of 15 runs each with bytecode cached, beside a bare Python. What takes how long to import is
shown by ``python -X importtime``.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence

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


def environment() -> dict[str, str]:
    """Return ours without what keeps Python from caching bytecode."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def milliseconds(arguments: Sequence[str]) -> list[float]:
    """Return the wall time of each run of Python with these arguments."""
    taken = []
    for _ in range(WARM + RUNS):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments], check=True, env=environment(), stdout=subprocess.DEVNULL
        )
        taken.append((time.perf_counter() - began) * 1e3)
    return taken[WARM:]


def main() -> int:
    machine = Machine()
    taken = {name: milliseconds(arguments) for name, arguments in COMMANDS.items()}
    bars = [
        Bar(f"{HELP}, median ms", percentile(taken[HELP], 0.5), most=300),
        Bar(f"{IMPORT}, median ms", percentile(taken[IMPORT], 0.5), most=150),
    ]
    shares = (0.0, 0.5, 0.95)
    rows: list[Row] = [
        (name, *(percentile(times, share) for share in shares)) for name, times in taken.items()
    ]
    tables = [Table("Whole processes", ("command", "least ms", "median ms", "p95 ms"), tuple(rows))]
    return finish("startup", "Starting", bars, tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
