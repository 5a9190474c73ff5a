"""Planted damage: does ``verify`` find it, does ``repair`` repair it, and what does a look cost?

    python benchmarks/verify.py [--only WORD] [--no-speed]

A library of small and of large files with memories; for each kind of damage a copy of it, spoilt,
verified, repaired and verified again. Then the time of ``verify``, ``verify --quick`` and
``doctor`` in a library of 10,000 chunks. Takes two minutes.
"""

import argparse
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.errors import ChapterhouseError
from chapterhouse.library import Library
from damage import OLD, Damage, damages
from measuring import Bar, Machine, Row, Table, finish

LARGE = 80_000  # characters: above what lies in the database
SPEED_FILES = 1_250
WORDS = ("harbour", "ferry", "gate", "ticket", "storm", "berth", "crew", "wind", "lamp", "rope")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one damage: whether it was found, and what was left after the repair."""

    damage: Damage
    found: bool
    crash: str
    left: tuple[str, ...]

    @property
    def is_repaired(self) -> bool:
        """Whether nothing was left."""
        return not self.left and not self.crash


def paragraph(number: int) -> str:
    """Return some sentences that no other paragraph has."""
    words = [WORDS[(number * 7 + place * place) % len(WORDS)] for place in range(60)]
    return f"Entry {number}. The harbour master (HM) wrote: {' '.join(words)}, no {number}."


def write_documents(folder: Path, files: int, *, large: int = 0) -> None:
    """Write Markdown files, some of them larger than what lies in the database."""
    folder.mkdir(parents=True)
    for number in range(files):
        parts = [f"## Part {part}\n\n{paragraph(number * 100 + part)}" for part in range(8)]
        text = f"# Log {number}\n\n" + "\n\n".join(parts) + "\n"
        if number < large:
            more = (paragraph(50_000 + number * 1_000 + part) for part in range(300))
            text += "\n\n".join(more)
        path = folder / f"log-{number:04}.md"
        path.write_text(text, "utf-8")
        os.utime(path, (OLD, OLD))


def copy_document(folder: Path) -> None:
    """Copy a file that has pages."""
    source = Path(__file__).parent.parent / "examples/varnholm-ferry/finance/budget-2026.xlsx"
    shutil.copyfile(source, folder / "sheets.xlsx")
    os.utime(folder / "sheets.xlsx", (OLD, OLD))


def make_library(home: Path, folder: Path) -> None:
    """Make the library of a folder, with two memories."""
    with Library.open(home) as library:
        library.documents.add(folder)
        library.answers.ask("What did the harbour master write in entry 3?")
        library.answers.ask("What did the harbour master write in entry 104?")


def content_of(home: Path) -> dict[str, object]:
    """Return what a library holds, by location, as it must be again after a repair."""
    with Library.open(home) as library:
        return {
            one.location: (
                one.id, one.title, one.source, one.shelves, one.language, one.text_sha256,
                one.metadata, one.sha256,
                [(each.text, each.header, each.page) for each in library.documents.chunks(one.id)],
            )
            for one in library.documents.list()
        }  # fmt: skip


def outcome(damage: Damage, home: Path, wanted: dict[str, object]) -> Result:
    """Spoil a copy of a library, verify, repair (which verifies), compare with what it was."""
    damage.plant(home)
    crash, found = "", False
    left: tuple[str, ...] = ("not looked at",)
    try:
        seen = Library.verify(home)
        found = bool(seen.findings)
        report = Library.repair(home, found=seen)
        left = tuple(f"{one.finding.sentence} {one.reason}" for one in report.left)
        if not left and (now := content_of(home)) != wanted:
            differs = [name for name in wanted if now.get(name) != wanted[name]]
            left = (
                f"{len(differs)} documents, {len(now) - len(wanted)} more, are not what they were",
            )
    except ChapterhouseError as error:
        left = (error.message,)
    except BaseException as error:  # noqa: BLE001 - a crash is what is looked for
        crash = f"{type(error).__name__}: {error}"
    return Result(damage, found, crash, left)


def every_outcome(home: Path, place: Path, wanted: str) -> Iterator[Result]:
    """Yield what became of each damage, each in a copy of its own."""
    content = content_of(home)
    for damage in damages():
        if wanted not in damage.name:
            continue
        shutil.copytree(home, place)
        result = outcome(damage, place, content)
        shutil.rmtree(place)
        if not result.found or result.crash or (damage.repairable and result.left):
            print(f"{damage.name}: found {result.found} {result.crash} {result.left}"[:400])
        yield result


def speeds(place: Path) -> tuple[list[Row], int, float]:
    """Return seconds of each look in a library of 10,000 chunks, its chunks, and of ``verify``."""
    write_documents(place / "docs", SPEED_FILES)
    home = place / "home"
    with Library.open(home) as library:
        library.documents.add(place / "docs")
        chunks = library.status().chunks
        looks: dict[str, Callable[[], object]] = {
            "verify": library.upkeep.verify,
            "verify --quick": lambda: library.upkeep.verify(quick=True),
            "doctor": library.doctor,
        }
        rows: list[Row] = []
        for name, look in looks.items():
            taken = []
            for _ in range(3):
                began = time.perf_counter()
                look()
                taken.append(time.perf_counter() - began)
            rows.append((name, min(taken), sorted(taken)[1], max(taken)))
        findings = len(library.upkeep.verify().findings)
    return rows, chunks, float(findings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only damage whose name has this in it")
    parser.add_argument("--no-speed", action="store_true", help="leave the times out")
    options = parser.parse_args()
    machine = Machine()
    with TemporaryDirectory() as name:
        place = Path(name).resolve()
        write_documents(place / "docs", 8, large=1)
        copy_document(place / "docs")
        make_library(place / "home", place / "docs")
        sound = len(Library.verify(place / "home").findings)
        results = list(every_outcome(place / "home", place / "copy", options.only))
        rows, chunks, faults = ([], 0, 0.0) if options.no_speed else speeds(place / "speed")
    found = sum(one.found for one in results)
    wanted = [one for one in results if one.damage.repairable]
    repaired = sum(one.is_repaired for one in wanted)
    bars = [
        Bar("kinds and places of damage", len(results), least=40),
        Bar("found, of all", found / max(len(results), 1), least=1.0),
        Bar("crashes", sum(bool(one.crash) for one in results), most=0),
        Bar(
            "repaired, of what the bytes or files allow", repaired / max(len(wanted), 1), least=1.0
        ),
        Bar("findings in sound libraries", sound + faults, most=0),
    ]
    print(Counter(one.is_repaired for one in results))
    cells: list[Row] = [
        (
            one.damage.place,
            one.damage.kind,
            "yes" if one.found else "**no**",
            "yes" if one.is_repaired else "no: " + one.left[0][:160] if one.left else one.crash,
        )
        for one in results
    ]
    tables = [
        Table("Damage", ("place", "what was done", "found", "repaired"), tuple(cells)),
        Table(
            f"Seconds in a library of {chunks:,} chunks",
            ("look", "least", "median", "most"),
            tuple(rows),
        ),
    ]
    write = not options.only and not options.no_speed
    return finish("verify", "Planted damage", bars, tables, machine.setting(), write=write)


if __name__ == "__main__":
    sys.exit(main())
