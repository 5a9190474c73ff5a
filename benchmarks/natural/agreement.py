"""How far readers who answered from the documents alone agree with the collection.

    python benchmarks/natural/agreement.py

Two readers were given 60 questions (five answerable and one unanswerable of each folder, drawn
with seed 7), the folders' plain texts and nothing else. An answer agrees where it holds all facts,
or where both say that the folder does not answer.
"""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from folders import PARTS
from plain_text import comparable, holds
from questions import Question, read_questions

BAR = 0.95


def agrees(question: Question, row: dict[str, object]) -> bool:
    """Whether a reader's answer is that of the collection."""
    if not question.answerable or not row["answerable"]:
        return question.answerable == row["answerable"]
    text = comparable(f"{row['answer']} {row['quote']}")
    return all(any(holds(text, each) for each in fact) for fact in question.facts)


def main() -> int:
    questions = {question.id: question for folder in PARTS for question in read_questions(folder)}
    worst = 1.0
    for path in sorted((Path(__file__).parent / "readers").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        wrong = [row["id"] for row in rows if not agrees(questions[row["id"]], row)]
        share = 1 - len(wrong) / len(rows)
        worst = min(worst, share)
        print(f"reader {path.stem}: {share:.1%} of {len(rows)} agree {' '.join(wrong)}")
    return int(worst < BAR)


if __name__ == "__main__":
    sys.exit(main())
