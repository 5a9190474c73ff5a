"""JSON over HTTP to a model service: patient, bounded, and silent about keys.

A request is tried again only where nothing can have been done twice to anyone's harm: the
connection failed, or the server answered 408, 409, 429 or 5xx. Between tries it waits with
exponential backoff and full jitter (https://aws.amazon.com/builders-library/
timeouts-retries-and-backoff-with-jitter/), and as long as ``Retry-After`` says.

Redirects are refused, so that texts and keys go where the settings say and nowhere else; cookies
are neither kept nor sent; proxies of the environment are used only when the settings say so.
"""

import ipaddress
import json
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.text.sanitise import sanitise_line

if TYPE_CHECKING:
    import httpx2

_RETRIED: Final = frozenset({408, 409, 429})
_FIRST_PAUSE: Final = 0.5  # seconds; doubles with each try
_LONGEST_PAUSE: Final = 30.0  # seconds, of the backoff
_LONGEST_WAIT: Final = 120.0  # seconds that a server may ask for; beyond, the user should know
_CONNECT_SECONDS: Final = 10.0
_MAXIMUM_BYTES: Final = 64 * 2**20  # of a response: 256 vectors of 4,096 numbers need 24 MB
_SHOWN_BYTES: Final = 4_000  # of an error response
_SHOWN_CHARACTERS: Final = 300


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


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a try gave nothing. ``wait`` is what the server asks for, in seconds."""

    sentence: str
    hint: str
    again: bool = False
    wait: float = 0.0


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
        _refuse_open_keys(endpoint)
        self._endpoint = endpoint
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
            answer = self._try(data)
            if isinstance(answer, bytes):
                return self._parsed(answer)
            if number == tries or not answer.again or answer.wait > _LONGEST_WAIT:
                raise EngineError(_after(answer.sentence, number), hint=answer.hint)
            backoff = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (number - 1))
            self._sleep(answer.wait + self._jitter() * backoff)
        raise AssertionError("at least one try is made")

    def _try(self, data: bytes) -> bytes | _Failure:
        import httpx2  # noqa: PLC0415 - 100 ms that only a hosted engine pays

        headers = self._headers()
        deadline = time.monotonic() + self._endpoint.timeout_seconds
        try:
            with self._client().stream(
                "POST", self._endpoint.url, content=data, headers=headers
            ) as response:
                if response.is_success:
                    return self._read(response, deadline)
                return self._refused(response, deadline)
        except httpx2.ConnectTimeout:
            return self._failure("could not be reached in time", again=True)
        except httpx2.TimeoutException:
            return self._too_slow()
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            # Only its text goes on: the error itself holds the request with its headers.
            return self._unreached(self._shown(str(error) or type(error).__name__))

    def _read(self, response: "httpx2.Response", deadline: float) -> bytes | _Failure:
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > self._endpoint.maximum_bytes:
                limit = self._endpoint.maximum_bytes
                return self._failure(f"answered with more than {limit:,} bytes")
            if time.monotonic() > deadline:
                return self._too_slow()
        return b"".join(parts)

    def _refused(self, response: "httpx2.Response", deadline: float) -> _Failure:
        status = response.status_code
        if response.is_redirect:
            target = urlsplit(response.headers.get("location", "")).hostname or "another page"
            return self._failure(f"redirects to {self._shown(target)}, which is not followed")
        excerpt = bytearray()
        for part in response.iter_bytes():
            excerpt += part
            if len(excerpt) >= _SHOWN_BYTES or time.monotonic() > deadline:
                break
        reason = self._shown(_reason(bytes(excerpt[:_SHOWN_BYTES])))
        again = status in _RETRIED or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        return _Failure(
            f"{self._place()} answered {status}{': ' if reason else ''}{reason}",
            self._hint_for(status),
            again,
            _retry_after(response.headers.get("retry-after", "")),
        )

    def _parsed(self, data: bytes) -> object:
        try:
            parsed: object = json.loads(data)
        except (ValueError, RecursionError):
            raise EngineError(
                f"{self._place()} did not answer with JSON: {self._shown(_reason(data[:200]))}",
                hint=f"Is {self._endpoint.section}.base_url the address of the service?",
            ) from None
        return parsed

    def _headers(self) -> dict[str, str]:
        # Uncompressed, so that the size that is bounded is the size that was sent.
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._endpoint.key_variable:
            headers["Authorization"] = f"Bearer {self._key()}"
        return headers

    def _key(self) -> str:
        name = self._endpoint.key_variable
        key = os.environ.get(name, "").strip()
        if not key:
            raise EngineError(
                f"The variable {name}, which holds the key of {self._place()}, is not set.",
                hint=f"Set it, or leave {self._endpoint.section}.key_variable empty.",
            )
        if not (key.isascii() and key.isprintable()):
            raise EngineError(
                f"The variable {name} holds characters that no key has.",
                hint="Copy the key again, without line breaks.",
            )
        return key

    def _client(self) -> "httpx2.Client":
        import httpx2  # noqa: PLC0415 - 100 ms that only a hosted engine pays

        with self._lock:
            if self._opened is None:
                seconds = self._endpoint.timeout_seconds
                self._opened = httpx2.Client(
                    trust_env=self._endpoint.trust_environment,
                    timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
                    follow_redirects=False,
                    cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                    headers={"User-Agent": "chapterhouse"},
                )
            return self._opened

    def _place(self) -> str:
        parts = urlsplit(self._endpoint.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def _failure(self, what: str, *, again: bool = False) -> _Failure:
        section = self._endpoint.section
        hint = f"Is the service running, and is {section}.base_url its address?"
        return _Failure(f"{self._place()} {what}", hint, again)

    def _unreached(self, reason: str) -> _Failure:
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            return _Failure(
                f"{self._place()} has a certificate that this machine does not trust: {reason}",
                "Install the authority that signed it, or name its file in SSL_CERT_FILE and set "
                f"{self._endpoint.section}.trust_environment.",
            )
        return self._failure(f"could not be reached: {reason}", again=True)

    def _too_slow(self) -> _Failure:
        seconds = self._endpoint.timeout_seconds
        return _Failure(
            f"{self._place()} did not answer within {seconds:g} seconds",
            f"Give it longer with {self._endpoint.section}.timeout_seconds.",
        )

    def _hint_for(self, status: int) -> str:
        section, variable = self._endpoint.section, self._endpoint.key_variable
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            if variable:
                return f"Does the variable {variable} hold a key that is valid there?"
            return f"Name the environment variable that holds the key in {section}.key_variable."
        if status == HTTPStatus.NOT_FOUND:
            return (
                f"Look at {section}.base_url and {section}.model: one of them is not known there."
            )
        if status in _RETRIED or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return "Try again later; what was done until now is kept."
        return f"Look at the settings of {section}."

    def _shown(self, text: str) -> str:
        """Return what someone else wrote as one short line without the key."""
        name = self._endpoint.key_variable
        key = os.environ.get(name, "").strip() if name else ""
        line = sanitise_line(text.replace(key, "[key]") if key else text)
        return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"


def _after(sentence: str, number: int) -> str:
    return f"{sentence} (after {number} tries)." if number > 1 else f"{sentence}."


def _reason(data: bytes) -> str:
    """Return what an error response says, wherever services put it."""
    text = data.decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _retry_after(value: str) -> float:
    """Return the seconds of a ``Retry-After`` header: a number or a date (RFC 9110, 10.2.3)."""
    seconds = value.strip()
    if seconds.isascii() and seconds.isdecimal():
        return float(seconds)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _refuse_open_keys(endpoint: Endpoint) -> None:
    parts = urlsplit(endpoint.url)
    host = parts.hostname or ""
    if endpoint.key_variable and parts.scheme != "https" and not _is_near(host):
        raise UsageError(
            f"The key in {endpoint.key_variable} would travel unencrypted to {host}.",
            hint=f"Use https in {endpoint.section}.base_url, or leave key_variable empty.",
        )


def _is_near(host: str) -> bool:
    """Whether a host is this machine or of the local network, as far as its name tells."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan", ".home.arpa"))
    return address.is_private or address.is_loopback
