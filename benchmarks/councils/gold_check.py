"""Prove the collection of councils: every quotation by its document, every value by its quotation.

    python benchmarks/councils/gold_check.py [COUNCIL ...]

Ends with 1 where anything is wrong.
"""

import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "natural"))

from folders import sources
from measuring import data_folder
from plain_text import comparable, holds, plain_text

HERE = Path(__file__).parent

KINDS = {"value", "yes-no", "stance", "list", "reason"}
POSITIONS = {"value", "yes", "no", "conditional", "for", "against", "neutral", "silent", "other"}
STANCES = {"for", "against", "conditional", "neutral", "silent"}


@cache
def document_text(folder: str, name: str) -> str | None:
    """Return a document's comparable text, or None where there is no such file."""
    for source in sources(folder, data_folder()):
        if source.name == name:
            return comparable(plain_text(name, source.path.read_bytes()))
    return None


def problems(council: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a council, a sentence each."""
    folder = council["folder"]
    owned = {each["id"]: each["documents"] for each in council["members"]}
    if not 3 <= len(owned) <= 8:
        yield f"{len(owned)} members"
    for name in (name for names in owned.values() for name in names):
        if document_text(folder, name) is None:
            yield f"no such document: {name}"
    for question in council["questions"]:
        for aspect in question.get("aspects", ()):
            where = f"{question['id']} {aspect['id']}"
            yield from (f"{where}: {each}" for each in _aspect(folder, aspect, owned))
        yield from _stances(folder, question, owned)


def _stances(folder: str, question: dict[str, Any], owned: dict[str, list[str]]) -> Iterator[str]:
    for member, options in question.get("stances", {}).items():
        for option, cell in options.items():
            where, evidence = f"{question['id']} {member} {option!r}", cell.get("evidence", ())
            if option not in question["options"]:
                yield f"{where}: no such option"
            if cell["stance"] not in STANCES:
                yield f"{where}: unknown stance {cell['stance']!r}"
            if cell["stance"] not in {"neutral", "silent"} and not evidence:
                yield f"{where}: no evidence"
            for each in _evidence(folder, evidence, owned[member]):
                yield f"{where}: {each}"


def _aspect(folder: str, aspect: dict[str, Any], owned: dict[str, list[str]]) -> Iterator[str]:
    if aspect["kind"] not in KINDS:
        yield f"unknown kind {aspect['kind']!r}"
    if set(aspect["cells"]) != set(owned):
        yield "cells are not those of the members"
    for member, cell in aspect["cells"].items():
        yield from (f"{member}: {each}" for each in _cell(folder, cell, owned[member]))
    spoken = {m for m, c in aspect["cells"].items() if c["position"] not in {"silent", "other"}}
    grouped = Counter(member for group in aspect["groups"] for member in group)
    if set(grouped) != spoken or any(times > 1 for times in grouped.values()):
        yield f"groups hold {sorted(grouped)}, those who speak are {sorted(spoken)}"


def _cell(folder: str, cell: dict[str, Any], owned: list[str]) -> Iterator[str]:
    position, evidence = cell["position"], cell.get("evidence", ())
    if position not in POSITIONS:
        yield f"unknown position {position!r}"
    if position != "silent" and not evidence:
        yield "no evidence"
    if (position == "value") != bool(cell.get("values")):
        yield "values belong to the position 'value', and to each"
    yield from _evidence(folder, evidence, owned)
    quoted = [comparable(each["quote"]) for each in evidence]
    for fact in cell.get("values", ()):
        if not any(holds(text, form) for text in quoted for form in fact):
            yield f"no quotation has any of {fact}"


def _evidence(folder: str, evidence: Any, owned: list[str]) -> Iterator[str]:
    for each in evidence:
        text = document_text(folder, each["document"])
        if each["document"] not in owned:
            yield f"not a document of this member: {each['document']}"
        elif text is None or comparable(each["quote"]) not in text:
            yield f"not in {each['document']}: {each['quote'][:80]!r}"


def main(names: list[str]) -> int:
    """Check the councils named, or all; return 1 where a problem was found."""
    warnings.simplefilter("ignore")
    found = questions = 0
    for path in sorted((HERE / "gold").glob("*.json")):
        if names and path.stem not in names:
            continue
        council = json.loads(path.read_text("utf-8"))
        for problem in problems(council):
            found += 1
            print(f"{path.stem}: {problem}")
        questions += len(council["questions"])
    print(f"{questions} questions, {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
