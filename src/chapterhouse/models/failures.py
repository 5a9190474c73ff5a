"""What went wrong with a model's service: in words, without the key, and whether to try again.

A request is tried again only where nothing can have been done twice to anyone's harm: the
connection failed, or the server answered 408, 409, 429 or 5xx. Between tries one waits with
exponential backoff and full jitter (https://aws.amazon.com/builders-library/
timeouts-retries-and-backoff-with-jitter/), and as long as ``Retry-After`` says.
"""

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.models.keys import KeySource
from chapterhouse.text.sanitise import sanitise_line

LONGEST_WAIT: Final = 120.0  # seconds that a server may ask for; beyond, the user should know
SHOWN_BYTES: Final = 4_000  # of an error response

_RETRIED: Final = frozenset({408, 409, 429})
_FIRST_PAUSE: Final = 0.5  # seconds; doubles with each try
_LONGEST_PAUSE: Final = 30.0  # seconds, of the backoff
_SHOWN_CHARACTERS: Final = 300
_HALF: Final = 0.5  # of a prompt, where a service only says that it is too long

# How services say that a prompt is too long: OpenAI, vLLM, llama.cpp, Ollama, LM Studio, Anthropic,
# Google, Mistral, Groq, Bedrock and text-generation-inference.
_TOO_LONG: Final = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum (?:context|prompt) length|"
    r"exceeds? (?:the |our |max(?:imum)? )*(?:available )?context|exceeded max(?:imum)? context|"
    r"context (?:window|length|size) (?:of|is|has been|exceeded)|context the overflows|"
    r"greater than the context length|reduce the length of (?:the|your) (?:messages|prompt|input)|"
    r"(?:prompt|input) is too long|input token count|must have less than \d+ tokens|"
    r"longer than the (?:maximum )?(?:model|context)",
    re.IGNORECASE,
)
# How they say that waiting does not help, though the status is that of a rate limit.
_SPENT: Final = re.compile(
    r"insufficient_quota|exceeded your current quota|billing|credit balance|spend limit",
    re.IGNORECASE,
)
# How they say that they cannot hold a model to a schema, where the status does not tell.
_FORMAT: Final = re.compile(
    r"response_?format|json[ _]?schema|response_?(?:json_?)?schema|output_config|grammar|"
    r"structured[ _]output|guided",
    re.IGNORECASE,
)
_UNSUPPORTED: Final = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.NOT_IMPLEMENTED,
    }
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a try gave nothing.

    Attributes:
        again: Whether the reason may pass.
        wait: What the server asks for, in seconds.
        no_format: Whether the service may refuse the form that was wanted of the answer.
        fits: Share of the prompt that would fit where it is too long, 0 to 1; else None.
    """

    sentence: str
    hint: str
    again: bool = False
    wait: float = 0.0
    no_format: bool = False
    fits: float | None = None

    def may_be_retried(self) -> bool:
        """Whether another try is worth it."""
        return self.again and self.wait <= LONGEST_WAIT

    def pause(self, number: int, jitter: float) -> float:
        """Return the seconds to wait after try ``number``; ``jitter`` is from 0 to 1."""
        return self.wait + jitter * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (number - 1))

    def error(self, tries: int) -> EngineError:
        """Return it as an error after so many tries."""
        counted = f" (after {tries} tries)" if tries > 1 else ""
        sentence = f"{self.sentence}{counted}."
        if self.fits is not None:
            return PromptTooLongError(sentence, hint=self.hint, fits=self.fits)
        return EngineError(sentence, hint=self.hint)


@dataclass(frozen=True, slots=True)
class Service:
    """A service as messages speak of it.

    Attributes:
        url: What is asked.
        section: The section of the settings that names it, for hints.
        source: Where its key is kept.
        timeout_seconds: Of one try.
        key: What must not be shown.
    """

    url: str
    section: str
    source: KeySource
    timeout_seconds: float
    key: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """Its address, as it is shown."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def failure(self, what: str, *, again: bool = False) -> Failure:
        """Say that it did something that a service at this address would not."""
        hint = f"Is the service running, and is {self.section}.base_url its address?"
        return Failure(f"{self.place} {what}", hint, again)

    def answered(self, status: int, reason: str, wait: float = 0.0) -> Failure:
        """Say that it answered with an error."""
        shown = self.shown(reason)
        sentence = f"{self.place} answered {status}{': ' if shown else ''}{shown}"
        if _TOO_LONG.search(reason):
            too_long = f"The prompt is too long for the model: {sentence}"
            return Failure(too_long, self._too_long(), fits=_HALF)
        if _SPENT.search(reason):
            return Failure(sentence, "Look at the account: waiting does not help.")
        no_format = status in _UNSUPPORTED or bool(_FORMAT.search(reason))
        return Failure(sentence, self._hint_for(status), _is_passing(status), wait, no_format)

    def prompt_too_long(self, tokens: int, most: int, output: int) -> Failure:
        """Say that a prompt leaves too few tokens for an answer, before it is sent."""
        sentence = (
            f"The prompt is too long for the model: about {tokens:,} tokens, "
            f"and with its answer it takes {most:,}"
        )
        return Failure(sentence, self._too_long(), fits=max(most - output, 0) / tokens)

    def redirected(self, location: str) -> Failure:
        """Say that it points elsewhere."""
        target = urlsplit(location).hostname or "another page"
        return self.failure(f"redirects to {self.shown(target)}, which is not followed")

    def unreached(self, reason: str) -> Failure:
        """Say that there was no connection, or that it broke."""
        shown = self.shown(reason)
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            return Failure(
                f"{self.place} has a certificate that this machine does not trust: {shown}",
                "Install the authority that signed it, or name its file in SSL_CERT_FILE and set "
                f"{self.section}.trust_environment.",
            )
        return self.failure(f"could not be reached: {shown}", again=True)

    def too_slow(self, seconds: float | None = None) -> Failure:
        """Say that it took too long; ``seconds`` where that is not the time of one try."""
        return Failure(
            f"{self.place} did not answer within {seconds or self.timeout_seconds:g} seconds",
            f"Give it longer with {self.section}.timeout_seconds.",
        )

    def shown(self, text: str) -> str:
        """Return what someone else wrote as one short line without the key."""
        line = sanitise_line(text.replace(self.key, "[key]") if self.key else text)
        return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"

    def _too_long(self) -> str:
        return "Put less into it, such as with packing.maximum, or let the model take more."

    def _hint_for(self, status: int) -> str:
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            if self.source:
                return f"Does the {self.source.name} hold a key that is valid there?"
            return (
                f"Name the environment variable that holds the key in {self.section}.key_variable."
            )
        if status == HTTPStatus.NOT_FOUND:
            return (
                f"Look at {self.section}.base_url and {self.section}.model: "
                "one of them is not known there."
            )
        if _is_passing(status):
            return "Try again later; what was done until now is kept."
        return f"Look at the settings of {self.section}."


def reason_in(data: bytes) -> str:
    """Return what an error response says, wherever services put it."""
    text = data.decode("utf-8", "replace")
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(parsed, list) and parsed:  # as Google sends errors of streams
        parsed = parsed[0]
    for name in ("error", "message", "detail"):
        if isinstance(parsed, dict) and name in parsed:
            parsed = parsed[name]
    return parsed if isinstance(parsed, str) else json.dumps(parsed, ensure_ascii=False)


def retry_after(value: str) -> float:
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


def _is_passing(status: int) -> bool:
    return status in _RETRIED or status >= HTTPStatus.INTERNAL_SERVER_ERROR
