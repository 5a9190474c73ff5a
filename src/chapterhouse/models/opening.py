"""From the settings to the engine that they name.

Opening says at once what is missing: an extra, a folder, an address. It reads no weights and
asks no service.
"""

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.concurrency import run_sync
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.model_folder import ModelFolder, open_model_folder
from chapterhouse.settings import (
    EmbeddingSettings,
    LanguageModelSettings,
    RerankSettings,
    Settings,
)
from chapterhouse.telemetry import chat_span, record_writing
from chapterhouse.types import Attachment, ModelLimits, OutputFormat, Tool, Usage, Writing
from chapterhouse.types.engines import Embedder, LanguageModel, Reranker

if TYPE_CHECKING:
    from chapterhouse.models import (
        built_in,
        chat,
        cross_encoders,
        embedders,
        keys,
        presets,
        served,
        service,
    )
else:
    built_in = lazy("chapterhouse.models.built_in")
    chat = lazy("chapterhouse.models.chat")
    cross_encoders = lazy("chapterhouse.models.cross_encoders")
    embedders = lazy("chapterhouse.models.embedders")
    keys = lazy("chapterhouse.models.keys")
    presets = lazy("chapterhouse.models.presets")
    served = lazy("chapterhouse.models.served")
    service = lazy("chapterhouse.models.service")

_BARE: Final = re.compile(r"[\w-]+")  # what a table of TOML may be called without quotes


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the embedder of a library.

    Raises:
        UsageError: the settings name what is not there.
        EngineError: the model's files are not the ones of the checksum.
    """
    if settings.engine == "built-in":
        return built_in.built_in_encoder()
    if settings.engine == "folder":
        return embedders.FolderEmbedder(_folder(settings, "embedding"), settings)
    stated = presets.with_path(settings.base_url.removesuffix("/embeddings"))
    return embedders.ApiEmbedder(_service(settings, "embedding", stated), settings)


def state_length(
    settings: EmbeddingSettings, recorded: Iterable[EmbeddingSettings]
) -> EmbeddingSettings:
    """Return settings that say how long a service's vectors are: as recorded, or as it says now.

    Raises:
        EngineError: nothing is recorded of its model, and the service cannot be asked.
    """
    if settings.engine != "openai" or settings.dimensions:
        return settings
    names = settings.engine, settings.model, settings.revision
    same = (one for one in recorded if (one.engine, one.model, one.revision) == names)
    known = next((one.dimensions for one in same if not one.shorten), 0)
    try:
        known = known or open_embedder(settings).dimensions
    except EngineError as error:
        hint = f"{error.hint} Or state the length of its vectors: embedding.dimensions."
        raise EngineError(error.message, hint=hint) from None
    return settings.model_copy(update={"dimensions": known})


def open_reranker(settings: RerankSettings) -> Reranker | None:
    """Return the reranking model of a library; None where the settings name no model.

    Raises:
        UsageError: the settings name what is not there.
        EngineError: the model's files are not the ones of the checksum.
    """
    if settings.engine == "http":
        place = _service(settings, "rerank", settings.base_url.removesuffix("/rerank"))
        return cross_encoders.ApiReranker(place, settings.model)
    if settings.engine == "folder":
        return cross_encoders.FolderReranker(_folder(settings, "rerank"))
    return None


def open_language_model(
    settings: LanguageModelSettings,
    section: str = "language_model",
    slots: "service.Slots | None" = None,
) -> LanguageModel | None:
    """Return a language model; None where the settings name none.

    ``section`` is where the settings stand, for messages; ``slots`` are shared by all who ask its
    server.

    Raises:
        UsageError: a key would travel unencrypted.
        MissingExtraError: the key is in a keyring, and the library for that is missing.
    """
    if settings.engine == "none":
        return None
    source = presets.key_source(settings, section)
    place = _service(settings, section, presets.address_of(settings), source)
    return chat.ChatModel(settings, place, slots, served.served_limits)


class LanguageModels:
    """The language models of a library, each opened when it is first asked for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: dict[str, LanguageModel | None] = {}
        self._slots: dict[str, service.Slots] = {}
        self._lock = threading.Lock()

    def named(self, name: str = "") -> LanguageModel | None:
        """Return the model of a name; the library's own for "", None where there is none.

        Raises:
            UsageError: there is no such model, or its key would travel unencrypted.
            MissingExtraError: its key is in a keyring, and the library for that is missing.
        """
        with self._lock:
            if name not in self._opened:
                chosen = settings_of(self._settings, name)
                section = f"models.{name}" if name else "language_model"
                slots = None if chosen.engine == "none" else self._slots_of(chosen)
                self._opened[name] = open_language_model(chosen, section, slots)
            return self._opened[name]

    def _slots_of(self, chosen: LanguageModelSettings) -> "service.Slots":
        """Return the slots of a model's server, which all models that it serves share."""
        every = (self._settings.language_model, *self._settings.models.values())
        server = presets.server_of(chosen)
        same = [one.calls_at_once for one in every if presets.server_of(one) == server]
        return self._slots.setdefault(server, service.Slots(min(filter(None, same), default=0)))


def settings_of(settings: Settings, name: str) -> LanguageModelSettings:
    """Return the model that has this name in the settings; the usual one where it is empty.

    Raises:
        UsageError: no model has this name.
    """
    if not name:
        return settings.language_model
    if name in settings.models:
        return settings.models[name]
    known = ", ".join(sorted(settings.models)) or "none"
    written = f"Write it into chapterhouse.toml as [models.{name}]."
    raise UsageError(
        f"There is no model '{name}'; there are: {known}.",
        hint=written if _BARE.fullmatch(name) else "Choose one first: chapterhouse model use",
    )


def _folder(settings: EmbeddingSettings | RerankSettings, section: str) -> ModelFolder:
    return open_model_folder(settings.folder, settings.file, settings.checksum, section=section)


def _service(
    settings: EmbeddingSettings | RerankSettings | LanguageModelSettings,
    section: str,
    address: str,
    source: "keys.KeySource | None" = None,
) -> "service.Service":
    """Return where a model is, and how patiently it is asked; errors as those who open it."""
    source = source or keys.KeySource(section, settings.key_variable)
    source.check(address)
    return service.Service(
        address,
        section,
        source,
        settings.timeout_seconds,
        settings.attempts,
        settings.trust_environment,
    )


class MeteredModel:
    """Passes everything on to a model, and adds up what was used."""

    def __init__(self, model: LanguageModel, payer: "MeteredModel | None" = None) -> None:
        """Count what ``model`` uses; for ``payer`` too, where it works for another's answer."""
        self._model = model
        self._payer = payer
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def fingerprint(self) -> str:
        """Name of the model."""
        return self._model.fingerprint

    @property
    def usage(self) -> Usage:
        """What was used until now."""
        return self._usage

    def limits(self) -> ModelLimits:
        """Return what the model takes."""
        return self._model.limits()

    def complete(self, instructions: str, prompt: str) -> str:
        """Return what the model writes; errors as the model's."""
        return run_sync(self.write(instructions, prompt)).text

    async def write(
        self,
        instructions: str,
        prompt: str,
        *,
        tools: Sequence[Tool] = (),
        on_text: Callable[[str], None] | None = None,
        output: OutputFormat | None = None,
        images: Sequence[Attachment] = (),
    ) -> Writing:
        """Return what the model writes; errors as the model's."""
        with chat_span(self.fingerprint, instructions, prompt) as recorder:
            writing = await self._model.write(
                instructions, prompt, tools=tools, on_text=on_text, output=output, images=images
            )
            record_writing(recorder, writing)
        self._pay(writing.usage)
        return writing

    def _pay(self, used: Usage) -> None:
        with self._lock:
            self._usage += used
        if self._payer:
            self._payer._pay(used)  # noqa: SLF001 - of the same class
