"""Between plain functions and the event loop, both ways.

Work that blocks runs in a thread that nobody has to wait for: ``asyncio.to_thread`` would be
waited for when the loop closes, so that Ctrl-C would do nothing while a service hangs.
"""

import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chapterhouse.loading import lazy

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = lazy("asyncio")

Value = TypeVar("Value")
_working: Final[set[threading.Thread]] = set()


def run_now(work: Coroutine[Any, Any, Value]) -> Value:
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
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Value] = loop.create_future()

    def tell(report: Callable[[], None]) -> None:
        try:
            loop.call_soon_threadsafe(lambda: None if done.done() else report())
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    def run() -> None:
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            failure = error
            tell(lambda: done.set_exception(failure))
        else:
            tell(lambda: done.set_result(value))
        finally:
            _working.discard(threading.current_thread())

    context = copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name="work", daemon=True)
    _working.add(thread)
    thread.start()
    return await done


def wait_for_threads(seconds: float) -> bool:
    """Wait until all work in such threads is done, at most so long; return whether it is.

    What was interrupted may still be reading: a database must not be closed under it, and no
    process should end in the middle of it. What waits for a service is not waited for longer.
    """
    until = time.monotonic() + seconds
    for thread in tuple(_working):
        thread.join(max(0.0, until - time.monotonic()))
    return not _working
