"""The command line: ``chapterhouse <verb>`` and ``chapterhouse <noun> <verb>``."""

import sys

try:
    from chapterhouse.interfaces.cli.main import main
except KeyboardInterrupt:  # Ctrl-C while the program still loads; nothing has been begun
    sys.exit(130)

__all__ = ["main"]
