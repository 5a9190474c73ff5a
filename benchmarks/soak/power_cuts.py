"""Power cuts, simulated by ``tests/store/test_power.py``, as often as was promised.

Documents are put one by one and together, change places, and are removed for a while. With
``synchronous=NORMAL`` the same cuts must lose something, or they would prove nothing.
"""

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

from chapterhouse.store import connections
from measuring import Bar, Table

STATES = 2_400
TESTS = Path(__file__).resolve().parents[2] / "tests" / "store"


def _cut(folder: Path, states: int) -> tuple[list[str], int]:
    """Cut the power so many times; return what was wrong, and how much was acknowledged."""
    power: dict[str, Any] = runpy.run_path(str(TESTS / "test_power.py"))
    parts: dict[str, Any] = runpy.run_path(str(TESTS / "conftest.py"))
    events: list[Any] = []
    recording = power["RecordingVFS"](events)
    try:
        found, writes = power["faults"](folder, events, parts["_make_parts"], states)
    finally:
        recording.unregister()
    return list(found), int(writes)


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Cut with the setting that is shipped, then with a weaker one."""
    states = max(int(STATES * share), 20)
    configure, pages = connections._configure, connections._CHECKPOINT_PAGES  # noqa: SLF001
    weaken: Any = runpy.run_path(str(TESTS / "test_power.py"))["weaken"]
    # So that checkpoints and a log that starts again are among what is cut.
    connections._CHECKPOINT_PAGES = 40  # noqa: SLF001
    try:
        found, writes = _cut(folder / "full", states)
        print(found, writes, flush=True)
        connections._configure = weaken  # noqa: SLF001
        weak, _ = _cut(folder / "normal", max(states // 4, 20))
    finally:
        connections._configure = configure  # noqa: SLF001
        connections._CHECKPOINT_PAGES = pages  # noqa: SLF001
    bars = [
        Bar("states after a power cut", states, least=2_000 if share >= 1 else 1),
        Bar("states in which something was lost, by halves or damaged", len(found), most=0),
        Bar("of a quarter as many with synchronous=NORMAL, with losses", len(weak), least=1),
    ]
    kinds = Counter(" ".join(fault.split()[2:]) for fault in weak)
    note = f"{writes:,} acknowledged writes had to be there."
    rows = tuple(kinds.items())
    return bars, [Table("With synchronous=NORMAL", ("what was lost", "states"), rows, note)]
