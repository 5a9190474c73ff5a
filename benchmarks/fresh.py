"""Whether a document that was added a moment ago is found at once, among others that are like it.

    python benchmarks/fresh.py

A library of XQuAD's English paragraphs, whose vectors are complete, gets a hundred notes one after
the other, each with one fact; behind each ``add`` its question is asked, in other words than the
note's where the note has more than one. Nothing is made in between that ``add`` did not make.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from chapterhouse.library import Library
from judged_sets import load_dataset
from measuring import Bar, Machine, Table, data_folder, finish, percentile
from vector_cache import vectors_cached

THINGS = (
    "berth", "locker", "kayak", "meeting room", "crane", "parking space", "bicycle", "projector",
    "tent", "sauna",
)  # fmt: skip
FACTS = (
    ("The fee for the {} is 22 crowns a night.", "what does the {} cost overnight?"),
    ("The {} is closed on Mondays in winter.", "which day is the {} shut?"),
    ("Ms Tamm looks after the {}.", "who is responsible for the {}?"),
    ("The {} was bought from Norden AS.", "which company sold us the {}?"),
    ("Book the {} three days ahead.", "how early must the {} be reserved?"),
    ("The {} may not be lent to guests.", "can visitors borrow the {}?"),
    ("The key of the {} hangs in the hall.", "where do I find the key to the {}?"),
    ("The {} has to be cleaned after use.", "what must I do when I am done with the {}?"),
    ("A broken {} is repaired by the workshop.", "who mends the {} if it is damaged?"),
    ("The {} is inspected every May.", "when is the yearly check of the {}?"),
)
FIRST = 3


def notes() -> Iterator[tuple[str, str]]:
    """Yield each note with its question."""
    for statement, question in FACTS:
        for thing in THINGS:
            yield statement.format(thing), question.format(thing)


def main() -> int:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    machine = Machine()
    found, seconds, missed = 0, [], []
    with (
        TemporaryDirectory(prefix="fresh-") as name,
        vectors_cached(),
        Library.open(name) as library,
    ):
        for document in load_dataset(data_folder() / "retrieval/xquad-en").documents:
            library.documents.add_bytes(document.text.encode(), f"{document.id}.txt")
        library.encoders.embed_pending()
        for number, (statement, question) in enumerate(notes()):
            began = time.perf_counter()
            library.documents.add_bytes(statement.encode(), f"note {number}.txt")
            seconds.append((time.perf_counter() - began) * 1e3)
            hits = library.search.hits(question, limit=FIRST).hits
            if any(hit.document.source.endswith(f"note {number}.txt") for hit in hits):
                found += 1
            else:
                missed.append(question)
    total = len(seconds)
    bars = [Bar(f"notes among the first {FIRST} at once, of {total}", found, least=total)]
    rows = (
        (f"among the first {FIRST}", found),
        ("ms to add one, p50", percentile(seconds, 0.5)),
        ("ms to add one, p95", percentile(seconds, 0.95)),
    )
    lines = tuple(f"Not found: {question}" for question in missed)
    table = Table("Fresh documents", ("what", "figure"), rows)
    return finish("fresh", "Fresh documents", bars, [table], machine.setting(), lines)


if __name__ == "__main__":
    sys.exit(main())
