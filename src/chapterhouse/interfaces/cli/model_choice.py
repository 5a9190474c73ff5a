"""From what a user names to the settings of a language model, an encoder or a reranker."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import typer

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.interfaces.cli.session import may_ask
from chapterhouse.interfaces.cli.settings import Value
from chapterhouse.models import cards
from chapterhouse.models.keys import KeySource
from chapterhouse.models.model_folder import open_model_folder
from chapterhouse.models.presets import (
    HOSTED,
    KEYRING_SERVICE,
    PRESETS,
    address_of,
    stored_key,
    with_path,
)
from chapterhouse.models.served import ServedModel, list_models, served_limits
from chapterhouse.presenting.styled import one_line
from chapterhouse.settings import EmbeddingSettings, LanguageModelSettings, RerankSettings

USUAL: Final = ("ollama", "lmstudio")  # which are looked for where a user names no service
_VERSION: Final = "/v1"
# A model on a machine of one's own may think before it writes, and takes its time.
_OWN: Final[Mapping[str, Value]] = {"maximum_tokens": 4_096, "timeout_seconds": 300.0}
_SHOWN: Final = 12  # names in a hint


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What came of it, and sentences about how it was chosen."""

    settings: LanguageModelSettings
    notes: tuple[str, ...] = ()

    @property
    def unless_stated(self) -> Mapping[str, Value]:
        """Settings that a model of this kind needs, where the user has stated none."""
        return {} if self.settings.engine in {"none", *HOSTED} else _OWN


def choose(name: str, model: str, *, ask_key: bool) -> ModelChoice:
    """Return the settings of the model that is wanted. Its server is asked what it has.

    ``name`` is a service or an address, with a slash and its model; or a model alone, or nothing.

    Raises:
        UsageError: nothing or several things have that name.
        EngineError: nobody answers at an address, or the keyring cannot be used.
        MissingExtraError: the extra for keyrings is not installed.
    """
    if name == "none":
        return ModelChoice(LanguageModelSettings(), ("Answers are quotations again.",))
    if "://" in name:
        address, model = _split_address(name, model)
        source = KeySource("language_model")
        if ask_key:
            source = _store_key(f"{KEYRING_SERVICE}/{urlsplit(address).hostname or 'model'}")
        return _at("openai", model, source, address)
    engine, _, own = name.partition("/")
    if engine in HOSTED:
        return _hosted(engine, model or own, ask_key=ask_key)
    if engine in PRESETS:
        return _at(engine, model or own, KeySource("language_model"))
    return _usual(name)


def _split_address(name: str, model: str) -> tuple[str, str]:
    """Return the address of a service, and the model behind it: ``http://gpu-box:8000/NAME``."""
    url = name.rstrip("/").removesuffix("/chat/completions")
    parts = urlsplit(url)
    origin, path = f"{parts.scheme}://{parts.netloc}", f"{parts.path}/"
    if model:
        return with_path(url), model
    before, version, behind = path.partition(f"{_VERSION}/")
    if version:
        return f"{origin}{before}{_VERSION}", behind.rstrip("/")
    return f"{origin}{_VERSION}", path.strip("/")


def _settings(
    engine: str, model: str, source: KeySource, address: str = ""
) -> LanguageModelSettings:
    return LanguageModelSettings.model_validate(
        {
            "engine": engine,
            "base_url": address,
            "model": model or "-",
            "key_variable": source.variable,
            "key_entry": source.entry,
        }
    )


def _at(engine: str, model: str, source: KeySource, address: str = "") -> ModelChoice:
    """Return the settings of a model of one server, which may name its own program."""
    wanted = _settings(engine, model, source, address)
    try:
        served = list_models(wanted)
    except EngineError:
        if not model:  # whoever does not list its models has to be told which one is meant
            raise
        return ModelChoice(wanted)
    name = _one_of([(served, one) for one in served.models], model, served, address_of(wanted))[1]
    named = _settings(served.engine, name, source, address)
    return ModelChoice(named.model_copy(update={"calls_at_once": served_limits(named)[1]}))


def _usual(name: str) -> ModelChoice:
    """Return the settings of a model that answers where Ollama and LM Studio usually do."""
    offers: list[tuple[ServedModel, str]] = []
    for engine in USUAL:
        try:
            served = list_models(_settings(engine, "", KeySource("language_model")))
        except EngineError:
            continue
        # Another program at that address is known by it, too.
        offers += [(ServedModel(engine, served.models), model) for model in served.models]
    if not offers:
        raise UsageError(
            "Nothing answers at the usual addresses of Ollama and LM Studio.",
            hint="Start one of them, or name an address or a service: chapterhouse model use URL",
        )
    wanted = [offer for offer in offers if not name or offer[0].find(name) == offer[1]]
    served, model = _one_of(wanted, "", None, name)
    return ModelChoice(_settings(served.engine, model, KeySource("language_model")))


def _hosted(engine: str, model: str, *, ask_key: bool) -> ModelChoice:
    title, entry = HOSTED[engine].title, f"{KEYRING_SERVICE}/{engine}"
    source = _store_key(entry) if ask_key else stored_key(engine)
    if source is None:
        if not may_ask():
            raise UsageError(
                f"There is no key of {title}.",
                hint=f"Set {HOSTED[engine].variables[0]}, or store one in the keyring: --key",
            )
        source = _store_key(entry)
    note = f"What you ask, and the passages found for it, are sent to {title}."
    if model:
        return ModelChoice(_settings(engine, model, source), (note,))
    return ModelChoice(_at(engine, "", source).settings, (note,))


def _store_key(entry: str) -> KeySource:
    """Ask for a key, or read it from standard input, and put it into the keyring."""
    if may_ask():
        key = typer.prompt("Key (it is not shown)", hide_input=True, err=True)
    else:
        key = sys.stdin.readline()
    source = KeySource("language_model", entry=entry)
    source.store(key.strip())
    return source


def _one_of(
    offers: Sequence[tuple[ServedModel, str]], name: str, served: ServedModel | None, place: str
) -> tuple[ServedModel, str]:
    """Return the one of this name, or that there is, or that a person picks."""
    if name and served is not None and (found := served.find(name)):
        return served, found
    shown = ", ".join(one_line(model) for _, model in offers[:_SHOWN])
    if name or not offers:
        there = f"There are: {shown}." if offers else "See what there is: chapterhouse model use"
        raise UsageError(f"There is no model '{one_line(name or place)}' there.", hint=there)
    if len(offers) == 1:
        return offers[0]
    if not may_ask():
        raise UsageError("There are several models.", hint=f"Name one: {shown}")
    for number, (one, model) in enumerate(offers, 1):
        typer.echo(f"{number:>3}  {one_line(model)}  ({PRESETS[one.engine].title})", err=True)
    try:
        number = int(typer.prompt("Which", type=int, err=True))
    except typer.Abort:
        raise KeyboardInterrupt from None
    if not 1 <= number <= len(offers):
        raise UsageError(f"There is no {number} in that list.")
    return offers[number - 1]


# --- encoders and rerankers ---------------------------------------------------------------------


def reranker(name: str, model: str) -> RerankSettings:
    """Return the settings of a reranker: a folder, an address, or an engine without a model.

    Raises:
        UsageError: it is none of them, or the model at the address is missing.
        EngineError: the folder holds no model.
    """
    if name in {"features", "none"}:
        return RerankSettings(engine="features" if name == "features" else "none")
    found = _elsewhere(name, model, engine="http", section="rerank")
    if found is None:
        raise UsageError(
            f"'{name}' is neither a folder nor an address.",
            hint="Without a model there are: features (the default) and none.",
        )
    return RerankSettings.model_validate(found)


def encoder(name: str, model: str) -> EmbeddingSettings:
    """Return the settings of an encoder: a known name, a folder or an address.

    What is known of a model holds wherever it runs. Errors as for ``reranker``.
    """
    card = cards.card_named(name)
    if card and card.engine == "built-in":
        return EmbeddingSettings(engine="built-in")
    if card and card.engine == "openai":
        found: dict[str, object] | None = {
            "engine": "openai",
            "model": model or card.model,
            "base_url": card.base_url,
            "dimensions": card.dimensions,
        }
    else:
        found = _elsewhere(name, model, engine="openai", section="embedding")
        card = cards.card_named(model or Path(name).name)
    if found is None:
        known = ", ".join(one.name for one in cards.known_cards() if one.engine)
        raise UsageError(
            f"'{name}' is neither a folder nor an address, nor one of {known}.",
            hint="Fetch a model's files, such as tokenizer.json and model.onnx; name their folder.",
        )
    if card:
        found["question_prefix"] = card.question_prefix
        found["passage_prefix"] = card.passage_prefix
        found["languages"] = card.languages
    return EmbeddingSettings.model_validate(found)


def _elsewhere(name: str, model: str, *, engine: str, section: str) -> dict[str, object] | None:
    """Return the settings of a model at an address or in a folder; None where it is neither."""
    if "://" in name:
        if not model:
            raise UsageError("A service has several models.", hint="Name one: --model NAME")
        return {"engine": engine, "base_url": name, "model": model}
    folder = Path(name).expanduser()
    return _in_folder(folder.absolute(), section) if folder.is_dir() else None


def _in_folder(folder: Path, section: str) -> dict[str, object]:
    checksum = open_model_folder(str(folder), section=section).checksum
    return {"engine": "folder", "folder": str(folder), "checksum": checksum}
