# ruff: noqa: ARG002 - the scripted library takes what the real one takes
"""A command line run inside the test process, and a library that says what a test tells it to."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import Member, Round
from chapterhouse.agents.councils import CouncilFolder, Link
from chapterhouse.agents.curated import Curated, CurationReport, Outcome
from chapterhouse.agents.listing import IndexState, Listed
from chapterhouse.agents.persona import PersonaConfig, PersonaFolder, Profile
from chapterhouse.agents.persona_update import PersonaUpdate, Proposal, propose
from chapterhouse.agents.problems import Code, Problem, Severity
from chapterhouse.agents.profile import Generated
from chapterhouse.agents.registry import Entry, Refresh
from chapterhouse.agents.sync import Move, SyncReport
from chapterhouse.answering.bundle import Bundle, answer_json, bundle_json, make_bundle
from chapterhouse.answering.cite import CitationCheck, QuoteState, SourceState
from chapterhouse.answering.search import named_scope
from chapterhouse.council.meeting.session import MeetingOptions, Plan, PlannedTurn
from chapterhouse.council.minutes.bundle import (
    MinutesBundle,
    make_minutes_bundle,
    minutes_bundle_json,
    minutes_json,
)
from chapterhouse.interfaces.cli import main, session
from chapterhouse.settings import Settings
from chapterhouse.store.connections import Connections
from chapterhouse.store.memory import MemoryStore
from chapterhouse.types import (
    AddReport,
    Answer,
    AnswerOutcome,
    AnswerSentence,
    AskEvent,
    Body,
    Cell,
    Check,
    Chunk,
    Citation,
    Claim,
    ClaimKind,
    Context,
    CorpusCounts,
    CouncilEvent,
    DisagreementMap,
    Document,
    Excerpt,
    FileOutcome,
    FileRecord,
    FollowUp,
    Gap,
    Hit,
    Leaning,
    LibraryStatus,
    MapRow,
    MeetingEvent,
    Memory,
    Minutes,
    Notice,
    Page,
    ParticipantRecord,
    Point,
    Progress,
    Query,
    ReadingEvent,
    Receipt,
    Removal,
    Searched,
    SearchResult,
    Section,
    Stance,
    Statement,
    Status,
    Turn,
    Variant,
    VariantKind,
    Verdict,
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
    outcome=AnswerOutcome.ANSWER,
    sentences=(AnswerSentence("A berth costs 80 euros a metre.", (1,)),),
    citations=(CITATION,),
    searched=SEARCHED,
    confidence=0.9,
)
REFUSAL = Answer(
    "Who won?",
    outcome=AnswerOutcome.NOT_FOUND,
    sentences=(),
    citations=(),
    searched=Searched(1, 1, ("won",), ("won\x1b[31m",), (f"{HOSTILE} › Guests",)),
    confidence=0.1,
)


def outcome(status: Status, name: str = "tariffs.md", seconds: float = 0.5) -> FileOutcome:
    code, sentence = ("encrypted", "It has a password.") if status is Status.REJECTED else ("", "")
    record = FileRecord(f"/papers/{name}", name, 10, 1, "ef" * 32, status, code, sentence)
    return FileOutcome(record, changed=status is Status.READY, seconds=seconds)


CONFIG = PersonaConfig.model_construct(  # nothing is validated: a file system holds anything
    slug="maria",
    display_name=HOSTILE,
    tags=(HOSTILE, "tides"),
    profile=Profile.model_construct(expertise=HOSTILE),
    folders=(f"/{HOSTILE}",),
)
GENERATED = Generated(
    ("tides",), ("fog",), (), "Knows about tides.", (("tides", HOSTILE),), HOSTILE
)
PERSONA = PersonaFolder(Path(f"/{HOSTILE}/maria"), CONFIG, HOSTILE)
PROBLEM = Problem((HOSTILE,), Code.UNUSED, HOSTILE, HOSTILE, Severity.WARNING, f"maria/{HOSTILE}")
LISTED = Listed(
    HOSTILE, f"/{HOSTILE}", "tides-1a", HOSTILE, IndexState.PARTIAL, HOSTILE, "no-text", 3
)
REFRESH = Refresh(
    "maria",
    HOSTILE,
    CurationReport((Curated(HOSTILE, "x.md", Outcome.ORPHANED, "gone", HOSTILE),)),
    SyncReport(AddReport((outcome(Status.READY),)), (HOSTILE,), (Move(HOSTILE, ("tom",), ()),)),
    (HOSTILE,),
)


@dataclass
class ScriptedHouse:
    """Answers every call about personas with one value; counts what it was asked to change."""

    failure: BaseException | None = None
    problems: tuple[Problem, ...] = (PROBLEM,)
    generated: Generated = GENERATED
    accepted: list[Proposal] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)

    def all(self) -> tuple[Entry[PersonaFolder], ...]:
        return Entry("maria", PERSONA), Entry("tom", None, (PROBLEM,))

    def create(
        self, slug: str, *, display_name: str, template: str, folders: Sequence[str]
    ) -> PersonaFolder:
        return PERSONA

    def load(self, name: str) -> PersonaFolder:
        return PERSONA

    def resolve(self, name: str) -> str:
        return "maria"

    def census(self, name: str) -> CorpusCounts:
        return CorpusCounts(1, 3, {"en": 1})

    def is_current(self, name: str) -> bool:
        return False

    def validate(self, name: str | None = None) -> tuple[Problem, ...]:
        return self.problems

    def change(self, name: str, written: Mapping[str, str]) -> PersonaFolder:
        return PERSONA

    def file(self, name: str, *, config: bool = False) -> Path:
        return Path("/papers") / ("persona.config.json" if config else "persona.md")

    def documents(self, name: str) -> tuple[Listed, ...]:
        return (LISTED,)

    def chosen(self, name: str, file: str) -> Listed:
        return LISTED

    def remove(self, name: str, file: str) -> Listed:
        self.moved.append(("out", file))
        return LISTED

    def restore(self, name: str, file: str) -> Listed:
        self.moved.append(("in", file))
        return LISTED

    def update(
        self,
        name: str,
        *,
        files: Sequence[Path],
        urls: Sequence[str],
        on_progress: Callable[[Progress], None],
        dry_run: bool,
    ) -> PersonaUpdate:
        if self.failure:
            raise self.failure
        proposal = propose(PersonaConfig(slug="maria", tags=("fog",)), Generated(), self.generated)
        return PersonaUpdate("maria", (HOSTILE,), None, REFRESH, None, proposal)

    def accept(self, name: str, proposal: Proposal) -> PersonaFolder:
        self.accepted.append(proposal)
        return PERSONA


COUNCIL = CouncilFolder(
    Path(f"/{HOSTILE}/berths"),
    Council(
        "berths",
        HOSTILE,
        HOSTILE,
        HOSTILE,
        (HOSTILE,),
        (
            Member(name=HOSTILE, instructions=HOSTILE, model=HOSTILE, tools=(HOSTILE,)),
            Member("maria", grounding="tool", timeout_seconds=9, shelves=(HOSTILE,)),
            Member(council=HOSTILE),
        ),
        (Round("synthesis"), Round(HOSTILE, HOSTILE, (HOSTILE,), anonymous=True, sees_claims=True)),
        Member(name=HOSTILE),
        (f"/{HOSTILE}",),
        (HOSTILE,),
    ),
)
FAULT = Problem(("members", 0, HOSTILE), Code.UNUSED, HOSTILE, HOSTILE, Severity.WARNING, HOSTILE)


@dataclass
class ScriptedCouncils:
    """Answers every call about councils with one value; counts what it was asked to change."""

    problems: tuple[Problem, ...] = (FAULT,)
    listed: tuple[Listed, ...] = (LISTED,)
    refresh: Refresh = REFRESH
    changed: bool = True
    failure: BaseException | None = None
    made: list[Council] = field(default_factory=list)
    linked: list[tuple[str, str]] = field(default_factory=list)

    library: Any = None

    def convene(self, *arguments: Any, **more: Any) -> Minutes:
        held: Minutes = self.library.hold(*arguments, **more)
        return held

    def plan(self, *arguments: Any, **more: Any) -> Plan:
        planned: Plan = self.library.planned(*arguments, **more)
        return planned

    def bundle(self, minutes: Minutes) -> MinutesBundle:
        bundled: MinutesBundle = self.library.bundled(minutes)
        return bundled

    def recheck(self, minutes: Minutes) -> tuple[CitationCheck, ...]:
        checks: tuple[CitationCheck, ...] = self.library.rechecked_minutes(minutes)
        return checks

    def all(self) -> tuple[Entry[CouncilFolder], ...]:
        return Entry("berths", COUNCIL), Entry("torn", None, (FAULT,))

    def create(self, council: Council) -> CouncilFolder:
        self.made.append(council)
        return COUNCIL

    def load(self, name: str) -> CouncilFolder:
        return COUNCIL

    def census(self, name: str) -> CorpusCounts:
        return CorpusCounts(1, 3, {"en": 1})

    def is_current(self, name: str) -> bool:
        return False

    def validate(self, council: str | None = None) -> tuple[Problem, ...]:
        return self.problems

    def documents(self, name: str) -> tuple[Listed, ...]:
        return self.listed

    def link(
        self, name: str, path: str, *, on_progress: Callable[[Progress], None], dry_run: bool
    ) -> Link:
        if self.failure:
            raise self.failure
        if not dry_run:
            self.linked.append(("in", path))
        return Link(COUNCIL, HOSTILE, self.changed, self.refresh)

    def unlink(
        self,
        name: str,
        path: str,
        *,
        on_progress: Callable[[Progress], None] = print,
        dry_run: bool = False,
    ) -> Link:
        if not dry_run:
            self.linked.append(("out", path))
        return Link(COUNCIL, HOSTILE, self.changed, self.refresh)


MINUTES = Minutes(
    "berths",
    HOSTILE,
    "What shall a berth cost?",
    options=("80 euros", HOSTILE),
    members=(
        ParticipantRecord("maria", HOSTILE, "persona", "maria", (HOSTILE,), 1, HOSTILE),
        ParticipantRecord("tom", "Tom", "role"),
    ),
    rounds=("independent_analysis",),
    statements=(
        Statement(
            "maria",
            "independent_analysis",
            HOSTILE,
            claims=(Claim("c1", "maria", "independent_analysis", TEXT[11:42], (1,)),),
            warnings=(HOSTILE,),
        ),
        Statement("tom", "independent_analysis", missing=(HOSTILE,)),
    ),
    map=DisagreementMap(
        ("maria", "tom"),
        (
            MapRow(
                "c1",
                ("c1",),
                TEXT[11:42],
                (Cell("maria", Stance.SUPPORTS, ("c1",), (1,)), Cell("tom", Stance.SILENT)),
                (ClaimKind.ONE_MEMBER,),
                (DOCUMENT.id,),
            ),
        ),
    ),
    decided="80 euros",
    decision=(Point(TEXT[11:42], (1,), claims=("c1",)),),
    missing=(Gap("tom", HOSTILE, HOSTILE),),
    matrix=(Verdict("80 euros", "maria", Leaning.FOR, TEXT[11:42], (1,)),),
    citations=(CITATION,),
    chair=HOSTILE,
)
PLAN = Plan(
    "berths",
    HOSTILE,
    HOSTILE,
    MINUTES.members,
    (
        PlannedTurn(
            "maria",
            "independent_analysis",
            HOSTILE,
            "inject",
            (HOSTILE,),
            ("search_knowledge",),
            f"Be brief. {HOSTILE}",
            f"What shall a berth cost?\n{HOSTILE}",
        ),
    ),
    (HOSTILE,),
)

MEMORY = Memory(
    "m1",
    "maria",
    1_700_000_000,
    0,
    HOSTILE,
    f"A berth costs 80 euros. {HOSTILE}",
    found=True,
    method="extractive",
    sources=(HOSTILE,),
)


@dataclass
class ScriptedLibrary:
    """Answers every call with the value it was given; counts what it was asked to change."""

    answer: Answer = ANSWER
    folder: Path = Path("/made/up")
    place: Path = Path("/made/up")
    minutes: Minutes = MINUTES
    events: tuple[MeetingEvent, ...] = ()
    convened: list[tuple[str, str, MeetingOptions]] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    finds: bool = True
    report: AddReport = field(default_factory=lambda: AddReport((outcome(Status.READY),)))
    checks: tuple[Check, ...] = (Check("database", passed=True, sentence="It is whole."),)
    failure: BaseException | None = None
    removed: list[tuple[str, ...]] = field(default_factory=list)
    closed: bool = False
    personas: ScriptedHouse = field(default_factory=ScriptedHouse)
    councils: ScriptedCouncils = field(default_factory=ScriptedCouncils)
    rechecked: tuple[CitationCheck, ...] = (
        CitationCheck(CITATION, SourceState.MOVED, QuoteState.FOUND, DOCUMENT.id, HOSTILE, 11, 42),
    )

    def __post_init__(self) -> None:
        self.documents = self.search = self.answers = self.encoders = self
        self.councils.library = self

    @cached_property
    def memory(self) -> MemoryStore:
        """A real memory, of one answer."""
        store = MemoryStore(Connections(self.place / "memories.db"))
        store.remember(MEMORY)
        return store

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

    def hits(
        self,
        text: str,
        *,
        shelves: Sequence[str] | None = None,
        limit: int | None = None,
        per_document: int | None = None,
        tags: Sequence[str] = (),
    ) -> SearchResult:
        self._work()
        query = Query(text, named_scope(shelves), limit or 10, 3, tuple(tags))
        hits = (HIT,) if self.finds else ()
        asked = Variant(VariantKind.ASKED, text, (WeightedTerm("berth"),))
        other = Variant(VariantKind.EXPANSION, HOSTILE, (WeightedTerm("quay", 0.6),), 0.9, HOSTILE)
        return SearchResult(
            query, hits, ("berth",), ("en",), (), 1, 1, (asked, other), (f"Warned: {HOSTILE}",)
        )

    def all(self, text: str, *, shelves: Sequence[str] | None = None) -> SearchResult:
        return self.hits(text, shelves=shelves)

    def context(
        self,
        question: str,
        *,
        maximum: int | None = None,
        shelves: Sequence[str] | None = None,
        tags: Sequence[str] = (),
    ) -> Context:
        self._work()
        excerpt = Excerpt(HIT, 11, 42, TEXT[11:42], 9, 0.8)
        chosen = (excerpt,) if self.finds else ()
        markdown = f"## {HOSTILE}\n\n{TEXT[11:42]}\n" if self.finds else ""
        return Context(
            question, chosen, chosen, markdown, 20, maximum or 2_000, (DOCUMENT.id,), 1.0, 1.0
        )

    def ask(
        self,
        question: str,
        *,
        persona: str = "",
        shelves: Sequence[str] | None = None,
        tags: Sequence[str] = (),
        words: int | None = None,
        model: str | None = None,
        remember: bool = True,
        use_cache: bool = True,
        search_text: str = "",
        in_conversation: bool = False,
        drafts: bool = True,
        on_event: Callable[[AskEvent], None] | None = None,
    ) -> Answer:
        self._work()
        return self.answer

    def follow_up(
        self,
        question: str,
        before: Sequence[Turn],
        *,
        persona: str = "",
        shelves: Sequence[str] | None = None,
        model: str | None = None,
        remember: bool = True,
        certain: bool = False,
    ) -> FollowUp:
        self._work()
        full = f"{question} ({HOSTILE})" if before else question
        return FollowUp(
            question,
            full,
            method=HOSTILE if before else "",
            warning=HOSTILE,
            recalled=(MEMORY,),
        )

    def hold(
        self,
        council: str,
        question: str,
        *,
        options: MeetingOptions,
        on_event: Callable[[CouncilEvent], None],
    ) -> Minutes:
        self.convened.append((council, question, options))
        on_event(ReadingEvent(Progress(3, 7, HOSTILE)))
        for event in self.events:
            on_event(event)
        self._work()
        return self.minutes

    def planned(self, council: str, question: str, *, options: MeetingOptions) -> Plan:
        self._work()
        return PLAN

    def bundled(self, minutes: Minutes) -> MinutesBundle:
        return make_minutes_bundle(
            minutes, [DOCUMENT], configuration={}, versions={"chapterhouse": HOSTILE}, sequence=5
        )

    def rechecked_minutes(self, minutes: Minutes) -> tuple[CitationCheck, ...]:
        return self.rechecked

    def list(self, shelves: Sequence[str] | None = None) -> Iterator[Document]:
        yield DOCUMENT

    def get(self, name: str) -> Document:
        return DOCUMENT

    def body(self, document_id: str) -> Body:
        return BODY

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        return (CHUNK,)

    def archive(self, name: str) -> FileRecord | None:
        return None

    def files(self, inside: str = "") -> Iterator[FileRecord]:
        if not inside:
            yield outcome(Status.REJECTED).record

    def remove(self, *names: str, missing: bool = False, dry_run: bool = False) -> Removal:
        if dry_run:
            return Removal((DOCUMENT,))
        self.removed.append(names)
        return Removal((DOCUMENT,), Receipt(1, 1, 3, 2**20, (HOSTILE,)))

    def bundle(self, answer: Answer) -> Bundle:
        return make_bundle(
            answer, [DOCUMENT], configuration={}, versions={"chapterhouse": HOSTILE}, sequence=5
        )

    def recheck(self, answer: Answer) -> tuple[CitationCheck, ...]:
        return self.rechecked

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
            {"lexical": 5, "vector": 4},
            "static",
            2048,
        )

    def doctor(self, *, fix: bool = False) -> tuple[Check, ...]:
        return self.checks

    def check_language_model(self) -> Check | None:
        return None

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
    place: Callable[[str], Path]
    hostile: str = HOSTILE
    text: str = TEXT
    refusal: Answer = REFUSAL

    def __call__(self, **values: Any) -> ScriptedLibrary:
        library = ScriptedLibrary(place=self.place("scripted"), **values)
        self.patch.setattr(session, "open_library", lambda *_, **__: library)
        return library

    def write(self, folder: Path, answer: Answer = ANSWER) -> None:
        """Lay an answer and its bundle into a folder, as ask writes them."""
        made = ScriptedLibrary().bundle(answer)
        (folder / "ANSWER").write_text(answer_json(answer), "utf-8")
        (folder / "BUNDLE").write_text(bundle_json(made), "utf-8")
        held = ScriptedLibrary().bundled(MINUTES)
        (folder / "MINUTES").write_text(minutes_json(MINUTES), "utf-8")
        (folder / "MINUTES-BUNDLE").write_text(minutes_bundle_json(held), "utf-8")

    def breaks(self, failure: Exception) -> None:
        def broken(*_: object, **__: object) -> ScriptedLibrary:
            raise failure

        self.patch.setattr(session, "open_library", broken)

    def outcome(
        self, status: Status, name: str = "tariffs.md", seconds: float = 0.5
    ) -> FileOutcome:
        return outcome(status, name, seconds)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Script:
    return Script(monkeypatch, tmp_path_factory.mktemp)
