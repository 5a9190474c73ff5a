"""Make the vectors that a library lacks and name each document, until someone kills us.

``embedding_process.py HOME``; the encoder is that of ``test_encoders.py``, a little slower.
"""

import runpy
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chapterhouse import Library
from chapterhouse.library import opening
from chapterhouse.types import Progress

NAMED = runpy.run_path(str(Path(__file__).with_name("test_encoders.py")))["Named"]


class Slow(NAMED):  # type: ignore[misc, valid-type]  # a class found at run time
    """Takes a moment for each text, so that there is a middle to be killed in."""

    def embed_passages(self, texts: Sequence[str]) -> Any:
        time.sleep(0.002 * len(texts))
        return super().embed_passages(texts)


def acknowledge(progress: Progress) -> None:
    sys.stdout.write(f"{progress.current}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    opening.open_embedder = lambda settings, *_: Slow(settings.model)  # type: ignore[attr-defined]
    with Library.open(Path(sys.argv[1])) as library:
        library.encoders.embed_pending(acknowledge)
