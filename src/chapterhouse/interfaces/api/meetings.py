"""Meetings of councils that a server holds: they go on when nobody listens any more.

What happened in a meeting is numbered, so that a reader who comes late, or again, misses nothing.
One that has ended is remembered for an hour, without the text that models wrote on the way.
"""

import asyncio
import secrets
import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from typing import Final

from chapterhouse.errors import BusyError, NotFoundError
from chapterhouse.interfaces.api.caller import Caller
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.types import CouncilEvent, MeetingEvent, MeetingEventKind, Minutes, MinutesEvent

_REMEMBERED_SECONDS: Final = 3_600
_MOST_REMEMBERED: Final = 100
_MOST_OPEN: Final = 32  # of all callers, those that wait among them
_MOST_OF_ONE: Final = 8  # of one caller
_RETRY_SECONDS: Final = 10


class MeetingState(StrEnum):
    """How far a meeting is."""

    OPEN = "open"  # it goes on, or waits for a place
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Opening:
    """Who let which council meet, on what."""

    workspace: str
    caller: str
    council: str
    question: str

    @property
    def owner(self) -> tuple[str, str]:
        """Whose the meeting is: a caller's in a workspace."""
        return self.workspace, self.caller


NumberedEvent = tuple[int, CouncilEvent]  # what happened, with its number in the meeting, from 1


class Meeting:
    """One meeting, and what has happened in it so far. Belongs to one event loop."""

    def __init__(self, opening: Opening, began: int) -> None:
        self.id = secrets.token_hex(16)
        self.opening = opening
        self.began = began
        self.ended = 0
        self.state = MeetingState.OPEN
        self.error: Exception | None = None
        self._events: list[NumberedEvent] = []
        self._last = 0
        self._changed = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state is MeetingState.OPEN

    @property
    def minutes(self) -> Minutes | None:
        """What came of it, once it has ended well."""
        latest = self._events[-1][1] if self._events else None
        return latest.minutes if isinstance(latest, MinutesEvent) else None

    async def follow(self, after: int = 0) -> AsyncGenerator[NumberedEvent]:
        """Yield what happened after a number, then what happens, until the meeting ends."""
        while True:
            changed, is_open = self._changed, self.is_open
            begin = bisect_right(self._events, after, key=itemgetter(0))
            for number, event in self._events[begin:]:
                after = number
                yield number, event
            if not is_open:
                break
            await changed.wait()
        if self.error is not None:
            raise self.error

    def add(self, event: CouncilEvent) -> None:
        """Let readers know of something that happened."""
        self._last += 1
        self._events.append((self._last, event))
        self._change()

    def end(self, state: MeetingState, now: int, error: Exception | None = None) -> None:
        """End it, and drop what models wrote before it was checked; once it has ended, nothing."""
        if not self.is_open:
            return
        self.state, self.ended, self.error = state, now, error
        self._events = [one for one in self._events if not _is_text(one[1])]
        self._change()

    def _change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Meetings:
    """All meetings that a server holds or remembers. Belongs to one event loop."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._meetings: dict[str, Meeting] = {}  # in the order in which they began
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def open(self, opening: Opening, events: AsyncGenerator[CouncilEvent]) -> Meeting:
        """Let a council meet, and return the meeting at once.

        Args:
            opening: Who lets which council meet.
            events: Of the meeting, the minutes last; who stops reading them stops it.

        Raises:
            BusyError: too many go on already.
        """
        going_on = [one for one in self._meetings.values() if one.is_open]
        own = [one for one in going_on if one.opening.owner == opening.owner]
        if len(going_on) >= _MOST_OPEN or len(own) >= _MOST_OF_ONE:
            raise BusyError("Too many councils meet at this moment.", seconds=_RETRY_SECONDS)
        meeting = Meeting(opening, self._now())
        self._meetings[meeting.id] = meeting
        task = asyncio.create_task(self._hold(meeting, events))
        self._tasks[meeting.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(meeting.id, None))
        self._forget()
        return meeting

    def list(self, caller: Caller) -> tuple[Meeting, ...]:
        """Return the meetings of a caller in their workspace, newest first."""
        self._forget()
        owner = (caller.workspace, caller.grant.name)
        own = (one for one in self._meetings.values() if one.opening.owner == owner)
        return tuple(own)[::-1]

    def get(self, caller: Caller, meeting_id: str) -> Meeting:
        """Return a meeting of a caller."""
        for meeting in self.list(caller):
            if meeting.id == meeting_id:
                return meeting
        raise NotFoundError(f"There is no meeting '{meeting_id[:100]}'.")

    async def cancel(self, meeting: Meeting) -> None:
        """End a meeting where it is; one that has ended stays as it is."""
        task = self._tasks.get(meeting.id)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        error = Refusal(409, "The meeting was cancelled.")
        meeting.end(MeetingState.CANCELLED, self._now(), error)

    async def stop(self) -> None:
        """Cancel all meetings that go on."""
        going_on = [one for one in self._meetings.values() if one.is_open]
        await asyncio.gather(*map(self.cancel, going_on))

    async def _hold(self, meeting: Meeting, events: AsyncGenerator[CouncilEvent]) -> None:
        try:
            async with aclosing(events) as opened:
                async for event in opened:
                    meeting.add(event)
        except Exception as error:  # noqa: BLE001 - the meeting's boundary: its readers get it
            meeting.end(MeetingState.FAILED, self._now(), error)
        else:
            meeting.end(MeetingState.DONE, self._now())

    def _forget(self) -> None:
        """Forget what ended an hour ago, and the oldest where more are remembered than may be."""
        ended = [one for one in self._meetings.values() if not one.is_open]
        earliest = self._now() - _REMEMBERED_SECONDS
        recent = sorted(ended, key=lambda one: one.ended)[-_MOST_REMEMBERED:]
        remembered = {one.id for one in recent if one.ended >= earliest}
        for one in ended:
            if one.id not in remembered:
                del self._meetings[one.id]

    def _now(self) -> int:
        return int(self._clock())


def _is_text(event: CouncilEvent) -> bool:
    return isinstance(event, MeetingEvent) and event.kind is MeetingEventKind.TEXT
