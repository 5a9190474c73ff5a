"""Meetings of councils that a server holds: they go on when nobody listens any more.

What happened in a meeting is numbered, so that a reader who comes late, or again, misses nothing,
whichever process of the server answers. One that has ended is remembered for an hour, without the
text that models wrote on the way.
"""

import asyncio
import os
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from chapterhouse.errors import BusyError, NotFoundError
from chapterhouse.interfaces.api.limits import is_alive
from chapterhouse.interfaces.api.problems import Refusal, problem
from chapterhouse.interfaces.api.routing import Caller
from chapterhouse.store.shared import SharedDatabase
from chapterhouse.types import MeetingEventKind

_REMEMBERED_SECONDS: Final = 3_600
_MOST_REMEMBERED: Final = 100
_MOST_OPEN: Final = 32  # of all callers, those that wait among them
_MOST_OF_ONE: Final = 8  # of one caller
_RETRY_SECONDS: Final = 10
_LOOK_SECONDS: Final = 0.25  # between looks for what other processes did
ERROR: Final = "error"  # the name of the last event of a meeting that did not end well

Happening = tuple[str, str]  # the name of an event, and its data as JSON
NumberedEvent = tuple[int, str, str]  # with its number in the meeting, from 1; an error has 0


class MeetingState(StrEnum):
    """How far a meeting is."""

    OPEN = "open"  # it goes on, or waits for a place
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Meeting:
    """A meeting of a council, and how far it is.

    Attributes:
        began: In seconds since 1970, as is ``ended``; 0 for not yet.
    """

    id: str
    council: str
    question: str
    state: MeetingState
    began: int
    ended: int


_MEETING: Final = "SELECT id, council, question, state, began, ended FROM meeting"
_ADD: Final = """
INSERT INTO event SELECT :id, 1 + (SELECT count(*) FROM event WHERE meeting = :id), :name, :data
FROM meeting WHERE id = :id AND state = 'open'
"""
_END: Final = """
UPDATE meeting SET state = ?, ended = ?, problem = ? WHERE id = ? AND state = 'open' RETURNING id
"""
_FORGET: Final = """
DELETE FROM meeting WHERE state <> 'open' AND (ended < ? OR id NOT IN (
    SELECT id FROM meeting WHERE state <> 'open' ORDER BY ended DESC, number DESC LIMIT ?))
"""


class Meetings:
    """All meetings that the processes of a server hold or remember. Belongs to one event loop."""

    def __init__(self, shared: SharedDatabase, clock: Callable[[], float] = time.time) -> None:
        self._shared = shared
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}  # of the meetings of this process
        self._watching: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()  # set, and made anew, when one of these changes

    def open(
        self, caller: Caller, council: str, question: str, events: AsyncGenerator[Happening]
    ) -> Meeting:
        """Let a council meet, and return the meeting at once; who stops reading events stops it."""
        self._forget()
        owner = (caller.workspace, caller.grant.name)
        going_on = self._rows("SELECT workspace, caller FROM meeting WHERE state = 'open'")
        if len(going_on) >= _MOST_OPEN or going_on.count(owner) >= _MOST_OF_ONE:
            raise BusyError("Too many councils meet at this moment.", seconds=_RETRY_SECONDS)
        meeting_id, state = secrets.token_hex(16), MeetingState.OPEN
        row = (meeting_id, os.getpid(), *owner, council, question, state.value, self._now())
        self._shared.rows("INSERT INTO meeting VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, 0, '')", row)
        task = asyncio.create_task(self._hold(meeting_id, events))
        self._tasks[meeting_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(meeting_id, None))
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        return self.get(caller, meeting_id)

    def list(self, caller: Caller) -> tuple[Meeting, ...]:
        """Return the meetings of a caller in their workspace, newest first."""
        self._forget()
        owner = (caller.workspace, caller.grant.name)
        rows = self._rows(
            f"{_MEETING} WHERE workspace = ? AND caller = ? ORDER BY number DESC", *owner
        )
        return tuple(_meeting(*row) for row in rows)

    def get(self, caller: Caller, meeting_id: str) -> Meeting:
        """Return a meeting of a caller."""
        for meeting in self.list(caller):
            if meeting.id == meeting_id:
                return meeting
        raise NotFoundError(
            f"There is no meeting '{meeting_id[:100]}'.",
            hint="Look for its minutes in what is remembered: chapterhouse memory list",
        )

    def outcome(self, meeting: Meeting) -> tuple[str, str]:
        """Return the last event of a meeting that has ended well, and else the problem, as JSON."""
        last = "SELECT data FROM event WHERE meeting = ? ORDER BY number DESC LIMIT 1"
        is_done = meeting.state is MeetingState.DONE
        found = self._rows(last, meeting.id) if is_done else ()
        ((wrong,),) = self._rows("SELECT problem FROM meeting WHERE id = ?", meeting.id)
        return (found[0][0] if found else ""), wrong

    def happened(self, meeting: Meeting, after: int = 0) -> Sequence[NumberedEvent]:
        """Return what has happened so far after a number."""
        rest = "SELECT number, name, data FROM event WHERE meeting = ? AND number > ?"
        return self._rows(f"{rest} ORDER BY number", meeting.id, after)

    async def follow(self, meeting: Meeting, after: int = 0) -> AsyncGenerator[NumberedEvent]:
        """Yield what happened after a number, then what happens, until the meeting ends."""
        while True:
            changed = self._changed
            state = self._rows("SELECT state, problem FROM meeting WHERE id = ?", meeting.id)
            for event in self.happened(meeting, after):
                after = event[0]
                yield event
            if not state or state[0][0] != MeetingState.OPEN.value:
                break
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await changed.wait()
            self._forget()
        if state and state[0][1]:
            yield 0, ERROR, state[0][1]

    async def cancel(self, meeting_id: str) -> None:
        """End a meeting where it is; one that has ended stays as it is."""
        self._end(meeting_id, MeetingState.CANCELLED, Refusal(409, "The meeting was cancelled."))
        task = self._tasks.get(meeting_id)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def stop(self) -> None:
        """Cancel all meetings of this process that go on."""
        await asyncio.gather(*map(self.cancel, tuple(self._tasks)))
        if self._watching is not None:
            self._watching.cancel()

    async def _hold(self, meeting_id: str, events: AsyncGenerator[Happening]) -> None:
        try:
            async with aclosing(events) as opened:
                async for name, data in opened:
                    self._shared.rows(_ADD, {"id": meeting_id, "name": name, "data": data})
                    self._notify()
        except Exception as error:  # noqa: BLE001 - the meeting's boundary: its readers get it
            self._end(meeting_id, MeetingState.FAILED, error)
        else:
            self._end(meeting_id, MeetingState.DONE)

    async def _watch(self) -> None:
        """Stop the meetings of this process that were cancelled through another one."""
        ended = "SELECT id FROM meeting WHERE process = ? AND state <> 'open'"
        while self._tasks:
            await asyncio.sleep(_LOOK_SECONDS)
            for (meeting_id,) in self._rows(ended, os.getpid()):
                if meeting_id in self._tasks:
                    self._tasks[meeting_id].cancel()

    def _end(self, meeting_id: str, state: MeetingState, error: Exception | None = None) -> None:
        """End a meeting, and drop what models wrote before it was checked."""
        wrong = bytes(problem(error).body).decode() if error else ""
        if self._rows(_END, state.value, self._now(), wrong, meeting_id):
            text = "DELETE FROM event WHERE meeting = ? AND name = ?"
            self._shared.rows(text, (meeting_id, MeetingEventKind.TEXT.value))
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _forget(self) -> None:
        """Forget what ended an hour ago, and the oldest where more are remembered than may be.

        What a process held that lives no more has failed.
        """
        holders = self._rows("SELECT DISTINCT process FROM meeting WHERE state = 'open'")
        for (process,) in holders:
            if not is_alive(process):
                held = "SELECT id FROM meeting WHERE process = ? AND state = 'open'"
                for (meeting_id,) in self._rows(held, process):
                    error = Refusal(503, "The process that held the meeting has ended.")
                    self._end(meeting_id, MeetingState.FAILED, error)
        earliest = self._now() - _REMEMBERED_SECONDS
        self._shared.rows(_FORGET, (earliest, _MOST_REMEMBERED))

    def _rows(self, statement: str, *values: str | int) -> Sequence[Any]:
        return self._shared.rows(statement, values)

    def _now(self) -> int:
        return int(self._clock())


def _meeting(
    meeting_id: str, council: str, question: str, state: str, began: int, ended: int
) -> Meeting:
    return Meeting(meeting_id, council, question, MeetingState(state), began, ended)
