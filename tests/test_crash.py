import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chapterhouse import Library

KILLS = max(2, int(os.environ.get("CHAPTERHOUSE_KILLS", "6")) // 4)
FILES = 60
SEED = 4
ADD = """
import sys
from chapterhouse import Library

def tell(progress):
    if progress.outcome.changed:
        print(progress.outcome.record.document_id, flush=True)

with Library.open(sys.argv[1]) as library:
    library.documents.add(sys.argv[2], on_progress=tell)
    print("indexed", flush=True)
"""


def _write(folder: Path, number: int, version: int) -> None:
    text = (
        f"# Note {number}\n\nThe lighthouse keeper wrote page{number}version{version} at night.\n"
    )
    (folder / f"note-{number:03}.md").write_text(text)


def _killed_add(home: Path, folder: Path, chance: random.Random) -> set[str]:
    command = [sys.executable, "-c", ADD, str(home), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(chance.randrange(FILES // 2))]
        time.sleep(chance.random() * 0.1)  # sometimes into the work on the indexes
        process.kill()
        lines += process.stdout.readlines()
    return {line.strip() for line in lines if line.endswith("\n")} - {"indexed"}


@pytest.mark.timeout(120 + 10 * KILLS)
def test_what_was_told_before_a_kill_is_found_after_it(tmp_path: Path) -> None:
    folder, home = tmp_path / "notes", tmp_path / "home"
    folder.mkdir()
    chance = random.Random(SEED)
    versions = dict.fromkeys(range(FILES), 0)
    for number in versions:
        _write(folder, number, 0)
    for _ in range(KILLS):
        told = _killed_add(home, folder, chance)
        with Library.open(home) as library:
            kept = {document.id for document in library.documents.list()}
            assert told <= kept
            found = library.search.hits("lighthouse keeper", limit=1_000, per_document=0).hits
            assert {hit.document.id for hit in found} == kept  # the indexes have caught up
            assert library.faults() == ()
        for number in chance.sample(range(FILES), 30):
            versions[number] += 1
            _write(folder, number, versions[number])
    with Library.open(home) as library:
        library.documents.add(folder)
        assert library.status().documents == FILES
        for number, version in versions.items():
            (hit,) = library.search.hits(f'"page{number}version{version}"', limit=1).hits
            assert hit.document.source == f"notes/note-{number:03}.md"
            assert hit.stages["exact"] == 1.0
        assert library.faults() == ()
