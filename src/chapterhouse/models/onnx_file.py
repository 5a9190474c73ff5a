"""Writing ONNX models: the few messages of the format that a graph of known shape needs.

The format is that of Protocol Buffers; the numbers of the fields are those of
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. The package ``onnx`` does this too, and is
some sixty megabytes that nothing else here would use.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from numpy.typing import NDArray

CONTRIBUTED: Final = "com.microsoft"  # the operators that ONNX Runtime adds to the standard ones
_IR_VERSION: Final = 8
_STANDARD_OPERATORS: Final = 17
_TYPES: Final = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
_FLOAT, _INTEGER, _TEXT, _INTEGERS = 1, 2, 3, 7  # kinds of attributes

Attribute = float | int | str | Sequence[int]


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
        **attributes: Attribute,
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
        self.node_as("Identity", [name], wanted)

    def node_as(self, operator: str, inputs: Sequence[str], output: str) -> None:
        """Add an operator whose one output has the name given."""
        fields = [_text(1, name) for name in inputs]
        fields += [_text(2, output), _text(3, output), _text(4, operator)]
        self._nodes.append(b"".join(fields))

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}_{self._names}"


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        given, kind = _key(2, 5) + struct.pack("<f", value), _FLOAT
    elif isinstance(value, int):
        given, kind = _number(3, value), _INTEGER
    elif isinstance(value, str):
        given, kind = _text(4, value), _TEXT
    else:
        given, kind = b"".join(_number(8, each) for each in value), _INTEGERS
    return _text(1, name) + given + _number(20, kind)


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
