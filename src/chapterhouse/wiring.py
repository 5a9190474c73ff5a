"""Which parts a library is made of, chosen and fed from its settings."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from chapterhouse.chunking.fixed import chunk_by_size
from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.lifecycle.pipeline import Prepare
from chapterhouse.lifecycle.prepare import prepare
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.protocols import Chunker
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.settings import HOME_FILE, ChunkingSettings, Settings
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.tokens import estimate_tokens

_HOME_FILE_TEXT: Final = """\
# Settings of this Chapterhouse; every line is optional. See docs/settings.md.
"""


@dataclass(frozen=True, slots=True)
class Engines:
    """The parts of an open library."""

    store: SqliteStore
    blobs: FolderBlobs
    lexical: LexicalIndex
    vectors: VectorIndex
    embedder: StaticEmbedder
    pool: ReadingPool


def preparer(settings: Settings, embedder: StaticEmbedder) -> Prepare:
    """Return what makes a document of an extraction."""
    exact = settings.tokens.tokenizer == "llama-2"
    return partial(
        prepare,
        chunker=_chunker(settings.chunking),
        embedder=embedder if settings.embedding.enabled else None,
        count_tokens=embedder.count_tokens if exact else estimate_tokens,
    )


def open_engines(folder: Path, settings: Settings) -> Engines:
    """Open the parts of the workspace in ``folder``."""
    embedder = StaticEmbedder()
    blobs = FolderBlobs(folder / "blobs")
    limits = replace(Limits(), file_bytes=settings.reading.maximum_megabytes * 2**20)
    return Engines(
        store=SqliteStore(folder / "library.db", blobs=blobs),
        blobs=blobs,
        lexical=LexicalIndex(folder / "index" / "lexical"),
        vectors=VectorIndex(folder / "index" / "vectors", embedder),
        embedder=embedder,
        pool=ReadingPool(settings.reading.workers, limits),
    )


def make_home(home: Path, own: Path) -> None:
    """Make the home folder with its settings file, and the workspace's own folder in it."""
    own.mkdir(parents=True, exist_ok=True)
    try:
        with (home / HOME_FILE).open("x", encoding="utf-8") as stream:
            stream.write(_HOME_FILE_TEXT)
    except FileExistsError:
        return


def _chunker(chunking: ChunkingSettings) -> Chunker:
    if chunking.strategy == "fixed":
        return partial(chunk_by_size, size=chunking.size, overlap=chunking.overlap)
    return partial(chunk_by_sentence, maximum=chunking.maximum)
