"""What requests share: the library, whether it remembers, and how many work at a time.

A library's methods block, so they run in threads of their own. A call that its client has given
up is no longer waited for; what asks models is stopped, too.
"""

import asyncio
import contextlib
import logging
import os
import re
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from anyio import CapacityLimiter
from pydantic import ValidationError

from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import BusyError, ChapterhouseError
from chapterhouse.library import Library
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Source, SourceKind

Value = TypeVar("Value")
Report = Callable[[str], None]  # says how far a request has come; from any thread

_log: Final = logging.getLogger("chapterhouse.mcp")
# Where an absolute path begins that is no part of a word or a web address.
_BEGIN: Final = (
    r"(?<![\w./~\])}%-])(?:(?<!:)/+|/(?!/)|~[\w.-]*/+)"
    r"|(?<!\w)(?:(?:file:/+)?[A-Za-z]:[\\/]+|file:/+|\\\\+)"
)
_FILE: Final = r"(?:file:/*(?=/))?"  # before a known folder
# Its folders may have all signs in their names; a sentence, a quotation or another path ends them.
_FOLDERS: Final = (
    r"""(?:(?:(?!: |; |\. |://|"|['’](?:[\s.,;:!?)\]]|$))[^/\\\n])*(?<![\s:'"‘“(\[])[/\\]+)*"""
)
_NAME: Final = r"""(?P<name>[^\s/\\'",;:()]*)"""  # the last, which is what people know
# Folders whose names are taken out whole, whatever signs they have, by what is said instead.
_HIDDEN: Final[dict[str, str]] = {
    os.environ.get("TMPDIR", "/tmp"): "the temporary folder",  # noqa: S108 - only its name
    os.environ.get("PWD", "/"): "the working folder",
    os.path.expanduser("~"): "a folder",  # noqa: PTH111 - without an error where there is none
}
_LONGEST_ERROR: Final = 1_000


_MOMENT: Final = 0.02


class Workload:
    """What a server does in threads at this moment. Belongs to one event loop.

    Args:
        at_once: How many searches and readings are done at a time, and beside them how many
            questions and meetings, which may wait for models.
        waiting: How many of either may wait for that; the next is refused.
    """

    def __init__(self, at_once: int = 4, waiting: int = 1_000) -> None:
        self.looking, self.asking = CapacityLimiter(at_once), CapacityLimiter(at_once)
        self._waiting = waiting
        self._running: set[object] = set()

    async def run(self, places: CapacityLimiter, work: Callable[[], Value]) -> Value:
        """Return what ``work`` gives in a thread, once there is a place for it."""
        loop, place = asyncio.get_running_loop(), object()
        if places.statistics().tasks_waiting >= self._waiting:
            raise BusyError("The server has too much to do at this moment.", seconds=1)
        await places.acquire_on_behalf_of(place)
        self._running.add(place)

        def working() -> Value:
            try:
                return work()
            finally:  # a place is free when the thread is, not when its client stops waiting
                self._running.discard(place)
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody queues
                    loop.call_soon_threadsafe(places.release_on_behalf_of, place)

        return await run_in_thread(working)

    async def ask(self, work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
        """Return what a coroutine gives in a loop of its own, which a cancelled wait stops."""
        running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Value] | None]] = []

        async def begun() -> Value:
            running.append((asyncio.get_running_loop(), asyncio.current_task()))
            return await work()

        try:
            return await self.run(self.asking, lambda: asyncio.run(begun()))
        except asyncio.CancelledError:
            for loop, task in running:
                if task is not None:
                    with contextlib.suppress(RuntimeError):  # it has just ended
                        loop.call_soon_threadsafe(task.cancel)
            raise

    def wait_for_threads(self, seconds: float) -> None:
        """Give what nobody waits for any more a moment to end, before the library is closed."""
        deadline = time.monotonic() + seconds
        while self._running and time.monotonic() < deadline:
            time.sleep(_MOMENT)


class Service:
    """A library as it is served to one caller, or to all; ``opened`` gives it for some work.

    All methods raise ``BusyError`` where the server has too much to do.
    """

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[Library]],
        *,
        remember: bool = False,
        workload: Workload | None = None,
    ) -> None:
        self._opened = opened
        self.remember = remember
        self.workload = workload or Workload()

    async def look(self, work: Callable[[Library], Value]) -> Value:
        """Return what ``work`` gives with the library in a thread, beside a few others."""
        return await self.workload.run(self.workload.looking, lambda: self._with_library(work))

    async def ask(self, work: Callable[[Library], Coroutine[Any, Any, Value]]) -> Value:
        """Return what a coroutine gives in a loop of its own, which a cancelled wait stops."""

        async def begun() -> Value:
            with self._opened() as library:
                return await work(library)

        return await self.workload.ask(begun)

    def _with_library(self, work: Callable[[Library], Value]) -> Value:
        with self._opened() as library:
            return work(library)


# --- errors, as clients are told of them: no path of this machine -------------------------------


def hide_folder(folder: Path, shown: str) -> None:
    """Let ``without_paths`` know a folder by its name, which may have signs that end sentences."""
    names = (str(folder), os.path.realpath(folder), sanitise_line(str(folder)))
    _HIDDEN.update(dict.fromkeys(names, shown))


def hide_library(library: Library) -> None:
    """Let no sentence name the folders of a library: its home and its sources."""
    hide_folder(library.home, "the home")
    for source in library.sources.list():
        hide_source(source)


def hide_source(source: Source) -> None:
    """Let no sentence name the folder that a source is in."""
    if source.kind is SourceKind.FOLDER:
        hide_folder(Path(source.location), Path(source.location).name)


def without_paths(text: str) -> str:
    """Return a sentence of ours with every absolute path cut down to its last name."""
    if "/" not in text and "\\" not in text:
        return text
    hidden = sorted((one for one in _HIDDEN if one.strip("/")), key=len, reverse=True)

    def shown(match: re.Match[str]) -> str:
        return match["name"] or _HIDDEN.get(match["alone"] or "", "a folder")

    return _paths(tuple(hidden)).sub(shown, text)


@lru_cache(1)
def _paths(hidden: tuple[str, ...]) -> re.Pattern[str]:
    known = "|".join(map(re.escape, hidden))
    alone = rf"(?P<alone>{known})(?![\w/\\-]|\.\w)"  # not the beginning of a longer name
    return re.compile(rf"{_FILE}{alone}|(?:{_FILE}(?:{known})[/\\]+|{_BEGIN}){_FOLDERS}{_NAME}")


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
        f"{'.'.join(str(part) for part in entry['loc']) or 'arguments'}: "
        f"{entry['msg'].removeprefix('Value error, ').removesuffix('.')}"
        for entry in error.errors(include_url=False, include_input=False, include_context=False)
    )
    return f"The arguments do not fit. {'; '.join(wrong)}."
