"""A meeting before it begins: what the caller says about it, who takes part, and how.

From a council to a session: each participant with what they read, and which model and tools they
have.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Final

from chapterhouse.agents.ask import persona_request
from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import CHAIR, Member, MemberKind
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.definition import Grounding
from chapterhouse.agents.personas import Personas
from chapterhouse.answering.evidence_buffer import excerpts_of
from chapterhouse.answering.request import NO_MODEL, AskOptions, Request, library_request
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import method_for, search
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.knowledge import knowledge_tools
from chapterhouse.council.named import graph_tool
from chapterhouse.council.passages import aspects_of
from chapterhouse.council.tools import Opened, installed_tools, participant_tools
from chapterhouse.types import (
    Aspect,
    Excerpt,
    ModelLimits,
    ParticipantRecord,
    Persona,
    Progress,
    Query,
    Scope,
    SearchResult,
    Tool,
)
from chapterhouse.types.engines import LanguageModel

_INSTRUCTIONS: Final = 900  # tokens of a system message, the form in words and the question
_ANSWER: Final = 350  # tokens that a turn writes
_MOST_EVIDENCE: Final = 6_000  # tokens, however much a model takes
_LEAST_EVIDENCE: Final = 250


@dataclass(frozen=True, slots=True)
class MeetingOptions:
    """What a caller says about one meeting.

    Attributes:
        model: Model of the settings that speaks for everybody, ``none`` for no model; None
            leaves it to the members and the council.
        remember: Whether what was held and decided goes into the memory, if the settings have one.
        fresh: Whether to begin anew where a transcript of the same meeting could be gone on from.
        transcript: File of the transcript; None for the council's own folder, or for no file
            where the council has none.
        tools: Further tools by the names that the council uses.
        options: What is to be decided between in this meeting; None for the council's own.
        seconds: After which nobody is asked any more; 0 for any.
        tokens: Of prompts and answers together, after which nobody is asked any more; 0 for any.
        interface: By which the question comes: ``python``, ``cli``, ``mcp``, ``api``, ``openai``.
        counted: Whether analytics count it; None: where it may be remembered.
    """

    model: str | None = None
    remember: bool = True
    fresh: bool = False
    transcript: Path | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)
    options: tuple[str, ...] | None = None
    seconds: float = 0.0
    tokens: int = 0
    interface: str = "python"
    counted: bool | None = None

    @property
    def is_counted(self) -> bool:
        """Whether analytics count the meeting."""
        return self.remember if self.counted is None else self.counted


OnProgress = Callable[[Progress], None]


OpenTools = Callable[[Council], Opened]  # opens the tools that a council declares


def _nothing(_: str) -> Sequence[Excerpt]:
    return ()


def _none_open(_: Council) -> Opened:
    return {}


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much a participant's model takes at a time.

    Attributes:
        evidence: Tokens of excerpts that lie before it in one turn; 0: any.
        at_once: Requests that its server works on at a time; 0: any.
    """

    evidence: int = 0
    at_once: int = 0


@dataclass(frozen=True, slots=True)
class Participant:
    """Someone who speaks, with all that decides how.

    Attributes:
        key: How rounds and claims name them.
        request: How a question is put to them: what they read, and the settings that hold.
        shelves: What they read, their own first.
        model: Who writes for them; None where their documents are quoted.
        own_tools: Those of ``tools`` that search their shelves, by name: what they find can be
            cited.
        timeout_seconds: Longest turn; None for the round's.
        inner: The council that speaks as one.
        looked_up: What their shelves hold on a question, looked up once in a meeting.
    """

    key: str
    title: str
    kind: MemberKind
    request: Request
    shelves: tuple[str, ...]
    instructions: str = ""
    grounding: Grounding = "inject"
    model: LanguageModel | None = None
    tools: tuple[Tool, ...] = ()
    own_tools: Mapping[str, Tool] = field(default_factory=dict)
    timeout_seconds: float | None = None
    capacity: Capacity = Capacity()
    inner: "Session | None" = None
    looked_up: Callable[[str], Sequence[Excerpt]] = _nothing

    @property
    def persona(self) -> Persona | None:
        """The persona who speaks, if one does."""
        return self.request.persona


@dataclass(frozen=True, slots=True)
class Session:
    """A council with its participants, and what is put to it.

    Attributes:
        aspects: The several things that the question asks.
    """

    council: Council
    question: str
    participants: tuple[Participant, ...]
    chair: Participant | None
    warnings: tuple[str, ...] = ()
    aspects: tuple[Aspect, ...] = ()

    @property
    def debates(self) -> bool:
        """Whether a model speaks for anybody; else what documents say is read, not argued."""
        return any(one.model or (one.inner and one.inner.debates) for one in self.everyone)

    @property
    def silent(self) -> tuple[Participant, ...]:
        """The members for whom no model speaks."""
        return tuple(
            one for one in self.participants if not (one.model or (one.inner and one.inner.debates))
        )

    @property
    def everyone(self) -> tuple[Participant, ...]:
        """The members in the order of their seats, then the chair."""
        return (*self.participants, *([self.chair] if self.chair else ()))

    def participant(self, key: str) -> Participant:
        """Return who speaks under ``key``; ``chair`` for who presides."""
        if key == CHAIR and self.chair is not None:
            return self.chair
        return next(participant for participant in self.participants if participant.key == key)


def refresh_sources(
    council: Council, runtime: Runtime, on_progress: OnProgress | None
) -> tuple[str, ...]:
    """Read what the council and everyone in it reads the first time; return what is stale."""
    councils = Councils(runtime)
    warnings = list(councils.prepare(councils.built(council), on_progress=on_progress).warnings)
    for member in council.everyone:
        if member.kind is MemberKind.PERSONA:
            warnings += Personas(runtime).prepare(member.persona, on_progress=on_progress).warnings
        elif member.kind is MemberKind.COUNCIL:
            within = councils.load(member.council).council
            warnings += refresh_sources(within, runtime, on_progress)
    return tuple(dict.fromkeys(warnings))


def open_session(
    council: Council,
    question: str,
    options: MeetingOptions,
    runtime: Runtime,
    open_tools: OpenTools = _none_open,
) -> Session:
    """Return the council with everyone in their seat.

    ``open_tools`` opens the tools that a council declares, where a model may call them.
    """

    def to_participant(member: Member, key: str) -> Participant:
        if member.kind is MemberKind.COUNCIL:
            return _council(member, question, options, runtime, open_tools)
        request = _request(council, member, question, runtime)
        return Participant(
            key=key,
            title=_title(member, request.persona),
            kind=member.kind,
            request=request,
            shelves=member_shelves(council, member, Personas(runtime)),
            instructions=member.instructions,
            grounding=member.grounding or request.grounding,
            model=_model(council, member, request, options, runtime),
            own_tools={
                **knowledge_tools(partial(_search, runtime), request.scope),
                **graph_tool(runtime, request.scope),
            },
            timeout_seconds=member.timeout_seconds,
            looked_up=_looking_up(request, runtime),
        )

    everyone = [to_participant(member, member.key) for member in council.members]
    if council.chaired_by:
        everyone.append(to_participant(council.chaired_by, CHAIR))
    opened = open_tools(council) if any(one.model and not one.inner for one in everyone) else {}
    registry = {**installed_tools(council), **options.tools}
    own = {one.key: one.own_tools for one in everyone}
    tools = participant_tools(council, registry, own, opened)
    everyone = [one if one.inner else _with_tools(one, tools[one.key]) for one in everyone]
    chair = everyone.pop() if council.chaired_by else None
    languages = runtime.store.census(Scope.everything()).languages
    aspects = aspects_of(question, languages)
    session = Session(
        council, question, tuple(everyone), chair, aspects=aspects, warnings=_unused_tools(everyone)
    )
    return _with_silent_members(session) if session.debates else _for_table(session, options)


def _with_tools(participant: Participant, tools: tuple[Tool, ...]) -> Participant:
    own = {
        name: tool
        for name, tool in participant.own_tools.items()
        if any(tool is one for one in tools)
    }
    return replace(participant, tools=tools, own_tools=own)


def _unused_tools(participants: Sequence[Participant]) -> tuple[str, ...]:
    """Say which tools nobody calls, as only models do, so that nothing found is not read as all."""
    unused = {
        tool.name: None
        for one in participants
        if one.model is None
        for tool in one.tools
        if tool.name not in one.own_tools
    }
    names = ", ".join(unused)
    return (f"Without a model tools are not called: {names}.",) if unused else ()


def _with_silent_members(session: Session) -> Session:
    """Say who takes no part in a debate, for want of a model."""
    silent = [one.title for one in session.silent]
    if not silent:
        return session
    verb = "has" if len(silent) == 1 else "have"
    warning = f"{', '.join(silent)} {verb} no model and did not speak: see what the documents say."
    return replace(session, warnings=(*session.warnings, warning))


def _for_table(session: Session, options: MeetingOptions) -> Session:
    """Keep one of those who read the same documents: without a model they would say the same."""
    readers, warnings = dict[Scope, Participant](), list(session.warnings)
    if options.options:
        warnings.append("Without a model nothing is decided, so the options are not used.")
    for one in session.participants:
        first = readers.setdefault(one.request.scope, one)
        if first is not one:
            warnings.append(
                f"{one.title} reads the same documents as {first.title}: without a model both say"
                " the same, so they are read once. Let them argue with a model: --model NAME."
            )
    return replace(session, participants=tuple(readers.values()), warnings=tuple(warnings))


def participant_record(participant: Participant, runtime: Runtime) -> ParticipantRecord:
    """Return who speaks as minutes name them."""
    return ParticipantRecord(
        key=participant.key,
        title=participant.title,
        kind=participant.kind.value,
        persona=participant.persona.slug if participant.persona else "",
        shelves=participant.shelves,
        documents=runtime.store.census(participant.request.scope).documents,
        model=participant.model.fingerprint if participant.model else "",
    )


def _council(
    member: Member,
    question: str,
    options: MeetingOptions,
    runtime: Runtime,
    open_tools: OpenTools,
) -> Participant:
    """Seat a whole council, which inherits nothing: what its members read, it reads."""
    council = Councils(runtime).load(member.council).council
    inner = open_session(council, question, replace(options, transcript=None), runtime, open_tools)
    shelves = tuple(dict.fromkeys(name for one in inner.everyone for name in one.shelves))
    speaker = inner.chair or inner.participants[0]
    request = library_request(question, runtime.settings, AskOptions(shelves=shelves))
    request = replace(request, may_be_empty=True)
    return Participant(
        key=member.key,
        title=member.name or council.title,
        kind=MemberKind.COUNCIL,
        request=request,
        shelves=shelves,
        model=speaker.model,
        timeout_seconds=member.timeout_seconds,
        inner=inner,
        looked_up=_looking_up(request, runtime),
    )


def _request(council: Council, member: Member, question: str, runtime: Runtime) -> Request:
    """Return how a question is put to a persona or a role."""
    if member.kind is MemberKind.PERSONA:
        folder = Personas(runtime).load(member.persona)
        own = persona_request(
            question, folder.persona, folder.config, runtime.settings, AskOptions()
        )
    else:
        own = library_request(question, runtime.settings, AskOptions())
    scope = Scope.of(member_shelves(council, member, Personas(runtime)))
    return replace(own, scope=scope, may_be_empty=True)


def member_shelves(council: Council, member: Member, personas: Personas) -> tuple[str, ...]:
    """Return what a persona or a role reads: their shelves, then the council's."""
    own = personas.load(member.persona).persona.reads if member.persona else ()
    own = (*own, *member.own_shelf(council.slug))
    return tuple(dict.fromkeys((*own, council.shelf, *member.shelves)))


def _model(
    council: Council, member: Member, request: Request, options: MeetingOptions, runtime: Runtime
) -> LanguageModel | None:
    """Return who writes for a member: the caller's choice, else theirs, else the council's."""
    name = member.model or request.model or council.model
    name = name if options.model is None else options.model
    return None if name == NO_MODEL else runtime.language_model(name)


def _title(member: Member, persona: Persona | None) -> str:
    if member.name:
        return member.name
    return persona.display_name if persona else member.key


def _looking_up(request: Request, runtime: Runtime) -> Callable[[str], Sequence[Excerpt]]:
    """Return what gives the excerpts of a request's shelves on a question: each is found once."""

    @cache
    def look_up(question: str) -> Sequence[Excerpt]:
        query = Query(question, request.scope, request.settings.packing.hits, 0, request.tags)
        found = search(query, runtime, method_for(runtime, request.settings, None))
        return excerpts_of(replace(request, question=question), found, runtime)

    return look_up


def _search(runtime: Runtime, query: Query) -> SearchResult:
    return search(query, runtime, method_for(runtime, runtime.settings, None))


# --- what each model takes -----------------------------------------------------------------------


async def fit_session(session: Session) -> Session:
    """Return the session with what lies before each model sized to what that model takes."""
    models = {one.model.fingerprint: one.model for one in _speakers(session) if one.model}
    return _with_capacities(
        session,
        {name: _capacity(await run_in_thread(model.limits)) for name, model in models.items()},
    )


def _capacity(limits: ModelLimits) -> Capacity:
    if not limits.context:
        return Capacity(_MOST_EVIDENCE, limits.at_once)
    fitting = limits.context - min(limits.answer or _ANSWER, _ANSWER) - _INSTRUCTIONS
    return Capacity(max(_LEAST_EVIDENCE, min(fitting, _MOST_EVIDENCE)), limits.at_once)


def _with_capacities(session: Session, capacities: Mapping[str, Capacity]) -> Session:
    def with_capacity(one: Participant) -> Participant:
        if one.inner:
            return replace(one, inner=_with_capacities(one.inner, capacities))
        return replace(one, capacity=capacities[one.model.fingerprint]) if one.model else one

    chair = with_capacity(session.chair) if session.chair else None
    return replace(
        session, participants=tuple(map(with_capacity, session.participants)), chair=chair
    )


def _speakers(session: Session) -> Iterator[Participant]:
    """Yield everybody who may speak by a model, those of councils within too."""
    for one in session.everyone:
        if one.inner:
            yield from _speakers(one.inner)
        else:
            yield one
