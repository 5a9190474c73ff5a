"""Kill the process that makes vectors at any moment: nothing is lost, nothing is by halves."""

import os
import random
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.library import opening

_SHARED = runpy.run_path(str(Path(__file__).with_name("test_encoders.py")))
Named, answers, roles = _SHARED["Named"], _SHARED["answers"], _SHARED["roles"]
KILLS = int(os.environ.get("CHAPTERHOUSE_KILLS", "2"))  # 30 before a release
DOCUMENTS = 80
SEED = 20_261_122


def _settings(home: Path, name: str) -> None:
    (home / "chapterhouse.toml").write_text(
        f"[embedding]\nengine = 'openai'\nbase_url = 'http://h/v1'\nmodel = '{name}'\n"
        "dimensions = 16\n"
    )


def _start(home: Path) -> "subprocess.Popen[str]":
    script = Path(__file__).with_name("embedding_process.py")
    return subprocess.Popen(
        [sys.executable, script, home],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _embed_until_killed(home: Path, chance: random.Random) -> set[str]:
    """Run the process, kill it somewhere, and return the documents it had acknowledged."""
    process = _start(home)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(chance.randrange(DOCUMENTS // 2))]
    time.sleep(chance.random() * 0.02)
    process.kill()
    lines += process.stdout.readlines()
    process.stdout.close()
    process.wait()
    return {line.rstrip("\n") for line in lines if line.endswith("\n")}


@pytest.mark.timeout(120 + 10 * KILLS)
def test_kill_9_loses_no_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "open_embedder", lambda settings, *_: Named(settings.model))
    folder, home, start, whole = (tmp_path / name for name in ("notes", "home", "start", "whole"))
    for path in (folder, home):
        path.mkdir(mode=0o700)
    for number in range(DOCUMENTS):
        text = f"# Note {number}\n\nThe ferry number {number} leaves the harbour in the morning.\n"
        (folder / f"note-{number:03}.md").write_text(text)
    _settings(home, "first")
    with Library.open(home) as library:
        library.documents.add(folder)
        by_words = answers(library)
    shutil.copytree(home, start)
    shutil.copytree(home, whole)
    with Library.open(whole) as library:
        library.encoders.embed_pending()
        wanted = answers(library)
    chance, acknowledged = random.Random(SEED), set[str]()
    for _ in range(KILLS):
        acknowledged |= _embed_until_killed(home, chance)
        with Library.open(home) as library:
            name, done, total = roles(library).get("building") or roles(library)["active"]
            assert (name, total) == ("first", DOCUMENTS)
            assert done >= len(acknowledged)
            assert answers(library) == (by_words if "building" in roles(library) else wanted)
            assert [check for check in library.doctor() if not check.passed] == []
            complete = "building" not in roles(library)
        if complete:  # it had come to its end: once more, from nothing
            acknowledged.clear()
            shutil.rmtree(home)
            shutil.copytree(start, home)
    process = _start(home)
    process.communicate(timeout=100)
    assert process.returncode == 0
    with Library.open(home) as library:
        assert roles(library)["active"] == ("first", DOCUMENTS, DOCUMENTS)
        assert answers(library) == wanted
        assert all(check.passed for check in library.doctor())
        library.reindex()
        assert answers(library) == wanted
