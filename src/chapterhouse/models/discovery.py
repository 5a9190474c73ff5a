"""Ask the servers of this machine which models they have: all at once, and briefly.

Redirects are not followed, proxies are not used, answers are bounded, and nothing of the
environment is sent. An address that nobody listens at is none; one that answers something else is
told with its problem.
"""

import asyncio
import json
import ssl
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chapterhouse.errors import ChapterhouseError, EngineError
from chapterhouse.loading import lazy
from chapterhouse.models.presets import address_of, key_source
from chapterhouse.models.servers import (
    TITLES,
    Server,
    entries,
    is_loopback,
    llama_cpp_server,
    lm_studio_models,
    model_names,
    ollama_model,
    origin,
    plain_models,
    vllm_models,
)
from chapterhouse.models.service import reason_in
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.text.counting import counted
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Check

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = lazy("httpx2")

SECONDS: Final = 0.9  # for everything that one server is asked
_MAXIMUM_BYTES: Final = 8 * 2**20
_SHOWN: Final = 120  # characters of a reason
_DESCRIBED: Final = 30  # models of which Ollama is asked one by one
_HOSTED_SECONDS: Final = 15.0
_OTHER: Final = "answers, but not as a server of models"

Value = TypeVar("Value")


class _Problem(Exception):  # noqa: N818 - it never leaves this module
    """Why an answer cannot be used; empty where nobody is there."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def find_servers(addresses: Sequence[str], seconds: float = SECONDS) -> tuple[Server, ...]:
    """Return the servers that answer at these addresses, in their order.

    Args:
        addresses: Scheme, host and port of each.
        seconds: After which one is given up.
    """
    found = _run(_all(addresses, "", seconds))
    return tuple(server for server in found if server is not None)


def find_server(address: str, key: str = "", seconds: float = SECONDS) -> Server | None:
    """Return what answers at an address; None where nobody does.

    Args:
        address: Scheme, host and port.
        key: Sent as a bearer token; none where empty.
        seconds: After which it is given up.
    """
    return _run(_all([address], key, seconds))[0]


def server_of_model(settings: LanguageModelSettings) -> Server | None:
    """Return the server that the settings of a model name; None where nobody is there.

    Raises:
        ChapterhouseError: its key cannot be read, or would travel unencrypted.
    """
    return find_server(origin(address_of(settings)), _key(settings))


def hosted_models(settings: LanguageModelSettings) -> tuple[str, ...]:
    """Return the names of the models of a hosted service, in its order.

    Raises:
        EngineError: it cannot be reached, or does not list them.
        ChapterhouseError: its key cannot be read, or would travel unencrypted.
    """
    url = address_of(settings)
    try:
        answer = _run(_list(url, "/models", {"Authorization": f"Bearer {_key(settings)}"}))
    except _Problem as problem:
        what = problem.sentence or "could not be reached"
        raise EngineError(
            f"{url} {what}.", hint="Is the key valid there? Else name the model yourself."
        ) from None
    found = (model.name for model in plain_models(answer) if model.writes)
    return tuple(name.removeprefix("models/") for name in found)  # as Google names them


def _key(settings: LanguageModelSettings) -> str:
    source = key_source(settings)
    url = address_of(settings)
    source.check(url)
    return source.read(url)


async def _list(
    address: str, path: str, headers: Mapping[str, str]
) -> Sequence[Mapping[str, object]]:
    async with _client([address], headers, _HOSTED_SECONDS) as client:
        answer = await _Asker(client, address, _HOSTED_SECONDS).ask(path)
    found = entries(answer)
    if found is None:
        raise _Problem(_OTHER)
    return found


def served_limits(settings: LanguageModelSettings) -> tuple[int, int]:
    """Return the tokens that a model takes as it is served now, and requests at once; 0: not said.

    Only a server that the settings name as the engine is asked.
    """
    if settings.engine not in TITLES:
        return 0, 0
    try:
        server = server_of_model(settings)
    except ChapterhouseError:  # it is told when the model is asked
        return 0, 0
    model = server.model(settings.model) if server else None
    return model.context if model else 0, server.slots if server else 0


def check_language_model(settings: LanguageModelSettings) -> Check | None:
    """Say how a language model does; None where the settings name none.

    A server on this machine is asked, for less than a second; one elsewhere is not.
    """
    if settings.engine == "none":
        return None
    place = address_of(settings)
    try:
        server = server_of_model(settings) if is_loopback(place) else None
    except ChapterhouseError as error:
        problem, hint = error.message, error.hint
    else:
        problem, hint = _problem(settings, server) if is_loopback(place) else ("", "")
        details = _describe_server(settings, server) if server else "not asked"
    shown = f"{settings.model} at {place}"
    if problem:
        return Check("language model", passed=False, sentence=f"{shown}: {problem}", hint=hint)
    return Check("language model", passed=True, sentence=f"{shown} ({details}).")


def _problem(settings: LanguageModelSettings, server: Server | None) -> tuple[str, str]:
    """Say what keeps a model of this machine from answering, and what to do; empty for nothing."""
    if server is None:
        return "nobody answers there, so the documents are quoted.", "Start its server."
    if server.problem:
        return f"the server {server.problem}.", "Try it out: chapterhouse model test"
    # llama.cpp serves the one model it has, under any name.
    if server.model(settings.model) is None and server.kind != "llamacpp":
        return f"{server.title} has no such model.", "See what there is: chapterhouse model list"
    return "", ""


def _describe_server(settings: LanguageModelSettings, server: Server) -> str:
    model = server.model(settings.model)
    size = settings.context_size or (model.context if model else 0)
    at_once = settings.calls_at_once
    details = [server.title, f"{size:,} tokens" if size else ""]
    details.append(f"{counted(at_once, 'call')} at once" if at_once else "")
    return ", ".join(filter(None, details))


def _run(work: Coroutine[Any, Any, Value]) -> Value:
    """Run to the end in a thread of its own, whether or not an event loop runs in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def _all(addresses: Sequence[str], key: str, seconds: float) -> list[Server | None]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with _client(addresses, headers, seconds) as client:
        asked = (_server(_Asker(client, address, seconds)) for address in addresses)
        return list(await asyncio.gather(*asked))


def _client(
    addresses: Sequence[str], headers: Mapping[str, str], seconds: float
) -> "httpx2.AsyncClient":
    # Certificates are loaded only where one is looked at: it takes longer than all the rest.
    encrypted = any(address.startswith("https:") for address in addresses)
    context = ssl.create_default_context() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    sent = {"User-Agent": "chapterhouse", "Accept-Encoding": "identity", **headers}
    return httpx2.AsyncClient(
        verify=context, trust_env=False, follow_redirects=False, headers=sent, timeout=seconds
    )


class _Asker:
    """Asks one server, all in all no longer than some seconds."""

    def __init__(self, client: "httpx2.AsyncClient", address: str, seconds: float) -> None:
        self.address = address
        self._client = client
        self._until = asyncio.get_running_loop().time() + seconds

    async def ask(self, path: str, body: Mapping[str, object] | None = None) -> object:
        """Return the JSON of an answer.

        Raises:
            _Problem: there is none.
        """
        try:
            async with asyncio.timeout_at(self._until):
                return await self._asked(path, body)
        except (TimeoutError, httpx2.TimeoutException):
            raise _Problem("did not answer in time") from None
        except httpx2.ConnectError:
            raise _Problem("") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):  # not HTTP, or not JSON
            raise _Problem(_OTHER) from None

    async def ask_or_none(self, path: str, body: Mapping[str, object] | None = None) -> object:
        """Return the JSON of an answer, None where there is none."""
        try:
            return await self.ask(path, body)
        except _Problem:
            return None

    async def _asked(self, path: str, body: Mapping[str, object] | None) -> object:
        method = "GET" if body is None else "POST"
        async with self._client.stream(method, f"{self.address}{path}", json=body) as response:
            data = bytearray()
            async for part in response.aiter_raw():
                data += part
                if len(data) > _MAXIMUM_BYTES:
                    raise _Problem(_OTHER)
            if response.is_redirect:
                raise _Problem("redirects elsewhere, which is not followed")
            if response.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
                raise _Problem("wants a key")
            if not response.is_success:
                raise _Problem(_refusal(response.status_code, bytes(data)))
        try:
            return json.loads(bytes(data))
        except RecursionError:
            raise _Problem(_OTHER) from None


def _refusal(status: int, data: bytes) -> str:
    """Say what a server answers instead of a list: only JSON, for a page is no reason."""
    if not data.lstrip().startswith((b"{", b"[")):
        return _OTHER if status == HTTPStatus.NOT_FOUND else f"answers {status}"
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = data.decode("utf-8", "replace")
    return f"answers {status}: {sanitise_line(reason_in(body))[:_SHOWN]}"


async def _server(asker: _Asker) -> Server | None:
    address = asker.address
    try:
        listed = entries(await asker.ask("/v1/models"))
    except _Problem as problem:
        return Server("", address, problem=problem.sentence) if problem.sentence else None
    return Server("", address, problem=_OTHER) if listed is None else await _known(asker, listed)


async def _known(asker: _Asker, listed: Sequence[Mapping[str, object]]) -> Server:
    """Return a server of models, by which program it is."""
    address = asker.address
    if found := vllm_models(listed):
        return Server("vllm", address, found)
    props, studio, tags = await asyncio.gather(
        *(asker.ask_or_none(path) for path in ("/props", "/api/v0/models", "/api/tags"))
    )
    if server := llama_cpp_server(address, listed, props):  # before Ollama, whose list it has too
        return server
    if (models := lm_studio_models(studio)) is not None:
        return Server("lmstudio", address, models)
    if (tagged := entries(tags, "models")) is not None:
        return await _ollama(asker, model_names(tagged))
    return Server("", address, plain_models(listed))


async def _ollama(asker: _Asker, names: Sequence[str]) -> Server:
    described = names[:_DESCRIBED]
    running, *shown = await asyncio.gather(
        asker.ask_or_none("/api/ps"),
        *(asker.ask_or_none("/api/show", {"model": name}) for name in described),
    )
    details = dict(zip(described, shown, strict=True))
    models = tuple(ollama_model(name, details.get(name), running) for name in names)
    return Server("ollama", asker.address, models)
