"""How often a council's table holds what its members' documents say, without a model.

    python benchmarks/councils/council_score.py [--part open|test|all] [--write]

Real folders, questions and gold by readers of the documents (``BRIEF.md``). A cell holds a value
where it has every fact of the gold; of what else the gold says it holds the sentence. Bounds were
chosen on the open councils.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "natural")]

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.passages import MOST_WORDS
from chapterhouse.text.counting import count_words
from chapterhouse.types import Minutes
from folders import lay_out
from measuring import Bar, Machine, Row, Table, data_folder, finish, percentile
from plain_text import comparable, holds

RESAMPLES = 1000
SAID_NOTHING = frozenset({"silent", "other"})
_WORDS_SHARED = 0.7  # of the shorter of two quotations, from which they are the same place
_LEAST_WORDS = 5
_LEAST_LETTERS = 6
Gold = Mapping[str, Any]


# --- the collection ------------------------------------------------------------------------------


def councils(part: str) -> Iterator[Gold]:
    """Yield the councils of a part, ``open``, ``test`` or ``all``, by name."""
    for path in sorted((Path(__file__).parent / "gold").glob("*.json")):
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


def quotations_of(cell: Gold) -> list[str]:
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


# --- what is counted -----------------------------------------------------------------------------


@dataclass
class Tally:
    """What was counted of one council.

    Attributes:
        values: Of each cell with a value, whether the table holds it.
        sentences: Of each other cell whose documents speak of it, whether the table quotes that.
        found: Of each cell whose documents speak of it, and of each other, how many quote anything.
        foreign: Quotations from documents of another member.
        longer: Cells of more words than a quotation may have, rows of tables apart.
    """

    values: list[bool] = field(default_factory=list)
    sentences: list[bool] = field(default_factory=list)
    found: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    foreign: int = 0
    longer: int = 0


def hold(council: Gold, folder: Path) -> Tally:
    """Put every question of a council to it, and count."""
    tally = Tally()
    with Library.open(make_library(council, folder)) as library:
        made = Council.new(council["council"])
        for member in council["members"]:
            made = made.add_member(
                name=member["id"], shelves=(member["id"],), instructions="Read your documents."
            )
        made = made.add_round("independent_analysis")
        for question in council["questions"]:
            asked = MeetingOptions(model="none", remember=False)
            minutes = library.councils.convene(made, question["question"], options=asked)
            count(tally, council, question, minutes)
    return tally


def count(tally: Tally, council: Gold, question: Gold, minutes: Minutes) -> None:
    """Count what the minutes of one question say."""
    owned = {
        m["id"]: {name.rpartition("/")[2] for name in m["documents"]} for m in council["members"]
    }
    cited = {citation.number: citation for citation in minutes.citations}
    members = [member["id"] for member in council["members"]]
    rows = {row.asked: dict(zip(members, row.cells, strict=True)) for row in minutes.table}
    for asked, gold in align(tuple(rows), question.get("aspects", ())):
        for member, cell in gold["cells"].items():
            own = rows[asked][member]
            speaks = cell["position"] not in SAID_NOTHING
            tally.found[speaks, bool(own.text)] += 1
            tally.foreign += any(
                cited[number].source.rpartition("/")[2] not in owned[member]
                for number in own.citations
            )
            quotes = [cited[number].quote for number in own.citations]
            tally.longer += any(count_words(one) > MOST_WORDS and one[0] != "|" for one in quotes)
            if cell["position"] == "value":
                tally.values.append(holds_values(own.text, cell))
            elif speaks:
                tally.sentences.append(is_quoted(own.text, quotations_of(cell)))


def summary(tallies: Sequence[Tally]) -> dict[str, float]:
    """Return the figures of several councils together, in percent."""
    values = [one for tally in tallies for one in tally.values]
    sentences = [one for tally in tallies for one in tally.sentences]
    found = sum((tally.found for tally in tallies), Counter[tuple[bool, bool]]())
    return {
        "values": _percent(sum(values), len(values)),
        "sentences": _percent(sum(sentences), len(sentences)),
        "empty, wrongly": _percent(found[True, False], found[True, False] + found[True, True]),
        "empty, rightly": _percent(found[False, False], found[False, False] + found[False, True]),
    }


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def interval(tallies: Sequence[Tally]) -> str:
    """Return the 95 % interval of the share of values that are there, councils resampled."""
    chooser = random.Random(7)
    shares = sorted(
        summary(chooser.choices(tallies, k=len(tallies)))["values"] for _ in range(RESAMPLES)
    )
    return f"{percentile(shares, 0.025):.0f}–{percentile(shares, 0.975):.0f}"


def main() -> int:
    """Measure, print, and write where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    machine = Machine()
    held: dict[str, dict[str, Tally]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for council in councils(chosen.part):
            tally = hold(council, Path(folder))
            held.setdefault(council["part"], {})[council["council"]] = tally
    bars, tables = [], []
    for part, named in held.items():
        tallies = list(named.values())
        whole = summary(tallies)
        bars += list(_bars(part, whole, tallies))
        rows: list[Row] = [
            (name, len(t.values), *summary([t]).values()) for name, t in named.items()
        ]
        rows.append(("all", sum(len(t.values) for t in tallies), *whole.values()))
        note = f"Values that are there: 95 % interval over councils {interval(tallies)}."
        columns = ("council", "cells with a value", *whole)
        tables.append(Table(f"Councils, {part}", columns, tuple(rows), note))
    title = "Councils over real folders, without a model"
    return finish("councils", title, bars, tables, machine.setting(), write=chosen.write)


def _bars(part: str, whole: dict[str, float], tallies: Sequence[Tally]) -> Iterator[Bar]:
    yield Bar(f"values that are in their cell, {part}", whole["values"], least=50)
    yield Bar(f"quotations of other members, {part}", sum(t.foreign for t in tallies), most=0)
    yield Bar(f"cells that are too long, {part}", sum(t.longer for t in tallies), most=0)


if __name__ == "__main__":
    sys.exit(main())
