"""Prove the natural collection: every quotation by its document, every fact by its evidence.

    python benchmarks/natural/check.py [FOLDER ...]

Prints what the collection holds, and how far readers who answered from the documents alone agree
with it: two were given 60 questions (five answerable and one unanswerable of each folder, drawn
with seed 7), the folders' plain texts and nothing else. An answer agrees where it holds all facts,
or where both say that the folder does not answer. Ends with 1 where anything is wrong, or a reader
agrees in less than 95 % of the questions.
"""

import gzip
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from folders import PARTS, Source, sources
from marking import has_facts
from measuring import data_folder
from plain_text import comparable, holds, plain_text
from questions import CHANGES, KINDS, Evidence, Question, read_questions

LEAST = 0.95  # of a reader's answers


@cache
def document_text(source: Source) -> str:
    """Return a document's comparable text."""
    data = source.path.read_bytes()
    if source.path.suffix == ".gz":
        data = gzip.decompress(data)
    return comparable(plain_text(source.name, data))


def problems(question: Question, files: dict[str, Source]) -> Iterator[str]:
    """Yield what is wrong with a question, a sentence each."""
    if question.kind not in KINDS:
        yield f"unknown kind {question.kind!r}"
    if (question.kind == "misspelled") != bool(question.correct):
        yield "'correct' belongs to misspelled questions, and to each"
    if not question.answerable:
        if question.facts or question.evidence:
            yield "an unanswerable question has no evidence and no facts"
        return
    yield from _proof(question.evidence, question.facts, files)
    if not question.true_statement or not question.false_statement:
        yield "a true and a false statement are missing"
    if question.change not in CHANGES:
        yield f"unknown change {question.change!r}"
    if question.second:
        yield from (
            f"second turn: {problem}"
            for problem in _proof(question.second.evidence, question.second.facts, files)
        )


def _proof(
    evidence: tuple[Evidence, ...], facts: tuple[tuple[str, ...], ...], files: dict[str, Source]
) -> Iterator[str]:
    if not evidence or not facts or not all(facts):
        yield "evidence and facts are missing"
    for each in evidence:
        if each.document not in files:
            yield f"no such document: {each.document}"
        elif comparable(each.quote) not in document_text(files[each.document]):
            yield f"not in {each.document}: {each.quote[:80]!r}"
    quoted = [comparable(each.quote) for each in evidence]
    for alternatives in facts:
        if not any(holds(text, each) for text in quoted for each in alternatives):
            yield f"no quotation has any of {list(alternatives)}"


def agreement() -> float:
    """Print how far each reader agrees with the collection; return the least share."""
    questions = {question.id: question for folder in PARTS for question in read_questions(folder)}
    shares = []
    for path in sorted((Path(__file__).parent / "readers").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        wrong = [row["id"] for row in rows if not _agrees(questions[row["id"]], row)]
        shares.append(1 - len(wrong) / len(rows))
        print(f"reader {path.stem}: {shares[-1]:.1%} of {len(rows)} agree {' '.join(wrong)}")
    return min(shares)


def _agrees(question: Question, row: dict[str, object]) -> bool:
    if not question.answerable or not row["answerable"]:
        return question.answerable == row["answerable"]
    return has_facts(f"{row['answer']} {row['quote']}", question.facts)


def main(names: list[str]) -> int:
    """Check the folders named, or all; return 1 where something is wrong."""
    warnings.simplefilter("ignore")
    found = 0
    for folder in names or PARTS:
        files = {source.name: source for source in sources(folder, data_folder())}
        questions = read_questions(folder)
        twice = [name for name, times in Counter(q.id for q in questions).items() if times > 1]
        for name in twice:
            print(f"{folder} {name}: the id is given twice")
        for question in questions:
            for problem in problems(question, files):
                found += 1
                print(f"{folder} {question.id}: {problem}")
        found += len(twice)
        _describe(folder, questions)
    return int(found > 0 or agreement() < LEAST)


def _describe(folder: str, questions: tuple[Question, ...]) -> None:
    kinds = Counter(question.kind for question in questions)
    misses = Counter(question.miss or "answerable" for question in questions)
    answerable = [question for question in questions if question.answerable]
    other = sum(question.other_words for question in answerable)
    print(
        f"{folder} ({PARTS[folder]}): {len(questions)} questions, {dict(misses)}, "
        f"{other} of {len(answerable)} in other words, "
        f"{sum(q.second is not None for q in questions)} second turns, {dict(kinds)}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
