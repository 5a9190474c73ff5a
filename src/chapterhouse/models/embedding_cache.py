"""Vectors that were paid for once: a file of them beside the library, and questions in memory.

The key of a vector is the SHA-256 of the embedder's fingerprint and of the text; no text is kept.
The file is a cache and nothing more: it may be deleted at any time, and one that is damaged is
replaced by an empty one.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.ports.models import Embedder

Result = TypeVar("Result")

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS vector (
  place INTEGER PRIMARY KEY,  -- in order of writing: the lowest goes first
  key BLOB NOT NULL UNIQUE,
  numbers BLOB NOT NULL  -- little-endian float32
) STRICT;
CREATE TABLE IF NOT EXISTS known (name TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT;
"""
_BUSY_MILLISECONDS: Final = 5_000
_AT_ONCE: Final = 256  # texts embedded before they are written: what a failure can lose
_KEYS_ASKED: Final = 500  # of one statement
_DROPPED: Final = 0.1  # share of the vectors that goes when the file is full
_CACHED_QUESTIONS: Final = 1_024
_PAUSE_SECONDS: Final = 0.02
_UNIT_TOLERANCE: Final = 1e-3


class VectorCache:
    """A bounded SQLite file of vectors. Safe to share between threads and processes."""

    def __init__(self, path: Path, maximum_bytes: int) -> None:
        self._path = path
        self._maximum_bytes = maximum_bytes
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
        except (apsw.NotADBError, apsw.CorruptError):
            self._connection = self._begin_anew()
        except (apsw.Error, OSError) as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def get(self, keys: Sequence[bytes], dimensions: int) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors that are kept of ``keys``, each of ``dimensions`` numbers."""
        rows: list[tuple[Any, ...]] = []
        for start in range(0, len(keys), _KEYS_ASKED):
            part = tuple(keys[start : start + _KEYS_ASKED])
            marks = ",".join("?" * len(part))
            query = f"SELECT key, numbers FROM vector WHERE key IN ({marks})"  # noqa: S608 - marks
            rows += self._guarded(partial(self._rows, query, part)) or ()
        size = dimensions * 4
        found = {key: np.frombuffer(data, dtype="<f4") for key, data in rows if len(data) == size}
        return {key: vector for key, vector in found.items() if _is_sound(vector)}

    def put(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Keep vectors, and let the oldest go when the file is full."""
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()]
        self._guarded(partial(self._write, rows))

    def drop(self, keys: Sequence[bytes]) -> None:
        """Delete vectors, and write the file anew so that it holds them no more."""
        self._guarded(partial(self._drop, keys))

    def number(self, name: str) -> int:
        """Return the number that is remembered under ``name``, or 0."""
        query = "SELECT number FROM known WHERE name = ?"
        rows = self._guarded(partial(self._rows, query, (name,)))
        return int(rows[0][0]) if rows else 0

    def remember(self, name: str, number: int) -> None:
        """Remember a number under ``name``."""
        query = "INSERT OR REPLACE INTO known (name, number) VALUES (?, ?)"
        self._guarded(partial(self._rows, query, (name, number)))

    def _open(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path))
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        try:
            _make_ready(connection, time.monotonic() + _BUSY_MILLISECONDS / 1000)
        except apsw.Error:
            connection.close()
            raise
        return connection

    def _begin_anew(self) -> apsw.Connection:
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            return self._open()
        except (apsw.Error, OSError) as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> EngineError:
        return EngineError(
            f"The cache of embeddings {self._path} cannot be used: {error}",
            hint="Delete it, or do without: embedding.cache_megabytes = 0",
        )

    def _guarded(self, act: Callable[[], Result]) -> Result | None:
        """Return what ``act`` gives, or None where the cache has to be done without."""
        with self._lock:
            try:
                return act()
            except (apsw.BusyError, apsw.LockedError):
                return None  # another process writes: what is not cached is computed again
            except (apsw.NotADBError, apsw.CorruptError):
                self._connection.close()
                self._connection = self._begin_anew()
                return None
            except apsw.Error as error:
                raise self._unusable(error) from error

    def _rows(self, query: str, values: Sequence[bytes | str | int]) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(query, tuple(values)))

    def _write(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO vector (key, numbers) VALUES (?, ?)", rows
            )
            while self._bytes() > self._maximum_bytes and self._drop_oldest():
                pass

    def _drop(self, keys: Sequence[bytes]) -> None:
        before = self._connection.total_changes()
        with self._connection:
            rows = [(key,) for key in keys]
            self._connection.executemany("DELETE FROM vector WHERE key = ?", rows)
        if self._connection.total_changes() > before:  # SQLite leaves copies where it moves rows
            self._connection.execute("VACUUM")
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _bytes(self) -> int:
        """Return what is in use; pages that are free are used again before the file grows."""
        numbers = [
            int(self._connection.pragma(name))
            for name in ("page_count", "freelist_count", "page_size")
        ]
        return (numbers[0] - numbers[1]) * numbers[2]

    def _drop_oldest(self) -> bool:
        query = "SELECT min(place), max(place) FROM vector"
        first, last = next(iter(self._connection.execute(query)))
        if first is None:
            return False
        until = first + int((last - first) * _DROPPED)
        self._connection.execute("DELETE FROM vector WHERE place <= ?", (until,))
        return True


def _is_sound(vector: NDArray[np.float32]) -> bool:
    """Whether a vector can be one that was kept: of length 1, or 0."""
    length = float(vector @ vector)
    return length == 0.0 or abs(length - 1.0) < _UNIT_TOLERANCE  # false where it is not a number


def _make_ready(connection: apsw.Connection, deadline: float) -> None:
    """Make the tables; SQLite itself does not wait where another switches a new file to WAL.

    With NORMAL a killed process loses nothing, and a power cut the last writes at most.
    """
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
            connection.execute(_SCHEMA)
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


class CachedEmbedder:
    """An embedder that embeds no passage twice. Safe to share between threads."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self._questions: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def uncached(self) -> Embedder:
        """The embedder itself."""
        return self._embedder

    @property
    def fingerprint(self) -> str:
        """That of the embedder itself."""
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._embedder.dimensions

    def serves(self, language: str) -> bool:
        """Whether the embedder serves this language."""
        return self._embedder.serves(language)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, from the cache where it is there.

        What was embedded before a failure is kept.

        Raises:
            EngineError: the model failed, or the cache cannot be read.
        """
        keys = [self._key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        found = self._cache.get(list(distinct), self.dimensions)
        missing = [key for key in distinct if key not in found]
        for start in range(0, len(missing), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            vectors = self._embedder.embed_passages([distinct[key] for key in part])
            made = dict(zip(part, vectors, strict=True))
            self._cache.put(made)
            found |= made
        vectors = np.zeros((len(keys), self.dimensions), dtype=np.float32)
        for row, key in enumerate(keys):
            vectors[row] = found[key]
        return vectors

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question; the latest ones are remembered.

        Raises:
            EngineError: the model failed.
        """
        with self._lock:
            known = self._questions.pop(text, None)
        vector = self._embedder.embed_question(text) if known is None else known
        with self._lock:
            self._questions[text] = vector
            while len(self._questions) > _CACHED_QUESTIONS:
                self._questions.popitem(last=False)
        return vector.copy()

    def forget(self, keys: Sequence[bytes]) -> None:
        """Delete what is cached under these keys, whatever embedder it is of."""
        self._cache.drop(keys)

    def _key(self, text: str) -> bytes:
        return passage_key(self.fingerprint, text)


def passage_key(fingerprint: str, text: str) -> bytes:
    """Return the key under which a passage's vector is cached."""
    content = f"{fingerprint}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).digest()
