"""How likely what is shown answers the question."""

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chapterhouse.answering.confidence import (
    SIGNS,
    ConfidenceModel,
    Signs,
    confidence,
    confidence_model,
)

WEIGHTS = st.tuples(*[st.floats(-1e6, 1e6)] * (len(SIGNS) + 1))
MODELS = st.builds(ConfidenceModel, WEIGHTS, WEIGHTS, st.floats(0, 1), st.floats(0, 1))
NOTHING = Signs(True, *[0.0] * len(SIGNS))  # noqa: FBT003 - meaning
ANY_SIGNS = st.builds(Signs, st.booleans(), *[st.floats(0, 1)] * len(SIGNS))


def fields(model: ConfidenceModel) -> dict[str, Any]:
    names = ("intercept", *SIGNS)
    return {
        "by meaning": dict(zip(names, model.by_meaning, strict=True)),
        "by words": dict(zip(names, model.by_words, strict=True)),
        "answer": model.answer,
        "passages": model.passages,
    }


def shipped() -> str:
    return files("chapterhouse.answering").joinpath("confidence.json").read_text("utf-8")


@given(ANY_SIGNS, MODELS)
def test_it_is_a_chance(signs: Signs, model: ConfidenceModel) -> None:
    assert 0.0 <= confidence(signs, model) <= 1.0


@given(ANY_SIGNS, MODELS, st.sampled_from(SIGNS), st.floats(0, 1))
def test_more_of_a_sign_moves_it_as_its_weight_says(
    signs: Signs, model: ConfidenceModel, sign: str, value: float
) -> None:
    own = model.by_meaning if signs.meaning else model.by_words
    weight = own[1 + SIGNS.index(sign)]
    assume(not signs.meaning or sign not in {"passage", "sentence"})
    other = replace(signs, **{sign: value})  # type: ignore[arg-type]  # a sign's name
    now, then = confidence(signs, model), confidence(other, model)
    if (value - getattr(signs, sign)) * weight >= 0:
        assert then >= now
    else:
        assert then <= now


@given(MODELS)
def test_a_model_is_what_its_json_says(model: ConfidenceModel) -> None:
    assert confidence_model(json.dumps(fields(model))) == model


def test_meaning_chooses_the_weights() -> None:
    none = (0.0,) * len(SIGNS)
    model = ConfidenceModel((9.0, *none), (-9.0, *none), 0.5, 0.1)
    near = replace(NOTHING, passage=1.0)
    assert confidence(near, model) > 0.9
    assert confidence(replace(near, meaning=False), model) < 0.1


def test_nothing_is_said_where_nothing_is_near() -> None:
    none = (0.0,) * len(SIGNS)
    model = ConfidenceModel((9.0, *none), (9.0, *none), 0.5, 0.1)
    assert confidence(replace(NOTHING, passage=0.1, sentence=0.1), model) == 0
    assert confidence(replace(NOTHING, passage=0.1, sentence=0.5), model) > 0.9


def test_that_of_the_program_is_whole() -> None:
    model = confidence_model(shipped())
    assert len(model.by_meaning) == len(model.by_words) == len(SIGNS) + 1
    assert 0 <= model.passages <= model.answer <= 1


@pytest.mark.parametrize("group", ["by meaning", "by words"])
def test_an_unknown_or_missing_sign_is_refused(group: str) -> None:
    known = json.loads(shipped())
    more = {**known, group: {**known[group], "loudness": 1.0}}
    less = {**known, group: dict.fromkeys(SIGNS, 1.0)}
    for wrong in (more, less):
        with pytest.raises(ValueError, match="signs"):
            confidence_model(json.dumps(wrong))
