"""Let every call of one ``add`` that writes fail once, on the whole product.

A small library (``failing_disk.c``, built with the C compiler of this machine) stands before the
system's: of all calls of a process that write below the home (database, log, blobs, indexes) it
counts, and lets one fail. Each add runs in a forked process, on a copy of a library.
"""

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path[:0] = [str(Path(__file__).parents[1])]

from chapterhouse.errors import ChapterhouseError  # noqa: E402 - behind the path
from chapterhouse.library import Library  # noqa: E402
from measuring import Bar, Row, Table  # noqa: E402
from processes import FAILED, run_forked  # noqa: E402

KINDS: Final = {
    "ENOSPC": (errno.ENOSPC, 0),
    "EIO": (errno.EIO, 0),
    "short write": (errno.ENOSPC, 1),
    "full from there on": (errno.ENOSPC, 2),
}
_SOURCE: Final = Path(__file__).with_name("failing_disk.c")
_TEXT: Final = "# New\n\nThe keeper wrote zyqnew into his book. {}\n"


class Disk:
    """The calls that write, as the library before the system's counts them."""

    def __init__(self) -> None:
        self._shim = ctypes.CDLL(None)
        self._shim.fault_seen.restype = ctypes.c_long

    def arm(self, folder: Path, call: int, kind: str) -> None:
        """Let a call fail, counted from now on; 0: none."""
        error, what = KINDS[kind]
        self._shim.fault_arm(os.fsencode(folder), ctypes.c_long(call), error, what)

    def disarm(self) -> None:
        """Let nothing fail any more."""
        self._shim.fault_arm(b"", ctypes.c_long(0), 0, 0)

    def seen(self) -> int:
        """Return how many calls there were."""
        return int(self._shim.fault_seen())


def _prepare(docs: Path, home: Path) -> dict[str, Any]:
    """Make a library of two documents, and a third file that is too large for the database."""
    docs.mkdir(parents=True)
    for number in range(2):
        text = f"# Old {number}\n\nThe lighthouse has zyqold windows.\n"
        (docs / f"{number}.md").write_text(text)
    with Library.open(home) as library:
        library.documents.add(docs)
    (docs / "new.md").write_text(_TEXT.format("It was a long night. " * 5_000))
    return {}


def attempt(docs: Path, home: Path, call: int, kind: str, disk: Disk) -> dict[str, Any]:
    """Add while a call fails; return how it went, and what is wrong afterwards."""
    seen: dict[str, Any] = {"error": "", "faults": [], "calls": 0}
    with Library.open(home) as library:
        library.search.hits("zyqold", limit=1)
        disk.arm(home, call, kind)
        try:
            report = library.documents.add(docs / "new.md")
            seen["error"] = " ".join(one.record.code for one in report.outcomes)
        except ChapterhouseError as error:
            seen["error"] = f"{type(error).__name__}: {'hint' if error.hint else 'no hint'}"
        if len(library.search.hits("zyqold", limit=5).hits) != 2:
            seen["faults"].append("reads do not go on")
        seen["calls"] = disk.seen()
        disk.disarm()
        known = [one.sha256 for one in library.documents.list()]
        if len(known) not in (2, 3):
            seen["faults"].append("documents are lost")
        (outcome,) = library.documents.add(docs / "new.md").outcomes
        if not outcome.record.document_id:
            seen["faults"].append(f"the next add ends as {outcome.record.code}")
        if len(library.search.hits("zyqnew", limit=5, per_document=1).hits) != 1:
            seen["faults"].append("the next add is not found")
        seen["faults"] += library.faults()
    return seen


def _forked(docs: Path, home: Path, call: int, kind: str, disk: Disk) -> dict[str, Any]:
    def work() -> dict[str, Any]:
        try:
            return attempt(docs, home, call, kind, disk)
        finally:
            disk.disarm()

    (seen,) = run_forked(work)
    return {"error": "not caught", "faults": [seen[FAILED]], "calls": 0} if FAILED in seen else seen


def run(folder: Path, step: int) -> dict[str, Any]:
    """Let each call fail, or every ``step``-th, in each way."""
    disk = Disk()
    docs, home = folder / "docs", folder / "home"
    run_forked(lambda: _prepare(docs, home))
    pristine = folder / "pristine"
    home.rename(pristine)
    shutil.copytree(pristine, home)
    calls = int(_forked(docs, home, 0, "EIO", disk)["calls"])
    counts: Counter[str] = Counter()
    faults: list[str] = []
    tried = 0
    for kind in KINDS:
        for call in range(1, calls + 1, step):
            shutil.rmtree(home)
            shutil.copytree(pristine, home)
            seen = _forked(docs, home, call, kind, disk)
            tried += 1
            counts[f"{kind}\t{seen['error'] or 'added all the same'}"] += 1
            faults += [f"{kind} at call {call}: {fault}" for fault in seen["faults"]]
        print(kind, calls, len(faults), faults[-1:], file=sys.stderr, flush=True)
    return {"calls": calls, "tried": tried, "counts": counts, "faults": faults}


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Build what fails the calls, and run this module behind it."""
    shim = folder / "failing_disk.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", str(shim), str(_SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    step = max(round(1 / share), 1)
    found = subprocess.run(
        [sys.executable, __file__, str(step)],
        env={**os.environ, "LD_PRELOAD": str(shim)},
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    seen = json.loads(found)
    unexplained = sum(
        n for end, n in seen["counts"].items() if end.endswith(("not caught", "no hint"))
    )
    bars = [
        Bar("calls of one add that write", seen["calls"], least=20),
        Bar("adds in which one of them failed", seen["tried"], least=seen["calls"] // step),
        Bar("errors without a type or a hint", unexplained, most=0),
        Bar("libraries with a fault, or in which the next add fails", len(seen["faults"]), most=0),
    ]
    rows: tuple[Row, ...] = tuple((*what.split("\t"), n) for what, n in seen["counts"].items())
    note = "; ".join(f"{fault} ({n})" for fault, n in Counter(seen["faults"]).most_common(20))
    return bars, [Table("How adds ended", ("fault", "end", "times"), rows, note)]


if __name__ == "__main__":
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        print(json.dumps(run(Path(name), int(sys.argv[1]))))
