"""The tool that convenes a council and returns its minutes."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.minutes.outline import minutes_markdown
from chapterhouse.interfaces.mcp.arguments import ConveneArguments
from chapterhouse.interfaces.mcp.failures import told_lines
from chapterhouse.interfaces.mcp.results import MinutesResult, Outcome, citation_result
from chapterhouse.interfaces.mcp.service import Service, Tell
from chapterhouse.types import MeetingEvent, MeetingEventKind, Minutes

_TOLD: Final = {
    MeetingEventKind.ROUND_BEGAN: "Round {number}, {round}, has begun.",
    MeetingEventKind.SPOKE: "Round {number}, {round}: {member} has spoken.",
    MeetingEventKind.RESUMED: "Round {number}, {round}: {member} had spoken before.",
    MeetingEventKind.ABSENT: "Round {number}, {round}: {member} did not speak.",
    MeetingEventKind.ROUND_ENDED: "Round {number}, {round}, has ended.",
}


async def convene(service: Service, arguments: ConveneArguments, tell: Tell) -> Outcome:
    """Let a council meet, telling of every round and speaker."""

    def on_event(event: MeetingEvent) -> None:
        if told := _TOLD.get(event.kind):
            tell(told.format(number=event.number, round=event.round, member=event.member))

    async def held() -> Minutes:
        with ExitStack() as stack:
            transcript = None
            if not service.remember:  # what a council keeps of a meeting is thrown away at its end
                folder = stack.enter_context(TemporaryDirectory(prefix="chapterhouse-meeting-"))
                transcript = Path(folder) / "transcript.ndjson"
            choices = MeetingOptions(remember=service.remember, transcript=transcript)
            return await service.library.convene_async(
                arguments.council, arguments.question, choices=choices, on_event=on_event
            )

    minutes = await service.ask(held)
    return Outcome(_result(minutes), minutes_markdown(minutes))


def _result(minutes: Minutes) -> MinutesResult:
    return MinutesResult(
        council=minutes.council,
        title=minutes.title,
        question=minutes.question,
        options=minutes.options,
        members=minutes.members,
        rounds=minutes.rounds,
        decided=minutes.decided,
        decision=minutes.decision,
        grounds=minutes.grounds,
        dissent=minutes.dissent,
        open_questions=minutes.open_questions,
        missing=minutes.missing,
        matrix=minutes.matrix,
        claims=minutes.claims,
        concessions=minutes.concessions,
        map=minutes.map,
        absences=minutes.absences,
        citations=tuple(map(citation_result, minutes.citations)),
        chair=minutes.chair,
        method=minutes.method,
        warnings=told_lines(minutes.warnings),
    )
