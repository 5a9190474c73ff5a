"""What a plain install of this checkout weighs, and whether it works.

    python benchmarks/weight.py [--write]

Makes a throw-away virtual environment, fetches the wheels of all dependencies, installs from
those wheels alone, and calls what was installed. Downloads are timed apart: they measure the
network. Needs an index to fetch from; nothing but pip and this checkout's build backend. Run at
every change, so the result is only kept with ``--write``.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import Bar, Machine, Row, Table, finish

CHECKOUT = Path(__file__).parents[1]
DISTRIBUTIONS = 90
MEGABYTES = 540
SECONDS = 90
INSTALLERS = frozenset({"pip", "setuptools"})  # what a new environment holds already
SHOWN = 12
NOTE = """\
# Timetable

The ferry leaves the harbour at nine in the morning and returns at six in the evening. On Sundays
there is no ferry before noon, because the crew has the morning off. Tickets are sold on board.
"""


@dataclass(frozen=True, slots=True)
class Weight:
    """What the install is and took. Megabytes are 10^6 bytes, bytecode included."""

    distributions: int
    megabytes: float
    download_megabytes: float
    download_seconds: float
    install_seconds: float
    biggest: tuple[tuple[str, float], ...]


def call(arguments: Sequence[str | Path], folder: Path) -> str:
    """Run a program in a folder away from the checkout; end with its output if it fails."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CHAPTERHOUSE_")}
    environment = {k: v for k, v in kept.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        list(map(str, arguments)),
        check=False,
        cwd=folder,
        env={**environment, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout with this environment's build backend."""
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    call([*pip, "--wheel-dir", folder, CHECKOUT], folder)
    return next(folder.glob("chapterhouse-*.whl"))


def install(python: Path, folder: Path) -> Weight:
    """Fetch, install and weigh."""
    wheels = folder / "wheels"
    wheels.mkdir()
    own = build_wheel(wheels)
    site = Path(call([python, "-c", "import sysconfig as s; print(s.get_path('purelib'))"], folder)
                .strip())  # fmt: skip
    before = _bytes(site)
    pip: list[str | Path] = [python, "-m", "pip"]
    began = time.perf_counter()
    # ``wheel`` rather than ``download``: what is published as source only is built once, here.
    call([*pip, "wheel", "--quiet", "--wheel-dir", wheels, own], folder)
    fetched = time.perf_counter()
    offline: list[str | Path] = ["--no-index", "--find-links", wheels]
    call([*pip, "install", "--quiet", *offline, "chapterhouse"], folder)
    installed = time.perf_counter()
    listed = json.loads(call([*pip, "list", "--format", "json"], folder))
    names = {entry["name"].lower() for entry in listed} - INSTALLERS
    return Weight(
        distributions=len(names),
        megabytes=(_bytes(site) - before) / 1e6,
        download_megabytes=(_bytes(wheels) - own.stat().st_size) / 1e6,
        download_seconds=fetched - began,
        install_seconds=installed - fetched,
        biggest=_biggest(site),
    )


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _biggest(site: Path) -> tuple[tuple[str, float], ...]:
    parts = (path for path in site.iterdir() if path.name not in INSTALLERS)
    sizes = ((path.name, (_bytes(path) or path.lstat().st_size) / 1e6) for path in parts)
    return tuple(sorted(sizes, key=lambda pair: -pair[1])[:SHOWN])


def try_it(python: Path, folder: Path) -> list[Row]:
    """Call what was installed; return what was called and how long the first call took."""
    chapterhouse = python.parent / "chapterhouse"
    (folder / "note.md").write_text(NOTE)
    home: list[str | Path] = ["--home", folder / "home"]
    calls: dict[str, list[str | Path]] = {
        "import chapterhouse": [python, "-c", "import chapterhouse"],
        "chapterhouse --version": [chapterhouse, "--version"],
        "chapterhouse docs formats": [chapterhouse, "docs", "formats"],
        "chapterhouse add note.md": [chapterhouse, "add", folder / "note.md", *home],
        "chapterhouse ask": [chapterhouse, "ask", "When does the ferry leave the harbour?", *home],
    }
    rows: list[Row] = []
    for name, arguments in calls.items():
        began = time.perf_counter()
        shown = call(arguments, folder)
        rows.append((name, round((time.perf_counter() - began) * 1e3)))
        if name == "chapterhouse ask" and "nine" not in shown:
            sys.exit(f"{name} gave no answer:\n{shown}")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the result in results/")
    write = parser.parse_args().write
    machine = Machine()
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        venv.create(folder / "environment", with_pip=True)
        python = folder / "environment" / "bin" / "python"
        weight = install(python, folder)
        rows = try_it(python, folder)
    bars = [
        Bar("distributions, without pip", weight.distributions, most=DISTRIBUTIONS),
        Bar("installed, MB", weight.megabytes, most=MEGABYTES),
        Bar("install time beyond downloads, s", weight.install_seconds, most=SECONDS),
    ]
    fetched: list[Row] = [
        ("wheels of the dependencies, MB", weight.download_megabytes),
        ("fetching them, s", weight.download_seconds),
    ]
    tables = [
        Table("Fetching", ("what", "value"), tuple(fetched)),
        Table("Biggest parts installed", ("folder", "MB"), weight.biggest),
        Table("First calls in the new environment", ("command", "ms"), tuple(rows)),
    ]
    return finish("weight", "A plain install", bars, tables, machine.setting(), write=write)


if __name__ == "__main__":
    sys.exit(main())
