"""The layers of BERT as an ONNX graph, with 32-bit or 8-bit weights.

Devlin et al. 2018, https://arxiv.org/abs/1810.04805. The graph begins after the sum of the
embeddings: rows of the vocabulary's table are looked up outside of it, so that the table need be
neither copied into the graph nor unpacked. It uses ONNX Runtime's own fused operators:
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.models.onnx_file import CONTRIBUTED, GraphWriter

Floats = NDArray[np.float32]

# Products of unsigned and signed 8-bit numbers are added in pairs to 16 bits on processors
# without VNNI: with one bit less no sum overflows, and all processors give the same numbers.
_LARGEST: Final = 63


@dataclass(frozen=True, slots=True)
class Linear:
    """A dense layer: ``x @ weights + bias``.

    Attributes:
        weights: Shape (inputs, outputs): 32-bit floats, or integers of -63 to 63.
        bias: Shape (outputs,).
        scale: What an integer of each column stands for, shape (outputs,); None for floats.
    """

    weights: NDArray[np.float32] | NDArray[np.int8]
    bias: Floats
    scale: Floats | None = None


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalisation."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: attention over all tokens, then two dense layers for each token."""

    query_key_value: Linear
    attention_output: Linear
    attention_norm: Norm
    inner: Linear
    output: Linear
    output_norm: Norm


@dataclass(frozen=True, slots=True)
class Shape:
    """What the weights do not say.

    Attributes:
        heads: Number of attention heads.
        activation: ``gelu``, ``gelu_new`` (its approximation by tanh) or ``relu``.
        epsilon: Of the layer normalisation.
    """

    heads: int
    activation: str = "gelu"
    epsilon: float = 1e-12


ACTIVATIONS: Final = frozenset({"gelu", "gelu_new", "gelu_pytorch_tanh", "relu"})


def quantize(linear: Linear) -> Linear:
    """Return a dense layer with 8-bit weights, one scale an output."""
    weights = np.asarray(linear.weights, dtype=np.float32)
    scale = np.abs(weights).max(axis=0) / _LARGEST
    scale = np.where(scale > 0, scale, 1.0).astype(np.float32)
    return Linear(np.rint(weights / scale).astype(np.int8), linear.bias, scale)


def encoder_graph(embedding_norm: Norm, layers: Sequence[Layer], shape: Shape) -> bytes:
    """Return the ONNX model of an encoder.

    Its input ``embeddings`` has shape (1, tokens, size), as has its output ``hidden``.
    """
    writer = GraphWriter()
    size = len(embedding_norm.weight)
    (state,) = writer.node(
        "LayerNormalization",
        ["embeddings", *_norm(writer, embedding_norm)],
        axis=-1,
        epsilon=shape.epsilon,
    )
    for layer in layers:
        state = _layer(writer, state, layer, shape)
    writer.rename(state, "hidden")
    sizes = (1, "tokens", size)
    return writer.model({"embeddings": sizes}, {"hidden": sizes})


def _layer(writer: GraphWriter, state: str, layer: Layer, shape: Shape) -> str:
    joined = _linear(writer, state, layer.query_key_value)
    query, key, value = writer.node("Split", [joined], 3, axis=-1)
    (attended,) = writer.node(
        "MultiHeadAttention", [query, key, value], domain=CONTRIBUTED, num_heads=shape.heads
    )
    attended = _linear(writer, attended, layer.attention_output)
    state = _add_and_norm(writer, attended, state, layer.attention_norm, shape)
    inner = _activate(writer, _linear(writer, state, layer.inner), shape.activation)
    return _add_and_norm(
        writer, _linear(writer, inner, layer.output), state, layer.output_norm, shape
    )


def _linear(writer: GraphWriter, state: str, linear: Linear) -> str:
    weights, bias = writer.constant(linear.weights), writer.constant(linear.bias)
    if linear.scale is None:
        (product,) = writer.node("MatMul", [state, weights])
        return writer.node("Add", [product, bias])[0]
    inputs = [state, weights, writer.constant(linear.scale), "", bias]
    return writer.node("DynamicQuantizeMatMul", inputs, domain=CONTRIBUTED)[0]


def _add_and_norm(writer: GraphWriter, state: str, skip: str, norm: Norm, shape: Shape) -> str:
    # Not SkipLayerNormalization, which took a third of the time: four times that of these two.
    (added,) = writer.node("Add", [state, skip])
    inputs = [added, *_norm(writer, norm)]
    return writer.node("LayerNormalization", inputs, axis=-1, epsilon=shape.epsilon)[0]


def _activate(writer: GraphWriter, state: str, activation: str) -> str:
    if activation == "relu":
        return writer.node("Relu", [state])[0]
    operator = "Gelu" if activation == "gelu" else "FastGelu"
    return writer.node(operator, [state], domain=CONTRIBUTED)[0]


def _norm(writer: GraphWriter, norm: Norm) -> list[str]:
    return [writer.constant(norm.weight), writer.constant(norm.bias)]
