"""BERT and RoBERTa as an ONNX graph, with 32-bit or 8-bit weights, run by ONNX Runtime.

Devlin et al. 2018, https://arxiv.org/abs/1810.04805; Liu et al. 2019,
https://arxiv.org/abs/1907.11692. One text at a time: without padding there is no mask to apply,
and a text's numbers do not depend on those it came with. On a CPU batches gain nothing.

The graph begins after the sum of the embeddings: rows of the vocabulary's table are looked up
outside of it, so that the table need be neither copied into the graph nor unpacked. It uses ONNX
Runtime's own fused operators:
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.models.onnx import CONTRIBUTED, GraphWriter, open_session

Floats = NDArray[np.float32]

# Products of unsigned and signed 8-bit numbers are added in pairs to 16 bits on processors
# without VNNI: with one bit less no sum overflows, and all processors give the same numbers.
_LARGEST: Final = 63
_ACTIVATIONS: Final = frozenset({"gelu", "gelu_new", "gelu_pytorch_tanh", "relu"})
_WORDS: Final = "embeddings.word_embeddings.weight"
_ROBERTA: Final = frozenset({"roberta", "xlm-roberta", "camembert"})
_SUPPORTED: Final = frozenset({"bert", *_ROBERTA})


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


def quantize(linear: Linear) -> Linear:
    """Return a dense layer with 8-bit weights, one scale an output."""
    weights = np.asarray(linear.weights, dtype=np.float32)
    scale = np.abs(weights).max(axis=0) / _LARGEST
    scale = np.where(scale > 0, scale, 1.0).astype(np.float32)
    # A scale next to zero is not exact enough for the largest weight to come out as _LARGEST.
    codes = np.clip(np.rint(weights / scale), -_LARGEST, _LARGEST)
    return Linear(codes.astype(np.int8), linear.bias, scale)


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


Weigh = Callable[[Linear], Linear]


def exact(linear: Linear) -> Linear:
    """Leave a dense layer in 32 bits."""
    return linear


class Bert:
    """An encoder with its weights, and the head of a cross-encoder where the model has one."""

    def __init__(
        self, tensors: Mapping[str, NDArray[Any]], config: Mapping[str, Any], weigh: Weigh = exact
    ) -> None:
        """Take the weights.

        Args:
            tensors: By the names that Hugging Face's transformers gives them.
            config: What ``config.json`` says.
            weigh: What becomes of the weights of the layers: ``exact``, or ``quantize``.

        Raises:
            EngineError: it is another kind of model.
        """
        kind = str(config.get("model_type", ""))
        words = next((name for name in tensors if name.endswith(_WORDS)), None)
        if kind not in _SUPPORTED or words is None or _is_relative(config):
            raise EngineError(
                f"Models of the kind '{kind}' cannot be read from safetensors.",
                hint="Use an ONNX export of the model.",
            )
        prefix = words.removesuffix(_WORDS)
        self._tensors = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
        padding = int(config.get("pad_token_id") or 0)
        self._first_position = padding + 1 if kind in _ROBERTA else 0
        layers = [self._layer(number, weigh) for number in range(config["num_hidden_layers"])]
        self._session = open_session(
            encoder_graph(self._norm("embeddings.LayerNorm"), layers, _shape(config))
        )

    def hidden(self, ids: NDArray[np.int64], types: NDArray[np.int64]) -> Floats:
        """Return the last hidden state, shape (tokens, hidden size).

        Args:
            ids: The tokens of one text, shape (tokens,).
            types: For each token whether it is of the first text or the second.
        """
        positions = np.arange(len(ids)) + self._first_position
        kinds = self._floats("embeddings.token_type_embeddings.weight")
        embeddings = (
            self._tensors[_WORDS][ids].astype(np.float32)
            + self._tensors["embeddings.position_embeddings.weight"][positions].astype(np.float32)
            + kinds[np.minimum(types, len(kinds) - 1)]  # RoBERTa has one
        )
        return self._session({"embeddings": embeddings[None]})

    def logits(self, ids: NDArray[np.int64], types: NDArray[np.int64]) -> Floats:
        """Return what the model's head makes of the first token, shape (labels,).

        Raises:
            EngineError: the model has no such head.
        """
        dense, last = (
            ("classifier.dense", "classifier.out_proj")
            if "classifier.dense.weight" in self._tensors
            else ("pooler.dense", "classifier")
        )
        if f"{dense}.weight" not in self._tensors or f"{last}.weight" not in self._tensors:
            raise EngineError(
                "The model is no cross-encoder: it has no classifier.",
                hint="Name the folder of a reranking model in rerank.folder.",
            )
        first = self.hidden(ids, types)[0]
        scores: Floats = self._applied(np.tanh(self._applied(first, dense)), last)
        return scores

    def _layer(self, number: int, weigh: Weigh) -> Layer:
        name = f"encoder.layer.{number}"
        attention = f"{name}.attention"
        parts = [self._linear(f"{attention}.self.{part}") for part in ("query", "key", "value")]
        joined = Linear(
            np.concatenate([part.weights for part in parts], axis=1),
            np.concatenate([part.bias for part in parts]),
        )
        return Layer(
            query_key_value=weigh(joined),
            attention_output=weigh(self._linear(f"{attention}.output.dense")),
            attention_norm=self._norm(f"{attention}.output.LayerNorm"),
            inner=weigh(self._linear(f"{name}.intermediate.dense")),
            output=weigh(self._linear(f"{name}.output.dense")),
            output_norm=self._norm(f"{name}.output.LayerNorm"),
        )

    def _linear(self, name: str) -> Linear:
        weights = np.ascontiguousarray(self._floats(f"{name}.weight").T)
        return Linear(weights, self._floats(f"{name}.bias"))

    def _norm(self, name: str) -> Norm:
        return Norm(self._floats(f"{name}.weight"), self._floats(f"{name}.bias"))

    def _applied(self, state: Floats, name: str) -> Floats:
        product: Floats = state @ self._floats(f"{name}.weight").T + self._floats(f"{name}.bias")
        return product

    def _floats(self, name: str) -> Floats:
        return self._tensors[name].astype(np.float32)


def _shape(config: Mapping[str, Any]) -> Shape:
    activation = str(config.get("hidden_act", "gelu"))
    if activation not in _ACTIVATIONS:
        raise EngineError(
            f"Models with the activation '{activation}' cannot be read from safetensors.",
            hint="Use an ONNX export of the model.",
        )
    epsilon = float(config.get("layer_norm_eps", 1e-12))
    return Shape(int(config["num_attention_heads"]), activation, epsilon)


def _is_relative(config: Mapping[str, Any]) -> bool:
    return str(config.get("position_embedding_type") or "absolute") != "absolute"
