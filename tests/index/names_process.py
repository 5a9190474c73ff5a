"""Catches up the index of names of a library, in a process of its own: STORE BLOBS NAMES."""

import sys
from contextlib import closing
from pathlib import Path

from chapterhouse.index.aliases import AliasIndex
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store

store_path, blobs, names = map(Path, sys.argv[1:])
with (
    Store(store_path, blobs=Blobs(blobs)) as store,
    closing(AliasIndex(names)) as index,
):
    sys.stdout.write(f"{index.catch_up(store)} {index.size()}")
