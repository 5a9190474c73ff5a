"""What all requests share: the library, whether it remembers, and how many work at a time.

A library's methods block, so they run in threads of their own. A call that its client has given
up is no longer waited for; what asks models is stopped, too.
"""

import asyncio
import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces.background import BackgroundEmbedding
from chapterhouse.library import Library
from chapterhouse.text.sanitise import sanitise_line

Value = TypeVar("Value")
Report = Callable[[str], None]  # says how far a request has come; from any thread

_log: Final = logging.getLogger("chapterhouse.mcp")
# An absolute path, not part of a word or a web address; its last name is what people know.
_PATH: Final = re.compile(r"(?<![\w:/.~-])[~]?/(?:[^\s/'\",;:()]+/)*([^\s/'\",;:()]*)")
_LONGEST_ERROR: Final = 1_000


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

    def wait_for_threads(self, seconds: float) -> None:
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

        return await run_in_thread(working)

    def _count(self, change: int) -> None:
        with self._counting:
            self._busy += change


# --- errors, as clients are told of them: no path of this machine -------------------------------


def without_paths(text: str) -> str:
    """Return a sentence of ours with every absolute path cut down to its last name."""
    return _PATH.sub(lambda match: match[1] or "a folder", text)


def public_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return warnings as they may leave the machine."""
    return tuple(without_paths(line) for line in lines)


def explain(error: Exception) -> str:
    """Return what a client is told of an error, in a sentence or two.

    One that nobody foresaw goes to the log and is only named.
    """
    match error:
        case ChapterhouseError():
            text = f"{error.message} {error.hint}"
        case ValidationError():
            text = _wrong_arguments(error)
        case OSError():
            _log.warning("%s", sanitise_line(str(error)), exc_info=_log.isEnabledFor(logging.DEBUG))
            text = f"The system refused: {error.strerror or type(error).__name__}."
        case _:
            _log.error(
                "Unexpected %s: %s",
                type(error).__name__,
                sanitise_line(str(error)),
                exc_info=_log.isEnabledFor(logging.DEBUG),
            )
            text = f"Unexpected {type(error).__name__}. Details are in the server's log."
    return sanitise_line(without_paths(text))[:_LONGEST_ERROR]


def _wrong_arguments(error: ValidationError) -> str:
    wrong = (
        f"{'.'.join(str(part) for part in entry['loc']) or 'arguments'}: {entry['msg']}"
        for entry in error.errors(include_url=False, include_input=False, include_context=False)
    )
    return f"The arguments do not fit. {'; '.join(wrong)}."
