"""Councils: their definitions, and their meetings."""

from collections.abc import AsyncIterator, Callable, Sequence

from chapterhouse.agents.council import Council
from chapterhouse.agents.councils import Councils
from chapterhouse.answering.bundle import Bundle
from chapterhouse.answering.cite import CitationCheck
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.concurrency import last, run_sync
from chapterhouse.council.meeting.convene import Plan, council_events, plan_meeting
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.minutes.bundle import minutes_bundle_of, recheck, remembered_minutes
from chapterhouse.council.minutes.contents import all_citations, tool_texts
from chapterhouse.types import CouncilEvent, Memory, Minutes, MinutesEvent


async def minutes_of(
    events: AsyncIterator[CouncilEvent], on_event: Callable[[CouncilEvent], None] | None = None
) -> Minutes:
    """Return the minutes with which ``Councils.events`` end, after each of them was told."""
    event = await last(events, on_event)
    assert isinstance(event, MinutesEvent)
    return event.minutes


class LibraryCouncils(Councils):
    """The councils of a workspace, which can meet."""

    def convene(
        self,
        council: str | Council,
        question: str,
        *,
        options: MeetingOptions | None = None,
        on_event: Callable[[CouncilEvent], None] | None = None,
    ) -> Minutes:
        """Put a question to a council and return the minutes of its meeting.

        Args:
            council: A slug, its beginning or a display name; or one that was built in Python.

        Raises:
            CouncilConfigError: the council cannot meet, with everything that is wrong.
            NotFoundError: there is no such council.
            UsageError: the question is empty or too long, or there is no such model.
            MissingExtraError: its key is in a keyring, and the library for that is missing.
        """
        return run_sync(minutes_of(self.events(council, question, options=options), on_event))

    def events(
        self, council: str | Council, question: str, *, options: MeetingOptions | None = None
    ) -> AsyncIterator[CouncilEvent]:
        """Yield what happens in a meeting, the minutes last; errors as ``convene``.

        Who stops reading stops the meeting; what was said is in its transcript.
        """
        return council_events(council, question, options, self._runtime)

    def plan(
        self, council: str | Council, question: str, *, options: MeetingOptions | None = None
    ) -> Plan:
        """Return what every member would be told, without asking a model; errors as ``convene``."""
        return run_sync(plan_meeting(council, question, options, self._runtime))

    def bundle(self, minutes: Minutes) -> Bundle[Minutes]:
        """Return minutes with all that another person needs to check them."""
        return minutes_bundle_of(minutes, self._runtime)

    def remembered(self, memory_id: str, owners: Sequence[str]) -> tuple[Memory, Minutes | None]:
        """Return a memory of a meeting with its minutes; as ``answers.remembered``."""
        return remembered_minutes(memory_id, owners, self._runtime)

    def recheck(self, minutes: Minutes) -> tuple[CitationCheck, ...]:
        """Say for each citation of old minutes what has become of its source.

        As ``answers.recheck``, also for councils that sat in it.
        """
        cited = tuple(one for _, one in all_citations(minutes))
        return recheck(cited, with_tool_texts(self._runtime, tool_texts(minutes)))
