"""A council as its folder has it, and the folders that it links."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from chapterhouse.agents.council import Council
from chapterhouse.agents.definition import is_text
from chapterhouse.agents.problems import located
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.text.naming import storable_path
from chapterhouse.types.personas import COUNCIL_FILE, DOCS


@dataclass(frozen=True, slots=True)
class CouncilFolder:
    """A council as its folder has it."""

    path: Path
    council: Council

    @property
    def slug(self) -> str:
        """Its name in commands."""
        return self.council.slug

    @property
    def docs(self) -> Path:
        """Where the documents are that belong to the council itself."""
        return self.path / DOCS

    @property
    def display_name(self) -> str:
        """How it is called; the slug in words where the file is silent."""
        return self.council.title

    @property
    def file(self) -> Path:
        """The configuration file."""
        return self.path / COUNCIL_FILE

    @property
    def folders(self) -> tuple[Path, ...]:
        """The linked folders, absolute."""
        return self._located(self.council.folders)

    @property
    def member_folders(self) -> dict[str, tuple[Path, ...]]:
        """By shelf, the folders and files that one member alone reads, absolute."""
        return {
            shelf: self._located(member.folders)
            for member in self.council.members
            for shelf in member.own_shelf(self.slug)
        }

    def _located(self, folders: Iterable[str]) -> tuple[Path, ...]:
        return tuple(located(self.path, folder) for folder in folders)


def with_link(folder: CouncilFolder, written: str) -> CouncilFolder:
    """Return the council with a further folder; itself where it has it already.

    Raises:
        NotFoundError: there is no such folder.
        UsageError: its name is no text, which JSON could not hold.
    """
    if not is_text(written):
        raise UsageError(
            f"The name of {storable_path(written)} is not UTF-8.", hint="Rename the folder."
        )
    path = located(folder.path, written)
    if not path.is_dir():
        kind = "is a file, not a folder" if path.exists() else "is not there"
        hint = f"Check the spelling. Single files go into {folder.docs}."
        raise NotFoundError(f"{path} {kind}.", hint=hint)
    if any(path.resolve() == known.resolve() for known in folder.folders):
        return folder
    return CouncilFolder(folder.path, folder.council.link(written))


def without_link(folder: CouncilFolder, written: str) -> CouncilFolder:
    """Return the council without one of its linked folders.

    Args:
        written: The folder as the configuration has it, its path, or its last name.

    Raises:
        NotFoundError: it is not linked.
        UsageError: the last name fits several.
    """
    if not written.strip():
        raise UsageError("The name of a folder is empty.", hint="Is a variable not set?")
    linked = dict(zip(folder.council.folders, folder.folders, strict=True))
    path = located(folder.path, written).resolve()
    fitting = [name for name, at in linked.items() if written == name or path == at.resolve()] or [
        name for name, at in linked.items() if at.name == written
    ]
    if len(fitting) > 1:
        raise UsageError(f"'{written}' fits {len(fitting)} folders.", hint=", ".join(fitting))
    if not fitting:
        hint = f"There are: {', '.join(linked)}" if linked else "None is linked."
        raise NotFoundError(f"'{written}' is not linked to '{folder.slug}'.", hint=hint)
    remaining = [name for name in folder.council.folders if name != fitting[0]]
    return CouncilFolder(folder.path, replace(folder.council, folders=tuple(remaining)))
