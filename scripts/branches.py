"""Measure which branches of what decides are run by the tests that mirror it.

    python scripts/branches.py               all four packages
    python scripts/branches.py claims        one of them, with the lines that are missing

Each package is measured by the tests of its own folder alone. It exits with 1 where the tests
fail, or where fewer than 90 % of a package's lines and branches are run.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("claims", "retrieval", "store", "ingest")
LEAST = 90.0  # percent


def measured(package: str, folder: Path) -> dict[str, dict[str, float]]:
    """Run the tests of a package; return coverage's summary by file, and of all as ``total``.

    Args:
        package: Below ``chapterhouse``.
        folder: Where coverage keeps what it counts.

    Raises:
        subprocess.CalledProcessError: the tests fail.
    """
    data, report = folder / f"{package}.data", folder / f"{package}.json"
    coverage = [sys.executable, "-m", "coverage"]
    source = f"--source={ROOT / 'src' / 'chapterhouse' / package}"
    tests = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", f"tests/{package}"]
    paths = filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH")))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COVERAGE_FILE": str(data)}
    run = [*coverage, "run", "--branch", source, *tests]
    subprocess.run(run, cwd=ROOT, env=environment, check=True)
    written = [*coverage, "json", "-q", "-o", str(report)]
    subprocess.run(written, cwd=ROOT, env=environment, check=True)
    found = json.loads(report.read_text("utf-8"))
    files = {Path(name).name: one["summary"] for name, one in found["files"].items()}
    for name, one in found["files"].items():
        files[Path(name).name]["missing"] = one["missing_lines"]
    return {**files, "total": found["totals"]}


def main(packages: Sequence[str]) -> int:
    """Measure packages and print how much of each is run; return the exit status."""
    below = 0
    with tempfile.TemporaryDirectory(prefix="chapterhouse-branches-") as folder:
        for package in packages or PACKAGES:
            try:
                found = measured(package, Path(folder))
            except subprocess.CalledProcessError:
                print(f"{package}: its tests fail")
                below += 1
                continue
            for name, summary in sorted(found.items()):
                told = f" {summary['missing']}" if packages and "missing" in summary else ""
                print(f"{package:10} {summary['percent_covered']:6.1f} %  {name}{told}")
            below += found["total"]["percent_covered"] < LEAST
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
