"""Ten thousand small Markdown files, 20 MB in all: added, added again, some removed and added back.

    python benchmarks/ingest.py [--files 10000] [--profile FILE]

The files are the same in every run. ``--profile`` writes where the parent's time goes (it makes
the run slower, so its result is not kept); a separate pass times each stage alone over a sample
of the files. Takes about two minutes on two cores.
"""

import argparse
import cProfile
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.chunking.build import build_chunks, embedding_text
from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.connectors.content import Content, open_source
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.library import Library
from chapterhouse.lifecycle.prepare import Prepared, prepare
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.reading.dispatch import read
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.canonical import compose
from chapterhouse.text.language import detect
from chapterhouse.text.tokens import estimate_tokens
from chapterhouse.types import Extraction, FileRecord, Status
from measuring import Bar, Machine, Memory, MemoryWatch, Table, finish

FILES = 10_000
CHARACTERS = 2_000  # of one file, on average
SECONDS = 60
MEGABYTES = 500
SAMPLE = 1_000  # files of which each stage is timed alone
REMOVED = 1_000
_SYLLABLES = (
    "ba be bi bo bra cal can cor da del den do dra el en er fa fen for ga gen go gra ha hel in ka "
    "kel la len li lo ma mel min mo na nel ni no or pa pel pri ra ren ri ro sa sel si sta ta tel "
    "ter ti to tra u va vel vi wa wen"
).split()
_ENGLISH = (
    "the of and to in is for that with as on are by this be it from at or an was which when has "
    "not can before after each must only between under while during without every second new"
).split()


def write_files(folder: Path, count: int) -> int:
    """Write ``count`` Markdown files in folders of 100; return the number of bytes."""
    chance = random.Random(20_260)
    words = _vocabulary(chance)
    total = 0
    for number in range(count):
        path = folder / f"{number // 100:03}" / f"note-{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        total += path.write_bytes(_document(chance, words, number).encode())
    return total


def _vocabulary(chance: random.Random) -> list[str]:
    """Return words so that a choice among them follows Zipf's law, roughly."""
    made = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(20_000)]
    return chance.choices(made, [1 / (rank + 10) for rank in range(len(made))], k=50_000)


def _document(chance: random.Random, words: Sequence[str], number: int) -> str:
    wanted = chance.randint(CHARACTERS // 2, CHARACTERS * 3 // 2)
    parts = [f"# {_title(chance, words)} {number}"]
    length = 0
    while length < wanted:
        kind = chance.random()
        if kind < 0.2:
            part = f"{'#' * chance.randint(2, 3)} {_title(chance, words)}"
        elif kind < 0.27:
            part = _table(chance, words)
        elif kind < 0.33:
            part = f"```python\n{_code(chance, words)}\n```"
        elif kind < 0.42:
            part = "\n".join(f"- {_sentence(chance, words)}" for _ in range(3))
        else:
            part = " ".join(_sentence(chance, words) for _ in range(chance.randint(2, 6)))
        parts.append(part)
        length += len(part)
    return "\n\n".join(parts) + "\n"


def _title(chance: random.Random, words: Sequence[str]) -> str:
    return " ".join(chance.choices(words, k=3)).capitalize()


def _sentence(chance: random.Random, words: Sequence[str]) -> str:
    chosen = [
        chance.choice(_ENGLISH if chance.random() < 0.4 else words)
        for _ in range(chance.randint(6, 18))
    ]
    return " ".join(chosen).capitalize() + "."


def _table(chance: random.Random, words: Sequence[str]) -> str:
    rows = [chance.choices(words, k=3) for _ in range(chance.randint(3, 8))]
    lines = ["| name | kind | place |", "| --- | --- | --- |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _code(chance: random.Random, words: Sequence[str]) -> str:
    return "\n".join(
        f"{chance.choice(words)}_{chance.choice(words)} = {chance.randint(1, 999)}"
        for _ in range(5)
    )


# --- the whole way -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds of each step, and what it took."""

    first: float
    second: float
    remove: float
    add_again: float
    ready: int
    unchanged: int
    chunks: int
    disk_megabytes: float
    memory: Memory


def measure(folder: Path, files: int, profile: cProfile.Profile | None = None) -> Run:
    """Add the folder to a new home, add it again, remove some and add them back."""
    with TemporaryDirectory() as home, MemoryWatch() as watch:
        with Library.open(home) as library:
            add = partial(library.add, folder)
            if profile:
                profile.enable()
            first, report = _timed(add)
            if profile:
                profile.disable()
            second, again = _timed(add)
            status = library.status()
            chosen = [document.id for document in library.documents()][:: max(files // REMOVED, 1)]
            remove, _ = _timed(partial(library.remove, *chosen))
            add_again, _ = _timed(add)
    return Run(
        first,
        second,
        remove,
        add_again,
        report.count(Status.READY),
        again.count(Status.SKIPPED) - again.changed,
        status.chunks,
        status.disk_bytes / 1e6,
        watch.peaks(),
    )


def _timed[T](call: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    value = call()
    return time.perf_counter() - began, value
