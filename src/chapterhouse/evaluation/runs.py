"""Rankings as files in the format of TREC, which every tool for retrieval reads.

::

    question Q0 document rank score name

The order is by score, highest first, then by document id; the rank that a file states is not
looked at, as in trec_eval.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.errors import UsageError
from chapterhouse.files import write_output

_FIELDS: Final = 6
_NAME: Final = "chapterhouse"


def require_writable(path: Path) -> None:
    """Refuse a place that cannot be written, before the work whose result should go there.

    Raises:
        UsageError: it is a folder, or its folder is not there or may not be written.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", hint="Name the file to write.")
    if not path.parent.is_dir():
        raise UsageError(
            f"The folder {path.parent} is not there, so {path.name} cannot be written.",
            hint="Make the folder first, or name another place.",
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written.", hint="Look at the permissions.")


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark.

    Raises:
        UsageError: it cannot be read, or is no text; the message names the file.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not text in UTF-8 (byte {error.start:,}).", hint="Save it as UTF-8."
        ) from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder.", hint="Name a file.") from None
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.", hint="Is the name right?") from None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document in a ranking, and its score."""

    document: str
    score: float


Run = Mapping[str, Sequence[Ranked]]


def in_order(ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Return a ranking in total order: by score, highest first, then by document id."""
    return tuple(sorted(ranked, key=lambda entry: (-entry.score, entry.document)))


def write_run(path: Path, run: Run) -> None:
    """Write a run; scores are spelled so that reading gives the same order.

    Raises:
        UsageError: an id holds white space, which the format cannot say.
    """
    lines: list[str] = []
    for question, ranked in run.items():
        for rank, entry in enumerate(in_order(ranked), start=1):
            for name in (question, entry.document):
                if name.split() != [name]:
                    raise UsageError(
                        f"The id {name!r} cannot be written into a TREC run: it holds white space.",
                        hint="Leave out --run, or give the collection other ids.",
                    )
            lines.append(f"{question} Q0 {entry.document} {rank} {entry.score!r} {_NAME}\n")
    write_output(path, "".join(lines))


def read_run(path: Path) -> Run:
    """Read a run.

    Raises:
        UsageError: it is not one; the message names file and line.
    """
    found: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        question, document, score = _fields(line, f"{path}, line {number}")
        ranked = found.setdefault(question, {})
        if document in ranked:
            raise UsageError(
                f"{path}, line {number}: document '{document}' is ranked twice for '{question}'.",
                hint="A run ranks a document once a question.",
            )
        ranked[document] = score
    if not found:
        raise UsageError(f"{path} is empty.", hint="Write one with: chapterhouse eval … --run FILE")
    return {
        question: in_order([Ranked(*entry) for entry in ranked.items()])
        for question, ranked in found.items()
    }


def _fields(line: str, where: str) -> tuple[str, str, float]:
    fields = line.split()
    if len(fields) != _FIELDS:
        raise UsageError(
            f"{where}: {len(fields)} fields instead of {_FIELDS}.",
            hint="A TREC run has lines like: q1 Q0 d7 1 12.5 name",
        )
    try:
        score = float(fields[4])
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise UsageError(
            f"{where}: '{fields[4]}' is no score.",
            hint="A TREC run has lines like: q1 Q0 d7 1 12.5 name",
        )
    return fields[0], fields[2], score
