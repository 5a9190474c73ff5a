"""Another process that records questions: ``question_process.py PATH INTERFACE NUMBER``."""

import sys
from pathlib import Path

from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import QuestionOutcome, QuestionRecord

if __name__ == "__main__":
    path, interface, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with Store(path, blobs=Blobs(path.parent / "blobs")) as opened:
        for count in range(number):
            record = QuestionRecord(count, QuestionOutcome.ANSWER, interface)
            opened.questions().record(record, 0)
