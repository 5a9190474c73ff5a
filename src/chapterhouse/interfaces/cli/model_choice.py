"""From what a user names to the settings of a language model or a reranker."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import typer

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.interfaces.cli.session import may_ask
from chapterhouse.interfaces.cli.settings_file import Value
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.models.discovery import find_server, find_servers, hosted_models
from chapterhouse.models.keys import KeySource
from chapterhouse.models.model_folder import open_model_folder
from chapterhouse.models.presets import HOSTED, KEYRING_SERVICE, stored_key, with_path
from chapterhouse.models.servers import ServedModel, Server, is_loopback, origin, usual_addresses
from chapterhouse.settings import LanguageModelSettings, RerankSettings

_THINKING_TOKENS = 4_096  # that a model may write which thinks first
_THINKING_SECONDS = 300.0
_SHOWN = 12  # names in a hint
_KNOWN_PATHS = frozenset({"", "v1", "api", "v1/models", "v1/chat/completions", "api/v0"})
_START = (
    "Start Ollama, LM Studio, llama.cpp or vLLM, or name an address: chapterhouse model use URL"
)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a user asks for.

    Attributes:
        name: A model, an address, or a hosted service with a slash and its model; empty for
            whatever there is.
        model: The model at an address.
        key: Whether a key is asked for and stored.
    """

    name: str
    model: str
    key: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """What came of it.

    Attributes:
        notes: Sentences about how it was chosen.
        thinks: Whether the model thinks before it writes, and so needs more tokens and time.
    """

    settings: LanguageModelSettings
    notes: tuple[str, ...] = ()
    thinks: bool = False

    @property
    def unless_stated(self) -> dict[str, Value]:
        """Settings that a model of this kind needs, where the user has stated none."""
        if not self.thinks:
            return {}
        return {"maximum_tokens": _THINKING_TOKENS, "timeout_seconds": _THINKING_SECONDS}


def choose(wish: Wish, present: LanguageModelSettings) -> Chosen:
    """Return the settings of the model that is wanted. Servers are asked what they have.

    Args:
        wish: What is wanted.
        present: The settings as they are, whose address is one of those asked.

    Raises:
        UsageError: nothing or several things have that name.
        EngineError: nobody answers at an address, or the keyring cannot be used.
        MissingExtraError: the extra for keyrings is not installed.
    """
    if wish.name == "none":
        return Chosen(LanguageModelSettings(), ("Answers are quotations again.",))
    if "://" in wish.name:
        return _at_address(wish)
    servers = find_servers(usual_addresses(os.environ, present.base_url))
    offers = _offers(servers, wish.name)
    hosted, _, model = wish.name.partition("/")
    if not offers and hosted in HOSTED:
        return _hosted(hosted, wish.model or model, wish)
    server, found = _one_of(offers, wish)
    return _served(server, found, KeySource("language_model"))


def reranker(name: str, model: str) -> RerankSettings:
    """Return the settings of a reranker: a folder, an address, or an engine without a model.

    Raises:
        UsageError: it is none of them, or the model at the address is missing.
        EngineError: the folder holds no model.
    """
    if name in {"features", "none"}:
        return RerankSettings(engine="features" if name == "features" else "none")
    if "://" in name:
        if not model:
            raise UsageError("A service has several models.", hint="Name one: --model NAME")
        return RerankSettings(engine="http", base_url=name, model=model)
    folder = Path(name).expanduser()
    if folder.is_dir():
        place = str(folder.absolute())
        checksum = open_model_folder(place, section="rerank").checksum
        return RerankSettings(engine="folder", folder=place, checksum=checksum)
    raise UsageError(
        f"'{name}' is neither a folder nor an address.",
        hint="Without a model there are: features (the default) and none.",
    )


def _at_address(wish: Wish) -> Chosen:
    parts = urlsplit(wish.name)
    url, path = wish.name.rstrip("/"), parts.path.strip("/")
    entry = f"{KEYRING_SERVICE}/{parts.hostname or 'model'}"
    source = _store_key(entry) if wish.key else KeySource("language_model")
    source.check(url)
    server = None
    if path in _KNOWN_PATHS:
        server = find_server(origin(url), source.read(url))
    if server is None or server.problem:
        return _unknown_server(wish, url, path, server, source)
    _, found = _one_of(_offers([server], wish.model), Wish(wish.model, "", wish.key))
    corrected = url != server.base_url
    note = f"The address is {server.base_url}; {one_line(wish.name)} was corrected."
    return replace(_served(server, found, source), notes=(note,) if corrected else ())


def _unknown_server(
    wish: Wish, url: str, path: str, server: Server | None, source: KeySource
) -> Chosen:
    """Return the settings of a server that does not list its models, which has to be named."""
    if server is None and path in _KNOWN_PATHS:
        raise EngineError(f"Nobody answers at {one_line(url)}.", hint="Is the server running?")
    if not wish.model:
        why = f"{server.address} {server.problem}" if server else "It is not asked what it has"
        raise UsageError(f"{one_line(why)}.", hint="Name the model: --model NAME")
    settings = LanguageModelSettings(
        engine="openai", base_url=with_path(url), model=wish.model, key_entry=source.entry
    )
    return Chosen(settings)


def _hosted(engine: str, name: str, wish: Wish) -> Chosen:
    title, entry = HOSTED[engine].title, f"{KEYRING_SERVICE}/{engine}"
    source = _store_key(entry) if wish.key else stored_key(engine)
    if source is None:
        if not may_ask():
            raise UsageError(
                f"There is no key of {title}.",
                hint=f"Set {HOSTED[engine].variables[0]}, or store one in the keyring: --key",
            )
        source = _store_key(entry)
    base = LanguageModelSettings.model_validate(
        {
            "engine": engine,
            "model": name or "-",
            "key_variable": source.variable,
            "key_entry": source.entry,
        }
    )
    if not name:
        offers = [(Server("", title), ServedModel(one)) for one in hosted_models(base)]
        base = base.model_copy(update={"model": _one_of(offers, wish)[1].name})
    note = f"What you ask, and the passages found for it, are sent to {title}."
    return Chosen(base, (note,))


def _store_key(entry: str) -> KeySource:
    """Ask for a key, or read it from standard input, and put it into the keyring."""
    if may_ask():
        key = typer.prompt("Key (it is not shown)", hide_input=True, err=True)
    else:
        key = sys.stdin.readline()
    source = KeySource("language_model", entry=entry)
    source.store(key.strip())
    return source


def _offers(servers: Iterable[Server], name: str) -> list[tuple[Server, ServedModel]]:
    """Return the models that write and are called so; all that write where none is named."""
    return [
        (server, model)
        for server in servers
        for model in server.models
        if model.writes and (not name or server.model(name) == model)
    ]


def _one_of(offers: Sequence[tuple[Server, ServedModel]], wish: Wish) -> tuple[Server, ServedModel]:
    """Return the one that there is, or that is loaded, or that a person picks."""
    if not offers:
        if wish.name:
            raise UsageError(
                f"No server of this machine has a model '{one_line(wish.name)}'.",
                hint="See what there is: chapterhouse model list",
            )
        raise UsageError("No language model can be reached on this machine.", hint=_START)
    loaded = [offer for offer in offers if offer[1].loaded]
    for some in (offers, loaded if not wish.name else []):
        if len(some) == 1:
            return some[0]
    if may_ask():
        return _pick(offers)
    shown = ", ".join(f"{model.name} ({server.address})" for server, model in offers[:_SHOWN])
    raise UsageError(
        "Several models can be reached.",
        hint=f"Name one, at its address if need be (URL --model NAME): {shown}",
    )


def _pick(offers: Sequence[tuple[Server, ServedModel]]) -> tuple[Server, ServedModel]:
    for number, (server, model) in enumerate(offers, 1):
        typer.echo(f"{number:>3}  {one_line(model.name)}  ({server.address})", err=True)
    try:
        number = int(typer.prompt("Which", type=int, err=True))
    except typer.Abort:
        raise KeyboardInterrupt from None
    if not 1 <= number <= len(offers):
        raise UsageError(f"There is no {number} in that list.")
    return offers[number - 1]


def _served(server: Server, model: ServedModel, source: KeySource) -> Chosen:
    settings = LanguageModelSettings(
        engine=server.kind or "openai",
        base_url=server.base_url,
        model=model.name,
        key_entry=source.entry,
        calls_at_once=server.slots if is_loopback(server.address) else 0,
    )
    return Chosen(settings, thinks=bool(model.thinks))
