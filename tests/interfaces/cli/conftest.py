# ruff: noqa: ARG002 - the scripted library takes what the real one takes
"""A command line run inside the test process, and a library that says what a test tells it to."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from chapterhouse.interfaces.cli import main, session
from chapterhouse.types import (
    AddReport,
    Answer,
    AnswerSentence,
    Body,
    Check,
    Chunk,
    Citation,
    Context,
    Document,
    Excerpt,
    FileOutcome,
    FileRecord,
    Hit,
    LibraryStatus,
    Notice,
    Page,
    Progress,
    Query,
    Searched,
    SearchResult,
    Section,
    Status,
    Variant,
    VariantKind,
    WeightedTerm,
)

HOSTILE = "Tariffs\x1b[2J\x1b]0;owned\x07 [bold red]PAID[/bold red] \u202egnp.exe"
TEXT = "# Tariffs\n\nA berth costs 80 euros a metre.\n\nGuests pay less [bold]here[/bold].\n"

DOCUMENT = Document(
    id="tariffs-1a2b3c4d",
    source=HOSTILE,
    location="/papers/tariffs.md",
    title=HOSTILE,
    format="markdown",
    method="markdown",
    sha256="ab" * 32,
    text_sha256="cd" * 32,
    size=1234,
    modified=1_700_000_000,
    language="en",
    notices=(Notice("invisible-characters", "3 invisible characters were left out."),),
    metadata={"author": HOSTILE},
    characters=len(TEXT),
    chunks=1,
)
BODY = Body(
    TEXT,
    (Section(0, 1, ("Tariffs",), 0, len(TEXT)),),
    (Page(1, "", 0, 10), Page(2, "", 10, len(TEXT))),
)
CHUNK = Chunk(DOCUMENT.id, 0, 11, 42, TEXT[11:42], section_path=("Tariffs",), page=2, key=1)
CITATION = Citation(
    number=1,
    document_id=DOCUMENT.id,
    title=DOCUMENT.title,
    source=DOCUMENT.source,
    section_path=("Tariffs",),
    page=2,
    page_kind="page",
    page_label="",
    start=11,
    end=42,
    quote=TEXT[11:42],
    text_sha256=DOCUMENT.text_sha256,
    verified=True,
)
SEARCHED = Searched(1, 1, ("berth", "cost"), (), ())
HIT = Hit(
    1,
    0.75,
    CHUNK,
    DOCUMENT,
    {"bm25": 12.5, "bm25_rank": 1.0, "cosine": 0.25},
    repeats=(f"copy:{HOSTILE}",),
)
ANSWER = Answer(
    "What does a berth cost?",
    found=True,
    sentences=(AnswerSentence("A berth costs 80 euros a metre.", (1,)),),
    citations=(CITATION,),
    searched=SEARCHED,
    evidence=0.9,
)
REFUSAL = Answer(
    "Who won?",
    found=False,
    sentences=(),
    citations=(),
    searched=Searched(1, 1, ("won",), ("won\x1b[31m",), (f"{HOSTILE} › Guests",)),
    evidence=0.1,
)


def outcome(status: Status, name: str = "tariffs.md", seconds: float = 0.5) -> FileOutcome:
    code, sentence = ("encrypted", "It has a password.") if status is Status.REJECTED else ("", "")
    record = FileRecord(f"/papers/{name}", name, 10, 1, "ef" * 32, status, code, sentence)
    return FileOutcome(record, changed=status is Status.READY, seconds=seconds)


@dataclass
class ScriptedLibrary:
    """Answers every call with the value it was given; counts what it was asked to change."""

    answer: Answer = ANSWER
    hits: bool = True
    report: AddReport = field(default_factory=lambda: AddReport((outcome(Status.READY),)))
    checks: tuple[Check, ...] = (Check("database", passed=True, sentence="It is whole."),)
    failure: BaseException | None = None
    removed: list[tuple[str, ...]] = field(default_factory=list)
    closed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closed = True

    def _work(self) -> None:
        if self.failure:
            raise self.failure

    def add(
        self,
        *paths: Path | str,
        shelf: str = "library",
        on_progress: Callable[[Progress], None] | None = None,
        dry_run: bool = False,
    ) -> AddReport:
        if on_progress:
            on_progress(Progress(3, 7, "tariffs.md"))
        self._work()
        return self.report

    def reprocess(
        self, *names: str, on_progress: Callable[[Progress], None] | None = None
    ) -> AddReport:
        self._work()
        return self.report

    def search(
        self,
        text: str,
        *,
        shelves: Sequence[str] = (),
        limit: int | None = None,
        per_document: int | None = None,
        tags: Sequence[str] = (),
    ) -> SearchResult:
        self._work()
        query = Query(text, tuple(shelves), limit or 10, 3, tuple(tags))
        hits = (HIT,) if self.hits else ()
        asked = Variant(VariantKind.ASKED, text, (WeightedTerm("berth"),))
        other = Variant(VariantKind.EXPANSION, HOSTILE, (WeightedTerm("quay", 0.6),), 0.9, HOSTILE)
        return SearchResult(
            query, hits, ("berth",), ("en",), (), 1, 1, (asked, other), (f"Warned: {HOSTILE}",)
        )

    def search_all(self, text: str, *, shelves: Sequence[str] = ()) -> SearchResult:
        return self.search(text, shelves=shelves)

    def context(
        self,
        question: str,
        *,
        maximum: int | None = None,
        shelves: Sequence[str] = (),
        tags: Sequence[str] = (),
    ) -> Context:
        self._work()
        excerpt = Excerpt(HIT, 11, 42, TEXT[11:42], 9, 0.8)
        chosen = (excerpt,) if self.hits else ()
        markdown = f"## {HOSTILE}\n\n{TEXT[11:42]}\n" if self.hits else ""
        return Context(
            question, chosen, chosen, markdown, 20, maximum or 2_000, (DOCUMENT.id,), 1.0, 1.0
        )

    def ask(
        self,
        question: str,
        *,
        shelves: Sequence[str] = (),
        tags: Sequence[str] = (),
        sentences: int | None = None,
    ) -> Answer:
        self._work()
        return self.answer

    def documents(self, shelves: Sequence[str] = ()) -> Iterator[Document]:
        yield DOCUMENT

    def document(self, name: str) -> Document:
        return DOCUMENT

    def body(self, document_id: str) -> Body:
        return BODY

    def files(self) -> Iterator[FileRecord]:
        yield outcome(Status.REJECTED).record

    def remove(
        self, *names: str, missing: bool = False, dry_run: bool = False
    ) -> tuple[Document, ...]:
        if not dry_run:
            self.removed.append(names)
        return (DOCUMENT,)

    def status(self) -> LibraryStatus:
        return LibraryStatus(
            "/home",
            "default",
            1,
            1,
            5,
            {"markdown": 1},
            {"ready": 1},
            {"library": 1},
            5,
            4,
            "static",
            2048,
        )

    def doctor(self) -> tuple[Check, ...]:
        return self.checks

    def reindex(self) -> LibraryStatus:
        return self.status()


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def envelope(self) -> Any:
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        assert self.envelope["ok"] is True, self.out
        return self.envelope["data"]


Run = Callable[..., Result]


@pytest.fixture
def chapterhouse(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("CHAPTERHOUSE_HOME", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: object) -> Result:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@dataclass
class Script:
    """Puts a scripted library in the place of the real one."""

    patch: pytest.MonkeyPatch
    hostile: str = HOSTILE
    text: str = TEXT
    refusal: Answer = REFUSAL

    def __call__(self, **values: Any) -> ScriptedLibrary:
        library = ScriptedLibrary(**values)
        self.patch.setattr(session, "open_library", lambda *_, **__: library)
        return library

    def breaks(self, failure: Exception) -> None:
        def broken(*_: object, **__: object) -> ScriptedLibrary:
            raise failure

        self.patch.setattr(session, "open_library", broken)

    def outcome(
        self, status: Status, name: str = "tariffs.md", seconds: float = 0.5
    ) -> FileOutcome:
        return outcome(status, name, seconds)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    return Script(monkeypatch)
