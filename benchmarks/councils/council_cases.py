"""The collection of councils: their gold, their libraries, and when a cell is right."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "natural"))

from chapterhouse import Library
from chapterhouse.types import Aspect
from data_folder import data_folder
from folders import lay_out
from plain_text import comparable, holds

HERE = Path(__file__).parent

SAID_NOTHING = frozenset({"silent", "other"})
_WORDS_SHARED = 0.7  # of the shorter of two quotations, from which they are the same place
_LEAST_WORDS = 5
_LEAST_LETTERS = 6
Gold = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """An aspect of the program with the gold aspect that it stands for."""

    council: str
    question: Gold
    gold: Gold
    aspect: Aspect


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


def align(aspects: Sequence[Aspect], gold: Sequence[Gold]) -> Iterator[tuple[Aspect, Gold]]:
    """Yield which aspect stands for which of the gold: by order, or by shared words."""
    if len(aspects) == len(gold):
        yield from zip(aspects, gold, strict=True)
        return
    for one in gold:
        about = set(comparable(one["about"]).split())
        if aspects:
            yield max(aspects, key=lambda a: len(about & _words(a))), one


def _words(aspect: Aspect) -> set[str]:
    return set(comparable(f"{aspect.text} {aspect.context}").split())


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


def is_right(cell: Gold, kind: str, text: str, values: Sequence[str]) -> bool:
    """Whether a cell says what the gold says.

    Args:
        cell: The gold.
        kind: Of the program's position.
        text: Its sentence.
        values: Its values.
    """
    position = cell["position"]
    if position in SAID_NOTHING:
        return kind == "silent"
    if kind == "silent":
        return False
    if position == "value":
        said = comparable(" ".join((text, *values)))
        return all(any(holds(said, form) for form in fact) for fact in cell["values"])
    if position in {"yes", "no", "conditional"} and kind in {"yes", "no", "conditional"}:
        return bool(kind == position)
    return is_quoted(text, quotations(cell))
