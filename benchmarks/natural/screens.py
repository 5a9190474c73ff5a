"""What readers say of the first screens: would they use them, were they misled?

    python benchmarks/natural/screens.py                    what the readers said
    python benchmarks/natural/screens.py --lay-out FOLDER   the screens and the documents

Five readers, which were language models, forty questions each, drawn with one seed from all
questions of the test folders, answerable or not. A reader has the question, the screen of
``chapterhouse ask`` without a model, and the documents to check it against; not the facts, and not
the code. They say whether they would use what is shown (it answers, or shows the passage that does,
or rightly says that nothing is there), and whether somebody who does not look into the documents
would believe something wrong.
"""

import argparse
import io
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from chapterhouse.presenting.answers import answer_blocks
from chapterhouse.presenting.terminal import show
from folders import PARTS, lay_out
from libraries import opened
from measuring import Bar, Machine, Row, Table, data_folder, finish
from questions import Question, read_questions

READERS, EACH = 5, 40
USE, MISLED = 0.70, 0.03
SEED = 12
WIDTH = 100
TEST = tuple(name for name, part in PARTS.items() if part == "test")
_MARKS = Path(__file__).parent / "screens"


def drawn() -> tuple[tuple[Question, ...], ...]:
    """Return the questions of each reader."""
    every = [question for folder in TEST for question in read_questions(folder)]
    chosen = random.Random(SEED).sample(every, READERS * EACH)
    return tuple(tuple(chosen[number::READERS]) for number in range(READERS))


def write_screens(target: Path) -> None:
    """Write a file of screens for each reader, and the documents beside them."""
    screens: dict[str, str] = {}
    wanted = {question.id: question for own in drawn() for question in own}
    for folder in TEST:
        lay_out(folder, data_folder(), target / "documents" / folder)
        with opened(folder, "built-in") as library:
            for question in wanted.values():
                if question.folder == folder:
                    told = library.answers.ask(question.question, model="none", remember=False)
                    screen = io.StringIO()
                    terminal = Console(file=screen, width=WIDTH, color_system=None)
                    show(terminal, answer_blocks(told))
                    screens[question.id] = screen.getvalue()
    for number, own in enumerate(drawn(), 1):
        text = "\n".join(
            f"===== {one.id} (documents/{one.folder})\nQUESTION: {one.question}\n\n"
            f"{screens[one.id]}"
            for one in own
        )
        (target / f"reader-{number}.txt").write_text(text, "utf-8")


def said() -> Iterator[tuple[str, dict[str, object]]]:
    """Yield reader and mark of every screen that was read.

    Raises:
        SystemExit: a reader left out a screen.
    """
    for number, own in enumerate(drawn(), 1):
        path = _MARKS / f"{number}.jsonl"
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if {row["id"] for row in rows} != {question.id for question in own}:
            raise SystemExit(f"{path.name} does not have the screens of reader {number}")
        yield from ((str(number), row) for row in rows)


def row_of(name: str, marks: Sequence[dict[str, object]]) -> Row:
    """Return a line of the table: how many, and the shares in percent."""
    used, misled = (100 * sum(bool(row[key]) for row in marks) for key in ("use", "misled"))
    return name, len(marks), round(used / len(marks), 1), round(misled / len(marks), 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lay-out", type=Path, metavar="FOLDER")
    target = parser.parse_args().lay_out
    if target:
        write_screens(target)
        return 0
    machine = Machine()
    marks = list(said())
    every = [row for _, row in marks]
    answerable = {q.id: q.answerable for own in drawn() for q in own}
    rows = [
        *(row_of(f"reader {n}", [r for name, r in marks if name == n]) for n in "12345"),
        row_of("answerable", [row for row in every if answerable[str(row["id"])]]),
        row_of("unanswerable", [row for row in every if not answerable[str(row["id"])]]),
        row_of("all", every),
    ]
    use, misled = (sum(bool(r[key]) for r in every) / len(every) for key in ("use", "misled"))
    return finish(
        "natural_screens",
        "First screens, read by those who see question, screen and documents",
        [
            Bar("would use it", use, least=USE),
            Bar("misled", misled, most=MISLED),
        ],
        [Table("Readers, percent", ("who", "screens", "would use it", "misled"), tuple(rows))],
        machine.setting(),
    )


if __name__ == "__main__":
    sys.exit(main())
