"""A cross-encoder in a folder, computed here: it reads question and passage together.

Nogueira and Cho 2019, https://arxiv.org/abs/1901.04085.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from chapterhouse.errors import EngineError
from chapterhouse.models.forward import LocalModel, load
from chapterhouse.models.model_folder import ModelFolder

_QUESTION_CHARACTERS: Final = 1_000  # so that a long question leaves room for the passage


class FolderReranker:
    """Scores from a local model. Loads on first use; safe to share between threads."""

    def __init__(self, folder: ModelFolder, maximum_characters: int) -> None:
        """Look at the folder; read nothing yet.

        Args:
            folder: The model.
            maximum_characters: Of a passage; what is longer is cut.
        """
        self._folder = folder
        self._maximum_characters = maximum_characters

    @property
    def fingerprint(self) -> str:
        """Name of the model and hash of its files."""
        return f"folder/{self._folder.name}/{self._folder.checksum[:16]}"

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score from 0 to 1 a passage: the logistic function of the model's output.

        Raises:
            EngineError: the model's files are damaged, or it is no cross-encoder.
        """
        asked = question[:_QUESTION_CHARACTERS]
        return [self._score(asked, passage[: self._maximum_characters]) for passage in passages]

    @cached_property
    def _model(self) -> LocalModel:
        return load(self._folder, "logits")

    def _score(self, question: str, passage: str) -> float:
        output = self._model.run(question, passage)
        if output.size != 1 or not np.isfinite(output).all():
            raise EngineError(
                f"The model in {self._folder.path} gave {output.size} numbers for a passage, not "
                "one score.",
                hint="Name the folder of a cross-encoder in rerank.folder.",
            )
        return logistic(float(output.item()))


def logistic(value: float) -> float:
    """Return 1 / (1 + e^−value), which orders like ``value``, from 0 to 1."""
    return float(0.5 * (1.0 + np.tanh(0.5 * value)))
