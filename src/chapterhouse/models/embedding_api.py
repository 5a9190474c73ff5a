"""Embeddings from any service that speaks OpenAI's ``/embeddings``.

Ollama, vLLM, llama.cpp, LM Studio, text-embeddings-inference and the hosted ones do.
https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.models.http import JsonClient
from chapterhouse.models.unit_vectors import fitted, treatment

_BATCH_CHARACTERS: Final = 100_000  # of a request: about 25,000 tokens of English
_QUESTION_ATTEMPTS: Final = 2  # a person waits, and the search goes on without vectors


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model to ask a service for, and how.

    Attributes:
        name: As the service calls it.
        revision: What tells this version of it from another of the same name.
        dimensions: Length of its vectors; 0 for whatever it gives.
        shorten: Whether to ask it for vectors cut to ``dimensions``.
        question_prefix: Stands before a question, such as ``search_query: ``.
        passage_prefix: Stands before a passage, such as ``search_document: ``.
        languages: Those it serves; empty for all.
        encoding: ``float`` or ``base64``: how numbers are to be sent.
        batch: Texts a request.
        maximum_characters: Of a text; what is longer is cut, for some services refuse what is
            longer than their model reads.
    """

    name: str
    revision: str = ""
    dimensions: int = 0
    shorten: bool = False
    question_prefix: str = ""
    passage_prefix: str = ""
    languages: tuple[str, ...] = ()
    encoding: str = "float"
    batch: int = 64
    maximum_characters: int = 8_000


class ApiEmbedder:
    """Unit vectors from a service. Safe to share between threads."""

    def __init__(self, client: JsonClient, model: EmbeddingModel) -> None:
        self._client = client
        self._model = model

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector; the service is asked where the settings do not say."""
        return self._model.dimensions or self._embed(["length"], _QUESTION_ATTEMPTS).shape[1]

    @cached_property
    def fingerprint(self) -> str:
        """Name of the model, its revision, length of its vectors and prefixes."""
        model = self._model
        name = f"{model.name}@{model.revision}" if model.revision else model.name
        around = treatment(
            self.dimensions, model.question_prefix, model.passage_prefix, shortened=model.shorten
        )
        return f"openai/{name}/{around}"

    def serves(self, language: str) -> bool:
        """Whether the settings name this language, or none."""
        return not self._model.languages or language in self._model.languages

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text (a zero vector for a text without a character).

        Raises:
            EngineError: the service cannot be reached or gave something else.
        """
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]
        prefixed = [self._prefixed(self._model.passage_prefix, texts[row]) for row in filled]
        start = 0
        for batch in _batches(prefixed, self._model.batch):
            rows = filled[start : start + len(batch)]
            vectors[rows] = self._fitted(self._embed(batch))
            start += len(batch)
        return vectors

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question.

        Raises:
            EngineError: the service cannot be reached or gave something else.
        """
        if not text.strip():
            return np.zeros(self.dimensions, dtype=np.float32)
        prefixed = self._prefixed(self._model.question_prefix, text)
        numbers = self._embed([prefixed], attempts=_QUESTION_ATTEMPTS)
        vector: NDArray[np.float32] = self._fitted(numbers)[0]
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _embed(self, texts: Sequence[str], attempts: int | None = None) -> NDArray[np.float64]:
        body: dict[str, object] = {"model": self._model.name, "input": list(texts)}
        if self._model.encoding != "float":  # the default, which some services know alone
            body["encoding_format"] = self._model.encoding
        if self._model.shorten:
            body["dimensions"] = self._model.dimensions
        return _vectors(self._client.post(body, attempts=attempts), len(texts))

    def _prefixed(self, prefix: str, text: str) -> str:
        return (prefix + text)[: self._model.maximum_characters]

    def _fitted(self, vectors: NDArray[np.float64]) -> NDArray[np.float32]:
        return fitted(vectors, self.dimensions, cut=False)


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
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float64)
        if isinstance(value, list):
            return np.asarray(value, dtype=np.float64).reshape(len(value))
    except (ValueError, TypeError, OverflowError, binascii.Error):
        raise _unusable("an embedding is not a list of numbers") from None
    raise _unusable("an embedding is missing")


def _unusable(reason: str) -> EngineError:
    return EngineError(
        f"The embedding service gave a response that cannot be used: {reason}.",
        hint="Is embedding.base_url the address of an OpenAI-compatible service?",
    )
