"""Embeddings from a model in a folder, computed here: ONNX, BERT, or a static table."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import UsageError
from chapterhouse.models.forward import LocalModel, Numbers, load, table_dimensions
from chapterhouse.models.model_folder import CONFIG, MODULES, POOLING, ModelFolder
from chapterhouse.models.side_by_side import embed_each
from chapterhouse.models.unit_vectors import MAXIMUM_CHARACTERS, fitted, treatment

_POOLINGS: Final = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
}
_UNDERSTOOD: Final = frozenset({"Transformer", "Pooling", "Normalize", "StaticEmbedding"})


@dataclass(frozen=True, slots=True)
class FolderTreatment:
    """What is done around the model of a folder.

    Attributes:
        dimensions: Length of the vectors; 0 for the model's own.
        shorten: Whether longer vectors are cut to it.
        pooling: ``mean``, ``cls`` or ``last``: how the vectors of the tokens become one; empty
            for what the folder says, else ``mean``.
        question_prefix: Stands before a question.
        passage_prefix: Stands before a passage.
        languages: Those it serves; empty for all.
    """

    dimensions: int = 0
    shorten: bool = False
    pooling: str = ""
    question_prefix: str = ""
    passage_prefix: str = ""
    languages: tuple[str, ...] = ()


class FolderEmbedder:
    """Unit vectors from a local model. Loads on first use; safe to share between threads."""

    def __init__(self, folder: ModelFolder, around: FolderTreatment) -> None:
        """Look at the folder; read nothing yet.

        Raises:
            UsageError: the model has a part that cannot be run.
        """
        _require_known_modules(folder)
        self._folder = folder
        self._around = around
        self._pooling = around.pooling or _pooling(folder)

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector."""
        stated = self._around.dimensions or int(self._folder.json(CONFIG).get("hidden_size") or 0)
        return stated or table_dimensions(self._folder) or len(self._pooled("length"))

    @cached_property
    def fingerprint(self) -> str:
        """Name of the model, hash of its files, pooling, length of a vector and prefixes."""
        folder, around = self._folder, self._around
        end = treatment(
            self.dimensions,
            around.question_prefix,
            around.passage_prefix,
            shortened=around.shorten,
        )
        return f"folder/{folder.name}/{folder.checksum[:16]}/{self._pooling}/{end}"

    def serves(self, language: str) -> bool:
        """Whether the settings name this language, or none."""
        return not self._around.languages or language in self._around.languages

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text (a zero vector for a text without a character).

        Raises:
            EngineError: the model's files are damaged, or its vectors are of another length.
        """
        prefix = self._around.passage_prefix
        return embed_each(texts, lambda text: self._vector(prefix + text), self.dimensions)

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question.

        Raises:
            EngineError: the model's files are damaged, or its vectors are of another length.
        """
        if not text.strip():
            return np.zeros(self.dimensions, dtype=np.float32)
        return self._vector(self._around.question_prefix + text)

    @cached_property
    def _model(self) -> LocalModel:
        return load(self._folder, "hidden")

    def _vector(self, text: str) -> Numbers:
        pooled = self._pooled(text[:MAXIMUM_CHARACTERS])[None]
        vector: Numbers = fitted(pooled, self.dimensions, cut=self._around.shorten)[0]
        return vector

    def _pooled(self, text: str) -> Numbers:
        numbers = self._model.run(text)
        if numbers.ndim == 1:
            return numbers
        if self._pooling == "mean":
            mean: Numbers = numbers.mean(axis=0)
            return mean
        row: Numbers = numbers[0 if self._pooling == "cls" else -1]
        return row


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


def _require_known_modules(folder: ModelFolder) -> None:
    """Refuse a model with a layer after the pooling: its vectors would be silently wrong."""
    if MODULES not in folder.hashes or folder.is_onnx:
        return
    try:
        kinds = [
            str(entry["type"]).rpartition(".")[2] for entry in json.loads(folder.read(MODULES))
        ]
    except (ValueError, TypeError, KeyError):
        raise UsageError(f"{folder.path / MODULES} is not a list of modules.") from None
    unknown = sorted(set(kinds) - _UNDERSTOOD)
    if unknown:
        raise UsageError(
            f"The model in {folder.path} has a part that cannot be run: {', '.join(unknown)}.",
            hint="Serve it with an OpenAI-compatible server: embedding.engine = 'openai'.",
        )
