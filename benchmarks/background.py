"""Questions while an encoder's vectors are made in the background.

    python benchmarks/background.py --model FOLDER

A library of made-up documents, a real encoder, and the process that commands start, which makes
its vectors meanwhile. The same questions are asked in turns with and without that process, so
that whatever else the machine does strikes both alike; the bar is on the ratio of the medians.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.interfaces.background import embed_in_background
from chapterhouse.library import Library
from measuring import Bar, Machine, Row, Table, finish, percentile

DOCUMENTS = 1_500
ROUNDS = 4
WAIT_SECONDS = 100
QUESTIONS = 30  # a round
MOST_SLOWER = 1.25
WORDS = (
    "ferry",
    "harbour",
    "crane",
    "wind",
    "winter",
    "ticket",
    "crew",
    "shift",
    "contract",
    "rate",
    "night",
    "island",
    "cargo",
)


def write_documents(folder: Path) -> None:
    """Write documents of a few paragraphs, each of other words."""
    for number in range(DOCUMENTS):
        lines = [
            " ".join(WORDS[(number * 7 + line * 3 + at * at) % len(WORDS)] for at in range(60))
            for line in range(4)
        ]
        (folder / f"{number:05}.md").write_text(f"# Note {number}\n\n" + ".\n\n".join(lines))


def ask(library: Library, first: int) -> list[float]:
    """Return the seconds of a round of questions, none asked twice."""
    seconds = []
    for number in range(first, first + QUESTIONS):
        began = time.perf_counter()
        library.search.hits(f"{WORDS[number % 13]} {WORDS[number // 13 % 13]} note {number}")
        seconds.append(time.perf_counter() - began)
    return seconds


def worker(library: Library) -> int:
    """Start the process that commands start; return its id."""
    assert embed_in_background(library)
    listed = subprocess.check_output(["pgrep", "-f", str(library.home)], text=True)
    return next(int(line) for line in listed.split() if int(line) != os.getpid())


def wait(library: Library) -> None:
    """Wait until the process has loaded the model and made some vectors."""
    before, deadline = library.encoders.statuses()[1].done, time.monotonic() + WAIT_SECONDS
    while library.encoders.statuses()[1].done == before and time.monotonic() < deadline:
        time.sleep(0.5)


def measure(model: Path) -> tuple[list[float], list[float]]:
    """Return the seconds of questions alone and of those beside the process."""
    alone: list[float] = []
    beside: list[float] = []
    with TemporaryDirectory() as name:
        folder, home = Path(name) / "notes", Path(name) / "home"
        folder.mkdir()
        home.mkdir()
        write_documents(folder)
        (home / "chapterhouse.toml").write_text(
            f'[embedding]\nengine = "folder"\nfolder = "{model}"\n'
        )
        with Library.open(home) as library:
            library.documents.add(folder)
            ask(library, 0)
            for turn in range(ROUNDS):
                alone += ask(library, (2 * turn + 1) * QUESTIONS)
                process = worker(library)
                wait(library)
                beside += ask(library, (2 * turn + 2) * QUESTIONS)
                os.kill(process, signal.SIGKILL)
                time.sleep(1)
            done = library.encoders.statuses()[1].done
    assert 0 < done < DOCUMENTS, f"the process made vectors of {done} documents"
    return alone, beside


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a folder with an encoder")
    model, machine = parser.parse_args().model.absolute(), Machine()
    alone, beside = measure(model)
    ratio = percentile(beside, 0.5) / percentile(alone, 0.5)
    rows: tuple[Row, ...] = tuple(
        (name, len(taken), percentile(taken, 0.5) * 1e3, percentile(taken, 0.95) * 1e3)
        for name, taken in (("alone", alone), ("beside the process", beside))
    )
    bars = [Bar("a question beside the process, times the same alone", ratio, most=MOST_SLOWER)]
    table = Table("Questions", ("when", "questions", "p50 ms", "p95 ms"), rows)
    return finish("background", "Background embedding", bars, [table], machine.setting())


if __name__ == "__main__":
    sys.exit(main())
