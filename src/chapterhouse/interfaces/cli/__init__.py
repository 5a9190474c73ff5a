"""The command line: ``chapterhouse <verb>`` and ``chapterhouse <noun> <verb>``."""

from chapterhouse.interfaces.cli.interrupts import loading

with loading():  # nothing has been begun
    from chapterhouse.loading import without_collection

    with without_collection():
        from chapterhouse.interfaces.cli.main import main

__all__ = ["main"]
