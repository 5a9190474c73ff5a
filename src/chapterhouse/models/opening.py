"""From the settings to the engine that they name.

Opening says at once what is missing: an extra, a folder, an address. It reads no weights and
asks no service, but for one thing: the length of a service's vectors where the settings leave it
open, and that once.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.loading import lazy
from chapterhouse.models.model_folder import ModelFolder, open_model_folder
from chapterhouse.models.static import NoEmbedder, static_embedder
from chapterhouse.ports.models import Embedder, LanguageModel, Reranker
from chapterhouse.settings import (
    EmbeddingSettings,
    LanguageModelSettings,
    RerankSettings,
    Settings,
)

if TYPE_CHECKING:
    from chapterhouse.models import (
        built_in,
        cross_encoders,
        discovery,
        embedders,
        embedding_cache,
        http,
        providers,
        writer,
    )
else:
    built_in = lazy("chapterhouse.models.built_in")
    cross_encoders = lazy("chapterhouse.models.cross_encoders")
    discovery = lazy("chapterhouse.models.discovery")
    embedders = lazy("chapterhouse.models.embedders")
    embedding_cache = lazy("chapterhouse.models.embedding_cache")
    http = lazy("chapterhouse.models.http")
    providers = lazy("chapterhouse.models.providers")
    writer = lazy("chapterhouse.models.writer")

# Called with what has to be called when the library is closed.
_BARE: Final = re.compile(r"[\w-]+")  # what a table of TOML may be called without quotes
OnClose = Callable[[Callable[[], None]], object]

_CACHE_FILE = "embeddings.db"


def open_embedder(settings: EmbeddingSettings, cache: Path, on_close: OnClose) -> Embedder:
    """Return the embedder of a library.

    Args:
        settings: Which.
        cache: A folder of the library for vectors that can be had again.
        on_close: Is told what to call in the end.

    Raises:
        UsageError: the settings name what is not there.
        EngineError: the model's files are not the ones of the checksum, or its service cannot be
            asked how long its vectors are.
    """
    if settings.engine == "none":
        return NoEmbedder()
    if settings.engine == "static":
        return static_embedder()
    if settings.engine == "built-in":
        return built_in.built_in_encoder()
    if not settings.cache_megabytes:
        return _embedder(settings, None, on_close)
    vectors = embedding_cache.VectorCache(cache / _CACHE_FILE, settings.cache_megabytes * 2**20)
    on_close(vectors.close)
    return embedding_cache.CachedEmbedder(_embedder(settings, vectors, on_close), vectors)


def open_reranker(settings: RerankSettings, on_close: OnClose) -> Reranker | None:
    """Return the reranking model of a library; None where the settings name no model.

    Args:
        settings: Which.
        on_close: Is told what to call in the end.

    Raises:
        UsageError: the settings name what is not there.
        EngineError: the model's files are not the ones of the checksum.
    """
    if settings.engine == "http":
        client = _client(settings, "rerank", "rerank", on_close)
        return cross_encoders.ApiReranker(client, settings.model, settings.maximum_characters)
    if settings.engine == "folder":
        return cross_encoders.FolderReranker(
            _folder(settings, "rerank"), settings.maximum_characters
        )
    return None


def open_language_model(
    settings: LanguageModelSettings,
    on_close: OnClose,
    section: str = "language_model",
    slots: "providers.Slots | None" = None,
) -> LanguageModel | None:
    """Return the language model of a library; None where the settings name none.

    Args:
        settings: Which.
        on_close: Is told what to call in the end.
        section: The section of the settings that they stand in, for messages.
        slots: How many requests its service is sent at once, by all who ask it.

    Raises:
        MissingExtraError: its extra is not installed.
        UsageError: a key would travel unencrypted.
    """
    if settings.engine == "none":
        return None
    providers.require_extra(settings.engine)
    model = writer.PydanticWriter(
        settings, section=section, slots=slots, served_limits=discovery.served_limits
    )
    on_close(model.close)
    return model


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


def _embedder(
    settings: EmbeddingSettings, vectors: "embedding_cache.VectorCache | None", on_close: OnClose
) -> Embedder:
    if settings.engine == "openai":
        return _service_embedder(settings, vectors, on_close)
    return embedders.FolderEmbedder(_folder(settings, "embedding"), settings)


def _folder(settings: EmbeddingSettings | RerankSettings, section: str) -> ModelFolder:
    return open_model_folder(settings.folder, settings.file, settings.checksum, section=section)


def _service_embedder(
    settings: EmbeddingSettings, vectors: "embedding_cache.VectorCache | None", on_close: OnClose
) -> Embedder:
    client = _client(settings, "embedding", "embeddings", on_close)
    if settings.dimensions or vectors is None:
        return embedders.ApiEmbedder(client, settings)
    name = f"{settings.model}@{settings.revision}"
    known = vectors.number(name)
    if not known:
        known = _asked_length(embedders.ApiEmbedder(client, settings))
        vectors.remember(name, known)
    return embedders.ApiEmbedder(client, settings.model_copy(update={"dimensions": known}))


def _asked_length(embedder: Embedder) -> int:
    try:
        return embedder.dimensions
    except EngineError as error:
        hint = f"{error.hint} Or state the length of its vectors: embedding.dimensions."
        raise EngineError(error.message, hint=hint) from None


def _client(
    settings: EmbeddingSettings | RerankSettings,
    section: str,
    path: str,
    on_close: OnClose,
) -> "http.JsonClient":
    # OpenAI's protocol is served under a version; some rerankers are served without a path.
    address = (
        providers.with_version(settings.base_url) if path == "embeddings" else settings.base_url
    )
    client = http.JsonClient(
        http.Endpoint(
            url=http.endpoint_url(address, path),
            section=section,
            key_variable=settings.key_variable,
            timeout_seconds=settings.timeout_seconds,
            attempts=settings.attempts,
            trust_environment=settings.trust_environment,
        )
    )
    on_close(client.close)
    return client
