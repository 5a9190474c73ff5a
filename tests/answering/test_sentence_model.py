"""The weights of the sentence model."""

import numpy as np
import pytest

from chapterhouse.answering.sentence_features import LEXICAL, WITH_VECTORS
from chapterhouse.answering.sentence_model import (
    WEIGHTS_LEXICAL,
    WEIGHTS_WITH_VECTORS,
    shares,
    strengths,
)


def test_every_feature_has_a_weight() -> None:
    assert tuple(WEIGHTS_WITH_VECTORS) == WITH_VECTORS
    assert tuple(WEIGHTS_LEXICAL) == LEXICAL


@pytest.mark.parametrize("names", [LEXICAL, WITH_VECTORS])
def test_more_of_the_question_is_never_weaker(names: tuple[str, ...]) -> None:
    rows = np.zeros((len(names), len(names)))
    np.fill_diagonal(rows, 1.0)
    stronger = strengths(rows)
    assert all(value >= 0 for name, value in zip(names, stronger, strict=True) if name != "news")


def test_shares_add_up_and_large_logits_do_not_overflow() -> None:
    found = shares(np.asarray([1000.0, 999.0, -1000.0]))
    assert found.sum() == pytest.approx(1)
    assert found[0] == pytest.approx(0.731, abs=1e-3)
