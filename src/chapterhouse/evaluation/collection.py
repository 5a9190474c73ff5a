"""A judged collection in a library of its own, through everything but the file reader.

Cleaning, chunks, vectors, the store and both indexes are those of the product; the library lies in
a temporary folder and is removed in the end.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chapterhouse.answering.extractive import Reference
from chapterhouse.answering.search import reference_of, sources_of
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import NotFoundError, RejectedError, UsageError
from chapterhouse.evaluation.datasets import CorpusDocument, Dataset, Question
from chapterhouse.evaluation.measures import Grades
from chapterhouse.ingest.look import Prepare
from chapterhouse.ingest.prepare import Prepared, prepare
from chapterhouse.library import Library
from chapterhouse.ports.index import LexicalSearch, VectorSearch
from chapterhouse.ports.models import Chunker, Embedder
from chapterhouse.ports.store import Store
from chapterhouse.retrieval.pipeline import Sources
from chapterhouse.runtime import Runtime
from chapterhouse.settings import Settings
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import ExtractedPage, Extraction, FileRecord, Progress, Scope, Status
from chapterhouse.wiring import open_runtime, preparer

_WORKSPACE: Final = "collection"
FIXTURES: Final = "questions.jsonl"
_WARNINGS: Final = 5  # names listed one by one


@dataclass(frozen=True, slots=True)
class Collection:
    """An indexed collection.

    Attributes:
        library: The library that holds it.
        runtime: What that library is made of.
        names: The collection's document id for ours.
        left_out: The collection's ids of documents that have neither text nor title.
    """

    library: Library
    runtime: Runtime
    names: dict[str, str]
    left_out: tuple[str, ...] = ()

    @property
    def store(self) -> Store:
        """Return its store."""
        return self.runtime.store

    @property
    def lexical(self) -> LexicalSearch:
        """Return its lexical index."""
        return self.runtime.lexical

    @property
    def vectors(self) -> VectorSearch:
        """Return its vectors."""
        return self.runtime.vectors

    def sources(self, embedder: Embedder | None = None) -> Sources:
        """Return what retrieval looks into, with the library's embedder or another."""
        own = sources_of(self.runtime)
        return replace(own, embedder=embedder, table=None) if embedder else own

    def reference(self) -> Reference:
        """Return what answering looks up."""
        return reference_of(self.runtime, Scope.everything())


@contextmanager
def open_collection(
    documents: Sequence[CorpusDocument],
    chunker: Chunker | None = None,
    *,
    settings: Settings | None = None,
    markdown: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[Collection]:
    """Put documents into a temporary library and remove it all in the end.

    Args:
        documents: The collection. A document without text is found by its title; one that has
            neither is left out.
        chunker: How to cut them; as the settings say when None.
        settings: The library's settings; the defaults when None.
        markdown: Whether the texts are Markdown, with headings.
        on_progress: Called after each document.
    """
    settings = settings or Settings()
    with TemporaryDirectory(prefix="chapterhouse-") as name:
        home = Path(name)
        own = home / "workspaces" / _WORKSPACE
        own.mkdir(parents=True)
        runtime = open_runtime(home, _WORKSPACE, settings)
        with Library(runtime) as library:
            make = _preparing(chunker, settings, runtime)
            names: dict[str, str] = {}
            left_out: list[str] = []
            ending = "md" if markdown else "txt"
            for number, document in enumerate(documents):
                if identifier := _store(runtime.store, document, f"{number:06}.{ending}", make):
                    names[identifier] = document.id
                else:
                    left_out.append(document.id)
                if on_progress:
                    on_progress(Progress(number + 1, len(documents), document.title or document.id))
            library.encoders.embed_pending(on_progress)
            yield Collection(library, runtime, names, tuple(left_out))


def _preparing(chunker: Chunker | None, settings: Settings, runtime: Runtime) -> Prepare:
    if chunker is None:
        return preparer(settings, runtime.embedder)
    return partial(
        prepare, chunker=chunker, embedder=runtime.embedder, count_tokens=estimate_tokens
    )


def _store(store: Store, document: CorpusDocument, name: str, make: Prepare) -> str:
    """Store a document and return our id, empty where it has neither text nor title."""
    data = f"{document.title}\n{document.text}".encode("utf-8", "replace")
    # The name of a file says something in a folder of one's own; here it must say nothing.
    number, ending = name.split(".")
    path = f"set/{number}/text.{ending}"
    file = SourceFile(Path("/set"), (number, f"text.{ending}"), f"/{path}", path, len(data))
    sha256 = hashlib.sha256(data).hexdigest()
    content = Content(data, sha256, len(data), mtime_ns=0, modified=0)
    prepared = _prepare(document, file, content, make)
    if prepared is None:
        return ""
    stored = replace(prepared.document, title=sanitise_line(document.title))
    record = FileRecord(
        file.location,
        file.source,
        len(data),
        0,
        sha256,
        Status.READY,
        document_id=stored.id,
        format=ending,
    )
    store.put(
        stored, prepared.body, prepared.chunks, prepared.vectors, prepared.fingerprint, record, data
    )
    return stored.id


def _prepare(
    document: CorpusDocument, file: SourceFile, content: Content, make: Prepare
) -> Prepared | None:
    """Prepare a document by its text, else by its title; None where it has neither."""
    ending = file.location.rpartition(".")[2]
    for text in (document.text, document.title):
        page = (ExtractedPage(text),)
        extraction = Extraction(
            page, ending, "collection", markdown=ending == "md", title=document.title
        )
        try:
            return make(extraction, file, content)
        except RejectedError:
            continue
    return None


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
        for document in library.documents.list():
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
                self._ids[name] = self._library.documents.get(name).id
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
