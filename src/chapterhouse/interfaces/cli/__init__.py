"""The command line: ``chapterhouse <verb>`` and ``chapterhouse <noun> <verb>``."""

from chapterhouse.interfaces.cli.main import main

__all__ = ["main"]
