"""ONNX models: writing those of a known graph, and running any with ONNX Runtime.

A model is written in the few messages of the format that such a graph needs. The format is that of
Protocol Buffers; the numbers of the fields are those of
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. The package ``onnx`` does this too, and is
some sixty megabytes that nothing else here would use.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.loading import lazy

if TYPE_CHECKING:
    import onnxruntime
else:
    onnxruntime = lazy("onnxruntime")

CONTRIBUTED: Final = "com.microsoft"  # the operators that ONNX Runtime adds to the standard ones
_IR_VERSION: Final = 8
_STANDARD_OPERATORS: Final = 17
_TYPES: Final = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
_FLOAT, _INTEGER = 1, 2  # kinds of attributes
_ERRORS_ONLY: Final = 3  # a level of ONNX Runtime's log

Run = Callable[[Mapping[str, NDArray[Any]]], NDArray[np.float32]]


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
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
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


class GraphWriter:
    """Collects the nodes and constants of a graph, in the order in which they run."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._names = 0

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant and return its name.

        Raises:
            KeyError: its numbers are of a type that is not written.
        """
        name = self._name("constant")
        fields = [_number(1, size) for size in values.shape]
        fields += [_number(2, _TYPES[values.dtype.name]), _text(8, name)]
        self._constants.append(b"".join([*fields, _bytes(9, values.tobytes())]))
        return name

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: int = 1,
        *,
        domain: str = "",
        **attributes: float,
    ) -> list[str]:
        """Add an operator and return the names of its outputs; an empty input is left out."""
        names = [self._name(operator) for _ in range(outputs)]
        fields = [_text(1, name) for name in inputs]
        fields += [_text(2, name) for name in names]
        fields += [_text(3, names[0]), _text(4, operator)]
        fields += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
        fields += [_text(7, domain)] if domain else []
        self._nodes.append(b"".join(fields))
        return names

    def model(
        self, inputs: Mapping[str, Sequence[int | str]], outputs: Mapping[str, Sequence[int | str]]
    ) -> bytes:
        """Return the model; inputs and outputs are 32-bit floats of the shapes given.

        A length that varies has a name instead of a number.
        """
        graph = [_bytes(1, node) for node in self._nodes]
        graph += [_text(2, "graph")]
        graph += [_bytes(5, constant) for constant in self._constants]
        graph += [_bytes(11, _value(name, shape)) for name, shape in inputs.items()]
        graph += [_bytes(12, _value(name, shape)) for name, shape in outputs.items()]
        fields = [_number(1, _IR_VERSION), _bytes(7, b"".join(graph))]
        for domain, version in (("", _STANDARD_OPERATORS), (CONTRIBUTED, 1)):
            fields.append(_bytes(8, _text(1, domain) + _number(2, version)))
        return b"".join(fields)

    def rename(self, name: str, wanted: str) -> None:
        """Give an output of the graph a name of its choice."""
        fields = [_text(1, name), _text(2, wanted), _text(3, wanted), _text(4, "Identity")]
        self._nodes.append(b"".join(fields))

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}_{self._names}"


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _INTEGER)
    return _text(1, name) + _key(2, 5) + struct.pack("<f", value) + _number(20, _FLOAT)


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    sizes = [
        _bytes(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape
    ]
    tensor = _number(1, _TYPES["float32"]) + _bytes(2, b"".join(sizes))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value % 2**64)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - seven bits a byte
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
