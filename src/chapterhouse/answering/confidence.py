"""How likely what is shown answers the question.

A logistic model of a few signs, fitted by ``benchmarks/confidence.py`` on natural questions over
real folders, contracts, papers and encyclopedia questions in four languages: with their documents
and with these taken out. One for text that the encoder serves, and a more cautious one for other
languages.
"""

import json
import math
from dataclasses import dataclass, fields
from typing import Final


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for an answer and against it.

    Attributes:
        meaning: Whether sentences were compared by meaning; chooses the model.
        shown: Share of the answer that may be expected in what is shown, given that it is in the
            hits: 0 to 1.
        best: The same of its best sentence.
        coverage: Most of the question's word weight that one of its sentences has.
        sentence: Highest cosine of one of them with the question; 0 without meaning.
        passage: Highest cosine of a hit with the question; 0 without meaning.
        score: Of the best hit, 0 to 1.
        documents: How many are shown.
        unvalued: 1 where a value is asked for, and nothing shown may be it.
        unnamed: Share of the question's weight in names that what is shown lacks.
    """

    meaning: bool
    shown: float
    best: float
    coverage: float
    sentence: float
    passage: float
    score: float
    documents: float
    unvalued: float
    unnamed: float


SIGNS: Final = tuple(field.name for field in fields(Signs) if field.name != "meaning")
# Cosines below which a passage and a sentence have nothing to do with a question: of what answers
# one in a hundred, of what is found for a question from elsewhere a third.
_NEAR_PASSAGE: Final = 0.2
_NEAR_SENTENCE: Final = 0.25
_FARTHEST: Final = 50.0  # of a logit; beyond, the exponential overflows


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """Weights of the signs, and the confidence from which something is called an answer.

    Attributes:
        by_meaning: The intercept and a weight for each of ``SIGNS``.
        by_words: The same for languages that the encoder does not serve.
        answer: Least confidence of an answer, 0 to 1.
        passages: Least confidence of anything that is shown.
    """

    by_meaning: tuple[float, ...]
    by_words: tuple[float, ...]
    answer: float
    passages: float


def confidence_model(text: str) -> ConfidenceModel:
    """Return the model of a JSON text.

    Raises:
        ValueError: a sign is missing or unknown.
    """
    read = json.loads(text)
    found = []
    for name in ("by meaning", "by words"):
        weights = read[name]
        if set(weights) != {"intercept", *SIGNS}:
            raise ValueError(f"The weights are of {sorted(weights)}, the signs {sorted(SIGNS)}")
        found.append(tuple(float(weights[sign]) for sign in ("intercept", *SIGNS)))
    by_meaning, by_words = found
    return ConfidenceModel(by_meaning, by_words, float(read["answer"]), float(read["passages"]))


def confidence(signs: Signs, model: ConfidenceModel) -> float:
    """Return the chance that what is shown answers the question, 0 to 1."""
    if signs.meaning and signs.passage < _NEAR_PASSAGE and signs.sentence < _NEAR_SENTENCE:
        return 0.0  # nothing is about what was asked, however well it matches by chance
    intercept, *weights = model.by_meaning if signs.meaning else model.by_words
    logit = intercept + sum(
        weight * getattr(signs, sign) for weight, sign in zip(weights, SIGNS, strict=True)
    )
    return round(1 / (1 + math.exp(-max(min(logit, _FARTHEST), -_FARTHEST))), 6)
