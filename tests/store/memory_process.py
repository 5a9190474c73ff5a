"""Another process that remembers: ``memory_process.py PATH PERSONA NUMBER``."""

import sys
from pathlib import Path

from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Memory

if __name__ == "__main__":
    path, persona, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with Store(path, blobs=Blobs(path.parent / "blobs")) as opened:
        memories = opened.memories()
        for count in range(number):
            memories.remember(
                Memory("", persona, 100 + count, 0, f"Q {count}", "A", found=True, method="x")
            )
            assert len(memories.search("Q", [persona], 1_000, 0)) == count + 1
