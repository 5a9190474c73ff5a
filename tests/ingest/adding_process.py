"""Add a folder and acknowledge each file on standard output, until someone kills us.

``adding_process.py FOLDER HOME [early]``; a line is ``<sha256> <location>``. With ``early`` it
lies: it acknowledges before the commit, to show that the test would notice.
"""

import runpy
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import FileOutcome, FileRecord, Progress


class LyingStore(Store):
    """Says that a document is safe when it is about to be written."""

    def put(self, *parts: Any) -> str:
        record = next(part for part in parts if isinstance(part, FileRecord))
        acknowledge(Progress(0, 0, "", FileOutcome(record, changed=True)))
        time.sleep(0.02)
        return super().put(*parts)


def acknowledge(progress: Progress) -> None:
    assert progress.outcome is not None
    record = progress.outcome.record
    sys.stdout.write(f"{record.sha256} {record.location}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    folder, home = Path(sys.argv[1]), Path(sys.argv[2])
    parts = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
    blobs = Blobs(home / "blobs")
    kind = LyingStore if sys.argv[3:] == ["early"] else Store
    with kind(home / "library.db", blobs=blobs) as store, ThreadPoolExecutor(2) as executor:
        parts["Home"](folder, store, blobs, executor).add(on_progress=acknowledge)
