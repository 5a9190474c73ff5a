"""Embedders with a model: one in a folder, computed here, or one behind an address.

A service speaks OpenAI's ``/embeddings`` (https://platform.openai.com/docs/api-reference/embeddings):
Ollama, vLLM, llama.cpp, LM Studio, text-embeddings-inference and the hosted ones do.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.model_folder import (
    CONFIG,
    POOLING,
    LocalModel,
    ModelFolder,
    load,
)
from chapterhouse.settings import EmbeddingSettings

if TYPE_CHECKING:
    from chapterhouse.models.service import Service

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

MAXIMUM_CHARACTERS: Final = 20_000  # of a text that is embedded here: far above any chunk
THREADS: Final = "OMP_NUM_THREADS"  # the usual name of the number
_MOST_THREADS: Final = 4  # more would leave nothing to those who wait for an answer
_BATCH_CHARACTERS: Final = 100_000  # of a request: about 25,000 tokens of English
_QUESTION_ATTEMPTS: Final = 2  # a person waits, and the search goes on without vectors
_POOLINGS: Final = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
}


class FolderEmbedder:
    """Unit vectors from a local model. Loads on first use; safe to share between threads."""

    def __init__(self, folder: ModelFolder, settings: EmbeddingSettings) -> None:
        self._folder = folder
        self._settings = settings
        self._pooling = settings.pooling or _pooling(folder)

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector."""
        stated = self._settings.dimensions or int(self._folder.json(CONFIG).get("hidden_size") or 0)
        return stated or len(self._pooled("length"))

    @cached_property
    def fingerprint(self) -> str:
        """Name of the model, hash of its files, pooling, length of a vector and prefixes."""
        end = _treatment(self._settings, self.dimensions)
        return f"{self._folder.fingerprint}/{self._pooling}/{end}"

    def serves(self, language: str) -> bool:
        """Whether the settings name this language, or none."""
        return not self._settings.languages or language in self._settings.languages

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text (a zero vector for a text without a character).

        Raises:
            EngineError: the model's files are damaged, or its vectors are of another length.
        """
        prefix = self._settings.passage_prefix
        return embed_each(texts, lambda text: self._vector(prefix + text), self.dimensions)

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question; errors as above."""
        if not text.strip():
            return np.zeros(self.dimensions, dtype=np.float32)
        return self._vector(self._settings.question_prefix + text)

    @cached_property
    def _model(self) -> LocalModel:
        return load(self._folder)

    def _vector(self, text: str) -> NDArray[np.float32]:
        pooled = self._pooled(text[:MAXIMUM_CHARACTERS])[None]
        rows = fit_rows(pooled, self.dimensions, cut=self._settings.shorten)
        vector: NDArray[np.float32] = rows[0]
        return vector

    def _pooled(self, text: str) -> NDArray[np.float32]:
        numbers = self._model.run(text)
        if numbers.ndim == 1:
            return numbers
        if self._pooling == "mean":
            mean: NDArray[np.float32] = numbers.mean(axis=0)
            return mean
        row: NDArray[np.float32] = numbers[0 if self._pooling == "cls" else -1]
        return row


class ApiEmbedder:
    """Unit vectors from a service. Safe to share between threads."""

    def __init__(self, service: "Service", settings: EmbeddingSettings) -> None:
        self._service = service
        self._settings = settings

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector; the service is asked where the settings do not say."""
        return self._settings.dimensions or self._embed(["length"], _QUESTION_ATTEMPTS).shape[1]

    @cached_property
    def fingerprint(self) -> str:
        """Name of the model, its revision, length of its vectors and prefixes."""
        model, revision = self._settings.model, self._settings.revision
        name = f"{model}@{revision}" if revision else model
        return f"openai/{name}/{_treatment(self._settings, self.dimensions)}"

    def serves(self, language: str) -> bool:
        """Whether the settings name this language, or none."""
        return not self._settings.languages or language in self._settings.languages

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text (a zero vector for a text without a character).

        Raises:
            EngineError: the service cannot be reached or gave something else.
        """
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]
        prefixed = [self._prefixed(self._settings.passage_prefix, texts[row]) for row in filled]
        start = 0
        for batch in _batches(prefixed, self._settings.batch):
            rows = filled[start : start + len(batch)]
            vectors[rows] = fit_rows(self._embed(batch), self.dimensions, cut=False)
            start += len(batch)
        return vectors

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question; errors as above."""
        if not text.strip():
            return np.zeros(self.dimensions, dtype=np.float32)
        prefixed = self._prefixed(self._settings.question_prefix, text)
        numbers = self._embed([prefixed], attempts=_QUESTION_ATTEMPTS)
        vector: NDArray[np.float32] = fit_rows(numbers, self.dimensions, cut=False)[0]
        return vector

    def _embed(self, texts: Sequence[str], attempts: int = 0) -> NDArray[np.float64]:
        body: dict[str, object] = {"model": self._settings.model, "input": list(texts)}
        if self._settings.shorten:
            body["dimensions"] = self._settings.dimensions
        return _vectors(self._service.request("/embeddings", body, attempts), len(texts))

    def _prefixed(self, prefix: str, text: str) -> str:
        return (prefix + text)[: self._settings.maximum_characters]


def unit_rows(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return vectors scaled to length 1, shape as given; those of length 0 stay.

    Raises:
        EngineError: a number is not finite.
    """
    wide = vectors.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EngineError(
            "The embedding model gave numbers that are not finite.",
            hint="Its files or its service are damaged; try another model.",
        )
    scaled: NDArray[np.float32] = (wide / np.where(lengths, lengths, 1.0)).astype(np.float32)
    return scaled


def fit_rows(vectors: NDArray[np.floating], dimensions: int, *, cut: bool) -> NDArray[np.float32]:
    """Return unit vectors of ``dimensions`` numbers.

    Args:
        vectors: Shape (n, what the model gives).
        cut: Whether longer vectors may be cut, as models allow that were trained so
            (Matryoshka representation learning, https://arxiv.org/abs/2205.13147).

    Raises:
        EngineError: the model gives vectors of another length.
    """
    given = vectors.shape[1]
    if given != dimensions and not (cut and given > dimensions):
        raise EngineError(
            f"The embedding model gives vectors of {given} numbers, not {dimensions}.",
            hint=f"If it is the right model, set embedding.dimensions to {given}.",
        )
    return unit_rows(vectors[:, :dimensions])


def embed_each(
    texts: Sequence[str], embed: Callable[[str], NDArray[np.float32]], dimensions: int
) -> NDArray[np.float32]:
    """Return one row a text, shape (texts, dimensions): zeros for a text without a character."""
    vectors = np.zeros((len(texts), dimensions), dtype=np.float32)
    rows = [row for row, text in enumerate(texts) if text.strip()]
    for row, vector in zip(rows, apply_each([texts[row] for row in rows], embed, len), strict=True):
        vectors[row] = vector
    return vectors


def apply_each(
    items: Sequence[_Item], read: Callable[[_Item], _Result], length: Callable[[_Item], int]
) -> list[_Result]:
    """Return what ``read`` makes of each item, in their order; the longest are begun first."""
    workers = min(_threads(), len(items))
    if workers <= 1:
        return list(map(read, items))
    longest = sorted(range(len(items)), key=lambda row: -length(items[row]))  # all end at once
    with ThreadPoolExecutor(workers) as pool:
        made = dict(zip(longest, pool.map(read, [items[row] for row in longest]), strict=True))
    return [made[row] for row in range(len(items))]


def _threads() -> int:
    """Return how many threads may run: the background process is allowed one."""
    allowed = os.environ.get(THREADS, "")
    return (
        int(allowed)
        if allowed.isdecimal() and int(allowed)
        else min(_MOST_THREADS, os.cpu_count() or 1)
    )


def _treatment(settings: EmbeddingSettings, dimensions: int) -> str:
    """Return the end of a fingerprint: what is done around a model."""
    end = f"{dimensions}{'-cut' if settings.shorten else ''}"
    if settings.question_prefix or settings.passage_prefix:
        end += f"/question={settings.question_prefix!r}/passage={settings.passage_prefix!r}"
    return end


def _pooling(folder: ModelFolder) -> str:
    stated = folder.json(POOLING)
    chosen = [name for name, value in stated.items() if name.startswith("pooling_mode_") and value]
    if not chosen:
        return "mean"
    if len(chosen) > 1 or chosen[0] not in _POOLINGS:
        raise UsageError(
            f"The pooling of {folder.path / POOLING} is not known: {', '.join(chosen)}.",
            hint="State it: embedding.pooling = 'mean', 'cls' or 'last'.",
        )
    return _POOLINGS[chosen[0]]


def _batches(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Yield texts in their order, so many at a time and never too many characters."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) >= size or characters + len(text) > _BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _vectors(answer: object, count: int) -> NDArray[np.float64]:
    """Return the vectors of a response in the order of the texts, shape (count, dimensions)."""
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _unusable("it holds no list of embeddings")
    # Some services leave out an index of 0, as an empty number of Protocol Buffers.
    places = [entry.get("index", place) for place, entry in enumerate(entries)]
    if not all(type(place) is int for place in places) or sorted(places) != list(range(count)):
        raise _unusable(f"{count} texts were sent and {len(entries)} embeddings came, misnumbered")
    rows = [_numbers(entry.get("embedding")) for entry in entries]
    if len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise _unusable("its embeddings differ in length")
    vectors = np.empty((count, len(rows[0])))
    vectors[places] = rows
    return vectors


def _numbers(value: object) -> NDArray[np.float64]:
    if value is None:
        raise _unusable("an embedding is missing")
    with suppress(ValueError, TypeError, OverflowError):
        if isinstance(value, list):
            return np.asarray(value, dtype=np.float64).reshape(len(value))
    raise _unusable("an embedding is not a list of numbers")


def _unusable(reason: str) -> EngineError:
    return EngineError(
        f"The embedding service gave a response that cannot be used: {reason}.",
        hint="Is embedding.base_url the address of an OpenAI-compatible service?",
    )
