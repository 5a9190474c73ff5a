"""Checks that the definitions of personas and of councils share."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Final

from chapterhouse.agents.council_model import ToolRef, tool_name
from chapterhouse.agents.problems import Code, Path, Problem, meant, warning
from chapterhouse.errors import UsageError
from chapterhouse.text.naming import valid_name
from chapterhouse.text.sanitise import sanitise, sanitise_line

# Shelves, words of commands, and folders that are not a persona's or council's own.
RESERVED: Final = frozenset(
    (
        "all",
        "council",
        "councils",
        "everyone",
        "general",
        "library",
        "none",
        "persona",
        "personas",
        "shared",
    )
)
LONGEST_SLUG: Final = 40
KEBAB: Final = r"[a-z0-9]+(?:-[a-z0-9]+)*"
LONGEST_NAME: Final = 80  # characters
LONGEST_TEXT: Final = 20_000
LONGEST_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class References:
    """What a definition may refer to; None where it is not known and nothing is compared.

    Attributes:
        folder: The definition's own, from which relative paths count.
        personas: Every persona, and whether they can be used.
        councils: Every council, with the councils that are its members.
        broken: Councils that cannot meet.
        models: The models that the settings name.
        shelves: Every shelf there is.
        tools: The tools that are registered by name.
    """

    folder: FilePath | None = None
    personas: Mapping[str, bool] | None = None
    councils: Mapping[str, tuple[str, ...]] | None = None
    broken: frozenset[str] = frozenset()
    models: frozenset[str] | None = None
    shelves: frozenset[str] | None = None
    tools: frozenset[str] | None = None


def resolve_path(folder: FilePath, written: str) -> FilePath:
    """Return the path that a definition in ``folder`` means: absolute, ``~``, or relative.

    Raises:
        UsageError: it names the home of a person who is not there.
    """
    try:
        # Not resolved: a folder that is gone must still be named as its owner wrote it.
        return folder / FilePath(written).expanduser()
    except RuntimeError:
        raise UsageError(f"There is no home folder for {written!r}.") from None


def slug_problems(slug: str, kind: str, example: str) -> Iterator[Problem]:
    """Name what keeps a ``kind`` ("persona" or "council") from being called ``slug``."""
    hint = f"Use lower-case letters, digits and single hyphens, at most {LONGEST_SLUG}: {example}"
    if not slug:
        yield Problem(("slug",), Code.EMPTY, "It is empty.", hint)
    elif not re.fullmatch(KEBAB, slug) or len(slug) > LONGEST_SLUG:
        yield Problem(("slug",), Code.NAME, f"'{slug}' cannot be the name of a {kind}.", hint)
    elif slug in RESERVED:
        sentence = f"'{slug}' cannot be the name of a {kind}: Chapterhouse uses the word itself."
        yield Problem(("slug",), Code.RESERVED, sentence, f"Choose another, like: {example}")


def require_slug(slug: str, kind: str, example: str) -> None:
    """Check that a ``kind`` can be called ``slug``.

    Raises:
        UsageError: it cannot.
    """
    for problem in slug_problems(slug, kind, example):
        raise UsageError(problem.sentence if slug else "The name is empty.", hint=problem.hint)


def mismatch_problems(slug: object, name: str) -> Iterator[Problem]:
    """Name a slug that is not the name of the folder; an empty one is named elsewhere."""
    if isinstance(slug, str) and slug and slug != name:
        sentence = f"It is '{slug}', but the folder is called '{name}'."
        hint = f"Set it to '{name}', or rename the folder."
        yield Problem(("slug",), Code.MISMATCH, sentence, hint)


def folder_problems(folders: Sequence[str], own: FilePath | None) -> Iterator[Problem]:
    """Name folders that are not there; ``own`` is where relative ones begin."""
    for number, written in enumerate(folders):
        at = ("folders", number)
        if not written.strip():
            yield Problem(at, Code.EMPTY, "It is empty.", "Name a folder.")
            continue
        if own is None:
            continue
        try:
            folder = resolve_path(own, written)
        except UsageError as error:
            yield Problem(at, Code.FOLDER_MISSING, error.message, "Write the whole path.")
            continue
        if not folder.is_dir():
            kind = "is a file, not a folder" if folder.exists() else "is not there"
            hint = "Check the spelling, and that the disk is there."
            yield Problem(at, Code.FOLDER_MISSING, f"{folder} {kind}.", hint)


def line_problems(path: Path, text: str, longest: int = LONGEST_NAME) -> Iterator[Problem]:
    """Name what is wrong with a text that stands on one line; an empty one is right."""
    if sanitise_line(text) != text:
        sentence = "It must be one line without invisible characters, single spaces between words."
        yield Problem(path, Code.INVISIBLE, sentence, "Type it anew.")
    yield from _length(path, text, longest)


def text_problems(path: Path, text: str) -> Iterator[Problem]:
    """Name what is wrong with a text of any number of lines; an empty one is right."""
    if sanitise(text).text != text:
        sentence = "It holds characters that nobody sees, which a model would read."
        yield Problem(path, Code.INVISIBLE, sentence, "Type it anew, line by line.")
    yield from _length(path, text, LONGEST_TEXT)


def _length(path: Path, text: str, longest: int) -> Iterator[Problem]:
    if len(text) > longest:
        sentence = f"It has {len(text):,} characters, at most {longest:,} are taken."
        yield Problem(path, Code.RANGE, sentence, "Make it shorter.")


def count_problems(path: Path, entries: Sequence[object], most: int) -> Iterator[Problem]:
    """Name a list that is too long."""
    if len(entries) > most:
        sentence = f"There are {len(entries):,}, at most {most} are taken."
        yield Problem(path, Code.RANGE, sentence, "Leave some out.")


def duplicate_problems(path: Path, keys: Iterable[str], what: str) -> Iterator[Problem]:
    """Name every entry of a list whose key an earlier one has already; empty keys are passed."""
    seen: set[str] = set()
    for number, key in enumerate(keys):
        if key and key in seen:
            sentence = f"{what} '{key}' is there already."
            yield Problem((*path, number), Code.DUPLICATE, sentence, "Leave one of them out.")
        seen.add(key)


def seconds_problems(path: Path, seconds: float | None) -> Iterator[Problem]:
    """Name a time that is none."""
    if seconds is not None and not 0 < seconds <= LONGEST_SECONDS:
        sentence = f"It must be above 0 and at most {LONGEST_SECONDS:,} seconds, not {seconds}."
        yield Problem(path, Code.RANGE, sentence, "Most want 60 to 600.")


def tool_problems(
    path: Path, tools: Sequence[ToolRef], known: Collection[str] | None
) -> Iterator[Problem]:
    """Name tools that nobody registered, and those that are there twice.

    Whether two names stand for one tool, or one name for two, is seen when they are resolved.
    """
    seen: list[ToolRef] = []
    for number, tool in enumerate(tools):
        if not tool_name(tool):
            yield Problem((*path, number), Code.EMPTY, "It is empty.", "Name a tool.")
        elif isinstance(tool, str) and known is not None and tool not in known:
            sentence = f"There is no tool '{tool}'."
            yield Problem((*path, number), Code.UNKNOWN, sentence, meant(tool, known))
        elif any(tool is earlier or tool == earlier for earlier in seen):
            sentence = f"The tool '{tool_name(tool)}' is there already."
            yield warning((*path, number), Code.DUPLICATE, sentence, "Leave one of them out.")
        seen.append(tool)


def model_problems(path: Path, model: str, known: Collection[str] | None) -> Iterator[Problem]:
    """Name a model that the settings do not have; "none" is one that never writes."""
    if known is not None and model not in {*known, "", "none"}:
        yield Problem(
            path,
            Code.MODEL_UNKNOWN,
            f"The settings have no model '{model}'.",
            f"Add [models.{model}] to chapterhouse.toml. {meant(model, known, '')}".strip(),
        )


def shelf_problems(
    path: Path, shelves: Sequence[str], known: Collection[str] | None, own: Collection[str]
) -> Iterator[Problem]:
    """Name shelves that are not there, and those in ``own``, which are read anyway."""
    for number, shelf in enumerate(shelves):
        at = (*path, number)
        if not valid_name(shelf):
            sentence = f"'{shelf}' cannot be the name of a shelf."
            yield Problem(at, Code.NAME, sentence, "See the shelves: chapterhouse status")
        elif shelf in own:
            yield warning(at, Code.UNUSED, f"They read '{shelf}' anyway.", "Leave it out.")
        elif known is not None and shelf not in known:
            sentence = f"There is no shelf '{shelf}'."
            yield Problem(at, Code.UNKNOWN, sentence, meant(shelf, known))
