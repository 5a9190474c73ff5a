"""How many requests a service is sent at once, whichever threads and event loops they come from."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager


class Slots:
    """So many requests at once; who comes later waits, in order. 0: as many as there are.

    A waiting request blocks neither its event loop nor a thread, so tools and look-ups that need
    threads go on meanwhile. A slot is held for one request, not for a whole answer: a tool that
    a model calls may ask the same service.
    """

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self._free = number
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a slot inside the block, after waiting for it."""
        if not self.number:
            yield
            return
        await self._take()
        try:
            yield
        finally:
            self._give()

    async def _take(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            turn: Future[None] = Future()
            self._waiting.append(turn)
        try:
            await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            if not turn.cancel():  # the slot had just been handed over
                self._give()
            raise

    def _give(self) -> None:
        with self._lock:
            while self._waiting:
                turn = self._waiting.popleft()
                if turn.set_running_or_notify_cancel():
                    break
            else:
                self._free += 1
                return
        turn.set_result(None)
