"""What the tools do that find, read and ask, and those who can be asked."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from chapterhouse.answering.cite import link_of
from chapterhouse.answering.request import AskOptions
from chapterhouse.answering.search import named_scope
from chapterhouse.council.knowledge import (
    Search,
    find_passages,
    format_passages,
    passage_place,
)
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.minutes.outline import minutes_markdown
from chapterhouse.errors import NotFoundError, RefusedError
from chapterhouse.interfaces.schemas import (
    AskArguments,
    ConveneArguments,
    FetchArguments,
    FetchMetadata,
    FetchResult,
    FoundResult,
    GraphArguments,
    NoArguments,
    Outcome,
    PassageResult,
    PassagesArguments,
    PassagesResult,
    SearchArguments,
    SearchResults,
)
from chapterhouse.interfaces.service import Report, Service
from chapterhouse.interfaces.values import (
    CouncilEntry,
    PersonaEntry,
    all_councils,
    all_personas,
    meeting_events,
    public_answer,
    public_minutes,
)
from chapterhouse.library import Library
from chapterhouse.library.answers import answer_of
from chapterhouse.library.councils import minutes_of
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.text.counting import counted
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import (
    AskEvent,
    Body,
    Chunk,
    CouncilEvent,
    Document,
    Hit,
    MeetingEvent,
    MeetingEventKind,
    Query,
    ReadingEvent,
    SearchResult,
)
from chapterhouse.types.graph import EntityPage, EntitySentence

DOCUMENTS: Final = "chapterhouse://documents/"
PAGE: Final = 20_000  # characters that fetch returns at once: some 5,000 tokens
_RESULTS: Final = 10
_SNIPPET: Final = 1_200
_NAMES: Final = 2.0  # seconds that documents are read for names; the next call goes on
_PARAGRAPH: Final = "\n\n"


async def search(service: Service, arguments: SearchArguments, _report: Report) -> Outcome:
    """Return the best passage of each of the documents that fit best."""
    found = await service.look(
        lambda library: library.search.hits(arguments.query, limit=_RESULTS, per_document=1)
    )
    results = SearchResults(results=tuple(map(_found, found.hits)))
    return Outcome(results, results.model_dump_json())  # both forms are what these clients read


async def fetch(service: Service, arguments: FetchArguments, _report: Report) -> Outcome:
    """Return a page of a document."""
    page = await service.look(lambda library: _page(library, arguments.id, arguments.offset))
    return Outcome(page, page.model_dump_json())


async def passages(
    service: Service,
    arguments: PassagesArguments,
    _report: Report,
    place: Callable[[Hit], str] = passage_place,
    **limits: int,
) -> Outcome:
    """Return the passages that fit best; only similar ones, where the arguments say how similar."""
    found = await service.look(
        lambda library: find_passages(
            _searcher(library),
            named_scope(arguments.shelves or None),
            arguments.query,
            minimum=getattr(arguments, "min_similarity", 0.0),
            limit=arguments.limit,
            **limits,
        )
    )
    result = PassagesResult(
        query=found.query.text,
        passages=tuple(map(_passage, found.hits)),
        min_similarity=found.minimum,
        scores_are_absolute=found.absolute,
        documents_searched=found.documents,
        corrections=found.corrections,
    )
    return Outcome(result, format_passages(found, place=place))


async def search_graph(service: Service, arguments: GraphArguments, _report: Report) -> Outcome:
    """Return the sentences that name somebody or something, and whom it stands with."""
    found = await service.look(lambda library: library.graph.show(arguments.name, wait=_NAMES))
    return Outcome(found, "\n".join(_entity_lines(found)))


def _entity_lines(found: EntityPage) -> Iterator[str]:
    entity = found.entity
    yield f"{sanitise_line(entity.name)} ({entity.kind.value})"
    for one in found.sentences:
        yield f"- {_placed(one)}"
    for group in found.related_by_sentence:
        names = "; ".join(
            f"{one.words or 'with'} {sanitise_line(one.entity.name)}"
            f" ({counted(one.together, 'sentence')})"
            for one in group
        )
        yield f"{names[0].upper()}{names[1:]}: {_placed(group[0].evidence)}"


def _placed(one: EntitySentence) -> str:
    place = f"{DOCUMENTS}{one.document_id}#char={one.start},{one.end}"
    return f"{sanitise_line(one.text)} [{sanitise_line(one.source)}, {place}]"


def _searcher(library: Library) -> Search:
    """Return a library as the knowledge tools search it."""

    def look(query: Query) -> SearchResult:
        return library.search.hits(
            query.text,
            shelves=query.scope.shelves,
            limit=query.limit,
            per_document=query.per_document,
        )

    return look


def title_of(document: Document) -> str:
    """Return the title of a document on one line, else the name of its file."""
    return sanitise_line(document.title) or sanitise_line(document.source.rpartition("/")[2])


def url_of(document: Document, section_path: Sequence[str] = (), span: str = "") -> str:
    """Return the web address that a document states for itself, else that of its resource."""
    return link_of(document, tuple(section_path)) or f"{DOCUMENTS}{document.id}{span}"


def _found(hit: Hit) -> FoundResult:
    chunk = hit.chunk
    return FoundResult(
        id=chunk.id,
        title=title_of(hit.document),
        url=url_of(hit.document, chunk.section_path, f"#char={chunk.start},{chunk.end}"),
        text=(chunk.header + chunk.text)[:_SNIPPET],
    )


def _passage(hit: Hit) -> PassageResult:
    chunk, document = hit.chunk, hit.document
    return PassageResult(
        chunk_id=chunk.id,
        document_id=document.id,
        title=title_of(document),
        source=sanitise_line(document.source),
        page=chunk.page,
        page_label=chunk.page_label,
        section_path=chunk.section_path,
        start=chunk.start,
        end=chunk.end,
        text_sha256=document.text_sha256,
        text=chunk.header + chunk.text,
        score=hit.score,
        exact=bool(hit.stages.get("exact")),
        trust=document.trust,
    )


def _page(library: Library, name: str, offset: int | None) -> FetchResult:
    """Return the page of a document that begins at ``offset``, or holds the chunk named."""
    document, chunk = _named(library, name)
    body = library.documents.body(document.id)
    start = _begin(body, chunk) if offset is None else offset
    if start > len(body.text):
        raise NotFoundError(
            f"The document has {len(body.text):,} characters; there is nothing at {start:,}.",
            hint="Take the offset from next_offset.",
        )
    end = _end(body.text, start)
    return FetchResult(
        id=name,
        title=title_of(document),
        text=body.text[start:end],
        url=url_of(document),
        metadata=FetchMetadata(
            document_id=document.id,
            source=sanitise_line(document.source),
            format=document.format,
            language=document.language,
            start=start,
            end=end,
            characters=len(body.text),
            next_offset=end if end < len(body.text) else None,
            passage_start=chunk.start if chunk else None,
            passage_end=chunk.end if chunk else None,
            text_sha256=document.text_sha256,
        ),
    )


def _named(library: Library, name: str) -> tuple[Document, Chunk | None]:
    """Return the document, and the chunk where the name is a chunk's."""
    beginning, _, ordinal = name.rpartition(":")
    wanted = int(ordinal) if ordinal.isascii() and ordinal.isdigit() and beginning else None
    document = document_of(library, beginning if wanted is not None else name)
    if wanted is None:
        return document, None
    chunk = next(
        (one for one in library.documents.chunks(document.id) if one.ordinal == wanted), None
    )
    if chunk is None:
        raise NotFoundError(
            f"The document '{document.id}' has no passage {ordinal}.",
            hint="It may have been read anew since: search again.",
        )
    return document, chunk


def document_of(library: Library, name: str) -> Document:
    """Return the document with an id, the beginning of one, or the name of its file."""
    try:
        document = library.documents.get(name)
    except (NotFoundError, RefusedError):  # only an id names one for who sees a part
        document = None
    if document is None or document.location == name != document.source:  # no path is told of
        raise NotFoundError(
            f"There is no document '{sanitise_line(name)[:200]}'.",
            hint="Use an id that search returned.",
        )
    return document


def _begin(body: Body, chunk: Chunk | None) -> int:
    """Return where the page with a chunk begins: at the document's or the section's beginning."""
    if chunk is None or len(body.text) <= PAGE:
        return 0
    sections = (one.start for one in body.sections if one.start <= chunk.start < one.end)
    section = max(sections, default=chunk.start)
    return section if chunk.end - section <= PAGE else chunk.start


def _end(text: str, start: int) -> int:
    """Return where a page ends: at the text's end, else behind a paragraph in its second half."""
    end = start + PAGE
    if end >= len(text):
        return len(text)
    paragraph = text.rfind(_PARAGRAPH, start + PAGE // 2, end)
    return end if paragraph < 0 else paragraph + len(_PARAGRAPH)


_EVENT_TEXTS: Final = {
    MeetingEventKind.ROUND_BEGAN: "Round {number}, {round}, has begun.",
    MeetingEventKind.SPOKE: "Round {number}, {round}: {member} has spoken.",
    MeetingEventKind.RESUMED: "Round {number}, {round}: {member} had spoken before.",
    MeetingEventKind.ABSENT: "Round {number}, {round}: {member} did not speak.",
    MeetingEventKind.ROUND_ENDED: "Round {number}, {round}, has ended.",
}


async def ask(service: Service, arguments: AskArguments, report: Report) -> Outcome:
    """Put a question to the library or a persona."""

    def on_event(event: AskEvent) -> None:
        if isinstance(event, ReadingEvent):
            report(f"Read {event.progress.done} of {event.progress.total} changed files.")

    options = AskOptions(
        remember=service.remember,
        use_cache=service.remember,
        drafts=False,
        interface="mcp",
        counted=True,
    )
    answer = await service.ask(
        lambda library: answer_of(
            library.answers.events(arguments.question, persona=arguments.persona, options=options),
            on_event,
        )
    )
    shown = public_answer(answer)
    return Outcome(shown, answer_markdown(shown))


async def convene(service: Service, arguments: ConveneArguments, report: Report) -> Outcome:
    """Let a council meet, telling of every round and speaker."""

    def on_event(event: CouncilEvent) -> None:
        if isinstance(event, MeetingEvent) and (text := _EVENT_TEXTS.get(event.kind)):
            report(text.format(number=event.number, round=event.round, member=event.member))

    options = MeetingOptions(remember=service.remember, interface="mcp", counted=True)
    minutes = await service.ask(
        lambda library: minutes_of(
            meeting_events(library, arguments.council, arguments.question, options), on_event
        )
    )
    shown = public_minutes(minutes)
    return Outcome(shown, minutes_markdown(shown))


async def list_personas(service: Service, _arguments: NoArguments, _report: Report) -> Outcome:
    """Say who can be asked."""
    found = await service.look(all_personas)
    lines = [_line(one, one.expertise) for one in found.personas]
    text = "\n".join(lines) or "There are no personas; ask the library itself."
    return Outcome(found, text)


async def list_councils(service: Service, _arguments: NoArguments, _report: Report) -> Outcome:
    """Say what can be convened."""
    found = await service.look(all_councils)
    lines = [_line(one, one.purpose) for one in found.councils]
    return Outcome(found, "\n".join(lines) or "There are no councils.")


def _line(one: PersonaEntry | CouncilEntry, about: str) -> str:
    wrong = f"cannot be used now: {one.problems[0].sentence}" if one.problems else ""
    text = wrong or " ".join(about.split())
    return f"- {one.slug} ({one.display_name}){': ' if text else ''}{text}"
