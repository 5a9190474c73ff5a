"""Rebuild the library of a home, until somebody kills us: ``rebuild_process.py HOME``."""

import sys

from chapterhouse import Library
from chapterhouse.types import Progress


def _tell(progress: Progress) -> None:
    sys.stdout.write(f"{progress.done}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    Library.rebuild(sys.argv[1], on_progress=_tell)
