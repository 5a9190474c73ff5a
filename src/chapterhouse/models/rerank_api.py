"""Rerankers behind HTTP, in the shape that Cohere and Jina share.

Cohere, Jina, vLLM, llama.cpp and others answer ``POST …/rerank``:
https://docs.cohere.com/reference/rerank, https://jina.ai/reranker/
"""

import math
from collections.abc import Sequence
from typing import Final

from chapterhouse.errors import EngineError
from chapterhouse.models.http import JsonClient

_MOST_PASSAGES: Final = 1_000  # what services accept in one request
_RESULTS: Final = ("results", "data")
_SCORES: Final = ("relevance_score", "score")


class ApiReranker:
    """Scores from a service. Safe to share between threads."""

    def __init__(self, client: JsonClient, model: str, maximum_characters: int) -> None:
        """Remember whom to ask.

        Args:
            client: Posts to the service.
            model: As the service calls it.
            maximum_characters: Of a passage; what is longer is cut.
        """
        self._client = client
        self._model = model
        self._maximum_characters = maximum_characters

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
            "documents": [passage[: self._maximum_characters] or " " for passage in passages],
            "top_n": len(passages),
        }
        return _scores(self._client.post(body), len(passages))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


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
