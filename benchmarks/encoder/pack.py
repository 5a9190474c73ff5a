"""The student as the two files that ``chapterhouse.models.built_in`` reads.

The graph has operators that ONNX Runtime adds to the standard ones:
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md

Weights lie in the file as 4-bit numbers in blocks. What turns them into the 8-bit numbers that the
products are made of are nodes on constants, which ONNX Runtime runs once, when it opens the graph:
for that its option ``session.disable_quant_qdq`` has to be set, else it runs them for each text.
"""

import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from network import EPSILON, LONGEST, SIZE, Encoder
from rounding import BLOCK, Rounded, in_blocks

# Products of unsigned and signed 8-bit numbers are added in pairs to 16 bits on processors
# without VNNI: with one bit less no sum overflows, and all processors give the same numbers.
LARGEST = 63
CONTRIBUTED = "com.microsoft"


def write_encoder(
    student: Encoder, layers: Sequence[dict[str, Rounded]], tokenizer: bytes, target: Path
) -> None:
    """Write graph and tokenizer (compressed already), and print their sizes and SHA-256."""
    data = encoder_model(student, layers)
    for name, content, stored in (
        ("encoder.onnx", data, data),
        ("encoder_tokenizer.json.gz", gzip.decompress(tokenizer), tokenizer),
    ):
        (target / name).write_bytes(stored)
        print(f"{name}: {len(stored):,} bytes, content {hashlib.sha256(content).hexdigest()}")


def encoder_model(student: Encoder, layers: Sequence[dict[str, Rounded]]) -> bytes:
    """Return the ONNX model of a student.

    Its input ``ids`` has shape (tokens,), its outputs ``words`` and ``hidden`` (tokens, size).
    """
    graph = _Graph()
    graph.table(in_blocks(student.words.weight))
    graph.node("Shape", ["ids"], "length")
    places = _numbers(student.places.weight)[:LONGEST].astype(np.float16)
    inputs = [graph.floats(places, "positions"), graph.constant(np.asarray([0]), "begin"), "length"]
    graph.node("Slice", inputs, "places")
    graph.node("Add", ["words", "places"], "summed")
    graph.node("Unsqueeze", ["summed", "begin"], "batch")
    graph.norm("batch", "embeddings", student.norm)
    state = "embeddings"
    for number, (layer, rounded) in enumerate(zip(student.layers, layers, strict=True)):
        state = _layer(graph, state, layer, rounded, f"layers.{number}")
    graph.node("Squeeze", [state, "begin"], "hidden")
    return graph.model()


def _layer(
    graph: "_Graph", state: str, layer: nn.Module, rounded: dict[str, Rounded], name: str
) -> str:
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    joined = Rounded(
        torch.cat([rounded[part].codes for part in "qkv"]),
        torch.cat([rounded[part].scales for part in "qkv"]),
    )
    bias = torch.cat([layer.q.bias, layer.k.bias, layer.v.bias])
    graph.linear(state, f"{name}.joined", joined, bias)
    graph.nodes.append(helper.make_node("Split", [f"{name}.joined"], parts, axis=-1, num_outputs=3))
    graph.node("MultiHeadAttention", parts, f"{name}.seen", CONTRIBUTED, num_heads=layer.heads)
    graph.linear(f"{name}.seen", f"{name}.attended", rounded["o"], layer.o.bias)
    # Not SkipLayerNormalization, which took a third of the time: four times that of these two.
    graph.node("Add", [f"{name}.attended", state], f"{name}.with_state")
    graph.norm(f"{name}.with_state", f"{name}.middle", layer.n1)
    graph.linear(f"{name}.middle", f"{name}.neurons", rounded["f1"], layer.f1.bias)
    graph.node("Gelu", [f"{name}.neurons"], f"{name}.active", CONTRIBUTED)
    graph.linear(f"{name}.active", f"{name}.made", rounded["f2"], layer.f2.bias)
    graph.node("Add", [f"{name}.made", f"{name}.middle"], f"{name}.with_middle")
    graph.norm(f"{name}.with_middle", f"{name}.state", layer.n2)
    return f"{name}.state"


class _Graph:
    """Collects the nodes and constants of a graph, in the order in which they run."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: NDArray[Any], name: str) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def floats(self, values: NDArray[np.float16], name: str) -> str:
        """Put 16-bit numbers and return the name of them as 32-bit numbers."""
        self.node("Cast", [self.constant(values, f"{name}.stored")], name, to=TensorProto.FLOAT)
        return name

    def node(
        self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any
    ) -> None:
        made = helper.make_node(operator, inputs, [output], domain=domain, **attributes)
        self.nodes.append(made)

    def table(self, rounded: Rounded) -> None:
        """Put the table, whose rows ``ids`` name, as ``words``."""
        scales = self.floats(_numbers(rounded.scales).astype(np.float16), "scales")
        looked_up = {"gather_axis": 0, "quantize_axis": 1, "block_size": BLOCK}
        inputs = [self._codes("codes", rounded), "ids", scales]
        self.node("GatherBlockQuantized", inputs, "words", CONTRIBUTED, **looked_up)

    def norm(self, state: str, output: str, norm: nn.LayerNorm) -> None:
        values = [
            self.constant(_numbers(getattr(norm, part)), f"{output}.{part}")
            for part in ("weight", "bias")
        ]
        made = helper.make_node(
            "LayerNormalization", [state, *values], [output], axis=-1, epsilon=EPSILON
        )
        self.nodes.append(made)

    def linear(self, state: str, output: str, rounded: Rounded, bias: Tensor) -> None:
        """Put a dense layer; its weights become 8-bit numbers with one scale an output."""
        largest = rounded.weights().abs().amax(1).clamp_min(1e-8) / LARGEST
        scale = self.constant(_numbers(largest), f"{output}.scale")
        inputs = [self._weights(output, rounded, scale), scale]
        bias_name = self.floats(_numbers(bias).astype(np.float16), f"{output}.bias")
        self.node("DynamicQuantizeMatMul", [state, *inputs, "", bias_name], output, CONTRIBUTED)

    def _weights(self, name: str, rounded: Rounded, largest: str) -> str:
        """Put the nodes that make 8-bit weights (inputs, outputs) of 4-bit ones in blocks."""
        codes = self._codes(f"{name}.codes", rounded)
        scales = self.floats(_numbers(rounded.scales).astype(np.float16), f"{name}.scales")
        exact, made = f"{name}.exact", f"{name}.bytes"
        self.node("DequantizeLinear", [codes, scales], exact, axis=1, block_size=BLOCK)
        self.node("QuantizeLinear", [exact, largest], made, axis=0, output_dtype=TensorProto.INT8)
        self.node("Transpose", [made], f"{name}.weights", perm=[1, 0])
        return f"{name}.weights"

    def _codes(self, name: str, rounded: Rounded) -> str:
        """Put 4-bit numbers, two a byte."""
        codes = _numbers(rounded.codes).astype(np.int8).astype(np.uint8) & 15
        stored = (codes[:, 0::2] | codes[:, 1::2] << 4).tobytes()
        self.constants.append(
            helper.make_tensor(name, TensorProto.INT4, codes.shape, stored, raw=True)
        )
        return name

    def model(self) -> bytes:
        ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])
        outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["tokens", SIZE])
            for name in ("words", "hidden")
        ]
        graph = helper.make_graph(self.nodes, "encoder", [ids], outputs, self.constants)
        operators = [helper.make_opsetid("", 21), helper.make_opsetid(CONTRIBUTED, 1)]
        made: bytes = helper.make_model(
            graph, opset_imports=operators, ir_version=10
        ).SerializeToString(deterministic=True)
        return made


def _numbers(tensor: Tensor) -> NDArray[np.float32]:
    numbers: NDArray[np.float32] = tensor.detach().numpy()
    return numbers
