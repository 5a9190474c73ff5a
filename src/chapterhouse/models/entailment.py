"""A cross-encoder in a folder that says whether one text follows from another.

Such models are fitted for natural language inference; Honovich et al. 2022,
https://aclanthology.org/2022.naacl-main.287, compare them on statements about sources.
"""

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.models.cross_encoder import logistic
from chapterhouse.models.forward import LocalModel, load
from chapterhouse.models.model_folder import CONFIG, ModelFolder

_PREMISE_CHARACTERS: Final = 4_000
_STATEMENT_CHARACTERS: Final = 600
_HINT: Final = "Name the folder of a model for natural language inference in entailment.folder."


class FolderEntailment:
    """Probabilities from a local model. Loads on first use; safe to share between threads."""

    def __init__(self, folder: ModelFolder) -> None:
        """Look at the folder; read no weights yet.

        Raises:
            EngineError: its configuration does not say which of several labels means that a
                statement follows.
        """
        self._folder = folder
        names = folder.json(CONFIG).get("id2label") or {}
        self._labels = len(names) or 1
        found = [int(number) for number, name in names.items() if _means_entailment(str(name))]
        if self._labels > 1 and len(found) != 1:
            labels = ", ".join(map(str, names.values()))
            raise EngineError(
                f"The model in {folder.path} has no label that means entailment: {labels}.",
                hint=_HINT,
            )
        self._entailment = found[0] if self._labels > 1 else 0

    @property
    def fingerprint(self) -> str:
        """Name of the model and hash of its files."""
        return f"folder/{self._folder.name}/{self._folder.checksum[:16]}"

    def probability(self, premise: str, statement: str) -> float:
        """Return how likely a statement follows from a premise, 0 to 1.

        Raises:
            EngineError: the model's files are damaged, or it is of another kind.
        """
        output = self._model.run(premise[:_PREMISE_CHARACTERS], statement[:_STATEMENT_CHARACTERS])
        if output.shape != (self._labels,) or not np.isfinite(output).all():
            raise EngineError(
                f"The model in {self._folder.path} gave {output.size} numbers, not one for each of "
                f"{self._labels} labels.",
                hint=_HINT,
            )
        if self._labels == 1:
            return logistic(float(output.item()))
        return float(_softmax(output)[self._entailment])

    @cached_property
    def _model(self) -> LocalModel:
        return load(self._folder, "logits")


def _means_entailment(label: str) -> bool:
    plain = label.casefold().replace("-", "_").replace(" ", "_")
    return plain.startswith("entail") or plain in {"supported", "consistent"}


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    powers = np.exp(logits.astype(np.float64) - logits.max())
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares
