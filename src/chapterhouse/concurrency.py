"""Between plain functions and the event loop, both ways, and streams of events.

Work that blocks runs in daemon threads that nobody has to wait for: ``asyncio.to_thread`` would be
waited for when the loop closes, so that Ctrl-C would do nothing while a service hangs. Threads are
used again, since each has connections of its own to the database.
"""

import os
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chapterhouse import lazy

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = lazy("asyncio")

Value = TypeVar("Value")
Event = TypeVar("Event")
_MOMENT: Final = 0.01  # seconds
_LONGEST_WAIT: Final = 2.0  # seconds
_turns: Final = threading.BoundedSemaphore(os.cpu_count() or 2)


class StreamClosed(KeyboardInterrupt):
    """Nobody reads the events of some work any more: it should stop where it is."""


def run_sync(work: Coroutine[Any, Any, Value]) -> Value:
    """Return what ``work`` gives.

    Where a loop runs in this thread already, as in a notebook, it runs in another thread, in a
    copy of the context.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, asyncio.run, work).result()


async def run_in_thread(work: Callable[[], Value]) -> Value:
    """Return what ``work`` gives; raise what it raises. A cancelled wait leaves it to itself.

    It runs in a copy of the caller's context, so that its spans belong to the caller's.
    """
    return await _run(work, None)


async def compute_in_thread(work: Callable[[], Value]) -> Value:
    """Return what ``work`` gives, as ``run_in_thread`` does, as many at once as processors.

    More only hinder each other and the event loop. One that waits too long for its turn, because
    others wait for a service, goes on all the same.
    """
    return await _run(work, _turns)


async def _run(work: Callable[[], Value], turns: threading.BoundedSemaphore | None) -> Value:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Value] = loop.create_future()

    def settle(report: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if done.done() else report())

    def run() -> None:
        has_turn = turns is not None and turns.acquire(timeout=_LONGEST_WAIT)
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            failure = error
            settle(lambda: done.set_exception(failure))
        else:
            settle(lambda: done.set_result(value))
        finally:
            if turns is not None and has_turn:
                turns.release()

    context = copy_context()
    _threads.start(lambda: context.run(run))
    return await done


async def stream(
    work: Callable[[Callable[[Event], None]], Awaitable[Event]],
) -> AsyncGenerator[Event]:
    """Yield the events of some work as they come, the last of them its result.

    Args:
        work: Is given what to call with each event, from any thread. After the reader has gone
            that raises ``StreamClosed``, in tasks of the loop ``CancelledError``, and ``work``
            itself is cancelled.
    """
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    closed, here = threading.Event(), threading.get_ident()

    def emit(event: Event) -> None:
        if closed.is_set():
            # A task from which a KeyboardInterrupt comes ends its loop, and with it a server.
            raise asyncio.CancelledError if threading.get_ident() == here else StreamClosed
        loop.call_soon_threadsafe(events.put_nowait, event)

    async def run() -> None:
        try:
            emit(await work(emit))
        finally:
            loop.call_soon(events.put_nowait, None)

    task = asyncio.ensure_future(run())
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        closed.set()
        task.cancel()
        with suppress(asyncio.CancelledError, StreamClosed):
            await task


async def last(
    events: AsyncIterator[Event], on_event: Callable[[Event], None] | None = None
) -> Event | None:
    """Return the last event of a stream, its result, after each was told; None of an empty one."""
    event = None
    async for event in events:
        if on_event is not None:
            on_event(event)
    return event


def wait_for_threads(seconds: float) -> bool:
    """Wait until all work in such threads is done, at most so long; return whether it is.

    What was interrupted may still be reading: a database must not be closed under it, and no
    process should end in the middle of it. What waits for a service is not waited for longer.
    """
    until = time.monotonic() + seconds
    while _threads.busy() and time.monotonic() < until:
        time.sleep(_MOMENT)
    return not _threads.busy()


class _Threads:
    """Daemon threads, as many as are needed at once; one that hangs is never used again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Callable[[], None]]] = []
        self._working = 0

    def start(self, work: Callable[[], None]) -> None:
        """Start ``work``, which raises nothing, at once."""
        with self._lock:
            self._working += 1
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), name="work", daemon=True).start()
        inbox.put(work)

    def busy(self) -> int:
        """Return how many are working."""
        return self._working

    def _serve(self, inbox: "SimpleQueue[Callable[[], None]]") -> None:
        while True:
            inbox.get()()
            with self._lock:
                self._working -= 1
                self._idle.append(inbox)


_threads: Final = _Threads()
