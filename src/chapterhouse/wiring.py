"""Which parts a library is made of, chosen and fed from its settings."""

import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chapterhouse.chunking.sentence import MAXIMUM as SENTENCE_MAXIMUM
from chapterhouse.chunking.sentence import chunk_by_sentence, chunk_by_size
from chapterhouse.chunking.strategies import chunk_by_format, strategies
from chapterhouse.chunking.units import TARGET
from chapterhouse.chunking.units import Limits as LengthLimits
from chapterhouse.errors import EngineError
from chapterhouse.files import is_writable, make_folder, write_whole
from chapterhouse.index.aliases import AliasIndex
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.ingest.encoders import Encoders, Wanted
from chapterhouse.ingest.layers import VectorLayer
from chapterhouse.ingest.look import Prepare
from chapterhouse.ingest.prepare import prepare
from chapterhouse.models.opening import (
    open_embedder,
    open_entailment,
    open_language_model,
    open_reranker,
    profile_named,
)
from chapterhouse.models.providers import Slots, server_of
from chapterhouse.models.static import NoEmbedder, StaticEmbedder, static_embedder
from chapterhouse.ports.index import Index, LexicalSearch, NameSearch, VectorSearch
from chapterhouse.ports.models import (
    Chunker,
    Embedder,
    Entailment,
    LanguageModel,
    Reranker,
    TokenEmbedder,
)
from chapterhouse.ports.store import Blobs, Store
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.retrieval.fuse import TABLE_FUSION
from chapterhouse.settings import (
    HOME_FILE,
    LONGEST,
    ChunkingSettings,
    EmbeddingSettings,
    LanguageModelSettings,
    Settings,
)
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.counting import estimate_tokens

if TYPE_CHECKING:
    from chapterhouse.agents.personas import House

_NONCE_BYTES: Final = 16
_HOME_FILE_TEXT: Final = """\
# Settings of this Chapterhouse; every line is optional. See docs/settings.md.
"""


class LanguageModels:
    """The language models of a library, each opened when it is first asked for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: dict[str, LanguageModel | None] = {}
        self._slots: dict[str, Slots] = {}
        self._lock = threading.Lock()
        self._closing = ExitStack()

    def named(self, name: str = "") -> LanguageModel | None:
        """Return the model of a profile; the library's own for "", None where there is none.

        Raises:
            UsageError: there is no such profile, or its key would travel unencrypted.
            MissingExtraError: its extra is not installed.
        """
        with self._lock:
            if name not in self._opened:
                chosen = profile_named(self._settings, name)
                section = f"profiles.{name}" if name else "language_model"
                self._opened[name] = open_language_model(
                    chosen, self._closing.callback, section, self._slots_of(chosen)
                )
            return self._opened[name]

    def _slots_of(self, chosen: LanguageModelSettings) -> Slots:
        """Return the slots of a model's server, which all models that it serves share."""
        every = (self._settings.language_model, *self._settings.profiles.values())
        server = server_of(chosen)
        said = [
            one.calls_at_once for one in every if one.calls_at_once and server_of(one) == server
        ]
        return self._slots.setdefault(server, Slots(min(said, default=0)))

    def close(self) -> None:
        """Close what the models hold open."""
        self._closing.close()


@dataclass(frozen=True, slots=True)
class Engines:
    """The parts of an open library.

    Attributes:
        vectors: The index of the vectors that are made while adding.
        indexes: All that is derived from the store, by a name for people.
        embedder: Makes those: the built-in table, or nothing.
        encoders: Says which embedder and index questions use.
        table: The built-in table, whatever ``embedder`` is: it counts tokens.
        token_encoder: The encoder in the box, whatever ``embedder`` is: it weighs sentences.
        reranker: The reranking model that the settings name.
        entailment: The model that checks sentences, where the settings want one.
        models: The models that write, where the settings name any.
        close: Closes all that has to be closed.
    """

    store: Store
    blobs: Blobs
    lexical: LexicalSearch
    vectors: VectorSearch
    aliases: NameSearch
    indexes: Callable[[], Mapping[str, Index]]
    embedder: Embedder
    encoders: Encoders
    table: StaticEmbedder
    token_encoder: TokenEmbedder
    reranker: Reranker | None
    entailment: Entailment | None
    models: LanguageModels
    pool: ReadingPool
    close: Callable[[], None]

    def catch_up(self) -> None:
        """Let every index apply what it has missed."""
        for index in self.indexes().values():
            index.catch_up(self.store)


def preparer(settings: Settings, embedder: Embedder) -> Prepare:
    """Return what makes a document of an extraction."""
    exact = settings.tokens.tokenizer == "llama-2"
    return partial(
        prepare,
        chunker=chunker_for(settings.chunking),
        embedder=embedder,
        count_tokens=static_embedder().count_tokens if exact else estimate_tokens,
    )


def reading_limits(settings: Settings) -> Limits:
    """Return how much of a file its reader takes."""
    return replace(Limits(), file_bytes=settings.reading.maximum_megabytes * 2**20)


def open_engines(folder: Path, settings: Settings) -> Engines:
    """Open the parts of the workspace in ``folder``.

    Raises:
        ChapterhouseError: one of them cannot be opened; those that were are closed again.
    """
    blobs = FolderBlobs(folder / "blobs")
    cache = folder / "cache"
    from chapterhouse.models.built_in import built_in_encoder  # noqa: PLC0415 - not to start with

    with ExitStack() as opened:
        table = static_embedder()
        embedder = NoEmbedder() if settings.embedding.engine == "none" else table
        open_ = _opener(cache, opened)
        wanted = _wanted(settings.embedding, open_)
        reranker = open_reranker(settings.rerank, opened.callback)
        entailment = open_entailment(settings)
        models = LanguageModels(settings)
        opened.callback(models.close)
        store = SqliteStore(folder / "library.db", blobs=blobs)
        opened.callback(store.close)
        aliases = AliasIndex(folder / "index" / "names")
        opened.callback(aliases.close)
        pool = ReadingPool(settings.reading.workers, reading_limits(settings))
        opened.callback(pool.close)
        vectors = VectorIndex(folder / "index" / "vectors", embedder)
        base = VectorLayer(embedder, vectors, TABLE_FUSION)
        follow = settings.embedding.engine != "none"
        open_index = partial(VectorIndex, wait_seconds=0.0)
        encoders = Encoders(store, folder, base, wanted, open_, open_index, follow=follow)
        lexical = LexicalIndex(folder / "index" / "lexical")
        return Engines(
            store=store,
            blobs=blobs,
            lexical=lexical,
            vectors=vectors,
            aliases=aliases,
            indexes=lambda: {"names": aliases, "lexical": lexical, **encoders.indexes()},
            embedder=embedder,
            encoders=encoders,
            table=table,
            token_encoder=built_in_encoder(),
            reranker=reranker,
            entailment=entailment,
            models=models,
            pool=pool,
            close=opened.pop_all().close,
        )


def _opener(cache: Path, opened: ExitStack) -> Callable[[EmbeddingSettings], Embedder]:
    """Return what opens embedders that are closed with the library, whenever it is called."""
    later = ExitStack()
    opened.callback(later.close)
    return lambda settings: open_embedder(settings, cache, later.callback)


def _wanted(
    settings: EmbeddingSettings, open_: Callable[[EmbeddingSettings], Embedder]
) -> Wanted | None:
    """Return the encoder that the settings name; a service that is down only delays it."""
    if settings.engine in {"static", "none"}:
        return None
    try:
        embedder = open_(settings)
        embedder.fingerprint  # noqa: B018 - may ask a service how long its vectors are
    except EngineError as error:
        return Wanted(settings, None, f"{error.message} {error.hint}".strip())
    return Wanted(settings, embedder)


def open_house(
    home: Path,
    workspace: str,
    engines: Engines,
    settings: Settings,
    catch_up: Callable[[], object],
) -> "House":
    """Return the personas of a workspace.

    Those of the default one live in ``personas/`` of the home folder, those of another inside it:
    nothing of one workspace is ever seen from another.
    """
    from chapterhouse.agents.means import Means  # noqa: PLC0415 - likewise
    from chapterhouse.agents.personas import House  # noqa: PLC0415 - likewise
    from chapterhouse.connectors.fetch import Fetcher  # noqa: PLC0415 - only with personas

    above = home if workspace == "default" else home / "workspaces" / workspace
    means = Means(
        store=engines.store,
        read=engines.pool.submit,
        prepare=lambda: preparer(settings, engines.embedder),
        catch_up=catch_up,
        settings=settings,
        model=engines.models.named,
        open_fetch=lambda: Fetcher().fetch,
        today=lambda: datetime.now(UTC).date().isoformat(),
        nonce=lambda: secrets.token_hex(_NONCE_BYTES),
    )
    return House(above / "personas", means)


def make_home(home: Path, own: Path) -> None:
    """Make the home folder with its settings file, and the workspace's own folder in it."""
    make_folder(own)
    if is_writable(home / HOME_FILE) and not (home / HOME_FILE).exists():
        write_whole(home / HOME_FILE, _HOME_FILE_TEXT)


def chunker_for(chunking: ChunkingSettings) -> Chunker:
    """Return what cuts documents as these settings say, each by its file type.

    Whoever has settings of its own, as a workspace has and a persona may have, gets its chunker
    here. Strategies that need vectors take those of the built-in table, whatever embeds the
    chunks: they look at every sentence, which no service should have to.
    """
    longest = chunking.maximum or LONGEST
    # A maximum set for "sentence" alone may be shorter than the other lengths would allow.
    shortest = max(1, min(chunking.minimum, longest // 4))
    wanted = max(shortest, min(chunking.target or TARGET, longest))
    named: dict[str, Chunker] = {
        **strategies(static_embedder().embed_passages, LengthLimits(wanted, shortest, longest)),
        "fixed": partial(chunk_by_size, size=chunking.size, overlap=chunking.overlap),
        "sentence": partial(chunk_by_sentence, maximum=chunking.maximum or SENTENCE_MAXIMUM),
    }
    by_format = {  # ".md" means what "md" does
        name.lower().removeprefix("."): named[strategy]
        for name, strategy in chunking.by_format.items()
    }
    return partial(chunk_by_format, chunkers=by_format, otherwise=named[chunking.strategy])
