"""Which sentence of the hits holds the answer, given that one of them does.

A conditional logit (the model of choice among alternatives): a sentence's share is
``exp(w · features) / Σ exp(w · features)`` over all sentences of one question. The answer stands in
one place as a rule, so the shares of different sentences exclude each other, and those with the
greatest shares are together the likeliest to hold it. Whether it is there at all is the business of
``evidence``.

Fitted by ``benchmarks/answering.py --fit`` on XQuAD in three languages; the figures published with
it are those of articles and a language that the fit had not seen.

Source: McFadden, Conditional logit analysis of qualitative choice behavior, 1974.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from chapterhouse.answering.sentence_features import LEXICAL, WITH_VECTORS, Matrix

_DECIMALS: Final = 6

WEIGHTS_WITH_VECTORS: Final[Mapping[str, float]] = {
    "score": 3.09,
    "coverage": 0.00,
    "best coverage": 0.51,
    "hit best": 0.53,
    "telling coverage": 0.93,
    "likeness": 4.34,
    "best likeness": 1.23,
    "before": 3.65,
    "after": 1.66,
    "so far": 1.33,
    "hit coverage": 2.93,
    "pairs": 0.91,
    "news": -1.93,
    "number": 2.15,
    "date": 2.54,
    "person": 2.22,
    "place": 1.42,
    "reason": 0.79,
    "cosine": 0.54,
    "best cosine": 0.86,
    "window cosine": 1.81,
}
# For languages without vectors.
WEIGHTS_LEXICAL: Final[Mapping[str, float]] = {
    "score": 3.40,
    "coverage": 0.00,
    "best coverage": 0.15,
    "hit best": 0.73,
    "telling coverage": 0.96,
    "likeness": 4.42,
    "best likeness": 1.55,
    "before": 3.50,
    "after": 1.66,
    "so far": 1.04,
    "hit coverage": 2.75,
    "pairs": 1.02,
    "news": -2.53,
    "number": 2.17,
    "date": 2.51,
    "person": 2.18,
    "place": 1.45,
    "reason": 0.86,
}


def strengths(found: Matrix) -> Matrix:
    """Return the logit of each row of features, rounded, so that equal ones compare as equal.

    Args:
        found: Shape (sentences, features), with the features of ``WITH_VECTORS`` or ``LEXICAL``.
    """
    served = found.shape[1] == len(WITH_VECTORS)
    weights = WEIGHTS_WITH_VECTORS if served else WEIGHTS_LEXICAL
    names = WITH_VECTORS if served else LEXICAL
    result: Matrix = (found @ np.asarray([weights[name] for name in names])).round(_DECIMALS)
    return result


def shares(logits: Matrix) -> Matrix:
    """Return the share of each logit, sum 1."""
    powers = np.exp(logits - logits.max())
    result: Matrix = powers / powers.sum()
    return result
