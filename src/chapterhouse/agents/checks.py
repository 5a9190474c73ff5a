"""Checks of single values that councils, members and rounds share."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from chapterhouse.agents.council_model import ToolRef, tool_name
from chapterhouse.agents.council_problems import Code, CouncilProblem, Path, meant
from chapterhouse.agents.problems import Severity
from chapterhouse.text.naming import valid_name
from chapterhouse.text.sanitise import sanitise, sanitise_line

LONGEST_NAME: Final = 80  # characters
LONGEST_TEXT: Final = 20_000
LONGEST_SECONDS: Final = 86_400


def problem(path: Path, code: Code, sentence: str, hint: str) -> CouncilProblem:
    """Return an error."""
    return CouncilProblem(path, code, sentence, hint)


def warning(path: Path, code: Code, sentence: str, hint: str) -> CouncilProblem:
    """Return what is amiss without keeping the council from meeting."""
    return CouncilProblem(path, code, sentence, hint, Severity.WARNING)


def line_problems(path: Path, text: str, longest: int = LONGEST_NAME) -> Iterator[CouncilProblem]:
    """Name what is wrong with a text that stands on one line; an empty one is right."""
    if sanitise_line(text) != text:
        sentence = "It must be one line without invisible characters, single spaces between words."
        yield problem(path, Code.INVISIBLE, sentence, "Type it anew.")
    yield from _length(path, text, longest)


def text_problems(path: Path, text: str) -> Iterator[CouncilProblem]:
    """Name what is wrong with a text of any number of lines; an empty one is right."""
    if sanitise(text).text != text:
        sentence = "It holds characters that nobody sees, which a model would read."
        yield problem(path, Code.INVISIBLE, sentence, "Type it anew, line by line.")
    yield from _length(path, text, LONGEST_TEXT)


def _length(path: Path, text: str, longest: int) -> Iterator[CouncilProblem]:
    if len(text) > longest:
        sentence = f"It has {len(text):,} characters, at most {longest:,} are taken."
        yield problem(path, Code.RANGE, sentence, "Make it shorter.")


def count_problems(path: Path, entries: Sequence[object], most: int) -> Iterator[CouncilProblem]:
    """Name a list that is too long."""
    if len(entries) > most:
        sentence = f"There are {len(entries):,}, at most {most} are taken."
        yield problem(path, Code.RANGE, sentence, "Leave some out.")


def duplicate_problems(path: Path, keys: Iterable[str], what: str) -> Iterator[CouncilProblem]:
    """Name every entry of a list whose key an earlier one has already; empty keys are passed."""
    seen: set[str] = set()
    for number, key in enumerate(keys):
        if key and key in seen:
            sentence = f"{what} '{key}' is there already."
            yield problem((*path, number), Code.DUPLICATE, sentence, "Leave one of them out.")
        seen.add(key)


def seconds_problems(path: Path, seconds: float | None) -> Iterator[CouncilProblem]:
    """Name a time that is none."""
    if seconds is not None and not 0 < seconds <= LONGEST_SECONDS:
        sentence = f"It must be above 0 and at most {LONGEST_SECONDS:,} seconds, not {seconds}."
        yield problem(path, Code.RANGE, sentence, "Most want 60 to 600.")


def tool_problems(
    path: Path, tools: Sequence[ToolRef], known: Collection[str] | None
) -> Iterator[CouncilProblem]:
    """Name tools that nobody registered, and those that stand there twice.

    Whether two names stand for one tool, or one name for two, is seen when they are resolved.
    """
    seen: list[ToolRef] = []
    for number, tool in enumerate(tools):
        if not tool_name(tool):
            yield problem((*path, number), Code.EMPTY, "It is empty.", "Name a tool.")
        elif isinstance(tool, str) and known is not None and tool not in known:
            sentence = f"There is no tool '{tool}'."
            yield problem((*path, number), Code.UNKNOWN, sentence, meant(tool, known))
        elif any(tool is earlier or tool == earlier for earlier in seen):
            sentence = f"The tool '{tool_name(tool)}' is there already."
            yield warning((*path, number), Code.DUPLICATE, sentence, "Leave one of them out.")
        seen.append(tool)


def profile_problems(
    path: Path, profile: str, known: Collection[str] | None
) -> Iterator[CouncilProblem]:
    """Name a model that the settings do not have; "none" is one that never writes."""
    if known is not None and profile not in {*known, "", "none"}:
        yield problem(
            path,
            Code.PROFILE_UNKNOWN,
            f"The settings have no profile '{profile}'.",
            f"Add [profiles.{profile}] to chapterhouse.toml. {meant(profile, known, '')}".strip(),
        )


def shelf_problems(
    path: Path, shelves: Sequence[str], known: Collection[str] | None, own: Collection[str]
) -> Iterator[CouncilProblem]:
    """Name shelves that are not there, and those in ``own``, which are read anyway."""
    for number, shelf in enumerate(shelves):
        at = (*path, number)
        if not valid_name(shelf):
            sentence = f"'{shelf}' cannot be the name of a shelf."
            yield problem(at, Code.NAME, sentence, "See the shelves: chapterhouse status")
        elif shelf in own:
            yield warning(at, Code.UNUSED, f"They read '{shelf}' anyway.", "Leave it out.")
        elif known is not None and shelf not in known:
            sentence = f"There is no shelf '{shelf}'."
            yield problem(at, Code.UNKNOWN, sentence, meant(shelf, known))
    yield from duplicate_problems(path, shelves, "The shelf")
