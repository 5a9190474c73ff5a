"""Removed for good: 1,000 documents, and afterwards nothing finds a word of them.

    python benchmarks/removal.py [--removals N] [--only-times]

Small workspaces of documents with words that are nowhere else, in text, title, metadata, table
cells and file names; some in archives, some with text that others share, some with memories and
cached answers. They are removed one by one and in batches, at once and with a grace period, in
which they are brought back, compared and removed again. After each removal the receipt, the search,
and every byte of the workspace are looked at; a fault planted for each path shows that a receipt
can find it. Then what it costs to remove one document of 1,000 (10,000 chunks), or 100 at once.
Takes some minutes.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse import Library
from chapterhouse.ingest.remove import AT_ONCE, prove, remove_documents
from chapterhouse.types import Receipt
from measuring import Bar, Machine, Row, Table, finish
from removal_corpus import (
    FAULTS,
    Marked,
    Plant,
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
    receipts: int = 0
    searched: int = 0  # by receipts, on all paths
    found_by_receipts: int = 0
    found_by_search: int = 0
    found_in_files: int = 0  # words
    restored: int = 0
    differing: int = 0

    def note(self, receipt: Receipt | None) -> None:
        """Count a receipt."""
        assert receipt is not None
        self.receipts += 1
        self.searched += sum(path.searched for path in receipt.paths.values())
        self.found_by_receipts += receipt.found


def snapshot(library: Library, document: Marked) -> object:
    """Return all that a document is, but for the keys of its chunks."""
    store = library._runtime.store  # noqa: SLF001 - vectors are nobody's business but the indexes'
    found = library.documents.get(document.id)
    chunks = [astuple(replace(one, key=0)) for one in library.documents.chunks(document.id)]
    vectors = [
        store.vectors_of(document.id, name)[1].tobytes()
        for name in store.fingerprints_of(document.id)
    ]
    record = store.file(found.location)
    record = record and replace(record, ctime_ns=0)  # that of a file, not of bytes
    return found, library.documents.body(document.id), chunks, record, vectors


def look(library: Library, gone: Sequence[Marked], counts: Counts, *, retained: bool) -> None:
    """Search for removed documents as people do, and in every byte."""
    ids = {document.id for document in gone}
    for document in gone:
        hits = library.search.hits(" ".join(document.words[:2]), limit=50).hits
        counts.found_by_search += sum(hit.document.id in ids for hit in hits)
        memories = library.memory.search(document.words[0], ("",), 10, 0)
        counts.found_by_search += len(memories)
    words = [word for document in gone for word in document.words]
    files = holding(library.folder, words)
    if retained:  # the bytes are where they belong, and nowhere else
        files = {
            name: some
            for name, some in files.items()
            if not name.startswith(("library.db", "blobs/"))
        }
    counts.found_in_files += sum(map(len, files.values()))


def batches(documents: Sequence[Marked], size: int) -> Iterator[Sequence[Marked]]:
    """Yield documents so many at a time."""
    for start in range(0, len(documents), size):
        yield documents[start : start + size]


def run_workspace(
    folder: Path, number: int, size: int, counts: Counts, *, grace: bool, chance: random.Random
) -> None:
    """Remove every document of a workspace, so many at a time."""
    words = write_corpus(folder / "documents", number, chance)
    with Library.open(folder / "home") as library:
        library.documents.add(folder / "documents")
        documents = marked(library, words)
        chance.shuffle(documents)
        for some in batches(documents, size):
            remember(library, some[::3])
            before = [snapshot(library, document) for document in some] if grace else []
            names = [document.id for document in some]
            removal = library.documents.remove(*names, grace_days=7 if grace else 0)
            counts.note(removal.receipt)
            look(library, some, counts, retained=grace)
            if grace:
                counts.restored += len(library.documents.restore().documents)
                after = [snapshot(library, document) for document in some]
                counts.differing += sum(
                    one != other for one, other in zip(before, after, strict=True)
                )
                counts.note(library.documents.remove(*names).receipt)
                counts.note(library.documents.purge(*names).receipt)
                look(library, some, counts, retained=False)
            counts.removed += len(some)
        assert library.search.hits("Nobody removes this").hits
        faults = [check.sentence for check in library.doctor() if not check.passed]
        assert not faults, faults
        everything = [word for document in documents for word in document.words]
        counts.found_in_files += sum(map(len, holding(library.folder, everything).values()))


def plant_faults(folder: Path) -> list[tuple[str, str, int]]:
    """Plant each fault in a workspace; return its name, the path, and what that found.

    What is planted in files stays there, so each of these faults has a workspace to itself.
    """
    shared = [name for name, (_, path) in FAULTS.items() if path != "passages"]
    alone = [[name] for name in FAULTS if name not in shared]
    results = []
    for number, names in enumerate([shared, *alone]):
        place = folder / str(number)
        words = write_corpus(place / "documents", len(names), random.Random(number), ("md",))
        with Library.open(place / "home") as library:
            library.documents.add(place / "documents")
            for name, document in zip(names, marked(library, words), strict=True):
                prepare, path = FAULTS[name]
                plant = prepare(library, document)
                results.append((name, path, _found_of(library, document, plant, path)))
    return results


def _found_of(library: Library, document: Marked, plant: Plant, path: str) -> int:
    """Remove a document, plant a fault behind the rebuild, and return what a path finds of it."""
    runtime = library._runtime  # noqa: SLF001 - a fault is planted behind its back
    searches, ids = runtime.searches(), [document.id]
    removal = remove_documents(ids, store=runtime.store, grace_seconds=AT_ONCE, now=0)

    def purge() -> int:
        sequence = runtime.purge()
        plant()
        return sequence

    return prove(removal, replace(searches, purge=purge)).paths[path].found


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
        for label, some, days in (
            ("one document, with a grace period", ids[:1], 7),
            ("one document, at once", ids[1:2], 0),
            ("100 documents, with a grace period", ids[100:200], 7),
            ("100 documents, at once", ids[200:300], 0),
        ):
            began, used = time.perf_counter(), time.process_time()
            removal = library.documents.remove(*some, grace_days=days)
            rows.append((label, *_seconds(began, used)))
            assert removal.receipt is not None
            assert not removal.receipt.found, removal.receipt
        for label, work in (
            ("undo of 100 documents", library.documents.restore),
            ("purge of one document", library.documents.purge),
        ):
            began, used = time.perf_counter(), time.process_time()
            work()
            rows.append((label, *_seconds(began, used)))
    return rows


def _seconds(began: float, used: float) -> tuple[float, float]:
    """Return the seconds since then, by the clock and of processors."""
    return round(time.perf_counter() - began, 2), round(time.process_time() - used, 2)


def measure(folder: Path, removals: int) -> Counts:
    """Remove so many documents: half with a grace period, a quarter of each one by one."""
    counts, chance = Counts(), random.Random(11)
    number = 0
    while counts.removed < removals:
        grace, size = bool(number % 2), BATCH if number // 2 % 4 else 1
        own = min(SIZE, removals - counts.removed)
        place = folder / str(number)
        run_workspace(place, own, size, counts, grace=grace, chance=chance)
        number += 1
        print(f"{counts.removed:,} removed", file=sys.stderr)
    return counts


def main() -> int:
    """Run the harness and write its result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--removals", type=int, default=REMOVALS)
    parser.add_argument("--only-times", action="store_true")
    options = parser.parse_args()
    machine = Machine()
    with TemporaryDirectory(prefix="removal-") as name:
        folder = Path(name)
        rows = times(folder / "times")
        if options.only_times:
            print(rows)
            return 0
        faults = plant_faults(folder / "faults")
        counts = measure(folder / "removals", options.removals)
    bars = [
        Bar("documents removed", counts.removed, least=options.removals),
        Bar("found by receipts, by every path", counts.found_by_receipts, most=0),
        Bar("found by the search and in memories", counts.found_by_search, most=0),
        Bar("words found in files", counts.found_in_files, most=0),
        Bar("restored documents that differ", counts.differing, most=0),
        Bar("planted faults that a receipt missed", sum(not one[2] for one in faults), most=0),
        Bar(
            "seconds of processors to remove one document of 10,000 chunks",
            float(rows[0][2]),
            most=MOST_SECONDS,
        ),
    ]
    tables = [
        Table("Planted faults", ("fault", "path", "found"), tuple(faults)),
        Table("Time", ("what", "seconds", "of processors"), tuple(rows)),
    ]
    note = (
        f"{counts.receipts:,} receipts searched for {counts.searched:,} probes."
        f" {counts.restored:,} documents were brought back and compared with what they were:"
        " document, text, chunks, vectors, record of the file."
    )
    write = options.removals >= REMOVALS
    return finish(
        "removal", "Removed documents", bars, tables, machine.setting(), [note], write=write
    )


if __name__ == "__main__":
    sys.exit(main())
