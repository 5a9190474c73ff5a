"""Rerankers, here or behind HTTP: models that read question and passage together.

Nogueira and Cho 2019, https://arxiv.org/abs/1901.04085. Cohere, Jina, vLLM, llama.cpp and others
answer ``POST …/rerank``:
https://docs.cohere.com/reference/rerank, https://jina.ai/reranker/
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from chapterhouse.errors import EngineError
from chapterhouse.models.model_folder import LocalModel, ModelFolder, load

if TYPE_CHECKING:
    from chapterhouse.models.service import Service

_QUESTION_CHARACTERS: Final = 1_000  # so that a long question leaves room for the passage
PASSAGE_CHARACTERS: Final = 4_000  # what is longer is cut
_MOST_PASSAGES: Final = 1_000  # what services accept in one request
_RESULTS: Final = ("results", "data")
_SCORES: Final = ("relevance_score", "score")


class FolderReranker:
    """Scores from a local model. Loads on first use; safe to share between threads."""

    def __init__(self, folder: ModelFolder) -> None:
        """Look at the folder; read nothing yet."""
        self._folder = folder

    @property
    def fingerprint(self) -> str:
        """Name of the model and hash of its files."""
        return self._folder.fingerprint

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score from 0 to 1 a passage: the logistic function of the model's output.

        Raises:
            EngineError: the model's files are damaged, or it is no cross-encoder.
        """
        asked = question[:_QUESTION_CHARACTERS]
        return [self._score(asked, passage[:PASSAGE_CHARACTERS]) for passage in passages]

    @cached_property
    def _model(self) -> LocalModel:
        return load(self._folder)

    def _score(self, question: str, passage: str) -> float:
        output = self._model.run(question, passage)
        if output.size != 1 or not np.isfinite(output).all():
            raise EngineError(
                f"The model in {self._folder.path} gave {output.size} numbers for a passage, not "
                "one score.",
                hint="Name the folder of a cross-encoder in rerank.folder.",
            )
        return logistic(float(output.item()))


class ApiReranker:
    """Scores from a service. Safe to share between threads."""

    def __init__(self, service: "Service", model: str) -> None:
        """Remember whom to ask for which model."""
        self._service = service
        self._model = model

    @property
    def fingerprint(self) -> str:
        """Name of the model."""
        return f"http/{self._model}"

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score a passage, on the model's own scale, in the order of ``passages``.

        Raises:
            EngineError: the service cannot be reached or gave something else.
        """
        if not passages:
            return []
        if len(passages) > _MOST_PASSAGES:
            raise EngineError(
                f"{len(passages):,} passages are more than a reranker takes ({_MOST_PASSAGES:,}).",
                hint="Lower rerank.depth.",
            )
        body = {
            "model": self._model,
            "query": question,
            # A service may refuse an empty document; its score is as good as any.
            "documents": [passage[:PASSAGE_CHARACTERS] or " " for passage in passages],
            "top_n": len(passages),
        }
        return _scores(self._service.request("/rerank", body), len(passages))


def logistic(value: float) -> float:
    """Return 1 / (1 + e^−value), which orders like ``value``, from 0 to 1."""
    return float(0.5 * (1.0 + np.tanh(0.5 * value)))


def _scores(answer: object, count: int) -> list[float]:
    entries = answer
    if isinstance(answer, dict):
        entries = next((answer[name] for name in _RESULTS if name in answer), None)
    if not isinstance(entries, list):
        raise _unusable("it holds no list of results")
    scores: dict[int, float] = {}
    for entry in entries:
        place, score = _result(entry)
        if not 0 <= place < count:
            raise _unusable(f"it scores passage {place} of {count}")
        if place in scores:
            raise _unusable(f"it scores passage {place} twice")
        scores[place] = score
    if len(scores) < count:
        raise _unusable(f"it scores {len(scores)} of {count} passages")
    return [scores[place] for place in range(count)]


def _result(entry: object) -> tuple[int, float]:
    if not isinstance(entry, dict):
        raise _unusable("a result is not an object")
    place = entry.get("index")
    score = next((entry[name] for name in _SCORES if name in entry), None)
    if type(place) is not int:
        raise _unusable("a result has no index")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise _unusable("a result has no score")
    try:
        number = float(score)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _unusable("a score is not finite")
    return place, number


def _unusable(reason: str) -> EngineError:
    return EngineError(
        f"The reranking service gave a response that cannot be used: {reason}.",
        hint="Is rerank.base_url the address of a service that speaks Cohere's or Jina's rerank?",
    )
