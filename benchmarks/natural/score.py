"""Score the product on the natural collection: what is found, shown, wrong and refused.

    python benchmarks/natural/score.py [FOLDER ...] [--part open|test|all]
        [--embedder built-in|none|MODEL_FOLDER ...] [--sets] [--whole]
        [--marks FILE] [--write]

Each folder is put into a library of its own with the product's defaults; every question is
searched and asked without a model. Test folders are opened to report and never to choose, so only
the open ones are scored unless ``--part`` says otherwise. ``--sets`` adds the judged collections
(``gold_sets.py``), ``--marks`` writes what became of each question, and ``--write`` keeps the
result in ``benchmarks/results/natural.*``.
"""

import argparse
import dataclasses
import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from chapterhouse.library import Library
from folders import PARTS
from gold_sets import SetScore, score_contracts, score_sets
from libraries import ask, label_of, opened, read_text, search, titles_of
from marking import HITS, Mark, count_facts, in_first, mark
from measuring import Machine, Table, finish
from questions import Question, read_questions
from reporting import bars, main_table, set_table, tables
from vector_cache import vectors_cached

SAMPLE = 200  # questions of a judged collection, unless all are wanted


def mark_folder(library: Library, questions: Sequence[Question]) -> list[Mark]:
    """Search and ask every question of a folder."""
    titles = titles_of(library)
    return [mark_question(library, question, titles) for question in questions]


def mark_question(library: Library, question: Question, titles: Mapping[str, str]) -> Mark:
    """Search and ask a question, and its right spelling."""
    read = read_text(library, question.documents)
    found, reply = search(library, question.question), ask(library, question.question)
    made = mark(question, read, found, reply, titles)
    if question.kind == "list":
        texts = (reply.text, library.search.context(question.question).markdown)
        shown, there = (count_facts(text, question.facts) for text in texts)
        made = dataclasses.replace(made, listed=(shown, there))
    if question.correct:
        again = in_first(search(library, question.correct), HITS[1], question.facts)
        made = dataclasses.replace(made, again=again)
    return made


def score(
    names: Sequence[str], choice: str, sample: int | None, *, sets: bool
) -> tuple[list[Mark], list[SetScore]]:
    """Score folders, and the judged collections where they are wanted, with one embedder."""
    marks: list[Mark] = []
    scores: list[SetScore] = []
    for name in names:
        began = time.perf_counter()
        with opened(name, choice) as library:
            marks += mark_folder(library, read_questions(name))
            if sets and name == "contracts":
                scores += score_contracts(library, sample)
        print(f"{label_of(choice)} {name}: {time.perf_counter() - began:.0f} s", flush=True)
    return marks, scores + (list(score_sets(choice, sample)) if sets else [])


def chosen_folders(named: Sequence[str], part: str) -> list[str]:
    """Return the folders to score: those named, else those of the part that have questions.

    Raises:
        SystemExit: a folder is unknown or belongs to another part.
    """
    for name in named:
        if name not in PARTS:
            raise SystemExit(f"no folder '{name}': there are {', '.join(PARTS)}")
        if part != "all" and PARTS[name] != part:
            raise SystemExit(f"'{name}' is a {PARTS[name]} folder: add --part {PARTS[name]}")
    return list(named) or [name for name, own in PARTS.items() if part in {own, "all"}]


def write_marks(path: Path, runs: Mapping[str, Sequence[Mark]]) -> None:
    """Write one JSON object a question and embedder, to compare two runs question by question."""
    rows = [
        {"embedder": label, **dataclasses.asdict(mark), "question": mark.question.id}
        for label, marks in runs.items()
        for mark in marks
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument("--embedder", nargs="+", default=["built-in"], dest="embedders")
    parser.add_argument("--sets", action="store_true", help="score the judged collections, too")
    parser.add_argument("--whole", action="store_true", help="all their questions")
    parser.add_argument("--marks", type=Path, help="write what became of each question")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    if chosen.write and (chosen.folders or chosen.part != "all"):
        parser.error("--write keeps results of all folders: add --part all and name none")
    warnings.simplefilter("ignore")
    machine = Machine()
    names = chosen_folders(chosen.folders, chosen.part)
    sample = None if chosen.whole else SAMPLE
    with vectors_cached():
        runs = {
            label_of(choice): score(names, choice, sample, sets=chosen.sets)
            for choice in chosen.embedders
        }
    marks = {label: own for label, (own, _) in runs.items()}
    scores = {label: own for label, (_, own) in runs.items()}
    if chosen.marks:
        write_marks(chosen.marks, marks)
    return finish(
        "natural",
        "Natural questions over real folders",
        list(bars(marks, scores)),
        list(_tables(marks, scores)),
        machine.setting(),
        (MEASURES,),
        write=chosen.write,
    )


MEASURES = (
    "Shares in percent with 95 % intervals by resampling the questions, over answerable questions "
    "unless a table says otherwise. Readable: all facts are in the documents of the evidence as "
    "our readers read them, the most that a search can find. Facts in 3 and 8: all facts of a "
    "question are in the titles, section paths and texts of the first 3 or 8 hits; in 250 and 700 "
    "words: in the first so many words of the hits. Documents: all documents of the evidence are "
    "among those of the hits. Shown: all facts are in what the first screen quotes without a "
    "model, called an answer or the closest passages; further: they are there or in the first 8 "
    "hits. As an answer: it was called one; wrong: it was, and the facts are not in it; refused: "
    "nothing was shown. Words shown: the median, and the most. Calibration: expected calibration "
    "error, 10 bins, of the stated confidence against facts shown, over all questions for which "
    "something was shown, the unanswerable ones included, which count as wrong."
)


def _tables(marks: dict[str, list[Mark]], scores: dict[str, list[SetScore]]) -> Iterator[Table]:
    yield main_table(marks)
    if any(scores.values()):
        yield set_table(scores)
    for label, own in marks.items():
        yield from tables(own, label if len(marks) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
