"""BERT beside what PyTorch and transformers 5 give for the same weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from chapterhouse.errors import EngineError
from chapterhouse.models.bert import Bert, Linear, quantize

IDS = np.asarray([2, 4, 6, 9, 5, 3, 8, 7, 3])
TYPES = np.asarray([0, 0, 0, 0, 0, 0, 1, 1, 1])
CONFIG = {
    "model_type": "bert",
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "layer_norm_eps": 1e-12,
}
# BertForSequenceClassification and XLMRobertaModel, the first and last token's hidden state.
FIRST = {
    "gelu": (-0.52747, -0.74453, 0.29449, 1.01827, -2.20924, 0.95892, 0.55139, 1.21715),
    "gelu_new": (-0.52744, -0.74425, 0.2942, 1.01821, -2.20926, 0.959, 0.55133, 1.21733),
    "relu": (-0.59122, -0.648, 0.28775, 1.00673, -2.21137, 0.81206, 0.69631, 1.23824),
}
LAST = (-0.0768, -1.01259, 0.42875, 0.98092, -2.24281, 0.92081, 0.07227, 1.29648)
LOGIT = {"gelu": 0.0604237, "gelu_new": 0.0606494, "relu": 0.1079214}
XLM_ROBERTA = (-0.20592, -0.9611, 0.47361, 1.08396, -2.22285, 1.28846, 0.0401, 0.94526)
Tensors = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("activation", FIRST)
@pytest.mark.parametrize("prefix", ["", "bert."])
def test_bert_gives_the_reference_numbers(
    bert_tensors: Tensors, activation: str, prefix: str
) -> None:
    model = Bert(bert_tensors(prefix=prefix), {**CONFIG, "hidden_act": activation})
    hidden = model.hidden(IDS, TYPES)
    assert hidden.dtype == np.float32
    assert np.allclose(hidden[0], FIRST[activation], atol=1e-5)
    assert activation != "gelu" or np.allclose(hidden[-1], LAST, atol=1e-5)
    assert np.allclose(model.logits(IDS, TYPES), [LOGIT[activation]], atol=1e-5)


def test_roberta_counts_its_positions_from_behind_the_padding(bert_tensors: Tensors) -> None:
    tensors = bert_tensors()
    tensors["embeddings.token_type_embeddings.weight"] = tensors[
        "embeddings.token_type_embeddings.weight"
    ][:1]
    changes = {"model_type": "xlm-roberta", "pad_token_id": 1, "layer_norm_eps": 1e-5}
    hidden = Bert(tensors, {**CONFIG, **changes}).hidden(IDS, TYPES)
    assert np.allclose(hidden[0], XLM_ROBERTA, atol=1e-5)


def test_half_precision_is_read(bert_tensors: Tensors) -> None:
    tensors = {name: tensor.astype(np.float16) for name, tensor in bert_tensors().items()}
    hidden = Bert(tensors, {**CONFIG, "hidden_act": "gelu"}).hidden(IDS, TYPES)
    assert hidden.dtype == np.float32
    assert np.allclose(hidden[0], FIRST["gelu"], atol=2e-2)


def test_relative_positions_are_refused(bert_tensors: Tensors) -> None:
    with pytest.raises(EngineError, match="'bert'"):
        Bert(bert_tensors(), {**CONFIG, "position_embedding_type": "relative_key"})
    with pytest.raises(EngineError, match="''"):
        Bert({}, {})


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 8), st.integers(1, 8)),
        elements=st.floats(-10, 10, width=32),
    )
)
def test_eight_bits_are_near_to_the_numbers(weights: np.ndarray) -> None:
    small = quantize(Linear(weights, np.zeros(weights.shape[1], np.float32)))
    assert small.scale is not None
    assert small.weights.dtype == np.int8
    assert np.abs(small.weights).max() <= 63
    assert (np.abs(small.weights * small.scale - weights) <= small.scale * 0.5 + 1e-6).all()


def test_eight_bit_layers_give_nearly_the_same_states(
    bert_tensors: Callable[..., dict[str, Any]],
) -> None:
    tensors = bert_tensors()
    exact = Bert(tensors, CONFIG).hidden(IDS, TYPES)
    small = Bert(tensors, CONFIG, quantize).hidden(IDS, TYPES)
    cosines = (exact * small).sum(1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(small, axis=1)
    assert cosines.min() > 0.98
