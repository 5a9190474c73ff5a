"""What can be wrong with a definition, how it is told, and the checks that both kinds share."""

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.text.naming import storable_path

KeyPath = tuple[str | int, ...]


class Severity(StrEnum):
    """Whether a persona or council cannot be used, or can though something is amiss."""

    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """What is wrong; the values are stable."""

    UNREADABLE = "unreadable"  # the file cannot be read
    NOT_JSON = "not-json"  # it is not UTF-8, not JSON, or no object
    TYPE = "type"  # a value of the wrong kind
    UNKNOWN = "unknown"  # nothing is called so
    DUPLICATE = "duplicate"  # it is there twice
    MISSING = "missing"  # it is needed and not there
    EMPTY = "empty"  # text is needed and there is none
    INVISIBLE = "invisible"  # characters that nobody sees
    NAME = "name"  # it cannot be the name of such a thing
    RESERVED = "reserved"  # Chapterhouse uses the word itself
    MISMATCH = "mismatch"  # it is not what its folder is called
    RANGE = "range"  # too small, too large, too long or too many
    AMBIGUOUS = "ambiguous"  # two things in one place
    MISPLACED = "misplaced"  # it has no meaning here
    ORDER = "order"  # a round stands where it cannot
    CYCLE = "cycle"  # councils that contain each other
    NO_MEMBERS = "no-members"
    NO_ROUNDS = "no-rounds"
    NO_CHAIR = "no-chair-for-synthesis"
    NEEDS_MODEL = "needs-model"  # a warning: without a model all members say the same
    NO_SYNTHESIS = "no-synthesis"  # a warning: nobody sums up
    UNUSED = "unused"  # a warning: it will never matter
    PERSONA_BROKEN = "persona-broken"
    COUNCIL_BROKEN = "council-broken"
    MODEL_UNKNOWN = "model-unknown"
    FOLDER_MISSING = "folder-missing"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a persona or a council.

    Attributes:
        path: Where in the file: keys and numbers from the outside in, as ``("tools", 2)``.
        file: The file below the folder of all definitions, as ``maria/persona.config.json``; the
            slug of a council that has no folder; empty for text that is in no file.
    """

    path: KeyPath
    code: Code
    sentence: str
    hint: str
    severity: Severity = Severity.ERROR
    file: str = ""

    @property
    def slug(self) -> str:
        """Whose problem it is."""
        return self.file.partition("/")[0]

    @property
    def place(self) -> str:
        """The path as people write it, as ``tools[2]``."""
        return spell(self.path)


def spell(path: KeyPath) -> str:
    """Return a path as people write it, as ``members[0].name``."""
    spelled = ""
    for part in path:
        spelled += f"[{part}]" if isinstance(part, int) else f".{part}" if spelled else part
    return spelled


class DefinitionError(UsageError):
    """A definition cannot be used as it is. ``problems`` holds everything wrong in it."""

    kind: ClassVar = "persona"

    def __init__(self, problems: Sequence[Problem]) -> None:
        first, more = problems[0], len(problems) - 1
        others = f" And {more} more: chapterhouse {self.kind} validate." if more else ""
        message = ": ".join(filter(None, (first.file, first.place, first.sentence)))
        super().__init__(message, hint=first.hint + others)
        self.problems = tuple(problems)


class PersonaConfigError(DefinitionError):
    """A persona cannot be used as their folder is."""


class CouncilConfigError(DefinitionError):
    """A council cannot be used as it is."""

    kind: ClassVar = "council"


def warning(path: KeyPath, code: Code, sentence: str, hint: str, file: str = "") -> Problem:
    """Return what is amiss without keeping anybody from using the definition."""
    return Problem(path, code, sentence, hint, Severity.WARNING, file)


def in_file(file: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems as those of ``file``."""
    return (replace(problem, file=file) for problem in problems)


def errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems with which a definition cannot be used."""
    return tuple(problem for problem in problems if problem.severity is Severity.ERROR)


def errors_first(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems, each once, errors before warnings."""
    distinct = dict.fromkeys(problems)
    return tuple(sorted(distinct, key=lambda problem: problem.severity is not Severity.ERROR))


def meant(given: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return what to try instead of ``given``: what is nearest, else all there is."""
    names = sorted(known)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"There are: {', '.join(names)}." if names else otherwise or "There are none yet."


# --- checks ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class References:
    """What a definition may refer to; None where it is not known and nothing is compared.

    Attributes:
        folder: The definition's own, from which relative paths count.
        personas: Every persona, and whether they can be used.
        councils: Every council, with the councils that are its members.
        broken: Councils that cannot meet.
    """

    folder: Path | None = None
    personas: Mapping[str, bool] | None = None
    councils: Mapping[str, tuple[str, ...]] | None = None
    broken: frozenset[str] = frozenset()
    models: frozenset[str] | None = None
    has_model: bool = False
    shelves: frozenset[str] | None = None
    tools: frozenset[str] | None = None


def without_folder(base: Path, folders: Sequence[str], path: str) -> tuple[str, ...]:
    """Return the folders of a definition in ``base`` without one.

    It is named as the definition has it, or by any path to it from here.
    """
    gone = Path(path).expanduser().resolve()
    left = tuple(one for one in folders if one != path and located(base, one).resolve() != gone)
    if len(left) == len(folders):
        known = ", ".join(map(storable_path, folders)) or "none"
        message = f"{base.name} does not read {storable_path(path)}."
        raise NotFoundError(message, hint=f"Its folders are: {known}.")
    return left


def located(folder: Path, written: str) -> Path:
    """Return the path that a definition in ``folder`` means: absolute, ``~``, or relative.

    Raises ``UsageError`` where it names the home of a person who is not there.
    """
    try:
        # Not resolved: a folder that is gone must still be named as its owner wrote it.
        return folder / Path(written).expanduser()
    except RuntimeError:
        raise UsageError(f"There is no home folder for {written!r}.") from None


def mismatch_problems(slug: object, name: str) -> Iterator[Problem]:
    """Name a slug that is not the name of the folder; an empty one is named elsewhere."""
    if isinstance(slug, str) and slug and slug != name:
        sentence = f"It is '{slug}', but the folder is called '{name}'."
        hint = f"Set it to '{name}', or rename the folder."
        yield Problem(("slug",), Code.MISMATCH, sentence, hint)


def folder_problems(
    folders: Sequence[str], own: Path | None, path: KeyPath = ("folders",), *, files: bool = False
) -> Iterator[Problem]:
    """Name folders that are not there; ``own`` is where relative ones begin."""
    for number, written in enumerate(folders):
        yield from folder_problem((*path, number), written, own, files=files)


def folder_problem(
    at: KeyPath, written: str, own: Path | None, *, files: bool = False
) -> Iterator[Problem]:
    """Name what is wrong with a folder, or with a file where ``files`` are right too."""
    if not written.strip():
        yield Problem(at, Code.EMPTY, "It is empty.", "Name a folder.")
        return
    if own is None:
        return
    try:
        folder = located(own, written)
    except UsageError as error:
        yield Problem(at, Code.FOLDER_MISSING, error.message, "Write the whole path.")
        return
    if not (folder.exists() if files else folder.is_dir()):
        kind = "is a file, not a folder" if folder.exists() else "is not there"
        hint = (
            "Check the spelling, and that the disk is there; else remove it from the configuration."
        )
        yield Problem(at, Code.FOLDER_MISSING, f"{folder} {kind}.", hint)


def duplicate_problems(path: KeyPath, keys: Iterable[str], what: str) -> Iterator[Problem]:
    """Name every entry of a list whose key an earlier one has already; empty keys are passed."""
    seen: set[str] = set()
    for number, key in enumerate(keys):
        if key and key in seen:
            sentence = f"{what} '{key}' is there already."
            yield Problem((*path, number), Code.DUPLICATE, sentence, "Leave one of them out.")
        seen.add(key)


def profile_problems(
    path: KeyPath, profile: str, known: Collection[str] | None
) -> Iterator[Problem]:
    """Name a model that the settings do not have; "none" is one that never writes."""
    if known is not None and profile not in {*known, "", "none"}:
        yield Problem(
            path,
            Code.MODEL_UNKNOWN,
            f"The settings have no model '{profile}'.",
            f"Add [models.{profile}] to chapterhouse.toml. {meant(profile, known, '')}".strip(),
        )


def shelf_problems(
    path: KeyPath, shelves: Sequence[str], known: Collection[str] | None, own: Collection[str]
) -> Iterator[Problem]:
    """Name shelves that are not there, and those in ``own``, which are read anyway."""
    for number, shelf in enumerate(shelves):
        at = (*path, number)
        if shelf in own:
            yield warning(at, Code.UNUSED, f"They read '{shelf}' anyway.", "Leave it out.")
        elif known is not None and shelf not in known:
            sentence = f"There is no shelf '{shelf}'."
            yield Problem(at, Code.UNKNOWN, sentence, meant(shelf, known))
