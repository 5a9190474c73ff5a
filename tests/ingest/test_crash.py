"""Kill the adding process at any moment: what it acknowledged is there, and nothing by halves."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chapterhouse.ingest.doctor import check_library
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.connections import INLINE_MAXIMUM
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Scope, Status

EVERYTHING = Scope.everything()

KILLS = int(os.environ.get("CHAPTERHOUSE_KILLS", "6"))  # 200 before a release
FILES = 60
SEED = 20_240_817


def _write(folder: Path, number: int, version: int) -> None:
    """Write a document; each version is another text, and some are too large to be inline."""
    words = f"文書{number}版{version}の本文です。"  # Japanese: no language model has to load
    times = INLINE_MAXIMUM // 30 if number % 10 == 0 else 40
    (folder / f"{number:03}.md").write_text(f"# 文書{number}\n\n{words * times}", encoding="utf-8")


def _start(folder: Path, home: Path, *options: str) -> "subprocess.Popen[str]":
    script = Path(__file__).with_name("adding_process.py")
    return subprocess.Popen(
        [sys.executable, script, folder, home, *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _add_until_killed(
    folder: Path, home: Path, chance: random.Random, *options: str
) -> dict[str, str]:
    """Run the adding process, kill it somewhere, and return what it had acknowledged."""
    process = _start(folder, home, *options)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(chance.randrange(8))]
    time.sleep(chance.random() * 0.02)
    process.kill()
    lines += process.stdout.readlines()
    process.stdout.close()
    process.wait()
    whole = [line.rstrip("\n").split(" ", 1) for line in lines if line.endswith("\n")]
    return {location: sha256 for sha256, location in whole}


def _check(home: Path, acknowledged: dict[str, str]) -> None:
    blobs = Blobs(home / "blobs")
    with Store(home / "library.db", blobs=blobs) as store:
        for location, sha256 in acknowledged.items():
            record = store.file(location)
            assert record is not None, f"{location} was acknowledged and is lost"
            assert record.sha256 == sha256
            assert record.status is Status.READY
            document = store.document(record.document_id, EVERYTHING)
            assert document is not None
            assert document.sha256 == sha256
        checks = check_library(store, blobs, {}, thorough=True)
        assert [check for check in checks if not check.passed] == []


@pytest.mark.timeout(120 + 4 * KILLS)
def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    folder, home = tmp_path / "docs", tmp_path / "home"
    folder.mkdir()
    chance = random.Random(SEED)
    versions = dict.fromkeys(range(FILES), 0)
    for number in versions:
        _write(folder, number, 0)
    late = 0
    for _ in range(KILLS):
        acknowledged = _add_until_killed(folder, home, chance)
        late += bool(acknowledged)
        if (home / "library.db").exists():
            _check(home, acknowledged)
        for number in chance.sample(range(FILES), 12):
            versions[number] += 1
            _write(folder, number, versions[number])
    assert late >= 0.6 * KILLS, "most kills came before there was anything to lose"
    _finish(folder, home)


@pytest.mark.timeout(120 + 4 * KILLS)
def test_an_early_acknowledgement_would_be_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(FILES):
        _write(folder, number, 0)
    chance = random.Random(SEED)
    for attempt in range(max(KILLS, 50)):  # until one is caught
        home = tmp_path / f"home-{attempt}"
        acknowledged = _add_until_killed(folder, home, chance, "early")
        try:
            _check(home, acknowledged)
        except AssertionError:
            return
    pytest.fail("a process that lies about its commits was never caught")


def _finish(folder: Path, home: Path) -> None:
    """Let one run end: the library is that of the folder, as if nothing had happened."""
    process = _start(folder, home)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert len(output.splitlines()) == FILES
    blobs = Blobs(home / "blobs")
    with Store(home / "library.db", blobs=blobs) as store:
        assert len(list(store.documents(EVERYTHING))) == FILES
        for document in store.documents(EVERYTHING):
            assert (
                store.content(document.sha256, EVERYTHING) == Path(document.location).read_bytes()
            )
        store.collect_garbage(0)
        needed = {document.sha256 for document in store.documents(EVERYTHING)}
        assert set(blobs.hashes()) <= needed
        assert all(check.passed for check in check_library(store, blobs, {}, thorough=True))
