"""Every benchmark of speed and reading in turn, then one table of all bars.

    python benchmarks/run.py [--report-only] [name …]

Each runs in a process of its own. Ends with 1 when a bar is missed or a benchmark fails, unless
``--report-only`` says that only the table is wanted. Takes about 15 minutes on two cores.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from measuring import RESULTS, Bar, Row, bar_cells, markdown_table

HERE = Path(__file__).parent
NAMES = ("startup", "ledger", "ingest", "query", "incremental", "extraction")


def held(name: str) -> tuple[list[Bar], int]:
    """Run one benchmark; return its bars and exit code. No bars where it wrote no result."""
    result = RESULTS / f"{name}.json"
    before = result.stat().st_mtime_ns if result.exists() else 0
    print(f"\n==> {name}\n", flush=True)
    code = subprocess.run([sys.executable, HERE / f"{name}.py"], check=False).returncode
    if not result.exists() or result.stat().st_mtime_ns == before:
        return [], code or 1
    stated = json.loads(result.read_text("utf-8"))["bars"]
    return [Bar(bar["what"], bar["value"], bar["least"], bar["most"]) for bar in stated], code


def summary(bars: Sequence[tuple[str, Bar]], failed: Sequence[str]) -> str:
    """Return the table of all bars, and the names of benchmarks that ended without a result."""
    rows: list[Row] = [(name, *bar_cells(bar)) for name, bar in bars]
    lines = markdown_table(("benchmark", "bar", "measured", "bound", ""), rows)
    missed = sum(not bar.passed for _, bar in bars)
    lines += ["", f"{len(bars) - missed} of {len(bars)} bars held."]
    lines += [f"{name} ended without a result." for name in failed]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(NAMES))
    parser.add_argument("--report-only", action="store_true", help="do not fail on missed bars")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(NAMES):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: {', '.join(NAMES)}")
    bars: list[tuple[str, Bar]] = []
    failed, codes = [], []
    for name in chosen.names or NAMES:
        if not (HERE / f"{name}.py").exists():
            continue
        found, code = held(name)
        bars += [(name, bar) for bar in found]
        failed += [] if found else [name]
        codes.append(code)
    print("\n==> all\n")
    print(summary(bars, failed))
    return int(any(codes) and not chosen.report_only)


if __name__ == "__main__":
    sys.exit(main())
