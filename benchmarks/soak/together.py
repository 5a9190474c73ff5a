"""Processes that write and read one library at once: no lock reaches them, and nothing is lost.

Four write, each in a folder of its own (adding, syncing, removing), and four search. Then sixteen
add the same file, and two sync the same folder while its files are renamed.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from chapterhouse.errors import ChapterhouseError
from chapterhouse.library import Library
from measuring import Bar, Table
from processes import FAILED, Report, run_forked

SECONDS, WRITERS, READERS, ADDERS = 60.0, 4, 4, 16


def _run(*works: Callable[[], Report]) -> list[Report]:
    """Run each in a process of its own, all at once; an error is one that is counted."""
    reports = run_forked(*works)
    return [{f"error: {one[FAILED]}": 1} if FAILED in one else one for one in reports]


# --- four and four -----------------------------------------------------------------------------


def _write(path: Path, number: int) -> None:
    text = f"# Note {number}\n\nThe lighthouse of {path.parent.name} was lit {number} times.\n"
    path.write_text(text)


def write_on(home: Path, folder: Path, seconds: float) -> Report:
    """Add, sync and remove in a folder; what is added can be read at once."""
    chance, done = random.Random(folder.name), Counter[str]()
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        with Library.open(home) as library:
            library.sources.add(str(folder))
            for _ in range(5):
                count += 1
                kind = chance.choice(["add", "add", "sync", "remove"])
                _do(kind, library, folder, count, chance, done)
    with Library.open(home) as library:
        library.sources.sync(library.sources.get(str(folder)).name, prove=False, confirmed=True)
    return dict(done)


def _do(
    kind: str, library: Library, folder: Path, count: int, chance: random.Random, done: Counter[str]
) -> None:
    some = sorted(folder.iterdir())
    try:
        if kind == "add" or len(some) < 4:
            path = folder / f"{count:05}.md"
            _write(path, count)
            (outcome,) = library.documents.add(path).outcomes
            stored = library.documents.get(outcome.record.document_id)
            done["lost"] += stored.sha256 != sha256(path.read_bytes()).hexdigest()
        elif kind == "sync":
            one, two, three = chance.sample(some, 3)
            one.rename(folder / f"{count:05}-renamed.md")
            _write(two, count)
            three.unlink()
            name = library.sources.get(str(folder)).name
            library.sources.sync(name, prove=False, confirmed=True)
        else:
            every = library.documents.list()
            inside = [one for one in every if one.location.startswith(f"{folder}/")]
            if inside:
                library.documents.remove(chance.choice(inside).id)
        done[kind] += 1
    except ChapterhouseError as error:
        done[f"error: {error.message}"] += 1


def read_on(home: Path, number: int, seconds: float) -> Report:
    """Search on and on; every hit is of a document that was there."""
    done: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with Library.open(home) as library:
        while time.monotonic() < until:
            try:
                hits = library.search.hits(f"lighthouse lit {number}", limit=5).hits
                done["torn"] += sum("lighthouse" not in hit.chunk.text for hit in hits)
                done["search"] += 1
            except ChapterhouseError as error:
                done[f"error: {error.message}"] += 1
    return dict(done)


def four_and_four(folder: Path, seconds: float) -> tuple[Counter[str], list[str]]:
    """Let them all work; return what was done, and what is wrong afterwards."""
    home, docs = folder / "home", [folder / f"docs{number}" for number in range(WRITERS)]
    for one in docs:
        one.mkdir(parents=True)
    writers = [lambda one=one: write_on(home, one, seconds) for one in docs]
    readers = [lambda n=n: read_on(home, n, seconds) for n in range(READERS)]
    done: Counter[str] = Counter()
    for report in _run(*writers, *readers):
        done.update(report)
    return done, _faults(home, docs)


def _faults(home: Path, docs: Sequence[Path]) -> list[str]:
    """Sync once more; return how the library differs from the folders, and its faults."""
    (seen,) = _run(lambda: _looked(home, docs))
    return [fault for fault, number in seen.items() if number]


def _looked(home: Path, docs: Sequence[Path]) -> Report:
    with Library.open(home) as library:
        found = {one.location: one.sha256 for one in library.documents.list()}
        # What was removed by hand comes back with the last sync, as its file is still there.
        wanted = {
            str(path): sha256(path.read_bytes()).hexdigest()
            for one in docs
            for path in one.iterdir()
        }
        sentences = library.faults()
    differing = {f"{place} differs" for place, _ in found.items() ^ wanted.items()}
    return dict.fromkeys([*sentences, *differing], 1)


# --- the same at once --------------------------------------------------------------------------


def same_file(folder: Path, adders: int) -> tuple[int, list[str]]:
    """Add a file from many processes; return how many documents it gave, and errors."""
    home, path = folder / "same", folder / "same.md"
    _write(path, 1)

    def add() -> Report:
        with Library.open(home) as library:
            (outcome,) = library.documents.add(path).outcomes
            library.documents.get(outcome.record.document_id)
        return {}

    reports = _run(*[add] * adders)

    def count() -> Report:
        with Library.open(home) as library:
            faults = library.faults()
            return {"documents": len(list(library.documents.list())), **dict.fromkeys(faults, 1)}

    (seen,) = _run(count)
    documents = seen.pop("documents", 0)
    return documents, [*(name for one in reports for name in one), *seen]


def same_folder(folder: Path, rounds: int) -> tuple[int, list[str]]:
    """Let two processes sync a folder whose files are renamed; return rounds, and faults."""
    home, docs, chance = folder / "twice", folder / "renamed", random.Random(5)
    docs.mkdir()
    for number in range(40):
        _write(docs / f"{number:03}.md", number)

    def sync() -> Report:
        with Library.open(home) as library:
            library.sources.add(str(docs))
            library.sources.sync(prove=False)
        return {}

    faults = [name for report in _run(sync) for name in report]
    for turn in range(rounds):
        paths = sorted(docs.iterdir())
        for number, path in enumerate(chance.sample(paths, 12)):
            path.rename(docs / f"turn{turn:02}-{number:02}.md")
        one, two, three = chance.sample(sorted(docs.iterdir()), 3)
        one.rename(docs / ".between")
        two.rename(one)
        (docs / ".between").rename(two)
        _write(three, 1_000 + turn)
        faults += [name for report in _run(sync, sync) for name in report]
        faults += _faults(home, [docs])
    return rounds, faults


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Let processes meet."""
    seconds = max(SECONDS * share, 3.0)
    done, faults = four_and_four(folder, seconds)
    print(dict(done), faults, flush=True)
    documents, more = same_file(folder, ADDERS)
    print(documents, more, flush=True)
    rounds, others = same_folder(folder, max(int(10 * share), 2))
    print(rounds, others, flush=True)
    errors = sum(number for what, number in done.items() if what.startswith("error"))
    faults += [*more, *others]
    bars = [
        Bar("seconds of four writing and four reading processes", seconds, least=seconds),
        Bar("errors that reached a caller", errors, most=0),
        Bar("documents lost or torn", done["lost"] + done["torn"], most=0),
        Bar("differences from the folders, and faults of the library", len(faults), most=0),
        Bar("documents beyond one of a file added 16 times at once", documents - 1, most=0),
        Bar("times that two processes synced one folder of renamed files at once", rounds, least=1),
    ]
    rows = tuple(sorted(done.items()))
    return bars, [Table("What was done", ("what", "times"), rows, "; ".join(faults))]
