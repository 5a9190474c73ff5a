"""Work that blocks, beside the event loop, in a thread that nobody has to wait for.

``asyncio.to_thread`` would be waited for when the loop closes, so that Ctrl-C would do nothing
while a service hangs.
"""

import asyncio
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

Value = TypeVar("Value")


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

    context = copy_context()
    threading.Thread(target=context.run, args=(run,), name="beside", daemon=True).start()
    return await done
