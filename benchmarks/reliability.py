"""What a library must hold: each promise tried on the real product, as often as it was promised.

    python benchmarks/reliability.py [--part NAME ...] [--share 1]

Each part is a module of ``soak``; what it measured replaces what the result said of it before.
``--share`` makes every part that much smaller, to see whether it runs; nothing is written then.
All of them take about 25 minutes on two cores.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

sys.path.append(str(Path(__file__).parent / "soak"))

import changing_files
import convergence
import disk_faults
import kills
import migrations
import sync_speed
import together
import uploads
from measuring import Bar, Machine, Table, finish_part

Measure = Callable[[Path, float], tuple[list[Bar], list[Table]]]
PARTS: Final[Mapping[str, Measure]] = {
    "convergence": convergence.measure,
    "speed": sync_speed.measure,
    "crash": kills.measure,
    "uploads": uploads.measure,
    "faults": disk_faults.measure,
    "concurrency": together.measure,
    "changing-files": changing_files.measure,
    "migration": migrations.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="one of them; all if none")
    parser.add_argument("--share", type=float, default=1.0, help="of the sizes promised")
    options, code = parser.parse_args(), 0
    for name in options.part or PARTS:
        machine = Machine()
        with TemporaryDirectory(prefix="reliability-", ignore_cleanup_errors=True) as folder:
            bars, tables = PARTS[name](Path(folder), options.share)
        result = ("reliability", "What a library holds", name, bars, tables, machine.setting())
        code |= finish_part(*result, write=options.share >= 1)
    return code


if __name__ == "__main__":
    sys.exit(main())
