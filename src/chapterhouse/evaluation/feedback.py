"""A person's verdict on an answer, kept as a question of the workspace's own file.

A good answer's sources become what the question must find, and its quotations what must be quoted;
a bad answer's sources become what it must not rest on. One question has one verdict: the last.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.files import write_whole
from chapterhouse.evaluation.questions import (
    Question,
    question_id,
    question_line,
    read_questions,
)
from chapterhouse.evaluation.tasks import fixture_file
from chapterhouse.library import Library
from chapterhouse.types import Answer


class Verdict(StrEnum):
    """What a person thinks of an answer."""

    GOOD = "good"
    BAD = "bad"


class Kept(StrEnum):
    """What became of a verdict."""

    ADDED = "added"
    REPLACED = "replaced"  # the question had another verdict
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Told:
    """What has to be known of an answer: what was asked, and the sources and words it cites."""

    question: str
    found: bool
    citations: tuple[tuple[str, str], ...]  # source and quote


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict as it was kept."""

    question: Question
    kept: Kept
    path: Path


def told(answer: Answer) -> Told:
    """Return what has to be known of an answer."""
    cited = tuple((citation.source, citation.quote) for citation in answer.citations)
    return Told(answer.question, answer.found, cited)


def parse_answer(text: str, name: str) -> Told:
    """Read an answer as ``ask --json`` prints it, whole or its ``data`` alone.

    Raises:
        UsageError: it is something else; the message names the file and what is missing.
    """
    hint = "It should hold what this prints: chapterhouse ask QUESTION --json"
    try:
        record = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}.", hint=hint) from None
    if isinstance(record, dict) and record.get("ok") is False:
        raise UsageError(f"{name} holds an error, not an answer.", hint=hint)
    if isinstance(record, dict) and "ok" in record:
        record = record.get("data")
    try:
        return _told(record)
    except (KeyError, TypeError, ValueError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{name} is no answer: {what}.", hint=hint) from None


def as_question(
    verdict: Verdict, answer: Told, required: Sequence[str] = (), shelves: Sequence[str] = ()
) -> Question:
    """Return the question that a verdict makes of an answer.

    Args:
        verdict: What a person thinks of it.
        answer: What was asked and told.
        required: The documents that are right; instead of those cited.
        shelves: The shelves on which it was asked.

    Raises:
        UsageError: nothing follows from the verdict, because nothing was cited and nothing named.
    """
    cited = tuple(dict.fromkeys(source for source, _ in answer.citations))
    quotes = tuple(dict.fromkeys(quote for _, quote in answer.citations))
    good = verdict is Verdict.GOOD
    if not (cited or required or (good and not answer.found)):
        raise UsageError(
            "The answer cites nothing, so nothing follows from calling it bad.",
            hint="Name the document that answers it: --required SOURCE",
        )
    return Question(
        question_id(answer.question, shelves),
        answer.question.strip(),
        required=tuple(required) or (cited if good else ()),
        forbidden=() if good or required else cited,
        answers=quotes if good and not required else (),
        answerable=bool(answer.found or required or not good),
        shelves=tuple(shelves),
        note=f"feedback: {verdict.value}",
    )


def keep(library: Library, question: Question) -> Feedback:
    """Put a question into the workspace's file; safe where other processes do the same.

    The file is replaced as a whole: whoever reads it sees it before or after.

    Raises:
        NotFoundError: a document that it names is not in the library.
        UsageError: a name fits several documents, or the file is not one of questions.
    """
    for name in (*question.required, *question.forbidden):
        library.document(name)
    path = fixture_file(library)
    with _alone(path.parent):
        lines, before = _lines(path)
        line = question_line(question)
        if before.get(question.id) == line:
            return Feedback(question, Kept.UNCHANGED, path)
        kept = Kept.REPLACED if question.id in before else Kept.ADDED
        rest = [entry for entry in lines if entry != before.get(question.id)]
        write_whole(path, "".join(f"{entry}\n" for entry in (*rest, line)))
    return Feedback(question, kept, path)


def _told(record: Any) -> Told:
    if not isinstance(record, dict):
        raise TypeError("it is not a JSON object")
    question, found = record["question"], record["found"]
    if not isinstance(question, str) or not question.strip() or not isinstance(found, bool):
        raise ValueError("its question or found is of the wrong kind")
    citations = [(citation["source"], citation["quote"]) for citation in record["citations"]]
    if not all(isinstance(part, str) for citation in citations for part in citation):
        raise ValueError("a citation's source or quote is no text")
    return Told(question, found, tuple(citations))


def _lines(path: Path) -> tuple[list[str], dict[str, str]]:
    """Return the lines of the file and, of each question, its line in the form that we write."""
    if not path.exists():
        return [], {}
    questions = read_questions(path)
    if path.read_text("utf-8-sig").lstrip().startswith("["):  # a list, as a person may write it
        lines = [question_line(question) for question in questions]
    else:
        lines = [line for line in path.read_text("utf-8-sig").split("\n") if line.strip()]
    return lines, {question.id: line for question, line in zip(questions, lines, strict=True)}


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let no other process write here meanwhile; the lock ends with the process at the latest."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
