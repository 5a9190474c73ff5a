"""Work in forked processes: what each reports comes back through a pipe.

The processes are forked from one that has opened nothing: to load Python anew would take longer
than the work.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from chapterhouse.errors import ChapterhouseError

Report = dict[str, Any]
FAILED = "failed"  # key of a report, instead of all else: why there is none


def run_forked(*works: Callable[[], Report]) -> list[Report]:
    """Run each in a process of its own, all at once; return what they report."""
    started = [_start(work) for work in works]
    reports = []
    for process, pipe in started:
        with os.fdopen(pipe) as lines:
            text = lines.read()
        os.waitpid(process, 0)
        reports.append(json.loads(text) if text else {FAILED: "it died"})
    return reports


def _start(work: Callable[[], Report]) -> tuple[int, int]:
    ours, theirs = os.pipe()
    process = os.fork()
    if process:
        os.close(theirs)
        return process, ours
    try:
        os.close(ours)
        with os.fdopen(theirs, "w") as pipe:
            json.dump(_reported(work), pipe)
    finally:
        sys.stderr.flush()
        os._exit(0)


def _reported(work: Callable[[], Report]) -> Report:
    try:
        return work()
    except ChapterhouseError as error:
        return {FAILED: error.message}
    except Exception:  # noqa: BLE001 - whatever ends a process is what it reports
        return {FAILED: traceback.format_exc(limit=-4)}
