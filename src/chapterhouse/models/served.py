"""What servers of models say of themselves: which models they have, and what those take.

All list their models as OpenAI does. How long a prompt may be each says in its own way: Ollama
(https://github.com/ollama/ollama/blob/main/docs/api.md), LM Studio
(https://lmstudio.ai/docs/developer/rest), llama.cpp (tools/server/README.md there) and vLLM.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from chapterhouse.errors import ChapterhouseError, EngineError
from chapterhouse.models.presets import PRESETS, address_of, key_source
from chapterhouse.models.service import Service
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.text.counting import counted
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Check

_NEAR_SECONDS: Final = 2.0  # for a server of this machine
_FAR_SECONDS: Final = 15.0
_MOST_MODELS: Final = 200
_LONGEST_NAME: Final = 200
_EMBEDDERS: Final = ("embed", "rerank", "bge-", "minilm")  # in names, where nothing else tells
# Whom servers name as the owner of a model.
_OWNERS: Final = {
    "vllm": "vllm",
    "llamacpp": "llamacpp",
    "library": "ollama",
    "organization_owner": "lmstudio",
}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What answers at an address: its engine, as the settings name it, and models that write."""

    engine: str
    models: tuple[str, ...]

    def find(self, name: str) -> str:
        """Return a model's name in full; empty where there is none of that name."""
        if self.engine == "llamacpp":  # serves the one model it has, under any name
            return name
        return next((one for one in (name, f"{name}:latest") if one in self.models), "")


def list_models(settings: LanguageModelSettings) -> ServedModel:
    """Return which models the service of the settings has, in its order.

    Raises:
        EngineError: it cannot be reached, or does not list them.
        ChapterhouseError: its key cannot be read, or would travel unencrypted.
    """
    entries = _entries(_get(settings, "/models"))
    owners = [_OWNERS.get(str(entry.get("owned_by"))) for entry in entries]
    names = (str(entry.get("id")).removeprefix("models/") for entry in entries)  # as Google's are
    return ServedModel(
        next(filter(None, owners), settings.engine),
        tuple(
            name
            for name in names
            # What would look otherwise on a terminal than it is cannot be chosen by its name.
            if sanitise_line(name) == name and len(name) <= _LONGEST_NAME and _writes(name)
        ),
    )


def served_limits(settings: LanguageModelSettings) -> tuple[int, int]:
    """Return the tokens that a model takes as it is served now, and requests at once; 0: unknown.

    Only a server whose program the settings name as the engine is asked.
    """
    engine, name = settings.engine, settings.model
    address = urlsplit(address_of(settings))
    origin = f"{address.scheme}://{address.netloc}"
    try:
        if engine == "llamacpp":
            props = _get(settings, f"{origin}/props")
            generation = props["default_generation_settings"]
            return _whole(generation.get("n_ctx")), _whole(props.get("total_slots"))
        if engine == "ollama":
            running = _entries(_get(settings, f"{origin}/api/ps"), "models")
            return _named(running, "name", name, "context_length"), 0
        if engine == "lmstudio":
            listed = _entries(_get(settings, f"{origin}/api/v0/models"))
            return _named(listed, "id", name, "loaded_context_length"), 0
        if engine == "vllm":
            return _named(_entries(_get(settings, "/models")), "id", name, "max_model_len"), 0
    except (ChapterhouseError, KeyError, TypeError, AttributeError):  # told when a model is asked
        pass
    return 0, 0


def check_language_model(settings: LanguageModelSettings) -> Check | None:
    """Say how a language model does; None where the settings name none.

    A server on this machine is asked, for two seconds at most; one elsewhere is not.
    """
    if settings.engine == "none":
        return None
    place, problem, hint, details = address_of(settings), "", "", "not asked"
    if is_loopback(place):
        details = _describe(settings)
        try:
            if not list_models(settings).find(settings.model):
                problem = "there is no such model."
                hint = "See which there are: chapterhouse model use"
        except ChapterhouseError as error:
            problem, hint = error.message, error.hint
    shown = f"{settings.model} at {place}"
    sentence = f"{shown}: {problem}" if problem else f"{shown} ({details})."
    return Check("language model", passed=not problem, sentence=sentence, hint=hint)


def is_loopback(url: str) -> bool:
    """Whether an address leads to this machine and nowhere else."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _describe(settings: LanguageModelSettings) -> str:
    at_once, size = settings.calls_at_once, settings.context_size
    details = [PRESETS[settings.engine].title, f"{size:,} tokens" if size else ""]
    details.append(f"{counted(at_once, 'call')} at once" if at_once else "")
    return ", ".join(filter(None, details))


def _get(settings: LanguageModelSettings, path: str) -> Any:
    address = address_of(settings)
    source = key_source(settings)
    source.check(address)
    seconds = _NEAR_SECONDS if is_loopback(address) else _FAR_SECONDS
    trusts = settings.trust_environment
    return Service(address, "language_model", source, seconds, 1, trusts).request(path)


def _entries(answer: Any, name: str = "data") -> list[Mapping[str, Any]]:
    listed = answer.get(name) if isinstance(answer, Mapping) else None
    if not isinstance(listed, list):
        raise EngineError(
            "The server answers, but not as a server of models.",
            hint="Is language_model.base_url its address?",
        )
    return [entry for entry in listed[:_MOST_MODELS] if isinstance(entry, Mapping)]


def _named(entries: list[Mapping[str, Any]], key: str, name: str, value: str) -> int:
    names = {name, f"{name}:latest"}
    return next((_whole(entry.get(value)) for entry in entries if entry.get(key) in names), 0)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _writes(name: str) -> bool:
    return not any(part in name.lower() for part in _EMBEDDERS)
