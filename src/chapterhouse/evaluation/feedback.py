"""A person's verdict on an answer, kept as a question of the workspace's own file.

A good answer's sources become what the question must find, and its quotations what must be quoted.
Of a bad answer what was wrong becomes what it must not show again: the sentences and passages that
are named, else all that it showed; a document only where that is named. One question has one
verdict: the last.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from chapterhouse.errors import UsageError
from chapterhouse.evaluation.questions import (
    Question,
    question_file,
    question_id,
    question_line,
    read_questions,
)
from chapterhouse.files import lock_folder, write_output
from chapterhouse.library import Library
from chapterhouse.types import Answer, AnswerOutcome


class Verdict(StrEnum):
    """What a person thinks of an answer."""

    GOOD = "good"
    BAD = "bad"


class FeedbackChange(StrEnum):
    """What became of a verdict."""

    ADDED = "added"
    REPLACED = "replaced"  # the question had another verdict
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What has to be known of an answer: what was asked, and what it says and cites."""

    question: str
    found: bool
    citations: tuple[tuple[str, str], ...]  # source and quote
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrong:
    """What was wrong in a bad answer; nothing: all that it showed.

    Attributes:
        sentences: Numbers from 1, or words, of sentences that should not be said.
        passages: Numbers of citations, or words of their quotations, that should not be quoted.
        documents: Names of documents on which the answer must not rest at all.
    """

    sentences: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is named."""
        return bool(self.sentences or self.passages or self.documents)


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict as it was kept."""

    question: Question
    change: FeedbackChange
    path: Path


_DIGITS: Final = 9  # of a number of a sentence or passage; more are words
_ALL_SHOWN: Final = Wrong()


def to_judged_answer(answer: Answer) -> JudgedAnswer:
    """Return what has to be known of an answer."""
    cited = tuple((citation.source, citation.quote) for citation in answer.citations)
    sentences = tuple(sentence.text for sentence in answer.sentences)
    return JudgedAnswer(answer.question, answer.found, cited, sentences)


def parse_answer(text: str, name: str) -> JudgedAnswer:
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
        return _parse_record(record)
    except (KeyError, TypeError, ValueError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{name} is no answer: {what}.", hint=hint) from None


def as_question(
    verdict: Verdict,
    answer: JudgedAnswer,
    required: Sequence[str] = (),
    shelves: Sequence[str] | None = None,
    wrong: Wrong = _ALL_SHOWN,
) -> Question:
    """Return the question that a verdict makes of an answer.

    Args:
        required: The documents that are right; instead of those cited.
        shelves: The shelves on which it was asked; None for the whole library.

    Raises:
        UsageError: nothing follows from the verdict, because nothing was shown and nothing named;
            or what is named as wrong was not shown, or the answer is called good.
    """
    if verdict is Verdict.GOOD and wrong:
        raise UsageError("Only of a bad answer can be said what was wrong.")
    made = Question(
        question_id(answer.question, shelves),
        answer.question.strip(),
        required=tuple(required),
        shelves=None if shelves is None else tuple(shelves),
        note=f"feedback: {verdict.value}",
    )
    if verdict is Verdict.BAD:
        return _correct(made, answer, wrong)
    if required:
        return made
    if answer.found and not answer.citations:
        raise _nothing_follows("good")
    return replace(
        made,
        required=tuple(dict.fromkeys(source for source, _ in answer.citations)),
        answers=tuple(dict.fromkeys(quote for _, quote in answer.citations)),
        answerable=bool(answer.citations),
    )


def _correct(question: Question, answer: JudgedAnswer, wrong: Wrong) -> Question:
    """Return the question with what its answer must not show or rest on."""
    quotes = [quote for _, quote in answer.citations]
    if wrong:
        found = [_named(name, answer.sentences, "sentence") for name in wrong.sentences]
        found += [_named(name, quotes, "passage") for name in wrong.passages]
    else:
        found = [] if question.required else [*answer.sentences, *quotes]
    if not (found or wrong.documents or question.required):
        raise _nothing_follows("bad")
    return replace(
        question,
        forbidden=tuple(dict.fromkeys(wrong.documents)),
        wrong=tuple(dict.fromkeys(filter(None, map(str.strip, found)))),
    )


def _nothing_follows(verdict: str) -> UsageError:
    return UsageError(
        f"The answer cites nothing, so nothing follows from calling it {verdict}.",
        hint="Name the document that answers it: --required SOURCE",
    )


def _named(name: str, shown: Sequence[str], what: str) -> str:
    """Return the one text that is meant by its number, from 1, or by words of it."""
    if name.strip().isdecimal() and len(name) <= _DIGITS:
        found = list(shown[int(name) - 1 : int(name)]) if int(name) else []
    else:
        plain = " ".join(name.split()).casefold()
        found = [text for text in shown if plain and plain in " ".join(text.split()).casefold()]
    if len(set(found)) == 1:
        return found[0]
    raise UsageError(
        f"{len(set(found)) or 'None'} of the {what}s shown is meant by “{name}”, not one.",
        hint=f"Name one by its number, 1 to {len(shown)}, or by words that only it has."
        if shown
        else f"The answer shows no {what}.",
    )


def save_feedback(library: Library, question: Question) -> Feedback:
    """Put a question into the workspace's file; safe where other processes do the same.

    The file is replaced as a whole: whoever reads it sees it before or after.

    Raises:
        NotFoundError: a document that it names is not in the library.
        UsageError: a name fits several documents, or the file is not one of questions.
    """
    for name in (*question.required, *question.forbidden):
        library.documents.get(name)
    path = question_file(library)
    with lock_folder(path.parent):
        lines, before = _lines(path)
        line = question_line(question)
        if before.get(question.id) == line:
            return Feedback(question, FeedbackChange.UNCHANGED, path)
        change = FeedbackChange.REPLACED if question.id in before else FeedbackChange.ADDED
        rest = [entry for entry in lines if entry != before.get(question.id)]
        write_output(path, "".join(f"{entry}\n" for entry in (*rest, line)))
    return Feedback(question, change, path)


def _parse_record(record: Any) -> JudgedAnswer:
    if not isinstance(record, dict):
        raise TypeError("it is not a JSON object")
    question, outcome = record["question"], record["outcome"]
    if not isinstance(question, str) or not question.strip() or outcome not in set(AnswerOutcome):
        raise ValueError("its question or outcome is of the wrong kind")
    citations = [(citation["source"], citation["quote"]) for citation in record["citations"]]
    if not all(isinstance(part, str) for citation in citations for part in citation):
        raise ValueError("a citation's source or quote is no text")
    sentences = tuple(sentence["text"] for sentence in record.get("sentences", ()))
    if not all(isinstance(text, str) for text in sentences):
        raise ValueError("a sentence's text is no text")
    return JudgedAnswer(question, outcome == AnswerOutcome.ANSWER, tuple(citations), sentences)


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
