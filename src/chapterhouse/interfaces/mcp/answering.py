"""Tools that ask: a question, a council, and who can be asked or convened."""

from typing import Final

from chapterhouse.answering.request import AskOptions
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.minutes.outline import minutes_markdown
from chapterhouse.interfaces.schemas import (
    AskArguments,
    ConveneArguments,
    NoArguments,
    Outcome,
)
from chapterhouse.interfaces.service import Report, Service
from chapterhouse.interfaces.values import (
    all_councils,
    all_personas,
    meeting_events,
    public_answer,
    public_minutes,
)
from chapterhouse.library.answers import answer_of
from chapterhouse.library.councils import minutes_of
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.types import (
    AskEvent,
    CouncilEvent,
    MeetingEvent,
    MeetingEventKind,
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
    lines = [
        _line(one.slug, one.display_name, one.expertise, one.problem) for one in found.personas
    ]
    text = "\n".join(lines) or "There are no personas; ask the library itself."
    return Outcome(found, text)


async def list_councils(service: Service, _arguments: NoArguments, _report: Report) -> Outcome:
    """Say what can be convened."""
    found = await service.look(all_councils)
    lines = [_line(one.slug, one.title, one.purpose, one.problem) for one in found.councils]
    return Outcome(found, "\n".join(lines) or "There are no councils.")


def _line(slug: str, name: str, about: str, problem: str) -> str:
    text = f"cannot be used now: {problem}" if problem else " ".join(about.split())
    return f"- {slug} ({name}){': ' if text else ''}{text}"
