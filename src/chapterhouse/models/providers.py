"""Services of language models: where they are, their protocols, keys, prices, and slots.

Models are asked by way of pydantic-ai, https://ai.pydantic.dev/models/. Its retries, its
instrumentation and the variables that the services' libraries read are all left out; see ``gate``
for what leaves this machine. Prices are those of the list that comes with genai-prices, which is
never fetched anew.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from chapterhouse.errors import ChapterhouseError, MissingExtraError
from chapterhouse.loading import is_installed, lazy
from chapterhouse.models.keys import KeySource
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.types import Usage

if TYPE_CHECKING:
    import anthropic
    import genai_prices
    import httpx2
    import openai
    from pydantic_ai import profiles
    from pydantic_ai import settings as ai_settings
    from pydantic_ai.models import Model
    from pydantic_ai.models import anthropic as anthropic_models
    from pydantic_ai.models import google as google_models
    from pydantic_ai.models import openai as openai_models
    from pydantic_ai.profiles import openai as openai_profiles
    from pydantic_ai.providers import anthropic as anthropic_providers
    from pydantic_ai.providers import google as google_providers
    from pydantic_ai.providers import openai_compatible
    from pydantic_ai.usage import RequestUsage
else:
    anthropic = lazy("anthropic")
    genai_prices = lazy("genai_prices")
    openai = lazy("openai")
    profiles = lazy("pydantic_ai.profiles")
    ai_settings = lazy("pydantic_ai.settings")
    anthropic_models = lazy("pydantic_ai.models.anthropic")
    google_models = lazy("pydantic_ai.models.google")
    openai_models = lazy("pydantic_ai.models.openai")
    openai_profiles = lazy("pydantic_ai.profiles.openai")
    anthropic_providers = lazy("pydantic_ai.providers.anthropic")
    google_providers = lazy("pydantic_ai.providers.google")
    openai_compatible = lazy("pydantic_ai.providers.openai_compatible")

KEYRING_SERVICE: Final = "chapterhouse"
_KEYLESS: Final = "none"  # the libraries insist on a key; the gate takes it out again
_OPENAI_HOST: Final = "api.openai.com"
# Servers that tell the model's own template whether it is to think, and its name in a request.
_TEMPLATED: Final = frozenset({"vllm", "llama.cpp"})
_TEMPLATE: Final = "chat_template_kwargs"
# What the libraries look for thoughts by: nothing that occurs, for ``thoughts`` does it better.
_NO_TAGS: Final = ("\x00<", "\x00>")
_PRICED: Final = {"anthropic": "anthropic", "google": "google"}  # in the list of prices


@dataclass(frozen=True, slots=True)
class _Protocol:
    """What tells one engine from another.

    Attributes:
        module: What its extra brings.
        address: Where its service is if the settings do not say.
        endings: What a stated address may end with and does not need.
        key_header: The header that carries the key, and what stands before it.
    """

    module: str
    address: str
    endings: tuple[str, ...]
    key_header: tuple[str, str]


_PROTOCOLS: Final[Mapping[str, _Protocol]] = {
    "openai": _Protocol("openai", "", ("/chat/completions",), ("authorization", "Bearer ")),
    "anthropic": _Protocol(
        "anthropic", "https://api.anthropic.com", ("/messages", "/v1"), ("x-api-key", "")
    ),
    "google": _Protocol(
        "google.genai",
        "https://generativelanguage.googleapis.com",
        ("/models", "/v1beta"),
        ("x-goog-api-key", ""),
    ),
}


def require_extra(engine: str) -> None:
    """See that what speaks this engine's protocol is installed, without loading it.

    Raises:
        MissingExtraError: it is not.
    """
    for module in ("pydantic_ai", _PROTOCOLS[engine].module):
        if not is_installed(module):
            raise MissingExtraError(f"The engine '{engine}'", engine)


def base_address(settings: LanguageModelSettings) -> str:
    """Return the address of a service as its protocol wants it, without a slash at the end."""
    protocol = _PROTOCOLS[settings.engine]
    address = settings.base_url.rstrip("/")
    for ending in protocol.endings:
        address = address.removesuffix(ending)
    if settings.engine == "openai":
        return with_version(address)
    return address or protocol.address


def with_version(address: str) -> str:
    """Return an address of OpenAI's protocol with the ``/v1`` that its services are under.

    It is left out often, and nothing is served without a path.
    """
    return address if urlsplit(address).path.strip("/") else f"{address.rstrip('/')}/v1"


def server_of(settings: LanguageModelSettings) -> str:
    """Return host and port of a service; empty where the settings name none."""
    return "" if settings.engine == "none" else urlsplit(base_address(settings)).netloc


def key_header(settings: LanguageModelSettings) -> tuple[str, str]:
    """Return the name of the header that carries the key, and what stands before it."""
    return _PROTOCOLS[settings.engine].key_header


def open_model(settings: LanguageModelSettings, client: "httpx2.AsyncClient") -> "Model":
    """Return the model, asked by way of ``client``. Slow the first time: it loads libraries."""
    opening = {"openai": _openai, "anthropic": _anthropic, "google": _google}
    return opening[settings.engine](settings, base_address(settings), client)


def model_settings(settings: LanguageModelSettings, model: "Model") -> "ai_settings.ModelSettings":
    """Return what is asked of the model beside its messages."""
    asked = ai_settings.ModelSettings(max_tokens=settings.maximum_tokens, max_retries=0)
    thinks = settings.engine == "anthropic" and settings.thinking not in {"", "off"}
    if not (settings.reasoning or thinks or _refuses_temperature(model)):
        asked["temperature"] = settings.temperature
    body = dict(settings.extra_body)
    if settings.engine == "openai" and settings.server in _TEMPLATED and settings.thinking:
        stated = body.get(_TEMPLATE, {})
        wanted = _template_arguments(settings.thinking)
        body[_TEMPLATE] = {**wanted, **stated} if isinstance(stated, dict) else stated
    elif settings.engine == "openai" and settings.thinking:
        effort = "none" if settings.thinking == "off" else settings.thinking
        body = {"reasoning_effort": effort, **body}
    elif settings.thinking:
        asked["thinking"] = False if settings.thinking == "off" else settings.thinking
    if body:
        asked["extra_body"] = body
    return asked


def _template_arguments(thinking: str) -> Mapping[str, object]:
    """Return what chat templates look at, as those of Qwen and of gpt-oss."""
    if thinking == "off":
        return {"enable_thinking": False}
    return {"enable_thinking": True, "reasoning_effort": thinking}


def takes_format(settings: LanguageModelSettings, model: "Model", *, with_tools: bool) -> bool:
    """Whether a model can be asked for JSON of a schema, and for that beside calling tools.

    Services that only speak OpenAI's protocol often let a schema shut out the calls of tools
    (vLLM and Ollama have the model write nothing else), so they are asked for one at a time.
    """
    known: Mapping[str, object] = {**model.profile}
    if not known.get("supports_json_schema_output"):
        return False
    if not with_tools or settings.engine == "anthropic":
        return True
    if settings.engine == "google":  # Gemini 3 and later
        return bool(known.get("google_supports_tool_combination"))
    return _is_openai(base_address(settings))


def _refuses_temperature(model: "Model") -> bool:
    """Whether a model is known to answer a temperature with an error."""
    known: Mapping[str, object] = {**model.profile}
    thinks = known.get("openai_supports_reasoning") and known.get("thinking_enabled_by_default")
    return bool(thinks or known.get("anthropic_disallows_sampling_settings"))


def _openai(settings: LanguageModelSettings, address: str, client: "httpx2.AsyncClient") -> "Model":
    service = openai.AsyncOpenAI(
        base_url=address, api_key=_KEYLESS, http_client=client, max_retries=0, default_headers={}
    )
    return openai_models.OpenAIChatModel(
        settings.model,
        provider=openai_compatible.OpenAICompatibleProvider("openai", openai_client=service),
        profile=openai_profiles.OpenAIModelProfile(
            thinking_tags=_NO_TAGS,
            openai_chat_supports_max_completion_tokens=settings.reasoning or _is_openai(address),
            # Whether it does depends on the service, not on the model; it may refuse.
            supports_json_schema_output=True,
        ),
    )


def _anthropic(
    settings: LanguageModelSettings, address: str, client: "httpx2.AsyncClient"
) -> "Model":
    service = anthropic.AsyncAnthropic(
        base_url=address, api_key=_KEYLESS, http_client=client, max_retries=0
    )
    return anthropic_models.AnthropicModel(
        settings.model,
        provider=anthropic_providers.AnthropicProvider(anthropic_client=service),
        profile=profiles.ModelProfile(thinking_tags=_NO_TAGS),
    )


def _google(settings: LanguageModelSettings, address: str, client: "httpx2.AsyncClient") -> "Model":
    return google_models.GoogleModel(
        settings.model,
        provider=google_providers.GoogleProvider(
            api_key=_KEYLESS, base_url=address, http_client=client
        ),
        profile=profiles.ModelProfile(thinking_tags=_NO_TAGS),
    )


def _is_openai(address: str) -> bool:
    return urlsplit(address).hostname == _OPENAI_HOST


@dataclass(frozen=True, slots=True)
class Hosted:
    """A hosted service.

    Attributes:
        name: What stands before the name of a model that is chosen: ``openai/NAME``.
        title: Its name for people.
        engine: Whose protocol it speaks.
        base_url: Its address; empty where the protocol has one.
        variables: Environment variables that usually hold its key.
    """

    name: str
    title: str
    engine: Literal["openai", "anthropic", "google"]
    base_url: str
    variables: tuple[str, ...]

    @property
    def entry(self) -> str:
        """Where a keyring holds its key."""
        return f"{KEYRING_SERVICE}/{self.name}"


HOSTED: Final[Mapping[str, Hosted]] = {
    hosted.name: hosted
    for hosted in (
        Hosted("openai", "OpenAI", "openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
        Hosted("anthropic", "Anthropic", "anthropic", "", ("ANTHROPIC_API_KEY",)),
        Hosted("google", "Google", "google", "", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        Hosted(
            "openrouter",
            "OpenRouter",
            "openai",
            "https://openrouter.ai/api/v1",
            ("OPENROUTER_API_KEY",),
        ),
    )
}


def key_of(hosted: Hosted) -> KeySource | None:
    """Return where the key of a service is: a variable, else the keyring; None for nowhere."""
    for variable in hosted.variables:
        if os.environ.get(variable, "").strip():
            return KeySource("language_model", variable=variable)
    if not is_installed("keyring"):
        return None
    source = KeySource("language_model", entry=hosted.entry)
    try:
        source.read(hosted.title)
    except ChapterhouseError:  # there is none, or the keyring is closed
        return None
    return source


def usage_of(used: "RequestUsage", model: str, engine: str, base_url: str) -> Usage:
    """Return what one request used, with its cost where the list knows model and service.

    Args:
        used: As the service counted.
        model: As the service calls it.
        engine: Which protocol it speaks.
        base_url: Its address; empty for the engine's own.
    """
    prompt, completion = max(0, used.input_tokens), max(0, used.output_tokens)
    cost = _cost(used, model, engine, base_url) if prompt and completion else None
    return Usage(1, prompt, completion, cost)


def _cost(used: "RequestUsage", model: str, engine: str, base_url: str) -> Decimal | None:
    try:
        if base_url:  # a name alone says nothing: any service may call its model gpt-4o
            found = genai_prices.calc_price(used, model, provider_api_url=base_url)
        else:
            found = genai_prices.calc_price(used, model, provider_id=_PRICED[engine])
    except (LookupError, ValueError):  # not in the list, or counts that make no sense
        return None
    return found.total_price


class Slots:
    """So many requests at once; who comes later waits, in order. 0: as many as there are.

    A waiting request blocks neither its event loop nor a thread, so tools and look-ups that need
    threads go on meanwhile. A slot is held for one request, not for a whole answer: a tool that
    a model calls may ask the same service.
    """

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self._free = number
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    def limit(self, number: int) -> None:
        """Let so many requests through at once from now on, where there was no limit yet."""
        with self._lock:
            if number and not self.number:
                self.number = self._free = number

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a slot inside the block, after waiting for it."""
        if not self.number:
            yield
            return
        await self._take()
        try:
            yield
        finally:
            self._release()

    async def _take(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            turn: Future[None] = Future()
            self._waiting.append(turn)
        try:
            await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            if not turn.cancel():  # the slot had just been handed over
                self._release()
            raise

    def _release(self) -> None:
        with self._lock:
            while self._waiting:
                turn = self._waiting.popleft()
                if turn.set_running_or_notify_cancel():
                    break
            else:
                self._free += 1
                return
        turn.set_result(None)
