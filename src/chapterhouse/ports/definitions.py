"""Where the definitions of personas and of councils are kept."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol


class Definitions(Protocol):
    """All definitions of one kind: files by name, and a folder for documents.

    What a file may say is not looked at here: the registry parses it and names what is wrong.
    """

    def names(self) -> tuple[str, ...]:
        """Return the names of all definitions, sorted, also of those that cannot be used."""

    def folder(self, name: str) -> Path:
        """Return the folder in which the documents of a definition are, absolute.

        Relative paths in the definition count from it. It need not be there.
        """

    def has(self, name: str, file: str) -> bool:
        """Whether a definition has this file."""

    def read(self, name: str, file: str, most: int) -> bytes:
        """Return the first ``most`` bytes of a file.

        Raises:
            OSError: it is not there, no regular file, or cannot be read.
        """

    def write(self, name: str, file: str, text: str) -> None:
        """Replace a file as a whole, so that nobody ever reads half of it.

        Raises:
            OSError: it cannot be written; what was there is still there.
        """

    def make(self, name: str, folders: Sequence[str]) -> None:
        """Make the folder of a definition, with these folders for documents in it.

        Raises:
            OSError: it cannot be made.
        """

    def lock(self, name: str) -> AbstractContextManager[bool]:
        """Keep every other update of a definition waiting while the block runs.

        Yields False where it cannot be locked, as where there is no folder.
        """

    def within(self, names: Collection[str]) -> "Definitions":
        """Return definitions of which only those of some names are there; none can be written."""
