"""How much one caller may ask for: a bucket of tokens each, and bodies that end."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from starlette.types import Message, Receive

from chapterhouse.interfaces.api.problems import Refusal

_MOST_BUCKETS: Final = 10_000


class RateLimit:
    """A bucket of tokens for each caller, of which a request takes one. Belongs to one loop.

    Args:
        per_second: How fast a bucket fills.
        burst: How many tokens it holds.
        clock: The time in seconds.
    """

    def __init__(
        self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> None:
        """Take a token from the bucket of ``name``.

        Raises:
            Refusal: it is empty; it says when there will be one.
        """
        now = self._clock()
        tokens, since = self._buckets.pop(name, (self._burst, now))
        tokens = min(self._burst, tokens + (now - since) * self._per_second)
        allowed = tokens >= 1
        self._buckets[name] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        if not allowed:
            seconds = max(1, math.ceil((1 - tokens) / self._per_second))
            raise Refusal(429, "Too many requests.", headers={"Retry-After": str(seconds)})


def bounded(receive: Receive, maximum: int, seconds: float) -> Receive:
    """Return what receives a body of at most so many bytes, each piece of it in time.

    Args:
        receive: Receives the body.
        maximum: Bytes; what the header ``Content-Length`` states is not relied on.
        seconds: How long the next piece may take.

    Raises (when called):
        Refusal: there is more, or nothing comes.
    """
    total = 0
    is_whole = False

    async def receive_bounded() -> Message:
        nonlocal total, is_whole
        if is_whole:  # then only the end of the connection is waited for
            return await receive()
        try:
            async with asyncio.timeout(seconds):
                message = await receive()
        except TimeoutError:
            raise Refusal(408, "The body of the request did not come.") from None
        if message["type"] == "http.request":
            total += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if total > maximum:
                raise Refusal(413, f"The body has over {maximum:,} bytes.")
        return message

    return receive_bounded
