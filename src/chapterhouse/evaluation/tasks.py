"""What is evaluated: questions with judgements, and the library that is asked."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.evaluation.collection import Collection
from chapterhouse.evaluation.datasets import Dataset
from chapterhouse.evaluation.measures import Grades
from chapterhouse.evaluation.questions import Question
from chapterhouse.library import Library

FIXTURES: Final = "questions.jsonl"
_WARNINGS: Final = 5  # names listed one by one


@dataclass(frozen=True, slots=True)
class Case:
    """A question as it is measured; documents go by their names in runs.

    Attributes:
        question: The question.
        relevant: Grades above 0 of the documents that should be found.
        forbidden: Documents that should not be.
        labels: What people call the documents above.
    """

    question: Question
    relevant: Grades = field(default_factory=dict)
    forbidden: frozenset[str] = frozenset()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """An evaluation to run.

    Attributes:
        name: What is measured, for people.
        kind: ``collection``, ``questions`` or ``synthetic``.
        library: The library that is asked.
        cases: What it is asked.
        names: The name in runs of a document's id in the library, where it has another.
        warnings: What does not fit together.
    """

    name: str
    kind: str
    library: Library
    cases: tuple[Case, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def collection_task(dataset: Dataset, collection: Collection) -> Task:
    """Return the task of a collection: its questions, asked of the library that holds it."""
    titles = {document.id: document.title for document in dataset.documents}
    cases = [
        Case(
            Question(identifier, text, answers=dataset.answers.get(identifier, ())),
            relevant=dataset.relevant[identifier],
            labels={
                name: f"{name} {titles.get(name, '')}" for name in dataset.relevant[identifier]
            },
        )
        for identifier, text in dataset.questions.items()
    ]
    return Task(
        dataset.name,
        "collection",
        collection.library,
        tuple(cases),
        names=collection.names,
        warnings=(*dataset.warnings, *_left_out(collection)),
    )


def _left_out(collection: Collection) -> Iterator[str]:
    count = len(collection.left_out)
    if count:
        have = "document has" if count == 1 else "documents have"
        yield f"{count:,} {have} neither text nor title and cannot be found: left out."


def question_task(
    questions: Sequence[Question], library: Library, name: str, kind: str = "questions"
) -> Task:
    """Return the task of a file of questions, asked of a library of one's own.

    A required document that the library does not have counts as not found, with a warning.

    Raises:
        NotFoundError: the library has none of the required documents.
        UsageError: the library is empty, or a name fits several documents.
    """
    known = _Names(library)
    cases = [_case(question, known) for question in questions]
    named = {name for question in questions for name in question.required}
    if named and named <= set(known.unknown):
        raise NotFoundError(
            f"None of the {len(named)} documents that {name} requires is in this library.",
            hint="Is it the right --home and --workspace? See: chapterhouse docs list",
        )
    return Task(name, kind, library, tuple(cases), warnings=tuple(_unknown(known.unknown)))


def limited(task: Task, limit: int | None) -> Task:
    """Return the task with at most so many questions, drawn by the hashes of their ids."""
    if limit is None or limit >= len(task.cases):
        return task
    drawn = sorted(task.cases, key=lambda case: _hash(case.question.id))[:limit]
    chosen = {case.question.id for case in drawn}
    cases = tuple(case for case in task.cases if case.question.id in chosen)
    return replace(task, cases=cases)


def fixture_file(library: Library) -> Path:
    """Return the file of questions that belongs to a workspace; ``feedback`` writes it."""
    return library.home / "workspaces" / library.workspace / FIXTURES


class _Names:
    """Documents by everything they may be called; remembers the names that fit none."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._ids: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        for document in library.documents():
            self.sources[document.id] = document.source
            self._ids |= {document.location: document.id, document.source: document.id}
        self._ids |= {identifier: identifier for identifier in self.sources}
        self.unknown: dict[str, str] = {}
        if not self.sources:
            raise UsageError(
                "The library is empty: there is nothing to ask.",
                hint="Add documents: chapterhouse add PATH",
            )

    def id_of(self, name: str, place: str) -> str:
        """Return the id of the document called ``name``; the name itself where there is none."""
        if name not in self._ids:
            try:
                self._ids[name] = self._library.document(name).id
            except NotFoundError:
                self.unknown.setdefault(name, place)
                self._ids[name] = name
            except UsageError as error:
                raise UsageError(f"{place}: {error.message}", hint=error.hint) from None
        return self._ids[name]


def _case(question: Question, known: _Names) -> Case:
    required = {known.id_of(name, question.place): name for name in question.required}
    forbidden = {known.id_of(name, question.place): name for name in question.forbidden}
    both = required.keys() & forbidden.keys()
    if both:
        raise UsageError(
            f"{question.place}: '{required[min(both)]}' is both required and forbidden."
        )
    labels = required | forbidden
    return Case(
        question,
        relevant=dict.fromkeys(required, 1),
        forbidden=frozenset(forbidden),
        labels={name: known.sources.get(name, label) for name, label in labels.items()},
    )


def _unknown(names: Mapping[str, str]) -> Iterator[str]:
    for name, place in list(names.items())[:_WARNINGS]:
        yield f"{place}: no document is called '{name}'."
    if len(names) > _WARNINGS:
        yield f"{len(names) - _WARNINGS:,} more names fit no document."


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
