"""Vectors of passages kept between runs: the encoder in the box takes minutes for some sets.

Only passages: a question is embedded each time it is asked, as the product does, so that times
stay true.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from chapterhouse.models.embedding_cache import CachedEmbedder, VectorCache
from chapterhouse.models.opening import OnClose, open_embedder
from chapterhouse.ports.models import Embedder
from chapterhouse.settings import EmbeddingSettings

_FILE = "embeddings.db"
_MAXIMUM_BYTES = 2**30


def cache_folder() -> Path:
    """Return where vectors are kept between runs: by ``$CHAPTERHOUSE_BENCH_CACHE``, or temporary.

    Keys are hashes of the model and the text, so that nothing of another model is ever used.
    """
    root = Path(os.environ.get("CHAPTERHOUSE_BENCH_CACHE") or gettempdir())
    cache = root / "chapterhouse-natural"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


class CachedPassages(CachedEmbedder):
    """An embedder that embeds no passage twice, and every question anew."""

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question."""
        return self.uncached.embed_question(text)


@contextmanager
def vectors_cached() -> Iterator[None]:
    """Let libraries that are opened within take vectors of the encoder in the box from a file."""
    vectors = VectorCache(cache_folder() / _FILE, _MAXIMUM_BYTES)

    def opened(settings: EmbeddingSettings, cache: Path, on_close: OnClose) -> Embedder:
        embedder = open_embedder(settings, cache, on_close)
        return CachedPassages(embedder, vectors) if settings.engine == "built-in" else embedder

    with patch("chapterhouse.wiring.open_embedder", opened):
        try:
            yield
        finally:
            vectors.close()
