"""Vectors of passages kept between runs: the encoder in the box takes minutes for some sets.

Only passages: a question is embedded each time it is asked, as the product does, so that times
stay true.
"""

import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.models.opening import open_embedder
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.types.engines import Embedder

_FILE = "embeddings.db"
_TABLE = "CREATE TABLE IF NOT EXISTS passage (key BLOB PRIMARY KEY, numbers BLOB NOT NULL)"


def cache_folder() -> Path:
    """Return where vectors are kept between runs: by ``$CHAPTERHOUSE_BENCH_CACHE``, or temporary.

    Keys are hashes of the model and the text, so that nothing of another model is ever used.
    """
    root = Path(os.environ.get("CHAPTERHOUSE_BENCH_CACHE") or gettempdir())
    cache = root / "chapterhouse-natural"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


class CachedPassages:
    """An embedder that embeds no passage twice, and every question anew."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._connection = sqlite3.connect(path, check_same_thread=False, timeout=60)
        self._connection.execute(_TABLE)
        self._lock = threading.Lock()
        self.fingerprint = embedder.fingerprint
        self.dimensions = embedder.dimensions
        self.serves = embedder.serves
        self.embed_question = embedder.embed_question

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, from the file where it is there."""
        keys = [self._key(text) for text in texts]
        with self._lock:
            found = {key: self._get(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        made = self._embedder.embed_passages(list(missing.values()))
        found |= {key: row.astype("<f4").tobytes() for key, row in zip(missing, made, strict=True)}
        with self._lock, self._connection:
            rows = [(key, found[key]) for key in missing]
            self._connection.executemany("INSERT OR IGNORE INTO passage VALUES (?, ?)", rows)
        numbers = b"".join(found[key] or b"" for key in keys)
        return np.frombuffer(numbers, dtype="<f4").reshape(len(texts), self.dimensions).copy()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _key(self, text: str) -> bytes:
        content = f"{self.fingerprint}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(content).digest()

    def _get(self, key: bytes) -> bytes | None:
        query = "SELECT numbers FROM passage WHERE key = ?"
        row = self._connection.execute(query, (key,)).fetchone()
        return row[0] if row else None


@contextmanager
def cached_passages(embedder: Embedder, name: str = _FILE) -> Iterator[CachedPassages]:
    """Keep the vectors of passages in a file of this name."""
    cached = CachedPassages(embedder, cache_folder() / name)
    try:
        yield cached
    finally:
        cached.close()


@contextmanager
def vectors_cached() -> Iterator[None]:
    """Let libraries that are opened within take vectors of the encoder in the box from a file."""
    with cached_passages(built_in_encoder()) as cached:

        def opened(settings: EmbeddingSettings) -> Embedder:
            return cached if settings.engine == "built-in" else open_embedder(settings)

        with patch("chapterhouse.library.opening.open_embedder", opened):
            yield
