"""Services of language models by name. All speak OpenAI's chat completions, most do so at home.

Claude's are described at https://platform.claude.com/docs/en/api/openai-sdk, Gemini's at
https://ai.google.dev/gemini-api/docs/openai.
"""

import os
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from chapterhouse.errors import ChapterhouseError
from chapterhouse.models.keys import KeySource
from chapterhouse.settings import LanguageModelSettings

_TEMPLATE: Final = "chat_template_kwargs"  # what vLLM and llama.cpp give to a model's template


@dataclass(frozen=True, slots=True)
class Preset:
    """A service that the settings name as the engine.

    Attributes:
        address: Where it is, unless the settings say otherwise.
        variables: Environment variables that usually hold its key; none: it needs none.
    """

    title: str
    address: str
    variables: tuple[str, ...] = ()


PRESETS: Final[dict[str, Preset]] = {
    "openai": Preset("OpenAI", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "anthropic": Preset("Anthropic", "https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",)),
    "google": Preset(
        "Google",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    "mistral": Preset("Mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    "openrouter": Preset("OpenRouter", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    "ollama": Preset("Ollama", "http://127.0.0.1:11434/v1"),
    "lmstudio": Preset("LM Studio", "http://127.0.0.1:1234/v1"),
    "llamacpp": Preset("llama.cpp", "http://127.0.0.1:8080/v1"),
    "vllm": Preset("vLLM", "http://127.0.0.1:8000/v1"),
}

HOSTED: Final = {name: preset for name, preset in PRESETS.items() if preset.variables}
KEYRING_SERVICE: Final = "chapterhouse"


def with_path(address: str, path: str = "/v1") -> str:
    """Return an address with the path of its protocol, which is often left out."""
    parts = urlsplit(address.rstrip("/"))
    return f"{parts.scheme}://{parts.netloc}{path}" if path.startswith(parts.path) else address


def address_of(settings: LanguageModelSettings) -> str:
    """Return the address of a service as its protocol wants it, without a slash at the end."""
    usual = PRESETS[settings.engine].address
    stated = settings.base_url.rstrip("/").removesuffix("/chat/completions")
    return with_path(stated.removesuffix("/messages"), urlsplit(usual).path) if stated else usual


def server_of(settings: LanguageModelSettings) -> str:
    """Return host and port of a service; empty where the settings name none."""
    return "" if settings.engine == "none" else urlsplit(address_of(settings)).netloc


def parameters_of(settings: LanguageModelSettings) -> dict[str, Any]:
    """Return what is asked of a model beside its messages, in its service's words."""
    thinking, body = settings.thinking, dict(settings.extra_body)
    asked: dict[str, Any] = {} if settings.reasoning else {"temperature": settings.temperature}
    if thinking and settings.engine in {"vllm", "llamacpp"}:
        wanted: dict[str, Any] = {"enable_thinking": thinking != "off"}
        if thinking != "off":
            wanted["reasoning_effort"] = thinking
        stated = body.pop(_TEMPLATE, {})
        asked[_TEMPLATE] = {**wanted, **stated} if isinstance(stated, dict) else stated
    elif thinking:
        asked["reasoning_effort"] = "none" if thinking == "off" else thinking
    return {**asked, **body}


def key_source(settings: LanguageModelSettings, section: str = "language_model") -> KeySource:
    """Return where the key of a model is: as the settings say, else where it usually is."""
    source = KeySource(section, settings.key_variable, settings.key_entry, settings.key_file)
    preset = PRESETS[settings.engine]
    if source or not preset.variables or address_of(settings) != preset.address:
        return source
    named = (name for name in preset.variables if os.environ.get(name, "").strip())
    return KeySource(section, next(named, preset.variables[0]))


def stored_key(engine: str) -> KeySource | None:
    """Return where the key of a hosted service is: a variable, else the keyring; None: nowhere."""
    for variable in PRESETS[engine].variables:
        if os.environ.get(variable, "").strip():
            return KeySource("language_model", variable)
    source = KeySource("language_model", entry=f"{KEYRING_SERVICE}/{engine}")
    try:
        source.read(engine)
    except ChapterhouseError:  # there is none, or no keyring, or it is closed
        return None
    return source
