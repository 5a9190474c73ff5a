"""Work on documents beside the event loop, for a few members at a time.

Threads that compute at the same time only take turns in one process, and lose time by it. Where few
do, whoever is ready first has a model writing while the others get ready.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from chapterhouse.replying.threads import beside

Value = TypeVar("Value")

# More than one, for an embedder or a reranker may be a service that is waited for.
_PLACES: Final = 3
_benches: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]] = (
    WeakKeyDictionary()
)


async def at_bench(work: Callable[[], Value]) -> Value:
    """Return what ``work`` gives, as ``beside`` does, once there is a place for it.

    Who no longer waits gives the place up, also where the work goes on.
    """
    places = _benches.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_PLACES))
    async with places:
        return await beside(work)
