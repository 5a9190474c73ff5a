"""Export and import: the same answers elsewhere, and nothing from a damaged archive.

    python benchmarks/archive.py

A library of the example organisation and of a folder of contracts, built as libraries grow: some
files are added later, changed, removed and added back. It is exported and imported elsewhere, and
50 questions are asked of both: first of the library as it grew, then after ``reindex``. One byte
of the archive is changed at 100 random places, and it is cut off at 20; each is imported. Then a
process adds a folder of files, some above the 64 KiB from which bytes are blobs, while the
library is exported again and again; each archive is imported and examined. Takes two minutes.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from chapterhouse import Library
from chapterhouse.errors import RefusedError
from chapterhouse.types import Hit
from data_folder import data_folder
from measuring import Bar, Machine, Row, Table, finish

EXAMPLES = Path(__file__).parents[1] / "examples"
QUESTIONS = 50
FLIPS = 100
CUTS = 20
EXPORTS = 6
ADDED = 400  # files that the other process adds
LARGE = 7  # every so many of them is a blob
ADD = """
import sys
from chapterhouse import Library
with Library.open(sys.argv[1]) as library:
    library.documents.add(sys.argv[2], on_progress=lambda one: print(one.done, flush=True))
"""
Value = TypeVar("Value")
Found = list[tuple[str, int, float]]


def questions() -> list[str]:
    """Return questions about both folders, half of each."""
    ferry = json.loads((EXAMPLES / "questions.json").read_text("utf-8"))["questions"]
    gold = (data_folder() / "folders" / "contracts-gold.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(line)["question"] for line in random.Random(1).sample(gold, QUESTIONS)]
    of_ferry = [one["question"] for one in ferry][: QUESTIONS // 2]
    return [*of_ferry, *asked[: QUESTIONS - len(of_ferry)]]


def grow(home: Path, work: Path) -> None:
    """Build a library over several runs, with changes and removals."""
    contracts = work / "contracts"
    shutil.copytree(data_folder() / "folders" / "contracts", contracts)
    aside = work / "aside"
    aside.mkdir()
    files = sorted(path for path in contracts.iterdir() if path.is_file())
    for path in files[::3]:
        path.rename(aside / path.name)
    with Library.open(home) as library:
        library.documents.add(EXAMPLES / "varnholm-ferry")
        library.documents.add(contracts)
        for path in files[1::9]:
            path.write_text(f"{path.read_text('utf-8', 'replace')}\nAmended once.\n", "utf-8")
        for path in sorted(aside.iterdir()):
            path.rename(contracts / path.name)
        library.documents.add(contracts)
        for document in [one for one in library.documents.list() if "NDA" in one.source][::8]:
            # Not for good: that would build the indexes anew.
            library._runtime.store.remove(document.id)  # noqa: SLF001
        library.documents.add(contracts)
        library.answers.ask("What is the penalty for disclosing information?")


def ask(home: Path, asked: Sequence[str]) -> list[Found]:
    """Return what each question finds: ids of chunks, their order, their scores."""
    with Library.open(home, create=False) as library:
        return [list(map(_seen, library.search.hits(text, limit=20).hits)) for text in asked]


def _seen(hit: Hit) -> tuple[str, int, float]:
    return hit.chunk.id, hit.rank, hit.score


def compare(first: Sequence[Found], second: Sequence[Found]) -> tuple[int, int, float]:
    """Count the questions with the same result, and with the same order; the largest difference."""
    same = sum(one == other for one, other in zip(first, second, strict=True))
    order = sum(
        [hit[0] for hit in one] == [hit[0] for hit in other]
        for one, other in zip(first, second, strict=True)
    )
    scores = [
        abs(a[2] - {hit[0]: hit[2] for hit in other}.get(a[0], a[2]))
        for one, other in zip(first, second, strict=True)
        for a in one
    ]
    return same, order, max(scores, default=0.0)


def timed(action: Callable[[], Value]) -> tuple[Value, float]:
    """Return a result and the seconds it took."""
    began = time.perf_counter()
    return action(), time.perf_counter() - began


def refused(data: bytes, work: Path, number: int) -> bool:
    """Whether an archive of these bytes is refused, and leaves nothing behind."""
    path, home = work / "damaged", work / f"damaged-{number}"
    path.write_bytes(data)
    try:
        Library.restore(path, home)
    except RefusedError:
        return not home.exists()
    return False


def harmless(data: bytes, work: Path, number: int, wanted: Sequence[Found]) -> bool:
    """Whether an archive of these bytes is refused, or is the same library.

    A byte of a header of the ZIP may say nothing of what is in it, such as a time.
    """
    if refused(data, work, number):
        return True
    home = work / f"damaged-{number}"
    is_same = compare(wanted, ask(home, questions()))[0] == QUESTIONS
    shutil.rmtree(home)
    return is_same


def flips(data: bytes) -> Iterator[bytes]:
    """Yield the bytes with one of them changed: anywhere, and in the last hundred."""
    chance = random.Random(17)
    for number in range(FLIPS):
        place = chance.randrange(len(data)) if number % 4 else -1 - chance.randrange(200)
        changed = bytearray(data)
        changed[place] ^= 1 << chance.randrange(8)
        yield bytes(changed)


def cuts(data: bytes) -> Iterator[bytes]:
    """Yield beginnings of the bytes, the longest lacks one."""
    chance = random.Random(18)
    for number in range(CUTS):
        yield data[: len(data) - 1 - number if number < 3 else chance.randrange(len(data))]


def write_files(folder: Path) -> None:
    """Write the files that the other process adds; every some of them large."""
    folder.mkdir()
    chance = random.Random(5)
    words = [
        "berth",
        "tariff",
        "ferry",
        "winter",
        "crossing",
        "mate",
        "ledger",
        "signal",
        "rope",
        "tide",
    ]
    old = time.time() - 3_600
    for number in range(ADDED):
        length = 13_000 if number % LARGE == 0 else 200
        text = " ".join(chance.choices(words, k=length))
        path = folder / f"note-{number:03}.md"
        path.write_text(f"# Note {number}\n\n{text}.\n", "utf-8")
        os.utime(path, (old, old))


def while_adding(work: Path) -> list[Row]:
    """Export while another process adds; return a row for each archive."""
    home, folder = work / "busy", work / "notes"
    write_files(folder)
    rows: list[Row] = []
    with Library.open(home) as library:
        process = subprocess.Popen(
            [sys.executable, "-c", ADD, str(home), str(folder)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for number in range(EXPORTS):
            for _ in range(ADDED // (EXPORTS + 1)):
                process.stdout.readline()
            adding = process.poll() is None
            path = work / f"busy-{number}"
            report, seconds = timed(lambda: library.export(path))  # noqa: B023 - called at once
            held = library.status().documents
            rows.append((f"export {number + 1}", report.snapshot.documents, held, round(seconds, 2),
                         "yes" if adding else "no", faults(path, work)))  # fmt: skip
        process.communicate()
    return rows


def faults(path: Path, work: Path) -> int:
    """Count what doctor finds in the library of an archive, and documents that are not whole."""
    home = work / f"of-{path.name}"
    Library.restore(path, home)
    with Library.open(home, create=False) as library:
        problems = [check for check in library.doctor() if not check.passed]
        half = [
            one for one in library.documents.list()
            if len(library.documents.chunks(one.id)) != one.chunks
        ]  # fmt: skip
    shutil.rmtree(home)
    return len(problems) + len(half)


def main() -> int:
    machine = Machine()
    asked = questions()
    with TemporaryDirectory() as name:
        work = Path(name).resolve()
        home, elsewhere, path = work / "home", work / "elsewhere", work / "library.chapterhouse"
        grow(home, work)
        grown = ask(home, asked)
        with Library.open(home) as library:
            report, exporting = timed(lambda: library.export(path))
            database = (library.folder / "library.db").stat().st_size
            library.reindex()
        built = ask(home, asked)
        _, importing = timed(lambda: Library.restore(path, elsewhere))
        restored = ask(elsewhere, asked)
        same, order, _ = compare(built, restored)
        as_grown = compare(grown, restored)
        data = path.read_bytes()
        flipped = sum(harmless(one, work, number, built) for number, one in enumerate(flips(data)))
        cut = sum(refused(one, work, number) for number, one in enumerate(cuts(data)))
        rows = while_adding(work)
    bars = [
        Bar("questions with the same ids, order and scores", same, least=QUESTIONS),
        Bar("archives with one byte changed: refused, or the same library", flipped, least=FLIPS),
        Bar("archives that are cut off and refused", cut, least=CUTS),
        Bar("exported while another process adds: faults", sum(int(row[5]) for row in rows),
            most=0),
        Bar("of these, before it had ended", sum(row[4] == "yes" for row in rows), least=3),
    ]  # fmt: skip
    whole: list[Row] = [
        ("documents", report.snapshot.documents),
        ("chunks", report.snapshot.chunks),
        ("library.db, MB", round(database / 1e6, 2)),
        ("archive, MB", round(report.size / 1e6, 2)),
        ("export, s", round(exporting, 2)),
        ("import with new indexes, s", round(importing, 2)),
        ("library as it grew: questions with the same ids, order and scores", as_grown[0]),
        ("library as it grew: questions with the same ids in the same order", as_grown[1]),
        ("library as it grew: largest difference of a score", as_grown[2]),
        ("after reindex: questions with the same ids in the same order", order),
    ]
    tables = [
        Table("Round trip", ("what", "value"), tuple(whole)),
        Table(
            "While another process adds",
            ("what", "documents in the archive", "in the library after it", "seconds",
             "still adding", "faults"),
            tuple(rows),
        ),
    ]  # fmt: skip
    return finish("archive", "Export and import", bars, tables, machine.setting())


if __name__ == "__main__":
    sys.exit(main())
