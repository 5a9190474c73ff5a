"""Tools that ask: a question, a council, and who can be asked or convened."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chapterhouse.agents.council_folder import CouncilFolder
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.registry import Entry
from chapterhouse.answering.request import AskOptions
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.minutes.outline import minutes_markdown
from chapterhouse.interfaces.schemas import (
    AnswerResult,
    AskArguments,
    ConveneArguments,
    CouncilResult,
    CouncilsResult,
    MinutesResult,
    NoArguments,
    Outcome,
    PersonaResult,
    PersonasResult,
)
from chapterhouse.interfaces.service import Report, Service, public_lines, without_paths
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.types import (
    AskEvent,
    CouncilEvent,
    MeetingEvent,
    MeetingEventKind,
    Minutes,
    ReadingEvent,
)

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

    answer = await service.ask(
        lambda: service.library.answers.ask_async(
            arguments.question,
            persona=arguments.persona,
            options=AskOptions(
                remember=service.remember,
                use_cache=service.remember,
                drafts=False,
                trust=arguments.trust or None,
            ),
            on_event=on_event,
        )
    )
    shown = replace(
        answer,
        notice=without_paths(answer.notice),
        refreshed=without_paths(answer.refreshed),
        warnings=public_lines(answer.warnings),
    )
    return Outcome(AnswerResult.model_validate(shown), answer_markdown(shown))


async def convene(service: Service, arguments: ConveneArguments, report: Report) -> Outcome:
    """Let a council meet, telling of every round and speaker."""

    def on_event(event: CouncilEvent) -> None:
        if isinstance(event, MeetingEvent) and (text := _EVENT_TEXTS.get(event.kind)):
            report(text.format(number=event.number, round=event.round, member=event.member))

    async def held() -> Minutes:
        with ExitStack() as stack:
            transcript = None
            if not service.remember:  # what a council keeps of a meeting is thrown away at its end
                folder = stack.enter_context(TemporaryDirectory(prefix="chapterhouse-meeting-"))
                transcript = Path(folder) / "transcript.ndjson"
            choices = MeetingOptions(remember=service.remember, transcript=transcript)
            return await service.library.councils.convene_async(
                arguments.council, arguments.question, options=choices, on_event=on_event
            )

    minutes = await service.ask(held)
    return Outcome(MinutesResult.model_validate(minutes), minutes_markdown(minutes))


async def list_personas(service: Service, _arguments: NoArguments, _report: Report) -> Outcome:
    """Say who can be asked."""
    personas = service.library.personas
    found = await service.look(
        lambda: PersonasResult(
            personas=tuple(_persona(entry, personas) for entry in personas.all())
        )
    )
    lines = [_line(one.slug, one.name, one.expertise, one.problem) for one in found.personas]
    return Outcome(found, "\n".join(lines) or "There are no personas; ask the library itself.")


async def list_councils(service: Service, _arguments: NoArguments, _report: Report) -> Outcome:
    """Say what can be convened."""
    councils = service.library.councils
    found = await service.look(
        lambda: CouncilsResult(councils=tuple(_council(one, councils) for one in councils.all()))
    )
    lines = [_line(one.slug, one.title, one.purpose, one.problem) for one in found.councils]
    return Outcome(found, "\n".join(lines) or "There are no councils.")


def _line(slug: str, name: str, about: str, problem: str) -> str:
    text = f"cannot be used now: {problem}" if problem else " ".join(about.split())
    return f"- {slug} ({name}){': ' if text else ''}{text}"


def _persona(entry: Entry[PersonaFolder], personas: Personas) -> PersonaResult:
    problem = without_paths(entry.problems[0].sentence) if entry.problems else ""
    if entry.folder is None:
        return PersonaResult(
            slug=entry.slug,
            name="",
            expertise="",
            tags=(),
            shelves=(),
            documents=0,
            usable=False,
            problem=problem or "Their configuration cannot be read.",
        )
    persona = entry.folder.persona
    return PersonaResult(
        slug=entry.slug,
        name=persona.display_name,
        expertise=persona.expertise,
        tags=persona.tags,
        shelves=persona.reads,
        documents=personas.census(entry.slug).documents,
        usable=True,
        problem="",
    )


def _council(entry: Entry[CouncilFolder], councils: Councils) -> CouncilResult:
    problem = without_paths(entry.problems[0].sentence) if entry.problems else ""
    if entry.folder is None:
        return CouncilResult(
            slug=entry.slug,
            title="",
            purpose="",
            members=(),
            rounds=(),
            options=(),
            documents=0,
            usable=False,
            problem=problem or "Its file cannot be read.",
        )
    council = entry.folder.council
    return CouncilResult(
        slug=entry.slug,
        title=council.title,
        purpose=council.purpose,
        members=tuple(member.key for member in council.members),
        rounds=tuple(held.name for held in council.rounds),
        options=council.options,
        documents=councils.census(entry.slug).documents,
        usable=not problem,
        problem=problem,
    )
