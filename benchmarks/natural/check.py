"""Prove the natural collection: every quotation by its document, every fact by its evidence.

    python benchmarks/natural/check.py [FOLDER ...]

Ends with 1 where anything is wrong, and prints what the collection holds.
"""

import gzip
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from data_folder import data_folder
from folders import PARTS, Source, sources
from plain_text import comparable, holds, plain_text
from questions import CHANGES, KINDS, Evidence, Question, read_questions


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


def main(names: list[str]) -> int:
    """Check the folders named, or all; return how many problems were found."""
    warnings.simplefilter("ignore")
    found = 0
    for folder in names or [name for name in PARTS if _written(name)]:
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
    return found


def _written(folder: str) -> bool:
    return (Path(__file__).parent / "questions" / f"{folder}.jsonl").exists()


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
    sys.exit(1 if main(sys.argv[1:]) else 0)
