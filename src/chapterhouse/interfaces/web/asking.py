"""Questions on the page: asked, answered as it comes, gone on from, saved."""

import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, Final, Literal
from uuid import uuid4

from fastapi import Form, Query, Response
from fastapi.sse import ServerSentEvent
from pydantic import Field, TypeAdapter, ValidationError
from starlette.responses import StreamingResponse

from chapterhouse.answering.bundle import bundle_json
from chapterhouse.answering.request import AskOptions
from chapterhouse.council.meeting.memory import is_council_owner
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.api import schemas
from chapterhouse.interfaces.api.asking import event_stream, with_pings
from chapterhouse.interfaces.api.councils import MeetingBody, open_meeting
from chapterhouse.interfaces.api.routing import needs, require
from chapterhouse.interfaces.api.schemas import ChosenDocuments, Question
from chapterhouse.interfaces.values import (
    PublicAnswer,
    adapter_of,
    all_councils,
    all_personas,
    as_json,
    public_answer,
)
from chapterhouse.interfaces.web.frame import (
    Visit,
    Visited,
    file_of,
    folder_name,
    fragment,
    pages,
)
from chapterhouse.library import Library
from chapterhouse.library.answers import answer_of
from chapterhouse.presenting.answers import (
    QUOTATION,
    answer_blocks,
    answer_markdown,
    written_blocks,
)
from chapterhouse.presenting.blocks import Part
from chapterhouse.presenting.citing import citation_line, clean, distinguish_sources
from chapterhouse.presenting.html import page
from chapterhouse.types import (
    Answer,
    AnswerEvent,
    AnswerOutcome,
    AnswerSentence,
    AskEvent,
    Body,
    Citation,
    Document,
    DraftEvent,
    FollowUp,
    ReadingEvent,
    Turn,
)
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ)
READ_WHOLE: Final = needs(AccessLevel.READ, whole=True)
_EVENTS: Final = "text/event-stream"
_TURNS: Final = 6  # that a question may go on from
_TURN_CHARACTERS: Final = 2_000  # of an answer that a model is reminded of
_LONG: Final = 280  # characters of a passage of which the deciding sentence is shown first
_SUGGESTED: Final = 3
_LOOKED_AT: Final = 60  # documents whose headings may be suggested
_NUMBER: Final = re.compile(r"^(?:§\s*)?(?:\d+(?:[.)]\d+)*[.)]?|[IVX]+[.)])\s+")  # of a heading
_HEADING: Final = re.compile(r"[^\W\d_][\w'’,-]*(?: [\w'’][\w'’,-]*){1,6} ?\??")  # of a few words
_GENERAL: Final = re.compile(  # about a document and not about its subject
    r"(?i)^(?:about|annex|appendix|chapter|how to|part|section|step|table of|this|what|why)\b"
    r"|\b(?:agenda|contents?|definitions|example|introduction|minutes|notes?|overview|summary)\b"
    r"|\b(?:i|my|our|we|you|your)\b|^next steps$"
)
_LEAST_TEXT: Final = 150  # characters below a heading that a question is asked of
_LISTS: Final = 100  # of questions
# Signs of Markdown in a document that are not shown of a sentence.
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\(?(?:\d{1,3}|[a-z])[.)])\s|\s*$")
_BETWEEN: Final = r"(?:\]\([^)\s]*\)|[\s*_`\[\]\\|>#-])*"
_suggestions: Final[dict[tuple[tuple[str, str], ...], Sequence[str]]] = {}
_SAVED_BYTES: Final = 2_000_000
OUTCOMES: Final = {
    AnswerOutcome.ANSWER: "answer",
    AnswerOutcome.PASSAGES: "closest passages",
    AnswerOutcome.NOT_FOUND: "not found",
}
_turns: Final = TypeAdapter(tuple[Turn, ...])


class AskForm(schemas.Body):
    """A question, who is asked or which documents alone, and what it goes on from."""

    question: Question
    who: str = Field(default="", max_length=200, pattern=r"^(|(persona|council|shelf)/.+)$")
    document: ChosenDocuments = ()
    before: str = Field(default="", max_length=50_000)

    def named(self, kind: str) -> str:
        """Return the persona, council or shelf that is asked; empty where another kind is."""
        asked, _, name = self.who.partition("/")
        return name if asked == kind and not self.document else ""

    @property
    def shelves(self) -> tuple[str, ...] | None:
        """The shelf alone that is asked, where one is."""
        return tuple(filter(None, [self.named("shelf")])) or None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What was asked before.

        Raises:
            UsageError: it is not as the page wrote it.
        """
        try:
            return _turns.validate_json(self.before) if self.before else ()
        except ValidationError:
            raise UsageError("What was asked before cannot be read.", hint="Ask anew.") from None


@pages.get("/", openapi_extra=READ)
async def show_first(
    visit: Visited,
    question: Annotated[str, Query(max_length=10_000)] = "",
    who: Annotated[str, Query(max_length=200)] = "",
    document: Annotated[ChosenDocuments, Query()] = (),
) -> Response:
    """Show the page on which questions are asked; of an empty library how it is filled."""
    return await show_turn(visit, who, document, question=question)


@pages.post("/ask", openapi_extra=READ)
async def ask(visit: Visited, form: Annotated[AskForm, Form()]) -> Response:
    """Answer a question; as it comes, where a script of the page asks."""
    if slug := form.named("council"):
        require(visit.caller, AccessLevel.READ, whole=True)
        meeting = await open_meeting(
            visit, slug, MeetingBody(question=form.question),
            interface="page", remember=visit.may_remember,
        )  # fmt: skip
        where = f"/meetings/{meeting.id}"
        if _EVENTS in visit.request.headers.get("accept", ""):
            return Response(f"event: go\ndata: {json.dumps(where)}\n\n", media_type=_EVENTS)
        return visit.redirect(where)
    follow_up = await _follow_up(visit, form)
    if _EVENTS in visit.request.headers.get("accept", ""):
        lines = with_pings(_answering(visit, form, follow_up))
        return StreamingResponse(lines, media_type=_EVENTS)
    answer = await visit.ask(
        lambda library: answer_of(_events(library, visit, form, follow_up, drafts=False))
    )
    turn = answer_turn(form.question, public_answer(answer), form.turns)
    return await show_turn(visit, form.who, form.document, turn=turn)


async def _follow_up(visit: Visit, form: AskForm) -> FollowUp:
    """Return the question as it can be understood by itself."""
    turns = form.turns[-_TURNS:]
    if not turns:
        return FollowUp(form.question, form.question)
    return await visit.look_long(
        lambda library: library.answers.follow_up(
            form.question,
            turns,
            persona=form.named("persona"),
            shelves=form.shelves,
            remember=visit.may_remember,
        )
    )


def _events(
    library: Library, visit: Visit, form: AskForm, follow_up: FollowUp, *, drafts: bool
) -> AsyncIterator[AskEvent]:
    options = AskOptions(
        shelves=form.shelves,
        remember=visit.may_remember,
        use_cache=visit.may_remember,
        search_text=follow_up.search_text,
        in_conversation=bool(form.before),
        drafts=drafts,
        interface="page",
        counted=True,
        documents=form.document,
    )
    return library.answers.events(
        follow_up.question, persona=form.named("persona"), options=options
    )


async def _answering(visit: Visit, form: AskForm, follow_up: FollowUp) -> AsyncGenerator[str]:
    """Yield the events of an answer with what the page shows of each."""
    events = visit.events(lambda library: _events(library, visit, form, follow_up, drafts=True))

    def shown(event: AskEvent) -> ServerSentEvent:
        match event:
            case ReadingEvent(progress):
                text = f"Reading what changed: {progress.done} of {progress.total}"
                return _event("reading", text)
            case DraftEvent(draft):
                part = written_blocks(draft.sentences)
                values = {"part": part, "text": draft.text, "cited": {}, "id": "draft"}
                return _event("draft", fragment("draft.html", values))
            case AnswerEvent(answer):
                turn = answer_turn(form.question, public_answer(answer), form.turns)
                values = {"turn": turn}
                return _event("answer", fragment("turn.html", values))

    async for one in event_stream(events, shown, visit.server.stopping):
        yield f"event: {one.event}\ndata: {one.raw_data}\n\n"


def _event(name: str, text: str) -> ServerSentEvent:
    return ServerSentEvent(event=name, raw_data=json.dumps(text))


def answer_turn(asked: str, answer: PublicAnswer, before: Sequence[Turn] = ()) -> dict[str, Any]:
    """Return what templates show of a question and its answer."""
    turns = (*before, Turn(answer.question, answer.text))
    is_answer = answer.outcome is AnswerOutcome.ANSWER
    deciding = {
        f"{QUOTATION}-{number}": _deciding(one)
        for number, one in enumerate(answer.sentences, start=1)
        if one.key_span[1] and (len(one.text) > _LONG or (is_answer and one.key_span[0]))
    }
    cited = cited_by(answer.citations)
    for number, one in enumerate(answer.sentences, start=1):
        if key := deciding.get(f"{QUOTATION}-{number}"):
            cited |= _narrowed({str(name): cited[str(name)] for name in one.citations}, key[-1])
    return text_turn(turns, answer_blocks(answer, apart=True), OUTCOMES[answer.outcome]) | {
        "asked": asked,
        "taken": answer.question if answer.question != asked else "",
        "speaker": answer.display_name,
        "cited": cited,
        "deciding": deciding,
        "saved": as_json(answer),
    }


def _deciding(quoted: AnswerSentence) -> tuple[str, ...]:
    """Return the sentence that decides, behind what leads in to it.

    An item of "You may not:" says the opposite without that line.
    """
    start, end = quoted.key_span
    key = quoted.text[start:end].removeprefix("- ")
    before = reversed(quoted.text[:start].removesuffix("- ").splitlines())
    lead = next((line for line in before if not _ITEM.match(line)), "")
    return (lead, key) if lead.endswith((":", "：")) else (key,)


def _narrowed(cited: Mapping[str, Citation], key: str) -> dict[str, Citation]:
    """Return those citations of a passage's section that has a sentence, as ones of it alone."""
    pattern = re.compile(_BETWEEN.join(map(re.escape, re.findall(r"[^\W_]+|[^\w\s]", key))))
    for one in cited.values():
        if found := pattern.search(one.quote):
            start, end = (one.start + place for place in found.span())
            own = replace(one, start=start, end=end, quote=found[0])
            line = citation_line(one)
            return {name: own for name, other in cited.items() if citation_line(other) == line}
    return {}


def text_turn(turns: Sequence[Turn], part: Part, outcome: str) -> dict[str, Any]:
    """Return what templates show of an answer of which nothing else is known."""
    latest = tuple(replace(one, answer=one.answer[:_TURN_CHARACTERS]) for one in turns[-_TURNS:])
    unique = f"turn-{uuid4().hex[:8]}"  # on its page, on which older turns stand
    known = {"asked": turns[-1].question, "outcome": outcome, "part": part, "id": unique}
    none = {"taken": "", "speaker": "", "cited": {}, "deciding": {}, "saved": "", "given": 0}
    return {**known, **none, "before": _turns.dump_json(latest).decode()}


def cited_by(citations: Sequence[Citation]) -> dict[str, Citation]:
    """Return citations by how they are called, as templates link them."""
    return dict(distinguish_sources((str(one.number), clean(one)) for one in citations))


async def show_turn(
    visit: Visit,
    who: str,
    chosen: Sequence[str] = (),
    *,
    question: str = "",
    turn: Mapping[str, Any] | None = None,
) -> Response:
    """Show the page on which questions are asked: whom, and what may be asked first.

    Args:
        chosen: Documents and folders that alone are asked.
    """
    is_whole = visit.caller.grant.is_whole

    def look(library: Library) -> dict[str, Any]:
        personas = (one for one in all_personas(library).personas if one.usable)
        every = all_councils(library).councils if is_whole else ()
        councils = (one for one in every if one.usable)
        own = library.personas.names() if is_whole else ()
        sources = library.sources.list() if is_whole else ()
        folders = {f"council/{one.slug}": one.folder for one in library.councils.all()}
        asked = folders.get(who)
        counts = library.documents.counts()
        shelves = [one for one in counts["shelf"] if one not in own and not is_council_owner(one)]
        return {
            "askable": {
                "Personas": {
                    f"persona/{one.slug}": one.display_name for one in personas if one.usable
                },
                "Councils": {
                    f"council/{one.slug}": one.display_name for one in councils if one.usable
                },
                "One shelf alone": {f"shelf/{one}": one for one in shelves if len(shelves) > 1},
            },
            "members": library.councils.titles(asked.council).values() if asked else (),
            "suggested": () if chosen else suggest_questions(library),
            "chosen": {one: _called(one, library) for one in chosen},
            "documents": sum(counts["format"].values()),
            "sources": [one.name for one in sources if one.synced and "/" not in one.name],
        }

    values = await visit.look(look)
    called = next((group[who] for group in values["askable"].values() if who in group), "")
    values |= {"question": question, "who": who if called else "", "called": called, "turn": turn}
    return await visit.show("ask.html", values)


def _called(name: str, library: Library) -> str:
    """Return how a document or a folder that was chosen is called."""
    try:
        document = library.documents.by_id(name)
    except NotFoundError:
        return folder_name(name)
    return document.title or document.source


def suggest_questions(library: Library) -> Sequence[str]:
    """Return first questions that the documents' own headings can answer.

    Bodies are looked into once, as long as the first documents stay as they are.
    """
    first = list(islice(library.documents.list(), _LOOKED_AT))
    key = tuple((one.id, one.text_sha256) for one in first)
    if key not in _suggestions:
        if len(_suggestions) >= _LISTS:
            _suggestions.clear()
        bodies = [(one, library.documents.body(one.id)) for one in first]
        _suggestions[key] = tuple(islice(_questions(bodies), _SUGGESTED))
    return _suggestions[key]


def _questions(bodies: Sequence[tuple[Document, Body]]) -> Iterator[str]:
    """Yield a question to a document each, of what no other one has a heading for."""
    paths = ({one.path for one in body.sections if one.path[1:]} for _, body in bodies)
    often = Counter(path[-1] for own in paths for path in own)
    for document, body in bodies:
        for section in body.sections:
            heading = _NUMBER.sub("", section.path[-1]).strip(" .:") if section.path[1:] else ""
            has_text = section.end - section.start >= len(heading) + _LEAST_TEXT
            if not (_HEADING.fullmatch(heading) and has_text and often[section.path[-1]] == 1):
                continue
            if heading.endswith("?"):
                yield heading
                break
            if document.language == "en" and not _GENERAL.search(heading):
                yield f"What do the documents say about “{heading}”?"
                break


class SaveForm(schemas.Body):
    """An answer as the page showed it, and in which format it is to be saved."""

    answer: str = Field(max_length=_SAVED_BYTES)
    format: Literal["md", "html", "json"]


@pages.post("/answers/save", openapi_extra=READ)
async def save(visit: Visited, form: Annotated[SaveForm, Form()]) -> Response:
    """Return an answer as a file: Markdown with footnotes, a page, or a bundle to be verified."""
    try:
        answer = adapter_of(Answer).validate_json(form.answer)
    except ValidationError:
        raise UsageError("The answer cannot be read.", hint="Ask the question again.") from None
    answer = replace(answer, citations=tuple(map(clean, answer.citations)))
    if form.format == "md":
        text = answer_markdown(answer)
    elif form.format == "html":
        text = page(answer_blocks(answer), "Answer")
    else:
        text = bundle_json(await visit.look(lambda library: library.answers.bundle(answer)))
    return file_of(text, f"answer.{form.format}")
