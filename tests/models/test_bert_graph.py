from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from chapterhouse.errors import EngineError
from chapterhouse.models.bert import Bert
from chapterhouse.models.bert_graph import Linear, quantize
from chapterhouse.models.onnx_file import GraphWriter
from chapterhouse.models.onnx_session import open_session

IDS = np.asarray([2, 4, 6, 9, 5, 3])
TYPES = np.zeros(6, dtype=np.int64)
CONFIG = {"model_type": "bert", "num_hidden_layers": 2, "num_attention_heads": 2}


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


def test_the_package_onnx_finds_the_model_in_order() -> None:
    onnx = pytest.importorskip("onnx")
    writer = GraphWriter()
    (normed,) = writer.node(
        "LayerNormalization",
        ["x", writer.constant(np.ones(4, np.float32))],
        axis=-1,
        epsilon=1e-5,
    )
    writer.rename(normed, "y")
    shape = (1, "tokens", 4)
    data = writer.model({"x": shape}, {"y": shape})
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    result = open_session(data)({"x": np.asarray([[[1, 2, 3, 4]]], np.float32)})
    assert np.allclose(result, [[-1.3416, -0.4472, 0.4472, 1.3416]], atol=1e-3)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(EngineError, match="no ONNX model that runs here"):
        open_session(b"nothing of the kind")
