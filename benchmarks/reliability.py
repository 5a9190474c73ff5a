"""What a library must hold: each promise tried on the real product, as often as it was promised.

    python benchmarks/reliability.py [--part NAME ...] [--share 1]

Each part is a module of ``soak``; what it measured replaces what the result said of it before.
``--share`` makes every part that much smaller, to see whether it runs; nothing is written then.
All of them take about 25 minutes on two cores.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path.append(str(Path(__file__).parent / "soak"))

import changing_files
import convergence
import disk_faults
import kills
import migrations
import power_cuts
import sync_speed
import together
import uploads
from measuring import RESULTS, Bar, Machine, Table, part_lines, part_of

Measure = Callable[[Path, float], tuple[list[Bar], list[Table]]]
PARTS: Final[Mapping[str, Measure]] = {
    "convergence": convergence.measure,
    "speed": sync_speed.measure,
    "crash": kills.measure,
    "uploads": uploads.measure,
    "power": power_cuts.measure,
    "faults": disk_faults.measure,
    "concurrency": together.measure,
    "changing-files": changing_files.measure,
    "migration": migrations.measure,
}
ELSEWHERE: Final = (
    ("deletion", "[removal](removal.md)"),
    ("cloud", "[cloud](cloud.md)"),
    ("export", "[archive](archive.md)"),
)
_RESULT: Final = RESULTS / "reliability.json"


def measured(part: str, share: float) -> dict[str, Any]:
    """Measure one part in a folder of its own; return its entry of the result."""
    machine = Machine()
    with TemporaryDirectory(prefix="reliability-", ignore_cleanup_errors=True) as name:
        bars, tables = PARTS[part](Path(name), share)
    return part_of(bars, tables, machine.setting())


def page(parts: Mapping[str, Any]) -> str:
    """Return the result as Markdown, in the order of ``PARTS``."""
    lines = [
        "# What a library holds",
        "",
        "Measured by `benchmarks/reliability.py`, each part by itself (`--part NAME`).",
        "",
        "Promises with a result of their own: "
        + ", ".join(f"{what} in {where}" for what, where in ELSEWHERE)
        + ".",
        "",
    ]
    for name in (one for one in PARTS if one in parts):
        lines += part_lines(name, parts[name])
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="one of them; all if none")
    parser.add_argument("--share", type=float, default=1.0, help="of the sizes promised")
    options = parser.parse_args()
    done = {}
    for name in options.part or PARTS:
        done[name] = measured(name, options.share)
        print(page({name: done[name]}), flush=True)
        if options.share >= 1:
            parts = json.loads(_RESULT.read_text())["parts"] if _RESULT.exists() else {}
            parts[name] = done[name]
            bars = [bar for one in PARTS if one in parts for bar in parts[one]["bars"]]
            _RESULT.write_text(json.dumps({"parts": parts, "bars": bars}, indent=1) + "\n")
            _RESULT.with_suffix(".md").write_text(page(parts), encoding="utf-8")
    return 0 if all(bar["passed"] for part in done.values() for bar in part["bars"]) else 1


if __name__ == "__main__":
    sys.exit(main())
