"""JSON over HTTP to a model service: patient, bounded, and silent about keys.

Redirects are refused, so that texts and keys go where the settings say and nowhere else; cookies
are neither kept nor sent; proxies of the environment are used only when the settings say so.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Final

from chapterhouse.errors import EngineError
from chapterhouse.loading import lazy
from chapterhouse.models.failures import SHOWN_BYTES, Failure, Service, reason_in, retry_after
from chapterhouse.models.keys import KeySource, check_key_source

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = lazy("httpx2")

CONNECT_SECONDS: Final = 10.0
_MAXIMUM_BYTES: Final = 64 * 2**20  # of a response: 256 vectors of 4,096 numbers need 24 MB


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a service is and how patiently it is asked.

    Attributes:
        url: What is posted to.
        section: The section of the settings that names it, for hints.
        key_variable: The environment variable that holds the key; empty for none.
        timeout_seconds: Of one try, from the request to the last byte.
        attempts: Tries in all.
        trust_environment: Whether proxy and certificate variables of the environment count.
        maximum_bytes: Of a response.
    """

    url: str
    section: str
    key_variable: str = ""
    timeout_seconds: float = 60.0
    attempts: int = 5
    trust_environment: bool = False
    maximum_bytes: int = _MAXIMUM_BYTES


def endpoint_url(base_url: str, path: str) -> str:
    """Return the address of ``path`` below a base URL, or the base URL where it ends so."""
    base = base_url.rstrip("/")
    return base if base.endswith(f"/{path}") else f"{base}/{path}"


class JsonClient:
    """Posts JSON to one endpoint. Connects on first use; safe to share between threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Remember the endpoint.

        Args:
            endpoint: Where to post.
            sleep: Waits so many seconds.
            jitter: Returns a number from 0 to 1.

        Raises:
            UsageError: a key would travel over an open network unencrypted.
        """
        source = KeySource(endpoint.section, endpoint.key_variable)
        check_key_source(source, endpoint.url)
        self._endpoint = endpoint
        self._service = Service(endpoint.url, endpoint.section, source, endpoint.timeout_seconds)
        self._sleep = sleep
        self._jitter = jitter
        self._lock = threading.Lock()
        self._opened: httpx2.Client | None = None

    def close(self) -> None:
        """Close its connections; the next request opens new ones."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def post(self, body: Mapping[str, object], *, attempts: int | None = None) -> object:
        """Return the JSON that the service answers to ``body``.

        Args:
            body: What is sent as JSON.
            attempts: Fewer tries than the endpoint's, where a person waits.

        Raises:
            EngineError: there is no such answer; it says what happened, where, and what to do.
        """
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        tries = min(attempts or self._endpoint.attempts, self._endpoint.attempts)
        for number in range(1, tries + 1):
            service = replace(self._service, key=self._service.source.read(self._service.place))
            answer = self._try(service, data)
            if isinstance(answer, bytes):
                return _parsed(service, answer)
            if number == tries or not answer.may_be_retried():
                raise answer.error(number)
            self._sleep(answer.pause(number, self._jitter()))
        raise AssertionError("at least one try is made")

    def _try(self, service: Service, data: bytes) -> bytes | Failure:
        # Uncompressed, so that the size that is bounded is the size that was sent.
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if service.key:
            headers["Authorization"] = f"Bearer {service.key}"
        deadline = time.monotonic() + service.timeout_seconds
        try:
            with self._client().stream(
                "POST", service.url, content=data, headers=headers
            ) as response:
                if response.is_success:
                    return self._read(service, response, deadline)
                return _refused(service, response, deadline)
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            return transport_failure(service, error)

    def _read(
        self, service: Service, response: "httpx2.Response", deadline: float
    ) -> bytes | Failure:
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > self._endpoint.maximum_bytes:
                limit = self._endpoint.maximum_bytes
                return service.failure(f"answered with more than {limit:,} bytes")
            if time.monotonic() > deadline:
                return service.too_slow()
        return b"".join(parts)

    def _client(self) -> "httpx2.Client":
        with self._lock:
            if self._opened is None:
                seconds = self._endpoint.timeout_seconds
                self._opened = httpx2.Client(
                    trust_env=self._endpoint.trust_environment,
                    timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
                    follow_redirects=False,
                    cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                    headers={"User-Agent": "chapterhouse"},
                )
            return self._opened


def transport_failure(service: Service, error: Exception) -> Failure:
    """Return why a request did not get through, without the error, which holds its headers."""
    if isinstance(error, httpx2.ConnectTimeout):
        return service.failure("could not be reached in time", again=True)
    if isinstance(error, httpx2.TimeoutException):
        return service.too_slow()
    return service.unreached(str(error) or type(error).__name__)


def _refused(service: Service, response: "httpx2.Response", deadline: float) -> Failure:
    if response.is_redirect:
        return service.redirected(response.headers.get("location", ""))
    excerpt = bytearray()
    for part in response.iter_bytes():
        excerpt += part
        if len(excerpt) >= SHOWN_BYTES or time.monotonic() > deadline:
            break
    wait = retry_after(response.headers.get("retry-after", ""))
    return service.answered(response.status_code, reason_in(bytes(excerpt[:SHOWN_BYTES])), wait)


def _parsed(service: Service, data: bytes) -> object:
    try:
        parsed: object = json.loads(data)
    except (ValueError, RecursionError):
        raise EngineError(
            f"{service.place} did not answer with JSON: {service.shown(reason_in(data[:200]))}",
            hint=f"Is {service.section}.base_url the address of the service?",
        ) from None
    return parsed
