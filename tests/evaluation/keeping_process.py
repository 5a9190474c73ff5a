"""A process that keeps verdicts, and one that all processes keep: ``HOME NAME``."""

import sys
from pathlib import Path

from chapterhouse import Library
from chapterhouse.evaluation.questions import JudgedAnswer, Verdict, as_question, save_feedback

home, name = sys.argv[1:]
with Library.open(Path(home)) as library:
    for number in range(8):
        for text in (f"Question {number} of {name}?", "What everybody asks?"):
            save_feedback(
                library, as_question(Verdict.GOOD, JudgedAnswer(text, found=False, citations=()))
            )
