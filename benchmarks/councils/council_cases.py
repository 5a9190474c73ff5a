"""The collection of councils: their gold, their libraries, and what a cell holds."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "natural"))

from chapterhouse import Library
from data_folder import data_folder
from folders import lay_out
from plain_text import comparable, holds

HERE = Path(__file__).parent

SAID_NOTHING = frozenset({"silent", "other"})
_WORDS_SHARED = 0.7  # of the shorter of two quotations, from which they are the same place
_LEAST_WORDS = 5
_LEAST_LETTERS = 6
Gold = Mapping[str, Any]


def councils(part: str) -> Iterator[Gold]:
    """Yield the councils of a part, ``open``, ``test`` or ``all``, by name."""
    for path in sorted((HERE / "gold").glob("*.json")):
        council = json.loads(path.read_text("utf-8"))
        if part in {council["part"], "all"}:
            yield council


def make_library(council: Gold, folder: Path) -> Path:
    """Add each member's documents to a shelf of that name; return the home."""
    home = folder / str(council["council"])
    laid = folder / "folders"
    root = laid / council["folder"]
    if not root.exists():
        lay_out(council["folder"], data_folder(), laid)
    with Library.open(home) as library:
        for member in council["members"]:
            library.documents.add(
                *(root / name for name in member["documents"]), shelf=member["id"]
            )
        library.encoders.embed_pending()
    return home


def align(asked: Sequence[str], gold: Sequence[Gold]) -> Iterator[tuple[str, Gold]]:
    """Yield which thing asked stands for which of the gold: by order, or by shared words."""
    if len(asked) == len(gold):
        yield from zip(asked, gold, strict=True)
        return
    for one in gold:
        about = set(comparable(one["about"]).split())
        if asked:
            yield max(asked, key=lambda each: len(about & set(comparable(each).split()))), one


def quotations(cell: Gold) -> list[str]:
    """Return the quotations of a gold cell, comparable."""
    return [comparable(each["quote"]) for each in cell.get("evidence", ())]


def is_quoted(sentence: str, quoted: Sequence[str]) -> bool:
    """Whether a sentence is one of the quotations, part of one, or holds one."""
    own = comparable(sentence)
    if len(own) < _LEAST_LETTERS:
        return False
    words = set(own.split())
    for other in quoted:
        theirs = set(other.split())
        least = min(len(words), len(theirs))
        alike = least >= _LEAST_WORDS and len(words & theirs) >= _WORDS_SHARED * least
        if other in own or own in other or alike:
            return True
    return False


def holds_values(text: str, cell: Gold) -> bool:
    """Whether a text has every fact of a gold cell."""
    said = comparable(text)
    return all(any(holds(said, form) for form in fact) for fact in cell["values"])
