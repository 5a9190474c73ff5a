"""Writing and opening ONNX models."""

import numpy as np
import pytest

from chapterhouse.errors import EngineError
from chapterhouse.models.onnx import GraphWriter, open_session


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
