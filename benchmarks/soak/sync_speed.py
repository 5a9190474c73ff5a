"""What a sync of an unchanged folder takes as a whole command, and how soon a saved file is found.

The second is measured from the end of the write until a search in this process finds a word that
is nowhere else, while ``chapterhouse sync --watch`` runs in another.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from chapterhouse.library import Library
from measuring import Bar, Row, Table

FILES, TURNS = 10_000, 7
PROGRAM = str(Path(sys.executable).with_name("chapterhouse"))
OLD = 1_600_000_000
_LONGEST = 30.0  # seconds that a saved file is waited for


def _environment(home: Path) -> dict[str, str]:
    """Return ours, as users have it: Python writes its byte code."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**own, "CHAPTERHOUSE_HOME": str(home)}


def _command(*words: str) -> list[str]:
    return [PROGRAM, *words]


def _write(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        path = folder / f"{number:05}.md"
        path.write_text(f"# Note {number}\n\nThe lighthouse has {number} windows and one door.\n")
        os.utime(path, (OLD, OLD))


def _sync_seconds(home: Path) -> float:
    began = time.perf_counter()
    command = _command("sync")
    subprocess.run(command, env=_environment(home), check=True, capture_output=True)
    return time.perf_counter() - began


def _seen_seconds(library: Library, path: Path, word: str) -> float:
    """Save a file; return how long it takes until a search finds what is new in it."""
    path.write_text(f"# Changed\n\nThe keeper wrote the word {word} into his book tonight.\n")
    began = time.perf_counter()
    while time.perf_counter() - began < _LONGEST:
        hits = library.search.hits(word, limit=1).hits
        if hits and word in hits[0].chunk.text:
            return time.perf_counter() - began
        time.sleep(0.01)
    return _LONGEST


def _watched(home: Path, folder: Path) -> list[float]:
    command = _command("sync", "--watch")
    with subprocess.Popen(
        command,
        env=_environment(home),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "Watching" in line:  # behind what shows the progress
                break
        time.sleep(1.0)  # until the kernel watches
        with Library.open(home) as library:
            library.search.hits("lighthouse", limit=1)
            found = []
            for turn in range(TURNS):
                path = folder / f"{turn * 11:05}.md"
                found.append(_seen_seconds(library, path, f"zyqmar{'abcdefg'[turn]}th"))
                time.sleep(1.0)
        process.terminate()
        process.wait(30)
    return found


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Add the files, sync them again and again, then watch."""
    home, docs, count = folder / "home", folder / "docs", int(FILES * share)
    _write(docs, count)
    subprocess.run(
        _command("add", str(docs)), env=_environment(home), check=True, capture_output=True
    )
    print("added", flush=True)
    _sync_seconds(home)
    synced = [_sync_seconds(home) for _ in range(TURNS)]
    print(synced, flush=True)
    seen = _watched(home, docs)
    print(seen, flush=True)
    rows: tuple[Row, ...] = (
        ("sync", *_spread(synced)),
        ("from saving until found", *_spread(seen)),
    )
    bars = [
        Bar("files", count, least=FILES * min(share, 1)),
        Bar("seconds of a sync of unchanged files, whole command", _median(synced), most=1.5),
        Bar("seconds from saving a file until a search finds it", _median(seen), most=2),
    ]
    title = "Seconds"
    return bars, [Table(title, ("what", "least", "median", "most"), rows, f"{TURNS} times each.")]


def _median(seconds: list[float]) -> float:
    return round(statistics.median(seconds), 3)


def _spread(seconds: list[float]) -> tuple[float, float, float]:
    return round(min(seconds), 3), _median(seconds), round(max(seconds), 3)
