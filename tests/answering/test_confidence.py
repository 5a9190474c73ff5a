import json
from dataclasses import fields, replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chapterhouse.answering.confidence import (
    BY_MEANING,
    BY_WORDS,
    ConfidenceModel,
    Signs,
    confidence,
    confidence_model,
)

SIGNS = tuple(field.name for field in fields(Signs) if field.name != "meaning")


def weights(signs: tuple[str, ...]) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[st.floats(-1e6, 1e6)] * (len(signs) + 1))


MODELS = st.builds(
    ConfidenceModel, weights(BY_MEANING), weights(BY_WORDS), st.floats(0, 1), st.floats(0, 1)
)
NOTHING = Signs(True, *[0.0] * len(SIGNS))  # noqa: FBT003 - meaning
ANY_SIGNS = st.builds(Signs, st.booleans(), *[st.floats(0, 1)] * len(SIGNS))


def written(model: ConfidenceModel) -> dict[str, Any]:
    return {
        "by meaning": dict(zip(("intercept", *BY_MEANING), model.by_meaning, strict=True)),
        "by words": dict(zip(("intercept", *BY_WORDS), model.by_words, strict=True)),
        "answer": model.answer,
        "passages": model.passages,
    }


def constant(by_meaning: float, by_words: float) -> ConfidenceModel:
    none = ((0.0,) * len(BY_MEANING), (0.0,) * len(BY_WORDS))
    return ConfidenceModel((by_meaning, *none[0]), (by_words, *none[1]), 0.5, 0.1)


def shipped() -> str:
    return files("chapterhouse.answering").joinpath("confidence.json").read_text("utf-8")


@given(ANY_SIGNS, MODELS)
def test_it_is_a_chance(signs: Signs, model: ConfidenceModel) -> None:
    assert 0.0 <= confidence(signs, model) <= 1.0


@given(ANY_SIGNS, MODELS, st.sampled_from(SIGNS), st.floats(0, 1))
def test_a_weight_moves_it(signs: Signs, model: ConfidenceModel, sign: str, value: float) -> None:
    own = written(model)["by meaning" if signs.meaning else "by words"]
    weight = own.get(sign, 0.0)
    assume(not signs.meaning or sign not in {"cosine", "score", "absent"})
    other = replace(signs, **{sign: value})  # type: ignore[arg-type]  # a sign's name
    now, then = confidence(signs, model), confidence(other, model)
    if (value - getattr(signs, sign)) * weight >= 0:
        assert then >= now
    else:
        assert then <= now


@given(MODELS)
def test_a_model_is_what_its_json_says(model: ConfidenceModel) -> None:
    assert confidence_model(json.dumps(written(model))) == model


def test_meaning_chooses_the_weights() -> None:
    model = constant(9.0, -9.0)
    near = replace(NOTHING, cosine=1.0)
    assert confidence(near, model) > 0.9
    assert confidence(replace(near, meaning=False), model) < 0.1


def test_nothing_is_said_where_nothing_is_near() -> None:
    model = constant(9.0, 9.0)
    assert confidence(replace(NOTHING, cosine=0.1), model) == 0
    near = replace(NOTHING, cosine=0.35)
    assert confidence(near, model) > 0.9
    assert confidence(replace(near, absent=0.9), model) == 0  # the words are nowhere


def test_that_of_the_program_is_whole() -> None:
    model = confidence_model(shipped())
    assert len(model.by_meaning) == len(BY_MEANING) + 1
    assert len(model.by_words) == len(BY_WORDS) + 1
    assert {*BY_MEANING, *BY_WORDS, "absent"} == set(SIGNS)
    assert 0 <= model.passages <= model.answer <= 1


@pytest.mark.parametrize("group", ["by meaning", "by words"])
def test_an_unknown_or_missing_sign_is_refused(group: str) -> None:
    known = json.loads(shipped())
    more = {**known, group: {**known[group], "loudness": 1.0}}
    less = {**known, group: {"intercept": 1.0}}
    for wrong in (more, less):
        with pytest.raises(ValueError, match="signs"):
            confidence_model(json.dumps(wrong))
