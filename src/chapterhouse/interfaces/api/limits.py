"""How much one process takes of a caller: what is under way, and bodies that end."""

import asyncio
import time
from collections import Counter
from typing import Final

from starlette.types import Message, Receive

from chapterhouse.interfaces.api.problems import Refusal

_BYTES_A_SECOND: Final = 8_192  # of a body, in the long run


class InProgress:
    """How much each caller has under way: bytes of answers, or uploads. Belongs to one loop.

    Args:
        most: At the same time; something larger has its turn when there is nothing else.
        refused: What who has more is told.
    """

    def __init__(self, most: int, refused: str) -> None:
        self._most = most
        self._refused = refused
        self._amounts: Counter[str] = Counter()

    def add(self, name: str, amount: int) -> None:
        """Count something that begins.

        Raises:
            Refusal: there is too much already.
        """
        if self._amounts[name] and self._amounts[name] + amount > self._most:
            raise Refusal(503, self._refused, headers={"Retry-After": "1"})
        self._amounts[name] += amount

    def end(self, name: str, amount: int) -> None:
        """Count something that has ended."""
        self._amounts[name] -= amount
        if not self._amounts[name]:
            del self._amounts[name]


def bounded(receive: Receive, maximum: float, seconds: float) -> Receive:
    """Return what receives a body of at most so many bytes, each piece of it and all in time.

    Args:
        receive: Receives the body.
        maximum: Bytes; what the header ``Content-Length`` states is not relied on.
        seconds: How long the next piece may take. All of it may take twice as long, and a second
            more for every 8 kilobytes that have come.

    Raises (when called):
        Refusal: there is more, or it comes too slowly.
    """
    total = 0
    waited = 0.0
    is_whole = False

    async def receive_bounded() -> Message:
        nonlocal total, waited, is_whole
        if is_whole:  # then only the end of the connection is waited for
            return await receive()
        began = time.monotonic()
        left = 2 * seconds + total / _BYTES_A_SECOND - waited
        try:
            async with asyncio.timeout(min(seconds, left)):
                message = await receive()
        except TimeoutError:
            raise Refusal(408, "The body of the request did not come.") from None
        waited += time.monotonic() - began
        if message["type"] == "http.request":
            total += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if total > maximum:
                raise Refusal(413, f"The body has over {maximum:,} bytes.")
        return message

    return receive_bounded
