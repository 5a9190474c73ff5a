"""Which parts a library is made of, chosen and fed from its settings."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from chapterhouse.chunking.choose import chunk_by_format, strategies
from chapterhouse.chunking.fixed import chunk_by_size
from chapterhouse.chunking.limits import AUTO_TARGET, TARGET
from chapterhouse.chunking.limits import Limits as LengthLimits
from chapterhouse.chunking.sentence import MAXIMUM as SENTENCE_MAXIMUM
from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.index.aliases import AliasIndex
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.lifecycle.pipeline import Prepare
from chapterhouse.lifecycle.prepare import prepare
from chapterhouse.models.opening import open_embedder, open_language_model, open_reranker
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.protocols import Chunker, Embedder, LanguageModel, Reranker
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.settings import HOME_FILE, LONGEST, ChunkingSettings, Settings
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.tokens import estimate_tokens

_HOME_FILE_TEXT: Final = """\
# Settings of this Chapterhouse; every line is optional. See docs/settings.md.
"""


@dataclass(frozen=True, slots=True)
class Engines:
    """The parts of an open library.

    Attributes:
        embedder: Makes the vectors that are stored and searched.
        table: The built-in embedder, whatever ``embedder`` is: answers weigh sentences with it.
        reranker: The reranking model that the settings name.
        language_model: The model that writes, where the settings name one.
        close: Closes all that has to be closed.
    """

    store: SqliteStore
    blobs: FolderBlobs
    lexical: LexicalIndex
    vectors: VectorIndex
    aliases: AliasIndex
    embedder: Embedder
    table: StaticEmbedder
    reranker: Reranker | None
    language_model: LanguageModel | None
    pool: ReadingPool
    close: Callable[[], None]


def preparer(settings: Settings, embedder: Embedder) -> Prepare:
    """Return what makes a document of an extraction."""
    exact = settings.tokens.tokenizer == "llama-2"
    return partial(
        prepare,
        chunker=chunker_for(settings.chunking),
        embedder=embedder,
        count_tokens=StaticEmbedder().count_tokens if exact else estimate_tokens,
    )


def open_engines(folder: Path, settings: Settings) -> Engines:
    """Open the parts of the workspace in ``folder``.

    Raises:
        ChapterhouseError: one of them cannot be opened; those that were are closed again.
    """
    blobs = FolderBlobs(folder / "blobs")
    limits = replace(Limits(), file_bytes=settings.reading.maximum_megabytes * 2**20)
    cache = folder / "cache"
    with ExitStack() as opened:
        embedder = open_embedder(settings.embedding, cache, opened.callback)
        reranker = open_reranker(settings.rerank, cache, opened.callback)
        language_model = open_language_model(settings.language_model, opened.callback)
        store = SqliteStore(folder / "library.db", blobs=blobs)
        opened.callback(store.close)
        aliases = AliasIndex(folder / "index" / "names")
        opened.callback(aliases.close)
        pool = ReadingPool(settings.reading.workers, limits)
        opened.callback(pool.close)
        return Engines(
            store=store,
            blobs=blobs,
            lexical=LexicalIndex(folder / "index" / "lexical"),
            vectors=VectorIndex(folder / "index" / "vectors", embedder),
            aliases=aliases,
            embedder=embedder,
            table=embedder if isinstance(embedder, StaticEmbedder) else StaticEmbedder(),
            reranker=reranker,
            language_model=language_model,
            pool=pool,
            close=opened.pop_all().close,
        )


def make_home(home: Path, own: Path) -> None:
    """Make the home folder with its settings file, and the workspace's own folder in it."""
    own.mkdir(parents=True, exist_ok=True)
    try:
        with (home / HOME_FILE).open("x", encoding="utf-8") as stream:
            stream.write(_HOME_FILE_TEXT)
    except FileExistsError:
        return


def chunker_for(chunking: ChunkingSettings) -> Chunker:
    """Return what cuts documents as these settings say, each by its file type.

    Whoever has settings of its own, as a workspace has and a persona may have, gets its chunker
    here. Strategies that need vectors take those of the built-in table, whatever embeds the
    chunks: they look at every sentence, which no service should have to.
    """
    table = StaticEmbedder()

    def of_length(target: int) -> Mapping[str, Chunker]:
        longest = chunking.maximum or LONGEST
        # A maximum set for "sentence" alone may be shorter than the other lengths would allow.
        shortest = max(1, min(chunking.minimum, longest // 4))
        wanted = max(shortest, min(chunking.target or target, longest))
        return strategies(
            LengthLimits(wanted, shortest, longest),
            table.embed_passages,
            topic_threshold=chunking.topic_threshold,
            semantic_threshold=chunking.semantic_threshold,
        )

    named: dict[str, Chunker] = {
        **of_length(TARGET),
        "auto": of_length(AUTO_TARGET)["auto"],
        "fixed": partial(chunk_by_size, size=chunking.size, overlap=chunking.overlap),
        "sentence": partial(chunk_by_sentence, maximum=chunking.maximum or SENTENCE_MAXIMUM),
    }
    by_format = {  # ".md" means what "md" does
        name.lower().removeprefix("."): named[strategy]
        for name, strategy in chunking.by_format.items()
    }
    return partial(chunk_by_format, chunkers=by_format, otherwise=named[chunking.strategy])
