"""Removed for good: 1,000 documents, and afterwards nothing finds a word of them.

    python benchmarks/removal.py [--removals N]

Small workspaces of documents with words that are nowhere else, in text, title, metadata, table
cells and file names; some in archives, some with text that others share, some with memories and
cached answers. Half of them come by upload. They are removed one by one and in batches. After each
removal the search of files, the search for people, and every byte of the workspace are looked at;
planted faults show that the search of files can find something. Then what it costs to remove one
document of 1,000 (10,000 chunks), or 100 at once. Takes some minutes.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse import Library
from chapterhouse.ingest.remove import erase, remove_documents
from chapterhouse.types import FileSearch
from measuring import Bar, Machine, Row, Table, finish
from removal_corpus import (
    FAULTS,
    Marked,
    holding,
    marked,
    remember,
    write_corpus,
)

REMOVALS = 1_000
SIZE = 32  # documents of a workspace
BATCH = 16
MOST_SECONDS = 10.0  # for one of 10,000 chunks


@dataclass
class Counts:
    """What came of the removals."""

    removed: int = 0
    searches: int = 0  # of files
    searched: int = 0  # by them
    found_by_them: int = 0
    found_by_search: int = 0
    found_in_files: int = 0  # words

    def note(self, search: FileSearch | None) -> None:
        """Count a search of files."""
        assert search is not None
        self.searches += 1
        self.searched += search.searched
        self.found_by_them += search.found


def look(library: Library, gone: Sequence[Marked], counts: Counts) -> None:
    """Search for removed documents as people do, and in every byte."""
    ids = {document.id for document in gone}
    for document in gone:
        hits = library.search.hits(" ".join(document.words[:2]), limit=50).hits
        counts.found_by_search += sum(hit.document.id in ids for hit in hits)
        memories = library.memory.search(document.words[0], ("",), 10, 0)
        counts.found_by_search += len(memories)
    words = [word for document in gone for word in document.words]
    counts.found_in_files += sum(map(len, holding(library.folder, words).values()))


def take_in(library: Library, folder: Path) -> None:
    """Upload every other file of a folder, as a server does, and add the rest."""
    for path in sorted(folder.iterdir())[::2]:
        with library.documents.receive() as upload:
            upload.write(path.read_bytes())
            file = upload.finish()
        library.documents.upload_later(file, path.name)
        path.unlink()
    library.jobs.work(idle_seconds=0)
    library.documents.add(folder)


def batches(documents: Sequence[Marked], size: int) -> Iterator[Sequence[Marked]]:
    """Yield documents so many at a time."""
    for start in range(0, len(documents), size):
        yield documents[start : start + size]


def run_workspace(
    folder: Path, number: int, size: int, counts: Counts, chance: random.Random
) -> None:
    """Remove every document of a workspace, so many at a time."""
    words = write_corpus(folder / "documents", number, chance)
    with Library.open(folder / "home") as library:
        take_in(library, folder / "documents")
        documents = marked(library, words)
        chance.shuffle(documents)
        for some in batches(documents, size):
            remember(library, some[::3])
            counts.note(library.documents.remove(*(document.id for document in some)).search)
            look(library, some, counts)
            counts.removed += len(some)
        assert library.search.hits("Nobody removes this").hits
        faults = [check.sentence for check in library.doctor() if not check.passed]
        assert not faults, faults
        everything = [word for document in documents for word in document.words]
        counts.found_in_files += sum(map(len, holding(library.folder, everything).values()))


def plant_faults(folder: Path) -> list[tuple[str, int]]:
    """Plant each fault in a workspace of its own; return its name and what was found of it."""
    results = []
    for number, (name, prepare) in enumerate(FAULTS.items()):
        place = folder / str(number)
        words = write_corpus(place / "documents", 1, random.Random(number), ("md",))
        with Library.open(place / "home") as library:
            library.documents.add(place / "documents")
            (document,) = marked(library, words)
            plant = prepare(library, document)
            runtime = library._runtime  # noqa: SLF001 - a fault is planted behind its back
            traces = remove_documents([document.id], store=runtime.store).traces
            sequence = runtime.rebuild()
            plant()
            found = erase(traces, runtime.store, runtime.folder, partial(int, sequence))
            results.append((name, found.found))
    return results


def times(folder: Path) -> list[Row]:
    """Return seconds of removals among 1,000 documents of ten chunks."""
    chance = random.Random(3)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))
        for _ in range(8_000)
    ]
    (folder / "documents").mkdir(parents=True)
    for number in range(1_000):
        parts = [f"# Document {number}"]
        for part in range(10):
            sentences = (" ".join(chance.choices(words, k=12)).capitalize() for _ in range(8))
            parts += [f"## Section {part}", ". ".join(sentences) + "."]
        (folder / "documents" / f"{number:04}.md").write_text("\n\n".join(parts), "utf-8")
    rows: list[Row] = []
    with Library.open(folder / "home") as library:
        library.documents.add(folder / "documents")
        ids = [document.id for document in library.documents.list()]
        for label, some in (("one document", ids[:1]), ("100 documents", ids[100:200])):
            began, used = time.perf_counter(), time.process_time()
            removal = library.documents.remove(*some)
            rows.append((label, *_seconds(began, used)))
            assert removal.search is not None
            assert not removal.search.found, removal.search
    return rows


def _seconds(began: float, used: float) -> tuple[float, float]:
    """Return the seconds since then, by the clock and of processors."""
    return round(time.perf_counter() - began, 2), round(time.process_time() - used, 2)


def measure(folder: Path, removals: int) -> Counts:
    """Remove so many documents, a quarter of them one by one."""
    counts, chance = Counts(), random.Random(11)
    number = 0
    while counts.removed < removals:
        size = BATCH if number % 4 else 1
        own = min(SIZE, removals - counts.removed)
        place = folder / str(number)
        run_workspace(place, own, size, counts, chance)
        number += 1
        print(f"{counts.removed:,} removed", file=sys.stderr)
    return counts


def main() -> int:
    """Run the harness and write its result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--removals", type=int, default=REMOVALS)
    options = parser.parse_args()
    machine = Machine()
    with TemporaryDirectory(prefix="removal-") as name:
        folder = Path(name)
        rows = times(folder / "times")
        faults = plant_faults(folder / "faults")
        counts = measure(folder / "removals", options.removals)
    bars = [
        Bar("documents removed", counts.removed, least=options.removals),
        Bar("found by the search of files", counts.found_by_them, most=0),
        Bar("found by the search and in memories", counts.found_by_search, most=0),
        Bar("words found in files", counts.found_in_files, most=0),
        Bar("planted faults that it missed", sum(not one[1] for one in faults), most=0),
        Bar(
            "seconds of processors to remove one document of 10,000 chunks",
            float(rows[0][2]),
            most=MOST_SECONDS,
        ),
    ]
    tables = [
        Table("Planted faults", ("fault", "found"), tuple(faults)),
        Table("Time", ("what", "seconds", "of processors"), tuple(rows)),
    ]
    note = f"{counts.searches:,} searches of files for {counts.searched:,} passages and names."
    write = options.removals >= REMOVALS
    return finish(
        "removal", "Removed documents", bars, tables, machine.setting(), [note], write=write
    )


if __name__ == "__main__":
    sys.exit(main())
