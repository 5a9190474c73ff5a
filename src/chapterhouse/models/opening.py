"""From the settings to the engine that they name.

Opening says at once what is missing: an extra, a folder, an address. It reads no weights and
asks no service, but for one thing: the length of a service's vectors where the settings leave it
open, and that once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.model_folder import ModelFolder, open_model_folder
from chapterhouse.models.static import NoEmbedder, static_embedder
from chapterhouse.ports.models import Embedder, Entailment, LanguageModel, Reranker
from chapterhouse.settings import (
    EmbeddingSettings,
    EntailmentSettings,
    LanguageModelSettings,
    RerankSettings,
    Settings,
)

if TYPE_CHECKING:
    from chapterhouse.models.embedding_cache import VectorCache
    from chapterhouse.models.http import JsonClient
    from chapterhouse.models.providers import Slots

# Called with what has to be called when the library is closed.
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
        from chapterhouse.models.built_in import built_in_encoder  # noqa: PLC0415 - may not be asked

        return built_in_encoder()
    if not settings.cache_megabytes:
        return _embedder(settings, None, on_close)
    from chapterhouse.models import embedding_cache  # noqa: PLC0415 - not for the built-in table

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
        from chapterhouse.models.cross_encoders import ApiReranker  # noqa: PLC0415 - when asked for

        client = _client(settings, "rerank", "rerank", on_close)
        return ApiReranker(client, settings.model, settings.maximum_characters)
    if settings.engine == "folder":
        from chapterhouse.models.cross_encoders import FolderReranker  # noqa: PLC0415 - likewise

        return FolderReranker(_folder(settings, "rerank"), settings.maximum_characters)
    return None


def open_entailment(settings: Settings) -> Entailment | None:
    """Return the cross-encoder that checks sentences; None where the settings want none.

    Raises:
        UsageError: the settings name what is not there.
        EngineError: the model's files are not the ones of the checksum, or it is of another kind.
    """
    if settings.answer.check != "cross-encoder":
        return None
    from chapterhouse.models.cross_encoders import FolderEntailment  # noqa: PLC0415 - when asked for

    return FolderEntailment(_folder(settings.entailment, "entailment"))


def open_language_model(
    settings: LanguageModelSettings,
    on_close: OnClose,
    section: str = "language_model",
    slots: "Slots | None" = None,
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
    from chapterhouse.models import discovery, providers, writer  # noqa: PLC0415 - when asked for

    providers.require_extra(settings.engine)
    model = writer.PydanticWriter(
        settings, section=section, slots=slots, served_context=discovery.served_context
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
    raise UsageError(
        f"There is no model '{name}'; there are: {known}.",
        hint=f"Write it into chapterhouse.toml as [models.{name}].",
    )


def _embedder(
    settings: EmbeddingSettings, vectors: "VectorCache | None", on_close: OnClose
) -> Embedder:
    if settings.engine == "openai":
        return _service_embedder(settings, vectors, on_close)
    from chapterhouse.models.embedders import FolderEmbedder  # noqa: PLC0415 - when asked for

    return FolderEmbedder(_folder(settings, "embedding"), settings)


def _folder(
    settings: EmbeddingSettings | RerankSettings | EntailmentSettings, section: str
) -> ModelFolder:
    return open_model_folder(settings.folder, settings.file, settings.checksum, section=section)


def _service_embedder(
    settings: EmbeddingSettings, vectors: "VectorCache | None", on_close: OnClose
) -> Embedder:
    from chapterhouse.models.embedders import ApiEmbedder  # noqa: PLC0415 - when asked for

    client = _client(settings, "embedding", "embeddings", on_close)
    if settings.dimensions or vectors is None:
        return ApiEmbedder(client, settings)
    name = f"{settings.model}@{settings.revision}"
    known = vectors.number(name)
    if not known:
        known = _asked_length(ApiEmbedder(client, settings))
        vectors.remember(name, known)
    return ApiEmbedder(client, settings.model_copy(update={"dimensions": known}))


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
) -> "JsonClient":
    from chapterhouse.models.http import Endpoint, JsonClient, endpoint_url  # noqa: PLC0415
    from chapterhouse.models.providers import with_version  # noqa: PLC0415 - when asked for

    # OpenAI's protocol is served under a version; some rerankers are served without a path.
    address = with_version(settings.base_url) if path == "embeddings" else settings.base_url
    client = JsonClient(
        Endpoint(
            url=endpoint_url(address, path),
            section=section,
            key_variable=settings.key_variable,
            timeout_seconds=settings.timeout_seconds,
            attempts=settings.attempts,
            trust_environment=settings.trust_environment,
        )
    )
    on_close(client.close)
    return client
