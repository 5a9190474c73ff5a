"""Values of the library as HTTP and MCP send them: without paths of this machine.

They are those of ``types``; what one says by its properties stands beside its fields.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, computed_field

from chapterhouse.agents.council import Council, CouncilFolder
from chapterhouse.agents.council_model import MemberKind, RoundKind
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import Problem
from chapterhouse.agents.registry import Entry, Folder
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.interfaces.service import public_lines, without_paths
from chapterhouse.library import Library
from chapterhouse.presenting.citing import clean
from chapterhouse.presenting.wording import reservations
from chapterhouse.retrieval.rerank import tags_of
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import (
    Answer,
    Chunk,
    CouncilEvent,
    Document,
    FileSearch,
    Hit,
    Job,
    LibraryStatus,
    MeetingEvent,
    MeetingEventKind,
    MemberTurn,
    Minutes,
    Persona,
    SearchResult,
    Source,
)

Value = TypeVar("Value")


_adapters: Final[dict[Any, TypeAdapter[Any]]] = {}


def adapter_of(kind: type[Value]) -> TypeAdapter[Value]:
    """Return what writes values of a type as JSON, and reads them; it is made once."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def as_json(value: object) -> str:
    """Return a value as JSON."""
    return adapter_of(type(value)).dump_json(value).decode()


def as_object(value: object) -> Any:
    """Return a value as JSON has it, in objects, lists, texts and numbers."""
    return adapter_of(type(value)).dump_python(value, mode="json")


def extended(kind: type[Value], value: Any, **others: object) -> Value:
    """Return a value as one of a class that extends its own."""
    return kind(**{**{one.name: getattr(value, one.name) for one in fields(value)}, **others})


@dataclass(frozen=True, slots=True)
class PublicAnswer(Answer):
    """An answer with its evidence, the closest passages, or an honest refusal.

    Attributes:
        text: The answer with numbers of citations in brackets.
        certainty: ``sure`` or ``likely``, of an answer without a model; else empty.
        reservations: What no document mentions, what is read in part, and another language.
    """

    text = computed_field(Answer.text)
    certainty = computed_field(Answer.certainty)

    @computed_field
    def reservations(self) -> tuple[str, ...]:
        """What no document mentions, what is read in part, and another language."""
        return public_lines(reservations(self.searched))


def public_answer(answer: Answer) -> PublicAnswer:
    """Return an answer as clients get it."""
    return extended(
        PublicAnswer,
        answer,
        citations=tuple(map(clean, answer.citations)),
        notice=without_paths(answer.notice),
        refreshed=without_paths(answer.refreshed),
        warnings=public_lines(answer.warnings),
    )


def public_minutes(minutes: Minutes) -> Minutes:
    """Return minutes as clients get them."""
    return replace(
        minutes,
        turns=tuple(map(_public_turn, minutes.turns)),
        citations=tuple(map(clean, minutes.citations)),
        warnings=public_lines(minutes.warnings),
    )


def _public_turn(turn: MemberTurn) -> MemberTurn:
    return replace(
        turn,
        citations=tuple(map(clean, turn.citations)),
        warnings=public_lines(turn.warnings),
        inner=public_minutes(turn.inner) if turn.inner else None,
    )


def public_event(event: MeetingEvent) -> MeetingEvent:
    """Return what happened in a meeting as clients get it."""
    is_written = event.kind is MeetingEventKind.TEXT  # by a model: sent as it is
    text = event.text if is_written else without_paths(event.text)
    return replace(event, text=text, turn=_public_turn(event.turn) if event.turn else None)


@dataclass(frozen=True, slots=True)
class PublicDocument(Document):
    """A document without its text.

    Attributes:
        location: Empty: no path of the server's machine is told.
        tags: Of the document itself.
    """

    @computed_field
    def tags(self) -> tuple[str, ...]:
        """What the document says that it is about."""
        return tuple(sorted(tags_of(self)))


def public_document(document: Document, shelves: tuple[str, ...] | None) -> PublicDocument:
    """Return a document as a client may see it: ``shelves`` are those it may know of, None all."""
    own = tuple(one for one in document.shelves if shelves is None or one in shelves)
    return extended(
        PublicDocument,
        document,
        title=sanitise_line(document.title),
        source=sanitise_line(document.source),
        location="",
        shelves=own,
    )


@dataclass(frozen=True, slots=True)
class PublicChunk(Chunk):
    """A span of a document, small enough to be retrieved.

    Attributes:
        id: What names it: the document's id, colon, ordinal.
    """

    id = computed_field(Chunk.id)


@dataclass(frozen=True, slots=True)
class PublicHit(Hit):
    """A chunk that answers a query, and its document without the text."""

    chunk: PublicChunk
    document: PublicDocument


@dataclass(frozen=True, slots=True)
class PublicSearch(SearchResult):
    """The hits of one query, best first."""

    hits: tuple[PublicHit, ...]


def public_search(found: SearchResult, shelves: tuple[str, ...] | None) -> PublicSearch:
    """Return a search as a client may see it: ``shelves`` are those it may know of, None all."""
    found = found.unexplained()
    hits = tuple(
        extended(
            PublicHit,
            hit,
            chunk=extended(PublicChunk, hit.chunk),
            document=public_document(hit.document, shelves),
        )
        for hit in found.hits
    )
    return extended(PublicSearch, found, hits=hits, warnings=public_lines(found.warnings))


def public_file_search(search: FileSearch | None, *, is_whole: bool) -> FileSearch | None:
    """Return a search of all files as clients get it: no file, and to who sees a part no sizes."""
    if search is None:
        return None
    sizes = {} if is_whole else {"files": 0, "bytes": 0}
    return replace(search, places=(), redacted=(), **sizes)


_ARGUMENTS: Final = ("name", "shelf", "sources")  # of jobs, which say nothing of the machine


def public_job(job: Job) -> Job:
    """Return a job as clients get it: not where its files are, nor which process is at it."""
    return replace(
        job,
        arguments={name: job.arguments[name] for name in _ARGUMENTS if name in job.arguments},
        lane="",
        worker="",
        in_flight=(),
        current=without_paths(job.current),
        result=_without_paths(job.result),
        error=sanitise_line(without_paths(job.error)),
        hint=sanitise_line(without_paths(job.hint)),
    )


def _without_paths(value: Any) -> Any:
    match value:
        case str():
            return without_paths(value)
        case Mapping():
            return {without_paths(key): _without_paths(one) for key, one in value.items()}
        case list() | tuple():
            return [_without_paths(one) for one in value]
        case _:
            return value


@dataclass(frozen=True, slots=True)
class PublicSource(Source):
    """Something that the library is to be the image of.

    Attributes:
        location: Only for the level admin; else empty.
        stale: Whether it looks as if it had changed since it was brought up to date.
    """

    stale: bool = False


def public_source(source: Source, library: Library, *, is_admin: bool) -> PublicSource:
    """Return a source as a client may see it."""
    hidden = {} if is_admin else {"location": "", "problem": without_paths(source.problem)}
    return extended(PublicSource, source, stale=library.sources.is_stale(source), **hidden)


def public_status(status: LibraryStatus) -> LibraryStatus:
    """Return what a workspace holds as clients get it: no folder, nor where a model is asked."""
    model = status.language_model
    return replace(
        status,
        home="",
        embedder=without_paths(status.embedder),
        encoders=tuple(
            replace(one, name=without_paths(one.name), problem=without_paths(one.problem))
            for one in status.encoders
        ),
        language_model=replace(model, sentence="", hint="") if model else None,
    )


# --- personas and councils ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PersonaEntry:
    """Someone who answers from documents of their own.

    Attributes:
        slug: What ``ask`` takes as ``persona``.
        shelves: What they read.
        documents: How many are on their own shelf.
        problems: Why they cannot be asked, or nothing.
    """

    slug: str
    display_name: str
    expertise: str
    tags: tuple[str, ...]
    shelves: tuple[str, ...]
    documents: int
    usable: bool
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class PersonaList:
    """All personas."""

    personas: tuple[PersonaEntry, ...]


@dataclass(frozen=True, slots=True)
class MemberEntry:
    """Who speaks in a council: how rounds name them, and what they are."""

    key: str
    kind: MemberKind


@dataclass(frozen=True, slots=True)
class RoundEntry:
    """A round of a council."""

    name: str
    kind: RoundKind
    shows_statements: bool


@dataclass(frozen=True, slots=True)
class CouncilEntry:
    """A council that can be convened.

    Attributes:
        slug: What ``convene`` takes as ``council``.
        documents: How many all members share.
        problems: Why it cannot meet, or nothing.
    """

    slug: str
    display_name: str
    purpose: str
    members: tuple[MemberEntry, ...]
    rounds: tuple[RoundEntry, ...]
    options: tuple[str, ...]
    documents: int
    usable: bool
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class CouncilList:
    """All councils."""

    councils: tuple[CouncilEntry, ...]


def all_personas(library: Library) -> PersonaList:
    """Return all personas as clients get them."""
    found = library.personas.all()
    return PersonaList(tuple(persona_entry(_public_entry(one), library.personas) for one in found))


def all_councils(library: Library) -> CouncilList:
    """Return all councils as clients get them."""
    found = library.councils.all()
    return CouncilList(tuple(council_entry(_public_entry(one), library.councils) for one in found))


def persona_entry(entry: Entry[PersonaFolder], personas: Personas) -> PersonaEntry:
    """Return what a list says of a persona."""
    persona = entry.folder.persona if entry.folder else Persona(entry.slug, "")
    return PersonaEntry(
        slug=entry.slug,
        display_name=persona.display_name,
        expertise=persona.expertise,
        tags=persona.tags,
        shelves=persona.reads if entry.folder else (),
        documents=personas.census(entry.slug).documents,
        usable=entry.folder is not None,
        problems=entry.problems,
    )


def council_entry(entry: Entry[CouncilFolder], councils: Councils) -> CouncilEntry:
    """Return what a list says of a council."""
    council = entry.folder.council if entry.folder else Council("")
    return CouncilEntry(
        slug=entry.slug,
        display_name=council.title,
        purpose=council.purpose,
        members=tuple(MemberEntry(one.key, one.kind) for one in council.members),
        rounds=tuple(
            RoundEntry(one.name, one.kind, one.shows_statements) for one in council.rounds
        ),
        options=council.options,
        documents=councils.census(entry.slug).documents,
        usable=entry.folder is not None,
        problems=entry.problems,
    )


def _public_entry(entry: Entry[Folder]) -> Entry[Folder]:
    return replace(entry, problems=tuple(map(_public_problem, entry.problems)))


def _public_problem(one: Problem) -> Problem:
    return replace(
        one,
        path=tuple(without_paths(key) if isinstance(key, str) else key for key in one.path),
        sentence=without_paths(one.sentence),
        hint=without_paths(one.hint),
    )


async def meeting_events(
    library: Library, council: str, question: str, options: MeetingOptions
) -> AsyncGenerator[CouncilEvent]:
    """Yield the events of a meeting; what it writes is thrown away unless it is remembered."""
    with TemporaryDirectory(prefix="chapterhouse-meeting-") as folder:
        if not options.remember:
            options = replace(options, transcript=Path(folder) / "transcript.ndjson")
        async for event in library.councils.events(council, question, options=options):
            yield event
