"""Embedders and cross-encoders of fastembed's list, which runs ONNX models by their names.

https://github.com/qdrant/fastembed. A model that is named is fetched from the Hugging Face hub
into the workspace's cache on first use; with a folder nothing is fetched.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError, MissingExtraError
from chapterhouse.models.cross_encoder import logistic
from chapterhouse.models.folder_embedder import FolderTreatment
from chapterhouse.models.model_folder import ModelFolder
from chapterhouse.models.unit_vectors import MAXIMUM_CHARACTERS, fitted, treatment

_EXTRA: Final = "fastembed"
_ALONE: Final = 1  # texts a batch: padding changes the numbers of an 8-bit model


@dataclass(frozen=True, slots=True)
class FastembedModel:
    """A model of fastembed's list.

    Attributes:
        name: As the list calls it.
        cache: Where its files go if they have to be fetched.
        folder: Its files, where they are there already.
        revision: What tells this version of it from another, where there is no folder.
    """

    name: str
    cache: Path
    folder: ModelFolder | None = None
    revision: str = ""

    @property
    def fingerprint(self) -> str:
        """Name of the model, and the hash of its files or its revision."""
        version = self.folder.checksum[:16] if self.folder else self.revision
        return f"fastembed/{self.name}{'@' if version else ''}{version}"


class FastembedEmbedder:
    """Unit vectors from a model that fastembed knows. Loads on first use; threads may share it."""

    def __init__(self, model: FastembedModel, around: FolderTreatment) -> None:
        """Remember the model; load nothing yet.

        Raises:
            MissingExtraError: fastembed is not installed.
        """
        _require_fastembed()
        self._model = model
        self._around = around

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector: as stated, else as fastembed's list has it."""
        return self._around.dimensions or int(self._described["dim"])

    @cached_property
    def fingerprint(self) -> str:
        """Name of the model, its version, length of a vector and prefixes."""
        around = self._around
        end = treatment(
            self.dimensions,
            around.question_prefix,
            around.passage_prefix,
            shortened=around.shorten,
        )
        return f"{self._model.fingerprint}/{end}"

    def serves(self, language: str) -> bool:
        """Whether the settings name this language, or none."""
        return not self._around.languages or language in self._around.languages

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text (a zero vector for a text without a character).

        Raises:
            EngineError: the model cannot be loaded, or its vectors are of another length.
        """
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]
        prefixed = [self._prefixed(self._around.passage_prefix, texts[row]) for row in filled]
        if filled:
            numbers = self._run(lambda: self._loaded.passage_embed(prefixed, batch_size=_ALONE))
            vectors[filled] = fitted(numbers, self.dimensions, cut=self._around.shorten)
        return vectors

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question.

        Raises:
            EngineError: the model cannot be loaded, or its vectors are of another length.
        """
        if not text.strip():
            return np.zeros(self.dimensions, dtype=np.float32)
        prefixed = self._prefixed(self._around.question_prefix, text)
        numbers = self._run(lambda: self._loaded.query_embed(prefixed))
        vector: NDArray[np.float32] = fitted(numbers, self.dimensions, cut=self._around.shorten)[0]
        return vector

    @cached_property
    def _described(self) -> dict[str, Any]:
        from fastembed import TextEmbedding  # noqa: PLC0415 - heavy, and an extra

        return _described(TextEmbedding.list_supported_models(), self._model.name, "embedding")

    @cached_property
    def _loaded(self) -> Any:
        from fastembed import TextEmbedding  # noqa: PLC0415 - heavy, and an extra

        return _load(TextEmbedding, self._model)

    def _run(self, embed: Callable[[], Iterable[Any]]) -> NDArray[np.floating]:
        return np.stack(_all(embed, self._model.name))

    @staticmethod
    def _prefixed(prefix: str, text: str) -> str:
        return prefix + text[:MAXIMUM_CHARACTERS]


class FastembedReranker:
    """Scores from a cross-encoder that fastembed knows. Loads on first use."""

    def __init__(self, model: FastembedModel, maximum_characters: int) -> None:
        """Remember the model; load nothing yet.

        Args:
            model: Which.
            maximum_characters: Of a passage; what is longer is cut.

        Raises:
            MissingExtraError: fastembed is not installed.
        """
        _require_fastembed()
        self._model = model
        self._maximum_characters = maximum_characters

    @property
    def fingerprint(self) -> str:
        """Name of the model and its version."""
        return self._model.fingerprint

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score from 0 to 1 a passage: the logistic function of the model's output.

        Raises:
            EngineError: the model cannot be loaded, or gave something else.
        """
        cut = [passage[: self._maximum_characters] for passage in passages]
        scores = _all(
            lambda: self._loaded.rerank(question, cut, batch_size=_ALONE), self._model.name
        )
        if len(scores) != len(passages) or not np.isfinite(scores).all():
            raise EngineError(f"The model {self._model.name} did not give one score a passage.")
        return [logistic(float(score)) for score in scores]

    @cached_property
    def _loaded(self) -> Any:
        from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - heavy

        _described(TextCrossEncoder.list_supported_models(), self._model.name, "reranking")
        return _load(TextCrossEncoder, self._model)


def weights_file(name: str, kind: Literal["embedding", "rerank"]) -> str:
    """Return the file that fastembed reads of a model's folder.

    Raises:
        MissingExtraError: fastembed is not installed.
        EngineError: it does not know the model.
    """
    _require_fastembed()
    from fastembed import TextEmbedding  # noqa: PLC0415 - heavy, and an extra
    from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - likewise

    listed = TextEmbedding if kind == "embedding" else TextCrossEncoder
    return str(_described(listed.list_supported_models(), name, kind)["model_file"])


def _require_fastembed() -> None:
    if find_spec("fastembed") is None:
        raise MissingExtraError("The engine 'fastembed'", _EXTRA)


def _described(known: Sequence[dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    for description in known:
        if str(description["model"]).lower() == name.lower():
            return description
    raise EngineError(
        f"fastembed knows no {kind} model '{name}'.",
        hint=f"It knows: {', '.join(sorted(str(entry['model']) for entry in known))}",
    )


def _load(kind: Any, model: FastembedModel) -> Any:
    folder = {"specific_model_path": str(model.folder.path)} if model.folder else {}
    try:
        return kind(
            model_name=model.name,
            cache_dir=str(model.cache),
            local_files_only=model.folder is not None,
            **folder,
        )
    # The boundary of a library that raises whatever the hub, the network and onnxruntime raise.
    except Exception as error:
        raise EngineError(
            f"The model {model.name} cannot be loaded: {error}",
            hint="Fetching it needs the network once; or name a folder that holds its files.",
        ) from error


def _all(act: Callable[[], Iterable[Any]], name: str) -> list[Any]:
    try:
        return list(act())
    except EngineError:
        raise
    # The boundary of a library that raises whatever onnxruntime raises.
    except Exception as error:
        raise EngineError(f"The model {name} failed on a text: {error}") from error
