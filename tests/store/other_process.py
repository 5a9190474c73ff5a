"""Another process on the same library: ``other_process.py PATH write NAME | read NUMBER``.

A reader follows the changes up to a number and fails where it sees anything half done.
"""

import runpy
import sys
import time
from pathlib import Path

from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Scope

NUMBER = 40


def write(store: Store, name: str) -> None:
    shared = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
    for number in range(NUMBER):
        document_id = store.put(*shared["_make_parts"](f"{name}{number}"))
        assert shared["_put_vectors"](store, document_id)


def read(store: Store, wanted: int) -> None:
    last, end = 0, time.monotonic() + 50  # not to outlive the test
    while last < wanted:
        if time.monotonic() > end:
            sys.exit(f"only {last} changes were seen")
        for change in store.changes(last, 50):
            assert change.sequence > last
            last = change.sequence
            assert change.document is not None
            chunks = store.chunks_of(change.document_id, Scope.everything())
            keys, _ = store.vectors_of(change.document_id, "test:8")
            assert keys in ([], [chunk.key for chunk in chunks])
            assert len(chunks) == change.document.chunks == 3
            assert store.content(change.document.sha256, Scope.everything()) is not None


if __name__ == "__main__":
    path, role, argument = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    with Store(path, blobs=Blobs(path.parent / "blobs")) as opened:
        if role == "write":
            write(opened, argument)
        else:
            read(opened, int(argument))
