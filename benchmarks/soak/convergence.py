"""Folders as a dictionary: whatever is done to them, one sync makes the library their image.

Three sources on two shelves. After each pass sources, texts and shelves are those of the
dictionary, and a second pass writes nothing but its job and when each source was synced.
"""

import fnmatch
import hashlib
import io
import os
import random
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from chapterhouse.library import Library
from chapterhouse.store.connections import Connections
from measuring import Bar, Table

STEPS: Final = 2_400
SHELVES: Final = {"one": "library", "two": "library", "three": "maria"}
PATTERNS: Final = ((), (), ("sub/",), ("*.txt",), ("n1*",), ("in-1/", "*.zip"))
TIMES: Final = (1_000_000_000, 1_600_000_000, 4_000_000_000)  # a past, a present, a future
KINDS: Final = (
    *("new", "new", "copy", "edit", "quiet edit", "delete", "rename", "swap", "case"),
    *("folder", "over", "across", "archive", "link", "pipe", "folder for file", "hidden"),
    *("patterns", "touch"),
)
Image = dict[str, tuple[str, tuple[str, ...]]]


@dataclass
class Model:
    """What lies in the folders, by ``FOLDER/name``, and what people do to it."""

    root: Path
    chance: random.Random
    files: dict[str, bytes] = field(default_factory=dict)
    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)
    recent: list[str] = field(default_factory=list)
    count: int = 0

    def step(self) -> None:
        """Do one thing."""
        kind = self.chance.choice(KINDS)
        some = sorted(self.files)
        if len(some) < 2 or (kind in ("new", "copy", "archive") and len(some) > 60):
            kind = "new" if len(some) < 2 else "delete"
        one, two = self.chance.sample(some, 2) if len(some) > 1 else ("", "")
        self.done[kind] += 1
        self.recent.append(f"{kind}: {one}, {two}")
        getattr(self, f"_{kind.replace(' ', '_')}")(one, two)

    def image(self) -> Image:
        """Return what the library has to hold: text and shelves by source."""
        found: Image = {}
        for name, data in self.files.items():
            folder, _, below = name.partition("/")
            if not _is_read(below, self.patterns.get(folder, ())):
                continue
            shelves = (SHELVES[folder],)
            if name.endswith(".zip"):
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    for member in archive.namelist():
                        found[f"{name}/{member}"] = archive.read(member).decode(), shelves
            else:
                found[name] = data.decode(), shelves
        return found

    # --- what is done --------------------------------------------------------------------------

    def _new(self, _one: str, _two: str) -> None:
        self._place(self._name(), self._text())

    def _copy(self, one: str, _two: str) -> None:
        self._place(self._name(Path(one).suffix), self.files[one])

    def _edit(self, one: str, _two: str) -> None:
        self._place(one, self._archive_bytes() if one.endswith(".zip") else self._text())

    def _quiet_edit(self, one: str, _two: str) -> None:
        """Change a text to one of the same size, and set its time back."""
        if one.endswith(".zip"):
            return
        status = (self.root / one).stat()
        self.count += 1
        size = len(self.files[one])
        data = f"{self.count:06} quiet windows of a lighthouse and no more. ".encode()
        self.files[one] = (data * (size // len(data) + 1))[: size - 1] + b"."
        (self.root / one).write_bytes(self.files[one])
        os.utime(self.root / one, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _delete(self, one: str, _two: str) -> None:
        self._clear(one)

    def _rename(self, one: str, _two: str) -> None:
        self._move(one, self._name(Path(one).suffix))

    def _swap(self, one: str, two: str) -> None:
        if Path(one).suffix != Path(two).suffix:
            return
        self._move(one, "one/between.md")
        self._move(two, one)
        self._move("one/between.md", two)

    def _case(self, one: str, _two: str) -> None:
        path = Path(one)
        self._move(one, str(path.with_name(path.stem.swapcase() + path.suffix)))

    def _folder(self, one: str, _two: str) -> None:
        place = one.partition("/")[0]
        self._move(one, f"{place}/in-{self.chance.randint(0, 2)}/{Path(one).name}")

    def _over(self, one: str, two: str) -> None:
        if Path(one).suffix == Path(two).suffix:
            self._move(one, two)

    def _across(self, one: str, _two: str) -> None:
        other = self.chance.choice([name for name in SHELVES if not one.startswith(f"{name}/")])
        self._move(one, f"{other}/{one.partition('/')[2]}")

    def _archive(self, _one: str, _two: str) -> None:
        self._place(self._name(".zip"), self._archive_bytes())

    def _link(self, one: str, two: str) -> None:
        """Put a link in the place of a file: to another file, or to nothing."""
        self._clear(one)
        target = self.root / self.chance.choice([two, "nowhere"])
        (self.root / one).symlink_to(target)

    def _pipe(self, one: str, _two: str) -> None:
        self._clear(one)
        os.mkfifo(self.root / one)

    def _folder_for_file(self, one: str, _two: str) -> None:
        self._place(f"{one}/inside.md", self._text())

    def _hidden(self, one: str, _two: str) -> None:
        path = Path(one)
        self._clear(str(path.with_name(f".{path.name}")))
        (self.root / one).rename(self.root / path.with_name(f".{path.name}"))
        del self.files[one]

    def _patterns(self, one: str, _two: str) -> None:
        self.patterns[one.partition("/")[0]] = self.chance.choice(PATTERNS)

    def _touch(self, one: str, _two: str) -> None:
        os.utime(self.root / one, (self.chance.choice(TIMES),) * 2)

    # --- inside --------------------------------------------------------------------------------

    def _name(self, suffix: str = "") -> str:
        place = self.chance.choice([*SHELVES])
        folder = self.chance.choice(["", "", "sub/", "sub/deep/"])
        suffix = suffix or self.chance.choice([".md", ".md", ".txt"])
        return f"{place}/{folder}n{self.chance.randint(0, 9)}{suffix}"

    def _text(self) -> bytes:
        self.count += 1
        text = f"Text number {self.count} of the lighthouse, which has {self.count} windows."
        return text.encode()

    def _archive_bytes(self) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for number in range(self.chance.randint(1, 3)):
                archive.writestr(f"member{number}.md", self._text())
        return made.getvalue()

    def _place(self, name: str, data: bytes) -> None:
        if name not in self.files:
            self._clear(name)
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if self.chance.random() < 0.7:
            os.utime(path, (self.chance.choice(TIMES),) * 2)
        self.files[name] = data

    def _move(self, one: str, two: str) -> None:
        if one == two or two.startswith(f"{one}/"):
            return
        data = self.files.pop(one)
        kept = self.root / "moving"
        (self.root / one).rename(kept)
        self._clear(two)
        (self.root / two).parent.mkdir(parents=True, exist_ok=True)
        kept.rename(self.root / two)
        self.files[two] = data

    def _clear(self, name: str) -> None:
        """Remove whatever lies at a name, and what is no folder on the way there."""
        parts = name.split("/")
        for depth in range(2, len(parts)):
            above = self.root.joinpath(*parts[:depth])
            if above.is_symlink() or (above.exists() and not above.is_dir()):
                above.unlink()
                self.files.pop("/".join(parts[:depth]), None)
        path = self.root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        below = [one for one in self.files if one == name or one.startswith(f"{name}/")]
        for one in below:
            del self.files[one]


def _is_read(below: str, patterns: tuple[str, ...]) -> bool:
    parts = below.split("/")
    for depth, part in enumerate(parts):
        for pattern in patterns:
            is_folder = depth < len(parts) - 1
            if pattern.endswith("/") and not is_folder:
                continue
            if fnmatch.fnmatchcase(part, pattern.rstrip("/")):
                return False
    return True


def _difference(library: Library, image: Image) -> str:
    """Return how a library differs from what it has to hold; empty where it does not."""
    documents = list(library.documents.list())
    found = {one.source: (library.documents.body(one.id).text, one.shelves) for one in documents}
    if len(found) != len(documents):
        return "two documents have one source"
    wanted = {name: (text.strip(), shelves) for name, (text, shelves) in image.items()}
    if found == wanted:
        return ""
    more, less = sorted(found.keys() - wanted.keys()), sorted(wanted.keys() - found.keys())
    other = sorted(name for name in found.keys() & wanted.keys() if found[name] != wanted[name])
    return f"too many {more}, missing {less}, different {other}"


class Writes:
    """Counts what is written to a library but the record of the job and of the sources."""

    def __init__(self, library: Library) -> None:
        connections = library._runtime.store._connections  # noqa: SLF001 - what no user can see
        assert isinstance(connections, Connections)
        self._writer = connections._writer  # noqa: SLF001 - likewise
        self._folder = library.folder
        self._jobs = 0
        self._writer.set_update_hook(self._note)

    def _note(self, _kind: int, _database: str, table: str, _row: int) -> None:
        self._jobs += table == "job"

    def rows(self) -> int:
        """Return how many rows were changed so far."""
        return int(self._writer.total_changes()) - self._jobs

    def contents(self) -> dict[str, object]:
        """Return what all tables hold, and the files beside the database."""
        return {**dict(self._tables()), **dict(self._files())}

    def _tables(self) -> Iterator[tuple[str, object]]:
        names = self._writer.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        for (name,) in names.fetchall():
            if name not in ("job", "source", "sqlite_sequence"):  # which counts the jobs
                rows = self._writer.execute(f'SELECT * FROM "{name}"').fetchall()
                yield f"table {name}", hashlib.sha256(repr(rows).encode()).hexdigest()

    def _files(self) -> Iterator[tuple[str, object]]:
        for path in sorted(self._folder.rglob("*")):
            if path.is_file() and not path.name.startswith("library.db"):
                status = path.stat()
                yield str(path.relative_to(self._folder)), (status.st_mtime_ns, status.st_size)


def run(
    folder: Path, seed: int, steps: int, *, deleting: bool = True
) -> tuple[Counter[str], list[str]]:
    """Sync after every few steps; return what was done, and faults: after the first it ends.

    Args:
        folder: An empty one.
        seed: Of the steps.
        steps: How many, at least.
        deleting: Whether syncs delete, as they do; False shows that the check would notice.
    """
    chance = random.Random(seed)
    model = Model(folder / "docs", chance)
    faults: list[str] = []
    for name in SHELVES:
        (model.root / name).mkdir(parents=True)
    with Library.open(folder / "home") as library:
        writes = Writes(library)
        while model.done.total() - model.done["passes"] < steps and not faults:
            model.recent.clear()
            for _ in range(chance.randint(1, 8)):
                model.step()
            if chance.random() < 0.5:
                time.sleep(0.06)  # the files are no longer young
            for name, shelf in SHELVES.items():
                patterns = model.patterns.get(name, ())
                place = str(model.root / name)
                library.sources.add(place, shelf=shelf, exclude=patterns)
            problem = _pass(library, model, writes, deleting=deleting)
            model.done["passes"] += 1
            if not problem and model.done["passes"] % 40 == 0:
                problem = "; ".join(library.faults())
            if problem:
                where = f"seed {seed}, pass {model.done['passes']}"
                faults.append(f"{where}: {problem}; {model.recent}")
        if not faults:
            faults += library.faults()
    return model.done, faults


def _pass(library: Library, model: Model, writes: Writes, *, deleting: bool) -> str:
    library.sources.sync(delete=deleting, confirmed=True, prove=False)
    problem = _difference(library, model.image())
    if problem:
        return problem
    rows, before = writes.rows(), writes.contents()
    reports = library.sources.sync(confirmed=True, prove=False)
    rows, after = writes.rows() - rows, writes.contents()
    if any(report.changed for report in reports):
        return f"a second pass changed {sum(report.changed for report in reports)}"
    if after != before:
        written = sorted({name for name, _ in after.items() ^ before.items()})
        return f"a second pass wrote to {written}"
    if rows != len(SHELVES):  # when each source was synced
        return f"a second pass wrote {rows - len(SHELVES)} rows"
    return ""


def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    """Do the steps in six libraries."""
    done: Counter[str] = Counter()
    faults: list[str] = []
    for seed in range(6):
        some, found = run(folder / str(seed), seed, max(int(STEPS * share) // 6, 10))
        done += some
        faults += found
        print(f"seed {seed}: {some['passes']} passes, {found}", flush=True)
    passes = done.pop("passes")
    rows = tuple(sorted(done.items()))
    bars = [
        Bar("steps", done.total(), least=int(STEPS * share) if share < 1 else 2_000),
        Bar("passes after which the library differed or a second one wrote", len(faults), most=0),
    ]
    note = f"{passes} passes, and as many second ones. {' '.join(faults)}".strip()
    return bars, [Table("What was done to the folders", ("what", "times"), rows, note)]
