"""Versions of one document: are differences announced where there are some, and only there?

    python benchmarks/versions.py [--embedder built-in|none] [--show]
        [--planted-only] [--write]

In each open folder of the natural collection some documents are replaced by two versions each: one
as it is and one in which a number, date or name of one sentence is another. Their names differ by
a date, a version or a copy mark. Beside them stand decoys, which are no versions: documents of one
form with other names, records of another year, files of one name in different folders, byte copies
and other spellings of one value. Documents in other languages and formats are written here. Each
is asked for by the words of the sentence without its value. Then every question of the open
folders is asked of the folders as they are: what is announced there is listed for people to judge.
"""

import argparse
import os
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "natural")]

from chapterhouse.library import Library
from chapterhouse.types import Answer
from folders import PARTS, lay_out
from libraries import made_of, opened
from measuring import Bar, Machine, Row, Table, data_folder, finish
from questions import read_questions
from version_texts import DECOYS, TEXTS, write_text

SEED = 5
EACH = 10  # documents of a folder that get a second version
_LEAST, _MOST = 12, 60  # words of a line
OPEN = tuple(name for name, part in PARTS.items() if part == "open")
RIGHT, FOUND = 0.95, 0.80
# How the older and the newer file are called; where both are "" the time of the file decides.
NAMES = (
    ("{}_v1", "{}_v2"),
    ("{} 2024-03-01", "{} 2025-04-15"),
    ("{}", "{} (1)"),
    ("{}-draft", "{}-final"),
    ("{}", "Copy of {}"),
    ("{} version 2", "{} version 10"),
    ("old/{}", "{}"),
    ("{}", "{} - Kopie"),
)
YEAR_2024, DAY = 1_704_100_000, 86_400
_VALUE = re.compile(r"(?<![\w./:#=-])(\d{2,4})(?![\w/:=]|[.,-]\d)")
_PLAIN = {".md", ".txt", ".html", ".asciidoc"}


@dataclass(frozen=True, slots=True)
class Planted:
    """Two versions of a document: the question, the files without their endings, the values."""

    question: str
    older: str
    newer: str
    values: tuple[str, str]  # of the older and of the newer one
    is_version: bool = True


def plant(folder: Path, chance: random.Random) -> Iterator[Planted]:
    """Replace some documents of a folder by two versions each."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in _PLAIN)
    chance.shuffle(files)
    done = 0
    for path in files:
        if done == EACH:
            return
        text = path.read_text("utf-8", "replace")
        lines = [line for line in text.splitlines() if _fits(line, text)]
        if not lines:
            continue
        line = chance.choice(lines)
        found = chance.choice(list(_VALUE.finditer(line)))
        value = str(int(found[1]) + chance.choice((1, 3, 11)))
        changed = f"{line[: found.start()]}{value}{line[found.end() :]}"
        older, newer = (name.format(path.stem) for name in NAMES[done % len(NAMES)])
        texts = ((older, text), (newer, text.replace(line, changed, 1)))
        for number, (name, own) in enumerate(texts):
            _write(path.parent / f"{name}{path.suffix}", own.encode(), YEAR_2024 + number * DAY)
        if path.stem not in (older, newer):
            path.unlink()
        words = re.sub(r"<[^>]*>|[*_`#|\[\]()]", " ", _around(line, found.start(), found.end()))
        below = path.parent.relative_to(folder)
        yield Planted(
            f"{' '.join(words.split())}?",
            (below / older).as_posix(),
            (below / newer).as_posix(),
            (found[1], value),
        )
        done += 1


def _fits(line: str, text: str) -> bool:
    """Whether a line is prose with a number in it, not before it, and stands once."""
    prose = re.sub(r"</?(?:p|li|b|i|em|strong|span)>", "", line)
    words = re.findall(r"[^\W\d_]{2,}", prose)
    return (
        _LEAST <= len(words) <= _MOST
        and text.count(line) == 1
        and not re.search(r"[={}<>|;#]|\]\(|^\W*\d", prose)
        and bool(_VALUE.search(line))
    )


def _around(line: str, start: int, end: int) -> str:
    """Return the words of a line around a value, without it."""
    return f"{' '.join(line[:start].split()[-12:])} {' '.join(line[end:].split()[:12])}"


def _write(path: Path, data: bytes, time: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time, time))


def write_own(folder: Path) -> list[Planted]:
    """Write the texts of this program, each in two versions or as decoys, in several formats."""
    made = []
    for number, text in enumerate((*TEXTS, *DECOYS)):
        files = ((text.older, text.first), (text.newer, text.second))
        for turn, (name, content) in enumerate(files):
            _write(folder / name, write_text(name, content), YEAR_2024 + turn * DAY)
        names = (text.older.rpartition(".")[0], text.newer.rpartition(".")[0])
        made.append(Planted(text.question, *names, text.values, number < len(TEXTS)))
    return made


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question: how many are announced, rightly, whether it was among them."""

    planted: Planted
    announced: int
    right: int
    found: bool
    ordered: bool
    shown: bool


def ask(library: Library, planted: Planted, every: Sequence[Planted]) -> Outcome:
    """Ask for one planted difference; others that are announced beside it are right, too."""
    answer = library.answers.ask(planted.question, model="none", remember=False)
    right, found, ordered = 0, False, False
    for one in answer.versions:
        names = [_name(answer, number) for number in (one.older, one.newer)]
        held = " ".join(value for pair in one.values for value in pair)
        meant = [
            each
            for each in every
            if each.is_version
            and sorted(names) == sorted((each.older, each.newer))
            and all(value in held for value in each.values)
        ]
        right += bool(meant)
        found = found or planted in meant
        ordered = ordered or (one.ordered and names == [planted.older, planted.newer])
    shown = {_name(answer, citation.number) for citation in answer.citations}
    is_shown = not shown.isdisjoint((planted.older, planted.newer))
    return Outcome(planted, len(answer.versions), right, found, ordered, is_shown)


def _name(answer: Answer, number: int) -> str:
    source = next(one.source for one in answer.citations if one.number == number)
    return source.partition("/")[2].rpartition(".")[0]


def tell(answer: Answer) -> Iterator[str]:
    """Yield what an answer announces, for people to judge."""
    cited = {citation.number: citation for citation in answer.citations}
    for one in answer.versions:
        yield f"  {one.values}{'' if one.ordered else ' (no order)'}"
        for number in (one.newer, one.older):
            yield f"    {cited[number].source}: {' '.join(cited[number].quote.split())[:160]}"


def measure(
    choice: str, *, show: bool, planted_only: bool
) -> tuple[list[tuple[str, Outcome]], list[str], int]:
    """Return the outcomes by folder, what is announced in the folders as they are, and asked."""
    outcomes: list[tuple[str, Outcome]] = []
    for name in (*OPEN, "own"):
        with TemporaryDirectory(prefix="versions-") as place:
            folder = Path(place) / name
            if name == "own":
                planted = write_own(folder)
            else:
                lay_out(name, data_folder(), Path(place))
                planted = list(plant(folder, random.Random(SEED)))
            with made_of(folder, choice) as library:
                for one in planted:
                    outcome = ask(library, one, planted)
                    outcomes.append((name, outcome))
                    wrong = outcome.announced > outcome.right
                    missed = one.is_version and not outcome.found
                    if show and (wrong or missed or (not outcome.ordered and one.is_version)):
                        print(name, "WRONG" if wrong else "MISSED" if missed else "ORDER", outcome)
    told: list[str] = []
    asked = 0
    for name in () if planted_only else OPEN:
        with opened(name, choice) as library:
            for question in read_questions(name):
                asked += 1
                answer = library.answers.ask(question.question, model="none", remember=False)
                told += [f"{name}: {question.question}", *tell(answer)] if answer.versions else []
    return outcomes, told, asked


def main() -> None:
    """Measure, print and maybe write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedder", default="built-in", help="built-in or none")
    parser.add_argument("--show", action="store_true", help="also what is missed or wrong")
    parser.add_argument("--planted-only", action="store_true", help="not the folders as they are")
    parser.add_argument("--write", action="store_true", help="keep the result")
    arguments = parser.parse_args()
    machine = Machine()
    outcomes, told, asked = measure(
        arguments.embedder, show=arguments.show, planted_only=arguments.planted_only
    )
    print("\n".join(told))
    rows = [_row(name, [o for own, o in outcomes if own == name]) for name in (*OPEN, "own")]
    every = [outcome for _, outcome in outcomes]
    versions = [one for one in every if one.planted.is_version]
    announced, right = sum(o.announced for o in every), sum(o.right for o in every)
    bars = [
        Bar("announced in planted folders that are right", right / (announced or 1), least=RIGHT),
        Bar("planted that are found", sum(o.found for o in versions) / len(versions), FOUND),
        Bar("found that are in the right order",
            sum(o.ordered for o in versions) / (sum(o.found for o in versions) or 1), 0.9),
    ]  # fmt: skip
    heading = ("folder", "planted", "shown", "found", "in order", "decoys", "announced", "right")
    note = (
        f"The {asked} questions of the open folders as they are announce "
        f"{sum(line.startswith('  (') for line in told)} differences."
    )
    tables = [Table("Planted versions", heading, (*rows, _row("all", every)), note)]
    title = "Differences between versions of one document"
    sys.exit(finish("versions", title, bars, tables, machine.setting(), write=arguments.write))


def _row(name: str, outcomes: Sequence[Outcome]) -> Row:
    versions = [one for one in outcomes if one.planted.is_version]
    return (
        name,
        len(versions),
        sum(one.shown for one in versions),
        sum(one.found for one in versions),
        sum(one.ordered for one in versions),
        len(outcomes) - len(versions),
        sum(one.announced for one in outcomes),
        sum(one.right for one in outcomes),
    )


if __name__ == "__main__":
    main()
