"""Whether anything of another workspace, or of a shelf that a key may not see, is ever seen.

    python benchmarks/service/isolation.py [--steps 10000] [--seed 7] [--write]

A random walk over every route and tool (``tests/isolation_walk.py``): four keys ask for what they
may and may not, beside secrets in every field of another workspace and of another shelf, which
change meanwhile. Takes about ten minutes on two cores.
"""

import argparse
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path += [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]

from tests.isolation_walk import Result, Walk

from measuring import Bar, Machine, Table, finish_part

_STEPS_SHOWN = 500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="into the result")
    options = parser.parse_args()
    os.environ["CHAPTERHOUSE_BACKGROUND"] = "0"  # no process outlives the walk
    machine, began = Machine(), time.monotonic()
    with TemporaryDirectory(prefix="isolation-") as name, ExitStack() as stack:
        walk = Walk(Path(name), options.seed, stack)
        for done in range(0, options.steps, _STEPS_SHOWN):
            found = walk.run(min(_STEPS_SHOWN, options.steps - done))
            wrong = [*found.leaks, *found.moved, *found.server_errors]
            seconds = round(time.monotonic() - began)
            print(found.steps, "steps", seconds, "s", wrong[:2], file=sys.stderr)
        lines = walk.log_lines
    for one in (*found.leaks, *found.moved, *found.server_errors):
        print(one)
    tables = [_table(found, lines, time.monotonic() - began)]
    bars, setting = _bars(found, options.steps), machine.setting("fastapi", "mcp")
    result = ("service", "The service", "isolation", bars, tables, setting)
    return finish_part(*result, write=options.write)


def _bars(found: Result, steps: int) -> list[Bar]:
    return [
        Bar("steps", found.steps, least=steps),
        Bar("answers and logs with something foreign or hidden", len(found.leaks), most=0),
        Bar("answers moved by a change of what is not seen", len(found.moved), most=0),
        Bar("answers of 500 and above", len(found.server_errors), most=0),
        Bar("answers with secrets, for who may see them", found.sighted, least=1),
    ]


def _table(found: Result, log_lines: int, seconds: float) -> Table:
    rows = [(f"requests answered {status}", n) for status, n in sorted(found.statuses.items())]
    rows += [
        ("changes of what is not seen, with scores compared before and after", found.changes),
        ("routes, tools and other requests of MCP", len(found.requests)),
        ("lines of logs, at the level DEBUG", log_lines),
        ("seconds", round(seconds)),
    ]
    return Table("What was done", ("what", "number"), tuple(rows))


if __name__ == "__main__":
    sys.exit(main())
