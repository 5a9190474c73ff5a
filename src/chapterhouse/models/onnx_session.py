"""Running an ONNX model: one text after the other, on one thread each, always the same numbers."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError

Run = Callable[[Mapping[str, NDArray[Any]]], NDArray[np.float32]]

_QUIET: Final = 3  # onnxruntime's level for errors


def inference_session(model: str | bytes, name: str) -> Any:
    """Return ONNX Runtime's session of a model.

    Texts are embedded side by side on threads of ours, which is faster here than one text on many
    threads; so each uses one. Nodes stay as they are in the file but for what never changes:
    ONNX Runtime would join sums and normalisations to an operator that is four times slower.

    Args:
        model: Its bytes, or the path of its file.
        name: What to call it in messages.

    Raises:
        EngineError: it does not run here.
    """
    import onnxruntime  # noqa: PLC0415 - heavy, and most commands do without

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    if isinstance(model, bytes):
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # one class per status code, without a common one
        raise EngineError(f"{name} is no ONNX model that runs here: {error}") from error


def open_session(model: bytes) -> Run:
    """Return what runs a model of ours: its inputs by name to the first row of its output.

    Raises:
        EngineError: it does not run here.
    """
    session = inference_session(model, "The encoder")
    output = session.get_outputs()[0].name

    def run(inputs: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        try:
            (result,) = session.run([output], dict(inputs))
        except Exception as error:  # likewise
            raise EngineError(f"The encoder failed on a text: {error}") from error
        numbers: NDArray[np.float32] = np.asarray(result, dtype=np.float32)[0]
        return numbers

    return run
