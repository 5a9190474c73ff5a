"""A council's folder, which is the truth about it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from chapterhouse.agents.checks import (
    References,
    mismatch_problems,
    require_slug,
    resolve_path,
)
from chapterhouse.agents.council import (
    Council,
    ParsedCouncil,
    as_object,
    council_of,
    council_schema,
)
from chapterhouse.agents.council_checks import check_council
from chapterhouse.agents.definition_json import (
    is_text,
    read_object,
    with_changes,
    write_object,
)
from chapterhouse.agents.problems import CouncilConfigError, Problem, errors, errors_first, in_file
from chapterhouse.agents.problems import Path as Place
from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.files import make_folder
from chapterhouse.text.naming import storable_path

COUNCIL_FILE: Final = "council.json"
DOCS: Final = "docs"
_MARKS: Final = (COUNCIL_FILE, DOCS)


@dataclass(frozen=True, slots=True)
class CouncilFolder:
    """A council as its folder has it.

    Attributes:
        path: The folder, absolute.
        council: What ``council.json`` says.
    """

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
    def file(self) -> Path:
        """The configuration file."""
        return self.path / COUNCIL_FILE

    @property
    def folders(self) -> tuple[Path, ...]:
        """The linked folders, absolute."""
        return tuple(resolve_path(self.path, folder) for folder in self.council.folders)


def names(councils: Path) -> tuple[str, ...]:
    """Return the names of all folders below ``councils`` that look like a council's, sorted."""
    if not councils.is_dir():
        return ()
    found = [
        entry.name
        for entry in councils.iterdir()
        if not entry.name.startswith((".", "_")) and any((entry / mark).exists() for mark in _MARKS)
    ]
    return tuple(sorted(found))


def read_council(path: Path) -> ParsedCouncil:
    """Read the file ``path``; what is wrong with its form is in the result."""
    hint = "chapterhouse council new SLUG makes what is missing in a folder."
    return council_of(read_object(path, hint, council_schema()))


def form_problems(parsed: ParsedCouncil, name: str) -> tuple[Problem, ...]:
    """Return why what was read in the folder ``name`` cannot be the council of that name."""
    slug = parsed.council.slug if parsed.council else ""
    found = (*parsed.problems, *mismatch_problems(slug, name))
    return tuple(in_file(f"{name}/{COUNCIL_FILE}", found))


def check_parsed(parsed: ParsedCouncil, name: str, references: References) -> tuple[Problem, ...]:
    """Return all that is wrong with what was read in the folder ``name``, errors first.

    What follows only from something that could not be read is not named besides.
    """
    found = form_problems(parsed, name)
    if parsed.council is None:
        return found
    council = replace(parsed.council, slug=parsed.council.slug or name)
    followed = (
        problem
        for problem in check_council(council, references, f"{name}/{COUNCIL_FILE}")
        if not any(_overlap(problem.path, wrong.path) for wrong in parsed.problems)
    )
    return errors_first((*found, *followed))


def _overlap(one: Place, other: Place) -> bool:
    """Whether one path lies at or below the other."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def load(path: Path) -> CouncilFolder:
    """Read the council's folder ``path``.

    Raises:
        CouncilConfigError: with everything for which the file cannot be read as a council, or is
            another one's. Whether the council can meet is for ``check_parsed`` to say.
    """
    parsed = read_council(path / COUNCIL_FILE)
    wrong = errors(form_problems(parsed, path.name))
    if wrong or parsed.council is None:
        raise CouncilConfigError(wrong)
    return CouncilFolder(path, parsed.council)


def create(councils: Path, council: Council) -> CouncilFolder:
    """Make a council's folder, or what is missing in one; write over nothing.

    Raises:
        UsageError: it cannot be called so.
        RefusedError: it is there already.
    """
    require_slug(council.slug, "council", "berth-tariffs")
    path = councils / council.slug
    if (path / COUNCIL_FILE).exists():
        raise RefusedError(
            f"There is a council '{council.slug}' already, in {path}.",
            hint=f"Change {COUNCIL_FILE} in it, or choose another name.",
        )
    make_folder(path / DOCS)
    write_object(path / COUNCIL_FILE, as_object(council))  # last: with it the council exists
    return CouncilFolder(path, council)


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
    path = resolve_path(folder.path, written)
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
        folder: The council.
        written: The folder as the configuration has it, its path, or its last name.

    Raises:
        NotFoundError: it is not linked.
        UsageError: the last name fits several.
    """
    if not written.strip():
        raise UsageError("The name of a folder is empty.", hint="Is a variable not set?")
    linked = dict(zip(folder.council.folders, folder.folders, strict=True))
    path = resolve_path(folder.path, written).resolve()
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


def write_links(folder: CouncilFolder) -> None:
    """Write a council's linked folders into its file, and leave all else as its owner wrote it.

    Raises:
        CouncilConfigError: the file has become something else meanwhile; nothing was written.
    """
    parsed = read_council(folder.file)
    parsed.required()
    changes = {"folders": list(folder.council.folders)}
    write_object(folder.file, with_changes(parsed.raw or {}, changes))
