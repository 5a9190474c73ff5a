"""What every benchmark shares: the data, bars, percentiles, memory, the machine, the result.

A result is ``results/<name>.json`` for programs (``run.py`` reads the bars from it) and
``results/<name>.md`` for people.
"""

import dataclasses
import json
import math
import os
import platform
import resource
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Self

RESULTS = Path(__file__).parent / "results"
_PARTS = ("chapterhouse", "apsw", "tantivy", "numpy", "pypdfium2", "xberg")
_LOOK_SECONDS = 0.1
# Results that are not called like their program.
_PROGRAMS = {
    "ingest_many": "ingest.py --many",
    "encoder": "encoder/speed.py FOLDER --write",
    "entities": "entities.py --write",
    "claims": "natural/claims.py --part all --write",
    "councils": "councils/council_score.py --part all --write",
    "natural": "natural/score.py --part all --sets --write",
    "natural_peers": "natural/peers.py --part test --encoder FOLDER --write",
    "natural_screens": "natural/screens.py",
    "natural_turns": "natural/turns.py --part all --write",
    "said": "natural/said.py --write",
    "service": "service/*.py --write",
    "versions": "versions.py --write",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure beside what it must reach: at least ``least``, at most ``most``."""

    what: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the figure is within its bounds."""
        low = self.least is None or self.value >= self.least
        return low and (self.most is None or self.value <= self.most)


Cell = str | float
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a result: its rows hold text and numbers, one cell a column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and when something was measured. Loads are one-minute averages."""

    date: str
    machine: str
    versions: Mapping[str, str]
    load_before: float
    load_after: float


class Machine:
    """Notes the load when made, and again when the setting is asked for."""

    def __init__(self) -> None:
        self._load = os.getloadavg()[0]

    def setting(self, *more: str) -> Setting:
        """Return where this was measured; ``more`` names distributions beside our own."""
        system = f"{platform.system()} {platform.machine()}"
        return Setting(
            date=datetime.now(UTC).date().isoformat(),
            machine=f"{system}, {os.cpu_count()} cores, Python {platform.python_version()}",
            versions={name: _version(name) for name in (*_PARTS, *more)},
            load_before=round(self._load, 2),
            load_after=round(os.getloadavg()[0], 2),
        )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile, ``share`` from 0 to 1; not a number without values."""
    if not values:
        return math.nan
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def data_folder() -> Path:
    """Return the shared data: ``$CHAPTERHOUSE_DATA``, else ``../shared/data`` beside the checkout.

    Ends the program with an explanation when it is absent.
    """
    named = os.environ.get("CHAPTERHOUSE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        sys.exit(f"no data at {folder}: set CHAPTERHOUSE_DATA to the folder that holds 'retrieval'")
    return folder


# --- memory ------------------------------------------------------------------------------------


def peak_megabytes() -> float:
    """Return the largest resident size of this process so far, in megabytes (10^6 bytes)."""
    return (_high_water("self") or _own_maximum()) / 1e6


def _own_maximum() -> int:
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return maximum if sys.platform == "darwin" else maximum * 1024


def _high_water(process: str) -> int:
    """Return the peak of one process in bytes; 0 where the system does not tell.

    Linux's own ``ru_maxrss`` counts what a process was forked from, so it is the second choice.
    """
    try:
        text = Path(f"/proc/{process}/status").read_text("ascii", errors="replace")
    except OSError:
        return 0
    found = [line.split()[1] for line in text.splitlines() if line.startswith("VmHWM:")]
    return int(found[0]) * 1024 if found else 0


@dataclass(frozen=True, slots=True)
class Memory:
    """Peaks in megabytes: this process, its largest child, all living at one time together."""

    parent: float
    largest_child: float
    together: float


class MemoryWatch:
    """Watches the peak of this process and its children while a block runs.

    Together counts memory that processes share once for each of them, so it is an upper bound.
    Off Linux the children's peak is the largest of those that ended within the block.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._largest_child = 0
        self._together = 0
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def peaks(self) -> Memory:
        """Return what was seen; call it behind the block."""
        parent = peak_megabytes()
        if not self._largest_child and sys.platform == "darwin":
            child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
            return Memory(parent, child, parent + child)
        largest = self._largest_child / 1e6
        return Memory(parent, largest, max(self._together / 1e6, parent))

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            children = [_high_water(str(process)) for process in descendants(os.getpid())]
            self._largest_child = max(self._largest_child, *children, 0)
            self._together = max(self._together, _high_water("self") + sum(children))


def descendants(parent: int) -> list[int]:
    """Return the descendants of a process, as far as the system shows them."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("ascii", errors="replace").rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        parents[int(path.parent.name)] = int(fields[1])
    found = [parent]
    for process in found:  # grows while it is walked: children of children
        found += [child for child, its_parent in parents.items() if its_parent == process]
    return found[1:]


# --- results -----------------------------------------------------------------------------------


def finish(
    name: str,
    title: str,
    bars: Sequence[Bar],
    tables: Sequence[Table],
    setting: Setting,
    notes: Sequence[str] = (),
    *,
    write: bool = True,
) -> int:
    """Print a result, write it, and return the exit code: 1 where a bar is missed."""
    text = page(name, title, bars, tables, setting, notes)
    print(text)
    if write:
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
        value = {**_value(bars, tables, setting), "notes": list(notes)}
        (RESULTS / f"{name}.json").write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return _code(bars)


def _value(bars: Sequence[Bar], tables: Sequence[Table], setting: Setting) -> dict[str, Any]:
    """Return a result for programs."""
    return {
        **dataclasses.asdict(setting),
        "bars": [{**dataclasses.asdict(bar), "passed": bar.passed} for bar in bars],
        "tables": [dataclasses.asdict(table) for table in tables],
    }


def _code(bars: Sequence[Bar]) -> int:
    return 0 if all(bar.passed for bar in bars) else 1


def page(
    name: str,
    title: str,
    bars: Sequence[Bar],
    tables: Sequence[Table],
    setting: Setting,
    notes: Sequence[str] = (),
) -> str:
    """Return a result as Markdown."""
    head = [f"# {title}", "", f"Measured by `benchmarks/{_program(name)}`.", ""]
    return "\n".join([*head, *_lines(_value(bars, tables, setting), "##", notes)])


def _lines(value: Mapping[str, Any], level: str, notes: Sequence[str] = ()) -> list[str]:
    """Return what was measured as Markdown, its tables under headings of a level."""
    bars = [Bar(one["what"], one["value"], one["least"], one["most"]) for one in value["bars"]]
    versions = ", ".join(f"{part} {version}" for part, version in value["versions"].items())
    lines = [
        f"{value['date']}, {value['machine']}; load average {value['load_before']} before",
        f"and {value['load_after']} after. {versions}.",
        "",
        *([*_bar_table(bars), ""] if bars else []),
        *[line for note in notes for line in (note, "")],
    ]
    for table in value["tables"]:
        lines += [f"{level} {table['title']}", "", *([table["note"], ""] if table["note"] else [])]
        lines += [*markdown_table(table["columns"], table["rows"]), ""]
    return lines


def finish_part(
    result: str,
    title: str,
    name: str,
    bars: Sequence[Bar],
    tables: Sequence[Table],
    setting: Setting,
    *,
    write: bool = True,
) -> int:
    """Print and write one part of a result whose parts are measured apart; return the exit code."""
    part = _value(bars, tables, setting)
    print("\n".join([f"## {name}", "", *_lines(part, "###")]))
    if write:
        path = RESULTS / f"{result}.json"
        parts = json.loads(path.read_text())["parts"] if path.exists() else {}
        parts = dict(sorted({**parts, name: part}.items()))
        every = [bar for one in parts.values() for bar in one["bars"]]
        path.write_text(json.dumps({"parts": parts, "bars": every}, indent=1) + "\n")
        lines = [
            f"# {title}",
            "",
            f"Measured by `benchmarks/{_program(result)}`, each part apart.",
            "",
        ]
        for one in parts:
            lines += [f"## {one}", "", *_lines(parts[one], "###")]
        path.with_suffix(".md").write_text("\n".join(lines), encoding="utf-8")
    return _code(bars)


def _bar_table(bars: Sequence[Bar]) -> list[str]:
    return markdown_table(("bar", "measured", "bound", ""), [bar_cells(bar) for bar in bars])


def _program(name: str) -> str:
    """Return how a result of this name is made."""
    if name in _PROGRAMS:
        return _PROGRAMS[name]
    program = name.removesuffix("_million")
    return f"{program}.py" if program == name else f"{program}.py --million"


def bar_cells(bar: Bar) -> tuple[str, str, str, str]:
    """Return a bar as the cells of a table."""
    bound = f"≥ {bar.least:g}" if bar.least is not None else f"≤ {bar.most:g}"
    return bar.what, _cell(bar.value), bound, "held" if bar.passed else "**missed**"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return a table's lines in Markdown; columns of numbers are set to the right."""
    texts = [all(isinstance(row[place], str) for row in rows) for place in range(len(columns))]
    sides = ["---" if text else "---:" for text in texts]
    lines = [tuple(columns), tuple(sides), *(tuple(map(_cell, row)) for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _cell(value: Cell) -> str:
    if isinstance(value, str):
        return value.replace("|", "\\|")
    if isinstance(value, int) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
