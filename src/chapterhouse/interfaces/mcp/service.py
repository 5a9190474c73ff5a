"""What all requests share: the library, whether it remembers, and how many work at a time.

A library's methods block, so they run in threads of their own. A call that its client has given
up is no longer waited for; what asks models is stopped, too.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from chapterhouse.interfaces.background import BackgroundEmbedding
from chapterhouse.library import Library
from chapterhouse.replying.threads import beside

Value = TypeVar("Value")
Tell = Callable[[str], None]  # says how far a request has come; from any thread

_LOOKING: Final = 4  # searches and readings at a time
_ASKING: Final = 4  # questions and meetings at a time, which may wait for models
_MOMENT: Final = 0.02


class Service:
    """A library as it is served. Belongs to one event loop."""

    def __init__(self, library: Library, *, remember: bool = False) -> None:
        """Serve ``library``; with ``remember`` questions and meetings go into its memory."""
        self.library = library
        self.remember = remember
        self._looking = asyncio.Semaphore(_LOOKING)
        self._asking = asyncio.Semaphore(_ASKING)
        self._busy = 0
        self._counting = threading.Lock()
        self._background = BackgroundEmbedding(library)

    async def look(self, work: Callable[[], Value]) -> Value:
        """Return what ``work`` gives in a thread, beside a few others."""
        return await self._run(self._looking, work)

    async def ask(self, work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
        """Return what a coroutine gives in a loop of its own, which a cancelled wait stops."""
        running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Value] | None]] = []

        async def begun() -> Value:
            running.append((asyncio.get_running_loop(), asyncio.current_task()))
            return await work()

        try:
            return await self._run(self._asking, lambda: asyncio.run(begun()))
        except asyncio.CancelledError:
            for loop, task in running:
                if task is not None:
                    with contextlib.suppress(RuntimeError):  # it has just ended
                        loop.call_soon_threadsafe(task.cancel)
            raise

    def settle(self, seconds: float) -> None:
        """Give what nobody waits for any more a moment to end, before the library is closed."""
        deadline = time.monotonic() + seconds
        while self._busy and time.monotonic() < deadline:
            time.sleep(_MOMENT)

    async def _run(self, places: asyncio.Semaphore, work: Callable[[], Value]) -> Value:
        loop = asyncio.get_running_loop()
        await places.acquire()
        self._count(1)

        def working() -> Value:
            try:
                value = work()
                self._background.look()
                return value
            finally:  # a place is free when the thread is, not when its client stops waiting
                self._count(-1)
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody queues
                    loop.call_soon_threadsafe(places.release)

        return await beside(working)

    def _count(self, change: int) -> None:
        with self._counting:
            self._busy += change
