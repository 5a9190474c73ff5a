"""What waits for a person in a persona's folder; they are reminded with every refresh."""

from pathlib import Path
from typing import Final

from chapterhouse.agents.curated import base_folder
from chapterhouse.agents.incoming import lists

_WAITING: Final = ".new.md"
_NAMED: Final = 3


def reminders(raw: Path, rag: Path) -> tuple[str, ...]:
    """Return a sentence for each thing that waits: merges to be decided, lines of link lists."""
    found: list[str] = []
    waiting = sorted(path.name.removesuffix(_WAITING) for path in _new_versions(rag))
    if waiting:
        names = ", ".join(waiting[:_NAMED]) + (" …" if len(waiting) > _NAMED else "")
        found.append(
            f"A newer version of {names} waits for your decision, for you edited the same lines: "
            "see persona docs."
        )
    for name, listed in lists(raw):
        found += [
            f"{name}, line {problem.line}: {problem.reason}" for problem in listed.problems[:_NAMED]
        ]
    return tuple(found)


def _new_versions(rag: Path) -> list[Path]:
    try:
        return list(base_folder(rag).glob(f"*{_WAITING}"))
    except OSError:  # the folder cannot be listed, which the refresh itself tells of
        return []
