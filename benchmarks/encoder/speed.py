"""How fast encoders are here: chunks a second on all cores and on one, and a question.

    python benchmarks/encoder/speed.py [MODEL_FOLDER ...] [--write]

The chunks are those of the open natural folders, as they are embedded; each encoder's figure is
the best of three runs over 600 of them, for other work on the machine only ever slows it.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "natural"))

from chapterhouse.chunking.build import embedding_text
from chapterhouse.models.embedders import THREADS
from chapterhouse.models.opening import open_embedder
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.types.engines import Embedder
from folders import PARTS
from material import chunks
from measuring import Bar, Machine, Table, finish
from questions import read_questions

CHUNKS, RUNS = 600, 3
OPEN = tuple(name for name, part in PARTS.items() if part == "open")


def texts() -> tuple[list[str], list[str]]:
    """Return chunks of the open folders, evenly drawn, and their questions."""
    read = [embedding_text(title, chunk) for _, title, chunk in chunks()]
    asked = [each.question for folder in OPEN for each in read_questions(folder)]
    return read[:: max(1, len(read) // CHUNKS)][:CHUNKS], asked


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time of the fastest of some runs."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def question_milliseconds(embedder: Embedder, questions: list[str]) -> float:
    """Return the median time of a question's vector."""
    times = []
    for question in questions:
        began = time.perf_counter()
        embedder.embed_question(question)
        times.append(time.perf_counter() - began)
    return 1_000 * statistics.median(times)


def measure(embedder: Embedder, chunks: list[str], questions: list[str]) -> dict[str, float]:
    """Return an encoder's figures."""
    embedder.embed_passages(chunks[:8])  # loads it
    whole = seconds(lambda: embedder.embed_passages(chunks))
    os.environ[THREADS] = "1"
    alone = seconds(lambda: embedder.embed_passages(chunks))
    del os.environ[THREADS]
    return {
        "chunks a second": round(len(chunks) / whole, 1),
        "on one thread": round(len(chunks) / alone, 1),
        "ms a question": round(question_milliseconds(embedder, questions), 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    machine = Machine()
    passages, questions = texts()
    settings = {"built-in": EmbeddingSettings(engine="built-in")}
    settings |= {
        path.name: EmbeddingSettings(engine="folder", folder=str(path)) for path in chosen.folders
    }
    rows: dict[str, dict[str, float]] = {}
    for name, chosen_engine in settings.items():
        rows[name] = measure(open_embedder(chosen_engine), passages, questions)
        print(name, rows[name], flush=True)
    own = rows["built-in"]
    bars = [
        Bar("built-in, chunks a second", own["chunks a second"], least=120),
        Bar("built-in, ms a question", own["ms a question"], most=12),
    ]
    columns = ("encoder", *own)
    table = Table("Speed", columns, tuple((name, *row.values()) for name, row in rows.items()))
    length = statistics.mean(map(len, passages))
    return finish(
        "encoder", "Speed of encoders", bars, [table], machine.setting("onnxruntime"),
        (f"{len(passages)} chunks of {length:.0f} characters on average.",), write=chosen.write,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
