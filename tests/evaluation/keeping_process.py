"""A process that keeps verdicts, and one that all processes keep: ``HOME NAME``."""

import sys
from pathlib import Path

from chapterhouse import Library
from chapterhouse.evaluation.feedback import Told, Verdict, as_question, keep

home, name = sys.argv[1:]
with Library.open(Path(home)) as library:
    for number in range(8):
        for text in (f"Question {number} of {name}?", "What everybody asks?"):
            keep(library, as_question(Verdict.GOOD, Told(text, found=False, citations=())))
