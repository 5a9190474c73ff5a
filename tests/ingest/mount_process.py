"""Disks that come and go, in mounts of this process alone: writes what the library has of them.

Started by ``unshare -Urm``: there mounting is allowed to everybody, and ends with the process.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from chapterhouse.library import Library
from chapterhouse.types import SyncReport

PLACE: Final = Path(sys.argv[2])
DISK, DOCS = PLACE / "disk", PLACE / "docs"
COUNT: Final = 30


def write(folder: Path, count: int = COUNT, word: str = "note") -> None:
    """Write so many documents."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        text = f"# {word} {number}\n\nThe {word} number {number} of the harbour is blue.\n"
        (folder / f"{word}{number}.md").write_text(text)


def mount(*arguments: str | Path) -> None:
    """Mount something."""
    subprocess.run(["mount", *arguments], check=True)


def unmount(point: Path) -> None:
    """Unmount it."""
    subprocess.run(["umount", point], check=True)


def said(reports: tuple[SyncReport, ...]) -> list[object]:
    """Return what the reports say of documents that stay."""
    return [
        [str(Path(one.folder).relative_to(PLACE)), one.documents, one.reason.value]
        for report in reports
        for one in report.staying
    ]


def below_a_source(library: Library) -> None:
    """A disk is away below a source, and comes back; a memory rests on it."""
    write(DISK)
    write(DOCS, 1, "readme")
    (DOCS / "share").mkdir()
    mount("--bind", DISK, DOCS / "share")
    library.documents.add(DOCS)
    library.answers.ask("Which colour has the note number 7 of the harbour?")
    before = count(library), memories(library)
    unmount(DOCS / "share")
    away = said(library.sources.sync()), said(library.sources.sync(confirmed=True))
    during = count(library), memories(library)
    mount("--bind", DISK, DOCS / "share")
    (DISK / "note3.md").unlink()
    back = said(library.sources.sync())
    tell(before, away, during, back, (count(library), memories(library)))


def single_files(library: Library) -> None:
    """Single files of a disk that is away, and one of them deleted in the end."""
    DOCS.mkdir()
    mount("-t", "tmpfs", "stick", DOCS)
    write(DOCS, 5)
    library.documents.add(*DOCS.iterdir())
    mount("--bind", DOCS, make(DISK))
    unmount(DOCS)
    away = said(library.sources.sync())
    mount("--bind", DISK, DOCS)
    (DISK / "note3.md").unlink()
    tell(away, count(library), said(library.sources.sync()), count(library))


def another_disk(library: Library) -> None:
    """Another disk is where one was; then somebody says that the files were deleted."""
    DOCS.mkdir()
    mount("-t", "tmpfs", "one", DOCS)
    write(DOCS, 4)
    library.documents.add(DOCS)
    unmount(DOCS)
    mount("-t", "tmpfs", "two", DOCS)
    write(DOCS, 2)
    other, between = said(library.sources.sync()), count(library)
    tell(other, between, said(library.sources.sync(confirmed=True)), count(library))


def over_files(library: Library) -> None:
    """A disk is mounted over files that were read, and leaves them as they were."""
    write(DOCS, 3)
    library.documents.add(DOCS)
    mount("-t", "tmpfs", "over", DOCS)
    write(DOCS, 2, "leaf")
    over, during = said(library.sources.sync()), count(library)
    unmount(DOCS)
    tell(over, during, said(library.sources.sync()), count(library))


def of_a_persona(library: Library) -> None:
    """The folder of a persona is on a disk."""
    write(DISK, 3)
    mount("--bind", DISK, make(DOCS))
    library.personas.create("maria", display_name="Maria", folders=[str(DOCS)])
    library.sources.sync("maria")
    unmount(DOCS)
    away, during = said(library.sources.sync("maria")), count(library)
    mount("--bind", DISK, DOCS)
    (DISK / "note1.md").unlink()
    tell(away, during, said(library.sources.sync("maria")), count(library))


def make(folder: Path) -> Path:
    """Make a folder."""
    folder.mkdir()
    return folder


def count(library: Library) -> int:
    """Count the documents."""
    return library.status().documents


def memories(library: Library) -> int:
    """Count the memories."""
    return library.memory.count([""])


def tell(*values: object) -> None:
    """Print values for the test."""
    sys.stdout.write(json.dumps(values) + "\n")


SCENES: Final[dict[str, Callable[[Library], None]]] = {
    scene.__name__: scene
    for scene in (below_a_source, single_files, another_disk, over_files, of_a_persona)
}

if __name__ == "__main__":
    with Library.open(PLACE / "home") as opened:
        SCENES[sys.argv[1]](opened)
    shutil.rmtree(PLACE / "home")
