"""A real folder: every file below ``documents/`` and ``hostile/`` of the shared data, added.

    python benchmarks/ledger.py

Each file must end as ready, partial, skipped or rejected; all but the ready ones with a code and
a sentence. A second ``add`` must change nothing. Takes about two minutes on two cores.
"""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.library import Library
from chapterhouse.types import AddReport, FileOutcome, Status
from measuring import Bar, Machine, Memory, MemoryWatch, Row, Table, data_folder, finish, percentile

FOLDERS = ("documents", "hostile")
CRASHES = frozenset({"internal-error", "reader-crashed"})
HANGS = frozenset({"timed-out"})


@dataclass(frozen=True, slots=True)
class Run:
    """Two times the same ``add``."""

    first: AddReport
    first_seconds: float
    second: AddReport
    second_seconds: float
    memory: Memory
    disk_megabytes: float


def measure(folders: Sequence[Path]) -> Run:
    """Add the folders to a new home, twice."""
    with TemporaryDirectory() as home, MemoryWatch() as watch, Library.open(home) as library:
        first, first_seconds = _add(library, folders)
        second, second_seconds = _add(library, folders)
        disk = library.status().disk_bytes / 1e6
    return Run(first, first_seconds, second, second_seconds, watch.peaks(), disk)


def _add(library: Library, folders: Sequence[Path]) -> tuple[AddReport, float]:
    began = time.perf_counter()
    report = library.documents.add(*folders)
    return report, time.perf_counter() - began


def unexplained(report: AddReport, files: int) -> int:
    """Count the files that are missing from the report or ended without a reason."""
    without = sum(
        outcome.record.status is not Status.READY
        and not (outcome.record.code and outcome.record.sentence)
        for outcome in report.outcomes
    )
    # Files inside archives and messages come beside those of the folders.
    own = sum(Path(outcome.record.location).is_file() for outcome in report.outcomes)
    return files - own + without


def bars(run: Run, files: int) -> list[Bar]:
    """Return what must hold."""
    codes = Counter(outcome.record.code for outcome in run.first.outcomes)
    notices = Counter(notice.code for o in run.first.outcomes for notice in o.notices)
    return [
        Bar("files without an ending, code or sentence", unexplained(run.first, files), most=0),
        Bar("crashes", sum(codes[code] + notices[code] for code in CRASHES), most=0),
        Bar("hangs", sum(codes[code] for code in HANGS), most=0),
        Bar("documents changed by the second add", run.second.changed, most=0),
        Bar("second add, seconds per 1,000 files", run.second_seconds / files * 1000, most=1),
    ]


def by_kind(report: AddReport) -> Table:
    """Count outcomes and time them by format, by extension where there is no format."""
    kinds: dict[str, list[FileOutcome]] = defaultdict(list)
    for outcome in report.outcomes:
        kinds[_kind(outcome)].append(outcome)
    rows: list[Row] = [
        (
            kind,
            *(sum(o.record.status is status for o in found) for status in Status),
            percentile([o.seconds * 1e3 for o in found], 0.5),
            percentile([o.seconds * 1e3 for o in found], 0.95),
        )
        for kind, found in sorted(kinds.items())
    ]
    totals = tuple(report.count(status) for status in Status)
    times = [outcome.seconds * 1e3 for outcome in report.outcomes]
    rows.append(("all", *totals, percentile(times, 0.5), percentile(times, 0.95)))
    columns = ("format", *(str(status) for status in Status), "median ms", "p95 ms")
    return Table(
        "By format", columns, tuple(rows), "From opening to safe on disk, waiting included."
    )


def _kind(outcome: FileOutcome) -> str:
    record = outcome.record
    if record.format:
        return record.format
    name = record.source.rpartition("/")[2]
    return f"none (.{name.rpartition('.')[2].lower()})" if "." in name else "none"


def by_code(report: AddReport) -> Table:
    """List the codes with their number and one of the sentences."""
    found: dict[tuple[str, str], list[FileOutcome]] = defaultdict(list)
    for outcome in report.outcomes:
        if outcome.record.code:
            found[str(outcome.record.status), outcome.record.code].append(outcome)
    rows = tuple(
        (status, code, len(outcomes), outcomes[0].record.sentence)
        for (status, code), outcomes in sorted(found.items())
    )
    return Table("By code", ("status", "code", "files", "first sentence"), rows)


def main() -> int:
    machine = Machine()
    folders = [data_folder() / name for name in FOLDERS]
    names = [
        path.relative_to(folder)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
    ]
    hidden = sum(any(part.startswith(".") for part in name.parts) for name in names)
    files = len(names) - hidden
    run = measure(folders)
    whole = Table(
        "Whole run",
        ("what", "value"),
        (
            ("files", files),
            ("hidden files and files in hidden folders, left out", hidden),
            ("first add, s", run.first_seconds),
            ("files per second", files / run.first_seconds),
            ("second add, s", run.second_seconds),
            ("peak memory of the parent, MB", run.memory.parent),
            ("peak memory of the largest reading process, MB", run.memory.largest_child),
            ("peak memory of all together, MB (at most)", run.memory.together),
            ("library on disk, MB", run.disk_megabytes),
        ),
    )
    tables = (whole, by_kind(run.first), by_code(run.first))
    return finish("ledger", "A real folder", bars(run, files), tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
