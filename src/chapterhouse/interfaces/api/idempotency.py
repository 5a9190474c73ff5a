"""Requests that are sent twice and done once: what a client repeats with the same key.

A client that did not see the answer sends the request again with the same ``Idempotency-Key``; it
gets the first answer. Keys are remembered for a day by this server; after its restart a repeated
upload still changes nothing, for the same bytes are the same document.
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response

from chapterhouse.interfaces.api.problems import Refusal

HEADER: Final = "Idempotency-Key"
_LONGEST: Final = 200
_SECONDS: Final = 86_400
_MOST: Final = 10_000
_MOST_BYTES: Final = 2**20  # of an answer that is remembered
_OF_A_BODY: Final = ("content-length", "content-type")


@dataclass(slots=True)
class _Request:
    """A request that was begun; its answer once there is one."""

    fingerprint: str
    began: float
    answer: Response | None = None


class RepeatedRequests:
    """The requests of a day by their keys. Belongs to one event loop.

    Args:
        clock: The time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._requests: OrderedDict[tuple[str, ...], _Request] = OrderedDict()

    async def once(
        self, request: Request, handle: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Answer a request, with the answer of before where it is repeated.

        Raises:
            Refusal: the key cannot be one, was used for another request, or its request is not
                answered yet.
        """
        key = request.headers.get(HEADER, "")
        if not key or request.method != "POST":
            return await handle(request)
        if len(key) > _LONGEST:
            raise Refusal(400, f"A key of a request has at most {_LONGEST} characters.")
        caller = request.state.caller
        name = (caller.grant.name, caller.workspace, request.url.path, key)
        fingerprint = _fingerprint(request)
        known = self._known(name)
        if known is not None:
            return _repeated(known, fingerprint)
        self._requests[name] = begun = _Request(fingerprint, self._clock())
        try:
            begun.answer = await handle(request)
        finally:
            if not _is_remembered(begun.answer):  # it may be tried again
                self._requests.pop(name, None)
        return begun.answer

    def _known(self, name: tuple[str, ...]) -> _Request | None:
        """Return the request of a key; drop those of yesterday, and the oldest of too many."""
        over = self._clock() - _SECONDS
        while self._requests:
            oldest = next(iter(self._requests))
            if self._requests[oldest].began > over and len(self._requests) < _MOST:
                break
            del self._requests[oldest]
        return self._requests.get(name)


def _repeated(known: _Request, fingerprint: str) -> Response:
    if known.fingerprint != fingerprint:
        raise Refusal(422, f"The {HEADER} was sent with another request.")
    if known.answer is None:
        raise Refusal(409, "The same request is being answered.", headers={"Retry-After": "1"})
    answer = known.answer
    return Response(
        bytes(answer.body),
        answer.status_code,
        {"Idempotency-Replayed": "true"},
        answer.media_type or answer.headers.get("content-type"),
    )


def _is_remembered(answer: Response | None) -> bool:
    """Whether an answer can be given again: it is neither a failure nor a stream."""
    body = getattr(answer, "body", None)
    return (
        answer is not None
        and answer.status_code < 400  # noqa: PLR2004 - of HTTP
        and isinstance(body, bytes | memoryview)
        and len(body) <= _MOST_BYTES
    )


def _fingerprint(request: Request) -> str:
    """Return what tells requests apart without reading their bodies."""
    parts = [request.url.query, *(request.headers.get(name, "") for name in _OF_A_BODY)]
    kind = parts[-1].partition(";")[0]  # what follows may be another boundary each time
    return hashlib.sha256("\n".join([*parts[:-1], kind]).encode()).hexdigest()
