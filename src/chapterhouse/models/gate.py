"""The way of a language model's requests to its service, whichever library makes them.

The libraries of the services know neither the key nor the environment: the gate puts the key into a
request as it leaves, takes out every header that the service does not need, and lets nothing go
to another host. What comes back is bounded, and what is refused is remembered in our own words.
"""

import ssl
from collections.abc import AsyncIterator, Iterable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpcore2  # noqa: F401  # httpx2 loads it on first use otherwise, in the event loop
import httpx2

from chapterhouse.models.failures import SHOWN_BYTES, Failure, Service, reason_in, retry_after
from chapterhouse.models.http import CONNECT_SECONDS

# What a request needs; the rest tells of this machine, or comes from variables of other programs.
_SENT: Final = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
    }
)
_TAIL: Final = 256  # bytes at the end of a response that are remembered


class Gate:
    """Stands between one piece of writing and its service."""

    def __init__(
        self, service: Service, key_header: tuple[str, str], maximum_bytes: int = 16 * 2**20
    ) -> None:
        """Remember what to let through.

        Args:
            service: Whom it leads to, with the key.
            key_header: The name of the header that carries the key, and what stands before it.
            maximum_bytes: Of a response.
        """
        self._service = service
        self._key_header = key_header
        self._maximum_bytes = maximum_bytes
        self._origin = _origin(httpx2.URL(service.url))
        self.failure: Failure | None = None
        self.tail = b""

    def client(self, context: ssl.SSLContext, *, trust_environment: bool) -> httpx2.AsyncClient:
        """Return a client all of whose requests go through the gate."""
        seconds = self._service.timeout_seconds
        return httpx2.AsyncClient(
            verify=context,
            trust_env=trust_environment,
            timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            event_hooks={"request": [self._leave], "response": [self._enter]},
        )

    def reset(self) -> None:
        """Forget the try before."""
        self.failure, self.tail = None, b""

    def refuse(self, failure: Failure, request: httpx2.Request) -> httpx2.TransportError:
        """Remember why, and return what ends the request."""
        self.failure = failure
        return httpx2.ReadError(failure.sentence, request=request)

    async def _leave(self, request: httpx2.Request) -> None:
        if _origin(request.url) != self._origin:
            host = self._service.shown(request.url.host)
            raise self.refuse(self._service.failure(f"is not {host}, which was asked"), request)
        for name in [name for name in request.headers if name not in _SENT]:
            del request.headers[name]
        # Uncompressed, so that the size that is bounded is the size that was sent.
        request.headers["accept-encoding"] = "identity"
        request.headers["user-agent"] = "chapterhouse"
        if self._service.key:
            name, before = self._key_header
            request.headers[name] = f"{before}{self._service.key}"

    async def _enter(self, response: httpx2.Response) -> None:
        if response.is_redirect:
            location = response.headers.get("location", "")
            raise self.refuse(self._service.redirected(location), response.request)
        if not response.is_success:
            excerpt = bytearray()
            async for part in response.aiter_raw():
                excerpt += part
                if len(excerpt) >= SHOWN_BYTES:
                    break
            reason = reason_in(bytes(excerpt[:SHOWN_BYTES]))
            wait = retry_after(response.headers.get("retry-after", ""))
            failure = self._service.answered(response.status_code, reason, wait)
            raise self.refuse(failure, response.request)
        response.stream = _Bounded(self, response, self._maximum_bytes)

    def too_large(self, request: httpx2.Request) -> httpx2.TransportError:
        """Return what ends a response that does not end."""
        what = f"answered with more than {self._maximum_bytes:,} bytes"
        return self.refuse(self._service.failure(what), request)


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of a response, up to a number of them."""

    def __init__(self, gate: Gate, response: httpx2.Response, maximum: int) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._gate = gate
        self._stream = response.stream
        self._request = response.request
        self._left = maximum

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise self._gate.too_large(self._request)
            self._gate.tail = (self._gate.tail + part)[-_TAIL:]
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def cause_of(error: BaseException) -> BaseException:
    """Return the failure of the connection below an error of the libraries above, or the error."""
    for below in _chain(error):
        if isinstance(below, httpx2.TransportError):
            return below
    return error


def _chain(error: BaseException) -> Iterable[BaseException]:
    seen: list[BaseException] = []
    below: BaseException | None = error
    while below is not None and below not in seen:
        seen.append(below)
        below = below.__cause__ or below.__context__
    return seen
