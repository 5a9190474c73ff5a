"""What one server works with, and what one request may do with it."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Request

from chapterhouse.concurrency import run_in_thread, stream
from chapterhouse.ingest.uploads import Upload
from chapterhouse.interfaces.api.limits import InProgress, Metrics, RateLimit
from chapterhouse.interfaces.api.meetings import Meetings
from chapterhouse.interfaces.api.routing import Caller, permitted
from chapterhouse.interfaces.service import Service, Workload
from chapterhouse.interfaces.values import public_job
from chapterhouse.interfaces.workspaces import Workspaces
from chapterhouse.library import Library
from chapterhouse.library.access import Access, owner_session
from chapterhouse.store.shared import SharedDatabase
from chapterhouse.types import Job
from chapterhouse.types.access import AuditOutcome

Value = TypeVar("Value")
Event = TypeVar("Event")

_USE: Final = "INSERT INTO used (code) VALUES (?) ON CONFLICT DO NOTHING RETURNING code"
_AT_ONCE: Final = 4  # searches, and questions
_WAITING: Final = 64
_UPLOADS: Final = 8  # that one caller may have under way
_SETTLE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server behaves.

    Attributes:
        per_second: Requests that one caller may send in a second, in the long run.
        burst: How many at once.
        body_seconds: How long the next piece of a body may take.
    """

    remember: bool = False
    per_second: float = 100.0
    burst: float = 200.0
    body_seconds: float = 30.0
    starts_workers: bool = True
    processes: int = 1


@dataclass(frozen=True, slots=True)
class ServerState:
    """What a process of a server works with, as long as it runs. Belongs to its event loop.

    Attributes:
        shared: What all processes of the server count together.
        wake: Sees that somebody does the jobs of a workspace.
    """

    workspaces: Workspaces
    access: Access
    shared: SharedDatabase
    wake: Callable[[str], None]
    options: ServerOptions
    is_local: bool  # whether only this machine can reach it
    owner_key: str = ""  # lets the owner in, there alone
    entrance: str = field(default="", repr=False)  # lets a browser of the owner in, once
    uploads: InProgress = field(
        default_factory=lambda: InProgress(_UPLOADS, "Send one file after the other.")
    )
    metrics: Metrics = field(init=False)
    meetings: Meetings = field(init=False)
    workload: Workload = field(default_factory=lambda: Workload(_AT_ONCE, _WAITING))
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", Metrics(self.shared))
        object.__setattr__(self, "meetings", Meetings(self.shared))

    def is_owner(self, key: str) -> bool:
        """Whether a key is that of the home's owner, who may use it here."""
        return bool(self.owner_key) and _are_equal(key, self.owner_key)

    def is_owner_session(self, secret: str) -> bool:
        """Whether a session is one of the home's owner."""
        return bool(self.owner_key) and _are_equal(secret, owner_session(self.owner_key))

    def enter(self, code: str) -> bool:
        """Whether a code lets the owner's browser in: the server's own, the first time."""
        is_own = bool(self.entrance) and _are_equal(code, self.entrance)
        return is_own and bool(self.shared.rows(_USE, (code,)))

    def rate_limit(self, kind: str, share: float = 1.0) -> RateLimit:
        """Return a new limit of requests a caller, or of a share of them."""
        options = self.options
        return RateLimit(self.shared, kind, share * options.per_second, share * options.burst)

    def close(self) -> None:
        """Close what is open, once nobody asks any more."""
        self.workload.wait_for_threads(_SETTLE_SECONDS)
        self.workspaces.close()
        self.access.close()


def _are_equal(shown: str, known: str) -> bool:
    return secrets.compare_digest(shown.encode("utf-8", "replace"), known.encode())


class Exchange(Service):
    """One request: who sent it, and the library as they may see it."""

    def __init__(self, server: ServerState, caller: Caller) -> None:
        remember = server.options.remember and caller.grant.is_whole
        super().__init__(self._seen, remember=remember, workload=server.workload)
        self.server = server
        self.caller = caller

    @contextmanager
    def _seen(self) -> Iterator[Library]:
        with self.server.workspaces.borrow(self.caller.workspace) as library:
            yield library.within(*permitted(self.caller.grant, library))

    async def look_at_whole(self, work: Callable[[Library], Value]) -> Value:
        """Return what ``work`` gives with the whole library; it looks at what the caller may."""
        return await self.workload.run(self.workload.looking, lambda: self._with_whole(work))

    async def look_long(self, work: Callable[[Library], Value]) -> Value:
        """Return what ``look`` does where that takes seconds, in a place of the questions."""
        return await self.workload.run(self.workload.asking, lambda: self._with_library(work))

    async def change(self, action: str, target: str, work: Callable[[Library], Value]) -> Value:
        """Return what ``work`` gives, which changes something, and record it in the audit log.

        It gets the whole library, and looks itself at what the caller may.
        """

        def recorded() -> Value:
            try:
                value = self._with_whole(work)
            except Exception:
                self.record(action, target, AuditOutcome.FAILED)
                raise
            self.record(action, target)
            return value

        return await self.workload.run(self.workload.looking, recorded)

    def events(self, make: Callable[[Library], AsyncIterator[Event]]) -> AsyncGenerator[Event]:
        """Yield the events of some work as they come; who stops reading stops it."""

        async def work(emit: Callable[[Event], None]) -> Event:
            async def pump(library: Library) -> Event:
                latest: list[Event] = []
                async for event in make(library):
                    if latest:
                        emit(latest.pop())
                    latest.append(event)
                return latest[0]

            return await self.ask(pump)

        return stream(work)

    @asynccontextmanager
    async def receiving(self) -> AsyncIterator[Callable[[], Upload]]:
        """Give what begins an upload to write to, in threads; what is not finished is deleted."""
        name, opened = self.caller.grant.name, ExitStack()

        def begin() -> Callable[[], Upload]:
            library = opened.enter_context(self.server.workspaces.borrow(self.caller.workspace))
            return lambda: opened.enter_context(library.documents.receive())

        self.server.uploads.add(name, 1)
        try:
            yield await run_in_thread(begin)
        finally:
            self.server.uploads.end(name, 1)
            await run_in_thread(opened.close)

    async def order(self, action: str, target: str, work: Callable[[Library], Job]) -> Job:
        """Return the job that ``work`` leaves to a worker, as ``change`` does, and wake one."""
        job = await self.change(action, target, work)
        await run_in_thread(lambda: self.server.wake(self.caller.workspace))
        return public_job(job)

    def _with_whole(self, work: Callable[[Library], Value]) -> Value:
        with self.server.workspaces.borrow(self.caller.workspace) as library:
            return work(library)

    def record(self, action: str, target: str, outcome: AuditOutcome = AuditOutcome.DONE) -> None:
        """Add to the audit log what the caller did."""
        caller = self.caller
        self.server.access.record(
            caller.grant.name,
            action,
            target,
            outcome,
            workspace=caller.workspace,
            address=caller.address,
        )


def exchange_of(request: Request) -> Exchange:
    """Return what a request may do; the door has let it in."""
    return Exchange(request.app.state.server, request.state.caller)


Exchanged = Annotated[Exchange, Depends(exchange_of)]
