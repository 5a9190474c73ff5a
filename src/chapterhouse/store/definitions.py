"""Definitions as folders that their owners edit: one below another for each persona or council."""

import errno
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chapterhouse.errors import RefusedError
from chapterhouse.files import lock_folder, make_folder, write_whole

if TYPE_CHECKING:
    from chapterhouse.store.shared_files import SharedFolders

# A folder that holds one of these defines a persona, or a council.
CONFIG_FILE: Final = "persona.config.json"
PROSE_FILE: Final = "persona.md"
RAW: Final = "RAW-DOCS"  # files as they came
RAG: Final = "RAG"  # curated Markdown, which is what is indexed
PERSONA_MARKS: Final = (CONFIG_FILE, PROSE_FILE, RAW, RAG)
COUNCIL_FILE: Final = "council.json"
DOCS: Final = "docs"  # documents that are the council's own
COUNCIL_MARKS: Final = (COUNCIL_FILE, DOCS)


class Definitions:
    """All definitions of one kind: files by name, and a folder for documents.

    What a file may say is not looked at here: the registry parses it and names what is wrong.
    """

    def __init__(
        self,
        path: Path,
        marks: Sequence[str],
        permitted: Collection[str] | None = None,
        shared: "SharedFolders | None" = None,
    ) -> None:
        """Take the folder of all definitions; those of ``permitted`` names alone can be read.

        Args:
            path: The folder.
            marks: What makes a folder in it a definition.
            permitted: Names; any where it is None.
            shared: What keeps the folder equal to those of other machines.
        """
        self._path = path
        self._shared = shared
        self._marks = tuple(marks)
        self._permitted = None if permitted is None else frozenset(permitted)

    def within(self, names: Collection[str]) -> "Definitions":
        """Return definitions of which only those of some names are there; none can be written."""
        return Definitions(self._path, self._marks, names, self._shared)

    def _follow(self) -> None:
        if self._shared is not None:
            self._shared.follow()

    def share(self) -> None:
        """Give other machines what was changed here."""
        if self._shared is not None:
            self._shared.exchange()

    def _is_permitted(self, name: str) -> bool:
        return self._permitted is None or name in self._permitted

    def _require_whole(self, name: str) -> None:
        if self._permitted is not None:
            raise RefusedError(f"Who sees a part of the library cannot write '{name}'.")

    def names(self) -> tuple[str, ...]:
        """Return the names of all folders that look like a definition, sorted.

        What other machines have changed is here then, for what is read next.
        """
        self._follow()
        if not self._path.is_dir():
            return ()
        found = [entry.name for entry in self._path.iterdir() if self._is_definition(entry)]
        return tuple(sorted(found))

    def _is_definition(self, path: Path) -> bool:
        shown = not path.name.startswith((".", "_"))
        marked = any((path / mark).exists() for mark in self._marks)
        return shown and marked and self._is_permitted(path.name)

    def folder(self, name: str) -> Path:
        """Return the folder of a definition, absolute."""
        return self._path / name

    def has(self, name: str, file: str) -> bool:
        """Whether a definition has this file."""
        self._follow()
        return self._is_permitted(name) and (self._path / name / file).exists()

    def read(self, name: str, file: str, most: int) -> bytes:
        """Return the first bytes of a file; a pipe or device would keep us waiting.

        Raises:
            OSError: it is not there, no regular file, or cannot be read.
        """
        if not self._is_permitted(name):
            raise FileNotFoundError(name)
        path = self._path / name / file
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:  # noqa: PTH123 - of a descriptor
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "It is no regular file", str(path))
            return stream.read(most)

    def write(self, name: str, file: str, text: str) -> None:
        """Replace a file as a whole, so that nobody ever reads half of it.

        Raises:
            OSError: it cannot be written; what was there is still there.
        """
        self._require_whole(name)
        write_whole(self._path / name / file, text)
        self.share()

    def make(self, name: str, folders: Sequence[str]) -> None:
        """Make the folder of a definition, with these folders for documents in it."""
        self._require_whole(name)
        for folder in folders:
            make_folder(self._path / name / folder)
        self.share()

    def set_aside(self, name: str) -> Path:
        """Move a folder to a name that is no definition; return where it is then.

        Raises:
            OSError: it cannot be moved.
        """
        self._require_whole(name)
        aside = (
            self._path / f"_{name}{end}"
            for end in chain([""], (f"-{number}" for number in count(2)))
        )
        moved = (self._path / name).rename(next(one for one in aside if not one.exists()))
        self.share()
        return moved

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Keep every other update of a definition on this machine waiting while the block runs."""
        if self._permitted is not None:  # nothing is written
            yield False
            return
        with lock_folder(self._path / name) as held:
            yield held
        self.share()
