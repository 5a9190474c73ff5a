"""Source files: functions of Python's standard library found by what their docstrings say.

    python benchmarks/source_files.py [--questions N]

The docstrings are taken out of 48 modules, the modules added to a library, and the first paragraph
of each docstring asked. Counted is the share of the function's text in the first five hits and in
the first 2,400 and 6,400 characters of hits, and whether its first line is in the first five.
Writes nothing.
"""

import argparse
import ast
import random
import statistics
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chapterhouse.library import Library
from chapterhouse.types import Range

SIZES = range(8_000, 60_000)  # bytes of a module
HITS = 5
CHARACTERS = (2_400, 6_400)
DEPTH = 30  # hits: enough for 6,400 characters of short chunks
LEAST_WORDS, LEAST_LINES = 6, 3  # of a question, and of a function without its docstring
FENCE = "```python\n"  # with which the text of a source file begins
SEED = 1


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and where the function stands in the text of its module."""

    text: str
    module: str
    span: Range


def without_docstrings(path: Path) -> tuple[str, list[Question]]:
    """Return a module's text without the docstrings that are asked, and the questions."""
    source = path.read_text("utf-8")
    functions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_asked(node)
    ]
    removed = {
        line
        for node in functions
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    starts, text = [0], ""
    for number, line in enumerate(source.splitlines(keepends=True), start=1):
        starts.append(len(text) + len(FENCE))
        text += "" if number in removed else line
    starts.append(len(text) + len(FENCE))
    questions = [
        Question(_asked(node), path.name, (starts[node.lineno], starts[(node.end_lineno or 0) + 1]))
        for node in functions
    ]
    return text, questions


def _asked(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())


def _is_asked(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    long = (node.end_lineno or 0) - (node.body[0].end_lineno or 0) >= LEAST_LINES
    return long and len(node.body) > 1 and len(_asked(node).split()) >= LEAST_WORDS


def scores(library: Library, question: Question) -> Iterator[float]:
    """Yield the shares in hits and in characters, and whether the first line is in the hits."""
    hits = library.search.hits(question.text, limit=DEPTH, per_document=0).hits
    found = [
        (hit.document.source.rpartition("/")[2], hit.chunk.start, hit.chunk.end) for hit in hits
    ]
    yield _held(question, found[:HITS])
    for most in CHARACTERS:
        yield _held(question, list(_cut(found, most)))
    at = question.span[0]
    yield float(any(n == question.module and s <= at < e for n, s, e in found[:HITS]))


def _cut(found: Sequence[tuple[str, int, int]], left: int) -> Iterator[tuple[str, int, int]]:
    for name, start, end in found:
        if left > 0:
            yield name, start, min(end, start + left)
        left -= end - start


def _held(question: Question, found: Sequence[tuple[str, int, int]]) -> float:
    start, end = question.span
    held = {
        place
        for name, first, last in found
        if name == question.module
        for place in range(max(first, start), min(last, end))
    }
    return len(held) / (end - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=250)
    chosen = parser.parse_args()
    every = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        modules = Path(folder, "modules")
        modules.mkdir()
        questions: list[Question] = []
        for path in [path for path in every if path.stat().st_size in SIZES][::2]:
            text, own = without_docstrings(path)
            (modules / path.name).write_text(text, "utf-8")
            questions += own
        random.Random(SEED).shuffle(questions)
        with Library.open(Path(folder, "home")) as library:
            library.documents.add(modules)
            rows = [tuple(scores(library, question)) for question in questions[: chosen.questions]]
            print(f"{len(rows)} questions, {library.status().chunks:,} chunks")
    names = (f"{HITS} hits", *(f"{most:,} characters" for most in CHARACTERS), "first line")
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        print(f"{name}: {100 * statistics.fmean(column):.1f} %")


if __name__ == "__main__":
    main()
