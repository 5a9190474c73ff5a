"""The student's weights as the two files that ``chapterhouse.models.built_in`` reads.

The graph has the operators that ONNX Runtime adds to the standard ones:
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from network import HEADS, LAYERS, LONGEST, Encoder

Floats = NDArray[np.float32]
Tensors = dict[str, NDArray[Any]]

# Products of unsigned and signed 8-bit numbers are added in pairs to 16 bits on processors
# without VNNI: with one bit less no sum overflows, and all processors give the same numbers.
LARGEST = 63
GROUP = 64  # numbers of the table that share a scale
EPSILON = 1e-12
CONTRIBUTED = "com.microsoft"


def write_encoder(student: Encoder, tokenizer: Path, target: Path) -> None:
    """Write graph and tokenizer, and print their sizes and SHA-256."""
    tensors: Tensors = {}
    tensors["words"], tensors["word_scales"] = pack_table(_numbers(student.words.weight))
    places = _numbers(student.places.weight)[:LONGEST] + _numbers(student.kind)
    tensors["positions"] = places.astype(np.float16)
    _put_norm(tensors, "norm", student.norm)
    for number, layer in enumerate(student.layers):
        name = f"layers.{number}"
        _put_linear(tensors, f"{name}.query_key_value", layer.q, layer.k, layer.v)
        _put_linear(tensors, f"{name}.attention_output", layer.o)
        _put_norm(tensors, f"{name}.attention_norm", layer.n1)
        _put_linear(tensors, f"{name}.inner", layer.f1)
        _put_linear(tensors, f"{name}.output", layer.f2)
        _put_norm(tensors, f"{name}.output_norm", layer.n2)
    data = encoder_model(tensors)
    words = tokenizer.read_bytes()
    for name, content, stored in (
        ("encoder.onnx", data, data),
        ("encoder_tokenizer.json.gz", words, gzip.compress(words, mtime=0)),
    ):
        (target / name).write_bytes(stored)
        print(f"{name}: {len(stored):,} bytes, content {hashlib.sha256(content).hexdigest()}")


def pack_table(table: Floats) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Return a table in 4-bit numbers of -7 to 7, two a byte, and the scale of each group of 64.

    A number n is written as n + 8. Shape of the table: (rows, a multiple of 64).
    """
    rows, size = table.shape
    groups = table.reshape(rows, size // GROUP, GROUP)
    scales = (np.abs(groups).max(axis=-1) / 7).astype(np.float16)
    steps = np.where(scales > 0, scales, 1).astype(np.float32)[..., None]
    codes = (np.clip(np.rint(groups / steps), -7, 7) + 8).astype(np.uint8).reshape(rows, size)
    return codes[:, 0::2] | codes[:, 1::2] << 4, scales


def unpack_table(codes: NDArray[np.uint8], scales: NDArray[np.float16]) -> Floats:
    """Return the rows of a table that ``pack_table`` made, shape (rows, numbers)."""
    rows = len(codes)
    numbers = np.stack([codes & 0xF, codes >> 4], axis=-1).reshape(rows, -1, GROUP)
    values = (numbers.astype(np.float32) - 8) * scales.astype(np.float32)[..., None]
    return values.reshape(rows, -1)


def encoder_model(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the ONNX model of an encoder.

    Its input ``ids`` has shape (tokens,), its outputs ``words`` and ``hidden`` (tokens, size).
    """
    graph = _Graph()
    (codes, scales), size = _table(tensors, graph), tensors["positions"].shape[1]
    looked_up = {"gather_axis": 0, "quantize_axis": 1, "block_size": GROUP}
    graph.node("GatherBlockQuantized", [codes, "ids", scales], "words", CONTRIBUTED, **looked_up)
    graph.node("Shape", ["ids"], "length")
    places = [graph.constant(tensors["positions"].astype(np.float32), "positions")]
    places += [graph.constant(np.asarray([0]), "begin"), "length"]
    graph.node("Slice", places, "places")
    graph.node("Add", ["words", "places"], "summed")
    graph.node("Unsqueeze", ["summed", "begin"], "batch")
    graph.norm("batch", "embeddings", tensors, "norm")
    state = "embeddings"
    for number in range(LAYERS):
        state = _layer(graph, state, tensors, f"layers.{number}")
    graph.node("Squeeze", [state, "begin"], "hidden")
    return graph.model(size)


def _table(tensors: Mapping[str, NDArray[Any]], graph: "_Graph") -> tuple[str, str]:
    codes, scales = tensors["words"], tensors["word_scales"].astype(np.float32)
    signed = codes ^ 0x88  # n + 8 to n in two's complement, both halves of a byte at once
    shape = (len(codes), codes.shape[1] * 2)
    graph.constants.append(
        helper.make_tensor("codes", TensorProto.INT4, shape, signed.tobytes(), raw=True)
    )
    return "codes", graph.constant(scales, "scales")


def _layer(graph: "_Graph", state: str, tensors: Mapping[str, NDArray[Any]], name: str) -> str:
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    graph.linear(state, f"{name}.joined", tensors, f"{name}.query_key_value")
    graph.nodes.append(helper.make_node("Split", [f"{name}.joined"], parts, axis=-1, num_outputs=3))
    graph.node("MultiHeadAttention", parts, f"{name}.seen", CONTRIBUTED, num_heads=HEADS)
    graph.linear(f"{name}.seen", f"{name}.attended", tensors, f"{name}.attention_output")
    # Not SkipLayerNormalization, which took a third of the time: four times that of these two.
    graph.node("Add", [f"{name}.attended", state], f"{name}.with_state")
    graph.norm(f"{name}.with_state", f"{name}.middle", tensors, f"{name}.attention_norm")
    graph.linear(f"{name}.middle", f"{name}.neurons", tensors, f"{name}.inner")
    graph.node("Gelu", [f"{name}.neurons"], f"{name}.active", CONTRIBUTED)
    graph.linear(f"{name}.active", f"{name}.made", tensors, f"{name}.output")
    graph.node("Add", [f"{name}.made", f"{name}.middle"], f"{name}.with_middle")
    graph.norm(f"{name}.with_middle", f"{name}.state", tensors, f"{name}.output_norm")
    return f"{name}.state"


class _Graph:
    """Collects the nodes and constants of a graph, in the order in which they run."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: NDArray[Any], name: str) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(
        self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any
    ) -> None:
        made = helper.make_node(operator, inputs, [output], domain=domain, **attributes)
        self.nodes.append(made)

    def norm(self, state: str, output: str, tensors: Mapping[str, NDArray[Any]], name: str) -> None:
        values = [
            self.constant(tensors[f"{name}.{part}"].astype(np.float32), f"{name}.{part}")
            for part in ("weight", "bias")
        ]
        made = helper.make_node(
            "LayerNormalization", [state, *values], [output], axis=-1, epsilon=EPSILON
        )
        self.nodes.append(made)

    def linear(
        self, state: str, output: str, tensors: Mapping[str, NDArray[Any]], name: str
    ) -> None:
        weights = self.constant(tensors[f"{name}.weights"].astype(np.int8), f"{name}.weights")
        scale, bias = (
            self.constant(tensors[f"{name}.{part}"].astype(np.float32), f"{name}.{part}")
            for part in ("scale", "bias")
        )
        self.node("DynamicQuantizeMatMul", [state, weights, scale, "", bias], output, CONTRIBUTED)

    def model(self, size: int) -> bytes:
        ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])
        outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["tokens", size])
            for name in ("words", "hidden")
        ]
        graph = helper.make_graph(self.nodes, "encoder", [ids], outputs, self.constants)
        operators = [helper.make_opsetid("", 21), helper.make_opsetid(CONTRIBUTED, 1)]
        made: bytes = helper.make_model(
            graph, opset_imports=operators, ir_version=10
        ).SerializeToString(deterministic=True)
        return made


def _put_linear(tensors: Tensors, name: str, *parts: nn.Module) -> None:
    """Put a dense layer with 8-bit weights, shape (inputs, outputs), one scale an output."""
    weights = np.concatenate([_numbers(part.weight).T for part in parts], axis=1)
    bias = np.concatenate([_numbers(part.bias) for part in parts])
    scale = np.abs(weights).max(axis=0) / LARGEST
    scale = np.where(scale > 0, scale, 1.0).astype(np.float32)
    # A scale next to zero is not exact enough for the largest weight to come out as LARGEST.
    codes = np.clip(np.rint(weights / scale), -LARGEST, LARGEST)
    tensors[f"{name}.weights"] = codes.astype(np.int8)
    tensors[f"{name}.bias"] = bias.astype(np.float16)
    tensors[f"{name}.scale"] = scale


def _put_norm(tensors: Tensors, name: str, norm: nn.LayerNorm) -> None:
    tensors[f"{name}.weight"] = _numbers(norm.weight)
    tensors[f"{name}.bias"] = _numbers(norm.bias)


def _numbers(tensor: object) -> Floats:
    assert isinstance(tensor, Tensor)
    numbers: Floats = tensor.detach().numpy()
    return numbers
