"""Requests to a model's service, and what goes wrong, in our words.

Conversations go by way of OpenAI's library (``chat``), which takes .6 s to load; all else is asked
with ``httpx2`` alone, in .1 s. Neither knows the key or the environment: the key is put into a
request as it leaves, every header that the service does not need is taken out, and redirects are
refused, so that texts and keys go where the settings say and nowhere else.

A request is tried again only where nothing can have been done twice to anyone's harm: the
connection failed, or the server answered 408, 409, 429 or 5xx.
"""

import asyncio
import json
import random
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from chapterhouse import lazy
from chapterhouse.concurrency import run_sync
from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.models.keys import KeySource
from chapterhouse.text.sanitise import sanitise_line

if TYPE_CHECKING:
    import ssl

    import httpx2
else:
    httpx2 = lazy("httpx2")

Value = TypeVar("Value")

_CONNECT_SECONDS: Final = 10.0
_LONGEST_WAIT: Final = 120.0  # seconds that a server may ask for; beyond, the user should know
_FIRST_PAUSE: Final = 0.5  # seconds; doubles with each try
_LONGEST_PAUSE: Final = 30.0
_MOMENT: Final = 0.01  # seconds between two looks at whether a slot is free
_SHOWN_CHARACTERS: Final = 300
# What a request needs; the rest tells of this machine, or comes from variables of other programs.
_SENT: Final = frozenset({"accept", "connection", "content-length", "content-type", "host"})
# How services say that a prompt is too long: OpenAI, vLLM, llama.cpp, Ollama, LM Studio, Anthropic,
# Google, Mistral, Groq, Bedrock and text-generation-inference.
_TOO_LONG: Final = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum (?:context|prompt) length|"
    r"exceeds? (?:the |our |max(?:imum)? )*(?:available )?context|exceeded max(?:imum)? context|"
    r"context (?:window|length|size) (?:of|is|has been|exceeded)|context the overflows|"
    r"greater than the context length|reduce the length of (?:the|your) (?:messages|prompt|input)|"
    r"(?:prompt|input) is too long|input token count|must have less than \d+ tokens|"
    r"longer than the (?:maximum )?(?:model|context)|too large for model with \d+ max",
    re.IGNORECASE,
)
# How they say that waiting does not help, though the status is that of a rate limit.
_SPENT: Final = re.compile(
    r"insufficient_quota|exceeded your current quota|billing|credit balance|spend limit",
    re.IGNORECASE,
)
_BAD_KEY: Final = re.compile(
    r"api[ _]key (?:not valid|not found|expired)|api_key_invalid", re.IGNORECASE
)
_DELAY: Final = re.compile(r'"retryDelay": "(\d+)')  # how Google says when to try again
_PASSING: Final = re.compile(r"server_error|overloaded|rate_limit")  # in an answer that began well
# Parts of a request that not every service takes, and how it speaks of the form of an answer.
_OPTIONAL: Final = ("response_format", "stream_options", "temperature", "reasoning_effort")
_FORM: Final = re.compile(
    r"json[ _]?schema|response_?schema|grammar|structured.output|guided", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a try gave nothing.

    Attributes:
        wait: Seconds that the server asks for.
        fits: Share of the prompt that would fit where it is too long, 0 to 1; else None.
        refused: Parts of the request that the service may not take.
    """

    sentence: str
    hint: str
    again: bool = False
    wait: float = 0.0
    fits: float | None = None
    refused: frozenset[str] = frozenset()

    def error(self, tries: int) -> EngineError:
        """Return it as an error after so many tries."""
        sentence = f"{self.sentence}{f' (after {tries} tries)' if tries > 1 else ''}."
        if self.fits is None:
            return EngineError(sentence, hint=self.hint)
        return PromptTooLongError(sentence, hint=self.hint, fits=self.fits)


class Slots:
    """So many requests at once, by whoever asks a server; others wait. 0: as many as there are.

    A slot is held for one request, not for a whole answer: a tool that a model calls may ask the
    same service. Who waits blocks neither an event loop nor a thread.
    """

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self._taken = 0
        self._lock = threading.Lock()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a slot inside the block, after waiting for it."""
        while not self._take():  # noqa: ASYNC110 - an event belongs to one loop, slots to all
            await asyncio.sleep(_MOMENT)
        try:
            yield
        finally:
            with self._lock:
                self._taken -= 1

    def _take(self) -> bool:
        with self._lock:
            is_free = not self.number or self._taken < self.number
            self._taken += is_free
            return is_free


@dataclass(frozen=True)
class Service:
    """A service as it is asked, and as messages speak of it. Safe to share between threads.

    Attributes:
        section: The section of the settings that names it, for hints.
        timeout_seconds: Of one try, from the request to the last byte.
        attempts: Tries in all.
        trust_environment: Whether proxy and certificate variables of the environment count.
        sleep: Waits so many seconds.
        jitter: Returns a number from 0 to 1.
        key: What must not be shown.
    """

    url: str
    section: str
    source: KeySource
    timeout_seconds: float = 60.0
    attempts: int = 5
    trust_environment: bool = False
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    key: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """Its address, as it is shown."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    @cached_property
    def _context(self) -> "ssl.SSLContext":
        return httpx2.create_ssl_context(trust_env=self.trust_environment)

    def open(self) -> "tuple[Service, httpx2.AsyncClient]":
        """Return the service with its key, and what asks it, to be closed; may take a moment.

        Raises:
            EngineError: the key cannot be read.
        """
        service = replace(self, key=self.source.read(self.place))
        client = httpx2.AsyncClient(
            headers={"accept": "application/json"},
            verify=self._context,
            trust_env=self.trust_environment,
            timeout=httpx2.Timeout(
                self.timeout_seconds, connect=min(self.timeout_seconds, _CONNECT_SECONDS)
            ),
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            event_hooks={"request": [_prepare(service.key)]},
        )
        return service, client

    async def persist(
        self,
        work: Callable[[], Awaitable[Value | Failure]],
        attempts: int,
        longest: Callable[[], float] = lambda: _LONGEST_WAIT,
    ) -> Value:
        """Return what some work gives, done again while that may help, with growing pauses.

        Args:
            attempts: Tries in all.
            longest: Gives the seconds that may be waited now.

        Raises:
            EngineError: it gives nothing; it says what happened, where, and what to do.
        """
        number = 0
        while True:
            number += 1
            answer = await work()
            if not isinstance(answer, Failure):
                return answer
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (number - 1))
            wait = answer.wait + self.jitter() * pause
            if number == attempts or not answer.again or wait > longest():
                raise answer.error(number)
            await self.sleep(wait)

    async def attempt(self, work: Callable[[], Awaitable[Value]]) -> Value | Failure:
        """Return what some work gives within the time of one try, or why it gives nothing."""
        try:
            async with asyncio.timeout(self.timeout_seconds) as limit:
                return await work()
        except Exception as error:  # noqa: BLE001 - what a stranger sends makes libraries raise all
            return self.too_slow(self.timeout_seconds) if limit.expired() else self._explain(error)

    def request(
        self, path: str, body: Mapping[str, object] | None = None, attempts: int = 0
    ) -> object:
        """Return the JSON that the service answers at ``path``; blocks. Errors as ``persist``.

        Args:
            path: Below the service's address, or a whole address at the same host.
            body: What is posted as JSON; None: nothing, what is there is read.
            attempts: Fewer tries than usual, where a person waits.
        """

        async def ask() -> object:
            service, client = self.open()
            url = path if "://" in path else f"{self.url}{path}"

            async def fetch() -> object:
                response = await (
                    client.get(url) if body is None else client.post(url, json=encodable(body))
                )
                return read_json(response.raise_for_status())

            async with client:
                return await service.persist(
                    lambda: service.attempt(fetch), min(attempts or self.attempts, self.attempts)
                )

        return run_sync(ask())

    def shown(self, text: str) -> str:
        """Return what someone else wrote as one short line without the key."""
        line = sanitise_line(text.replace(self.key, "[key]") if self.key else text)
        return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"

    def failure(self, what: str, *, again: bool = False) -> Failure:
        """Say that it did something that a service at this address would not."""
        hint = f"Is the service running, and is {self.section}.base_url its address?"
        return Failure(f"{self.place} {what}", hint, again)

    def too_slow(self, seconds: float) -> Failure:
        """Say that it took too long."""
        hint = f"Give it longer with {self.section}.timeout_seconds."
        return Failure(f"{self.place} did not answer within {seconds:g} seconds", hint)

    def too_long(self, sentence: str, fits: float) -> Failure:
        """Say that a prompt is too long, and how much of it would fit."""
        hint = "Put less into it, such as with packing.maximum, or let the model take more."
        return Failure(f"The prompt is too long for the model: {sentence}", hint, fits=fits)

    def _explain(self, error: Exception) -> Failure:
        """Return why a request gave nothing. The error holds its headers and goes no further."""
        response = getattr(error, "response", None)
        cause = error if isinstance(error, httpx2.TransportError) else error.__cause__
        if isinstance(response, httpx2.Response):
            location = response.headers.get("location", "")
            if response.is_redirect:
                target = self.shown(urlsplit(location).hostname or "elsewhere")
                return self.failure(f"redirects to {target}, which is not followed")
            wait = response.headers.get("retry-after", "").strip()
            return self._answered(response.status_code, _body_of(error, response), wait)
        if isinstance(cause, httpx2.TransportError):
            return self._unreached(cause)
        if body := getattr(error, "body", None):  # an error in an answer that began well
            code = str(body.get("code") or "") if isinstance(body, dict) else ""
            code = code or ("500" if _PASSING.search(str(body)) else "")
            return self._answered(int(code) if code.isdecimal() else 200, body)
        reason = self.shown(str(error) or type(error).__name__)
        hint = f"Is {self.section}.base_url the address of an OpenAI-compatible service?"
        return Failure(f"{self.place} gave a response that cannot be understood: {reason}", hint)

    def _answered(self, status: int, body: object, wait: str = "") -> Failure:
        reason, whole = self.shown(reason_in(body)), json.dumps(body, default=str)
        sentence = f"{self.place} answered {status}{': ' if reason else ''}{reason}"
        wait = delay[1] if (delay := _DELAY.search(whole)) else wait
        if _TOO_LONG.search(whole):
            return self.too_long(sentence, 0.5)
        if _SPENT.search(whole) and not delay:
            return Failure(sentence, "Look at the account: waiting does not help.")
        if status in {401, 403} or _BAD_KEY.search(whole):
            return Failure(sentence, self.source.hint)
        if status == 404:  # noqa: PLR2004
            names = f"{self.section}.base_url and {self.section}.model"
            return Failure(sentence, f"Look at {names}: one of them is not known there.")
        refused = frozenset(name for name in _OPTIONAL if name in whole)
        if not refused and (status in {400, 422, 501} or _FORM.search(whole)):
            refused = frozenset({"response_format"})  # the likeliest
        if status in {408, 409, 429} or status >= 500:  # noqa: PLR2004
            seconds = float(wait) if wait.isascii() and wait.isdecimal() else 0.0
            hint = "Try again later; what was done until now is kept."
            return Failure(sentence, hint, again=True, wait=seconds, refused=refused)
        return Failure(sentence, f"Look at the settings of {self.section}.", refused=refused)

    def _unreached(self, error: BaseException) -> Failure:
        if isinstance(error, httpx2.TimeoutException):
            if isinstance(error, httpx2.ConnectTimeout):
                return self.failure("could not be reached in time", again=True)
            return self.too_slow(self.timeout_seconds)
        reason = self.shown(str(error) or type(error).__name__)
        if "CERTIFICATE_VERIFY_FAILED" not in reason:
            return self.failure(f"could not be reached: {reason}", again=True)
        return Failure(
            f"{self.place} has a certificate that this machine does not trust: {reason}",
            "Install the authority that signed it, or name its file in SSL_CERT_FILE and set "
            f"{self.section}.trust_environment.",
        )


def _prepare(key: str) -> "Callable[[httpx2.Request], Awaitable[None]]":
    """Return what is called with each request as it leaves."""

    async def prepare(request: "httpx2.Request") -> None:
        for name in [name for name in request.headers if name not in _SENT]:
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"  # no small answer unpacks to a huge one
        request.headers["user-agent"] = "chapterhouse"
        if key:
            request.headers["authorization"] = f"Bearer {key}"

    return prepare


def encodable(body: Mapping[str, object]) -> Any:
    """Return what is sent as JSON without lone surrogates, which would stop a request."""
    return json.loads(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))


class BrokenAnswerError(Exception):
    """What a service says went wrong, in an answer that began well."""

    def __init__(self, body: object) -> None:
        super().__init__()
        self.body = body


def read_json(response: "httpx2.Response") -> Any:
    """Return the JSON of a response, of whatever media type.

    Raises:
        ValueError: it is none.
    """
    try:
        return response.json()
    except ValueError:
        raise ValueError(f"no JSON: {response.text[:_SHOWN_CHARACTERS]}") from None


def _body_of(error: Exception, response: "httpx2.Response") -> object:
    """Return what came with a status: OpenAI's library has read it already."""
    if (body := getattr(error, "body", None)) is not None:
        return body
    try:
        return read_json(response)
    except ValueError:
        return response.text


def reason_in(body: object) -> str:
    """Return what an error says, wherever services put it."""
    if isinstance(body, list) and body:  # as Google sends errors
        body = body[0]
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and name in body:
            body = body[name]
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
