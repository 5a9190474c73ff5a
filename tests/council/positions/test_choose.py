"""Which sentence answers, and how likely: laws of the two models, whatever their weights."""

import json
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chapterhouse.council.positions.candidates import FEATURES, Candidates
from chapterhouse.council.positions.choose import (
    SIGNS,
    PositionModel,
    choose,
    fitted_position_model,
    likelihood,
    position_model,
    signs_of,
)
from chapterhouse.retrieval.sentences import Sentence
from chapterhouse.types import Aspect, AspectKind

ASPECT = Aspect("a1", "How long", AspectKind.VALUE)
NUMBERS = st.floats(-3, 3, allow_nan=False).map(lambda number: round(number, 3))
TABLES = st.integers(1, 8).flatmap(
    lambda rows: arrays(float, (rows, len(FEATURES)), elements=NUMBERS)
)
WEIGHTS = st.lists(NUMBERS, min_size=len(FEATURES), max_size=len(FEATURES))


def candidates(table: np.ndarray) -> Candidates:
    texts = tuple(f"Sentence {row}." for row in range(len(table)))
    sentences = tuple(
        Sentence(0, 10 * row, 10 * row + 10, 10 * row, 10 * row + 9) for row in range(len(table))
    )
    return Candidates((), sentences, texts, table)


@given(TABLES, WEIGHTS)
def test_the_best_is_chosen_and_the_shares_are_one_together(
    table: np.ndarray,
    weights: list[float],
) -> None:
    chosen = choose(candidates(table), weights)
    assert chosen is not None
    assert chosen.score == pytest.approx((table @ np.asarray(weights)).max())
    assert chosen.share == pytest.approx(chosen.shares.max(), abs=1e-5)
    assert chosen.shares.sum() == pytest.approx(1, abs=1e-4)
    assert ((chosen.shares >= 0) & (chosen.shares <= 1)).all()


def test_of_no_sentences_none_is_chosen() -> None:
    model = fitted_position_model()
    assert choose(candidates(np.zeros((0, len(FEATURES)))), model.choice) is None


def test_a_sign_is_told_of_what_was_chosen() -> None:
    table = np.zeros((2, len(FEATURES)))
    table[1, FEATURES.index("offers")] = 1
    made = candidates(table)
    chosen = choose(made, [1.0] * len(FEATURES))
    assert chosen is not None
    assert chosen.row == 1
    others = [chosen.score, chosen.score - 2]
    told = dict(zip(SIGNS, signs_of(made, chosen, ASPECT, others), strict=True))
    assert told["best offers"] == 1
    assert told["yes or no"] == 0
    assert told["behind"] == 0  # nobody's is better
    assert told["above"] == pytest.approx(1)
    asked = Aspect("a1", "May we", AspectKind.YES_NO)
    assert dict(zip(SIGNS, signs_of(made, chosen, asked, others), strict=True))["yes or no"] == 1


@given(st.lists(NUMBERS, min_size=len(SIGNS), max_size=len(SIGNS)), st.sampled_from(range(9)))
def test_more_of_what_speaks_for_it_is_never_less_likely(signs: list[float], place: int) -> None:
    model = PositionModel((1.0,) * len(FEATURES), (0.0, *[0.5] * len(SIGNS)), 0.5)
    more = [number + (n == place) for n, number in enumerate(signs)]
    assert 0 <= likelihood(signs, model) <= likelihood(more, model) <= 1


def test_the_model_that_comes_along_is_whole() -> None:
    model = fitted_position_model()
    assert len(model.choice) == len(FEATURES)
    assert len(model.answers) == 1 + len(SIGNS)
    assert 0 < model.least < 1


@pytest.mark.parametrize("part", ["choice", "answers"])
@pytest.mark.parametrize("change", ["missing", "unknown"])
def test_a_model_with_other_weights_is_refused(part: str, change: str) -> None:
    path = files("chapterhouse.council.positions").joinpath("position_model.json")
    read = json.loads(path.read_text("utf-8"))
    if change == "missing":
        read[part].popitem()
    else:
        read[part]["colour"] = 1.0
    with pytest.raises(ValueError, match="features and signs"):
        position_model(json.dumps(read))
