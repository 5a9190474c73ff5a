"""Councils: their definitions, and their meetings."""

from collections.abc import Callable

from chapterhouse.agents.council import Council
from chapterhouse.agents.councils import Councils
from chapterhouse.answering.cite import CitationCheck
from chapterhouse.concurrency import run_now
from chapterhouse.council.meeting.convene import convene, planned
from chapterhouse.council.meeting.session import MeetingOptions, Plan
from chapterhouse.council.minutes.bundle import MinutesBundle, minutes_bundle_of, recheck_minutes
from chapterhouse.types import MeetingEvent, Minutes, Progress


class CouncilFacet(Councils):
    """The councils of a workspace, which can meet."""

    def convene(
        self,
        council: str | Council,
        question: str,
        *,
        choices: MeetingOptions | None = None,
        on_event: Callable[[MeetingEvent], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Minutes:
        """Put a question to a council and return the minutes of its meeting.

        Args:
            council: A slug, its beginning or a display name; or one that was built in Python.
            question: What is to be discussed.
            choices: What the caller says about this meeting.
            on_event: Is told what happens while it happens: who speaks, and what was said.
            on_progress: Called for each file that is read first.

        Raises:
            CouncilConfigError: the council cannot meet, with everything that is wrong.
            NotFoundError: there is no such council.
            UsageError: the question is empty or too long, or there is no such profile.
            MissingExtraError: a model's extra is not installed.
        """
        return run_now(
            self.convene_async(
                council, question, choices=choices, on_event=on_event, on_progress=on_progress
            )
        )

    async def convene_async(
        self,
        council: str | Council,
        question: str,
        *,
        choices: MeetingOptions | None = None,
        on_event: Callable[[MeetingEvent], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Minutes:
        """Convene as ``convene`` does, without blocking where members are waited for."""
        return await convene(council, question, choices, self._runtime, on_event, on_progress)

    def plan(
        self, council: str | Council, question: str, *, choices: MeetingOptions | None = None
    ) -> Plan:
        """Return what every member would be told, without asking a model; errors as ``convene``."""
        return run_now(planned(council, question, choices, self._runtime))

    def bundle(self, minutes: Minutes) -> MinutesBundle:
        """Return minutes with all that another person needs to check them."""
        return minutes_bundle_of(minutes, self._runtime)

    def recheck(self, minutes: Minutes) -> tuple[CitationCheck, ...]:
        """Say for each citation of old minutes what has become of its source.

        Personas and councils on whose shelves the documents stand read what changed first.
        """
        return recheck_minutes(minutes, self._runtime)
