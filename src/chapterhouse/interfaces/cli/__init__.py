"""The command line: ``chapterhouse <verb>`` and ``chapterhouse <noun> <verb>``."""

from chapterhouse.interfaces.cli.interrupts import WithoutCollection, loading

with loading(), WithoutCollection():  # nothing has been begun
    from chapterhouse.interfaces.cli.main import main

__all__ = ["main"]
