"""Work that blocks, beside the event loop, in a thread that nobody has to wait for.

``asyncio.to_thread`` would be waited for when the loop closes, so that Ctrl-C would do nothing
while a service hangs.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Final, TypeVar

Value = TypeVar("Value")
_working: Final[set[threading.Thread]] = set()


async def beside(work: Callable[[], Value]) -> Value:
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
    thread = threading.Thread(target=context.run, args=(run,), name="beside", daemon=True)
    _working.add(thread)
    thread.start()
    return await done


def settle(seconds: float) -> bool:
    """Wait until all work beside any loop is done, at most so long; return whether it is.

    What was interrupted may still be reading: a database must not be closed under it, and no
    process should end in the middle of it. What waits for a service is not waited for longer.
    """
    until = time.monotonic() + seconds
    for thread in tuple(_working):
        thread.join(max(0.0, until - time.monotonic()))
    return not _working
