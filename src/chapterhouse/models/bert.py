"""The forward pass of BERT and RoBERTa in NumPy, for models whose folder has no ONNX export.

Devlin et al. 2018, https://arxiv.org/abs/1810.04805; Liu et al. 2019,
https://arxiv.org/abs/1907.11692. One text at a time: without padding there is no mask to apply,
and a text's numbers do not depend on those it came with. On a CPU batches gain nothing.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError

Numbers = NDArray[np.float32]
_WORDS: Final = "embeddings.word_embeddings.weight"
_ROBERTA: Final = frozenset({"roberta", "xlm-roberta", "camembert"})
_SUPPORTED: Final = frozenset({"bert", *_ROBERTA})


class Bert:
    """An encoder with its weights, and the head of a cross-encoder where the model has one."""

    def __init__(self, tensors: Mapping[str, NDArray[Any]], config: Mapping[str, Any]) -> None:
        """Take the weights.

        Args:
            tensors: By the names that Hugging Face's transformers gives them.
            config: What ``config.json`` says.

        Raises:
            EngineError: it is another kind of model.
        """
        kind = str(config.get("model_type", ""))
        words = next((name for name in tensors if name.endswith(_WORDS)), None)
        if kind not in _SUPPORTED or words is None or _is_relative(config):
            raise EngineError(
                f"Models of the kind '{kind}' cannot be read from safetensors.",
                hint="Use an ONNX export of the model: pip install 'chapterhouse[onnx]'",
            )
        prefix = words.removesuffix(_WORDS)
        self._weights = {
            name.removeprefix(prefix): tensor.astype(np.float32) for name, tensor in tensors.items()
        }
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        self._activate = _activation(str(config.get("hidden_act", "gelu")))
        padding = int(config.get("pad_token_id") or 0)
        self._first_position = padding + 1 if kind in _ROBERTA else 0

    def hidden(self, ids: NDArray[np.int64], types: NDArray[np.int64]) -> Numbers:
        """Return the last hidden state, shape (tokens, hidden size).

        Args:
            ids: The tokens of one text, shape (tokens,).
            types: For each token whether it is of the first text or the second.
        """
        positions = np.arange(len(ids)) + self._first_position
        kinds = self._weights["embeddings.token_type_embeddings.weight"]
        state = (
            self._weights[_WORDS][ids]
            + self._weights["embeddings.position_embeddings.weight"][positions]
            + kinds[np.minimum(types, len(kinds) - 1)]  # RoBERTa has one
        )
        state = self._norm(state, "embeddings.LayerNorm")
        for layer in range(self._layers):
            state = self._layer(state, f"encoder.layer.{layer}")
        return state

    def logits(self, ids: NDArray[np.int64], types: NDArray[np.int64]) -> Numbers:
        """Return what the model's head makes of the first token, shape (labels,).

        Raises:
            EngineError: the model has no such head.
        """
        dense, last = (
            ("classifier.dense", "classifier.out_proj")
            if "classifier.dense.weight" in self._weights
            else ("pooler.dense", "classifier")
        )
        if f"{dense}.weight" not in self._weights or f"{last}.weight" not in self._weights:
            raise EngineError(
                "The model is no cross-encoder: it has no classifier.",
                hint="Name the folder of a reranking model in rerank.folder.",
            )
        first = self.hidden(ids, types)[:1]
        scores: Numbers = self._linear(np.tanh(self._linear(first, dense)), last)[0]
        return scores

    def _layer(self, state: Numbers, name: str) -> Numbers:
        attended = self._linear(
            self._attention(state, f"{name}.attention.self"), f"{name}.attention.output.dense"
        )
        state = self._norm(attended + state, f"{name}.attention.output.LayerNorm")
        inner = self._activate(self._linear(state, f"{name}.intermediate.dense"))
        return self._norm(
            self._linear(inner, f"{name}.output.dense") + state, f"{name}.output.LayerNorm"
        )

    def _attention(self, state: Numbers, name: str) -> Numbers:
        tokens, size = state.shape
        query, key, value = (
            self._linear(state, f"{name}.{part}")
            .reshape(tokens, self._heads, size // self._heads)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(size // self._heads))
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed: Numbers = (shares @ value).transpose(1, 0, 2).reshape(tokens, size)
        return mixed

    def _linear(self, state: Numbers, name: str) -> Numbers:
        product: Numbers = state @ self._weights[f"{name}.weight"].T
        product += self._weights[f"{name}.bias"]
        return product

    def _norm(self, state: Numbers, name: str) -> Numbers:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + self._epsilon)
        normed: Numbers = centred / spread
        normed *= self._weights[f"{name}.weight"]
        normed += self._weights[f"{name}.bias"]
        return normed


def _is_relative(config: Mapping[str, Any]) -> bool:
    return str(config.get("position_embedding_type") or "absolute") != "absolute"


def _activation(name: str) -> Callable[[Numbers], Numbers]:
    known = {"gelu": _gelu, "gelu_new": _gelu_tanh, "gelu_pytorch_tanh": _gelu_tanh, "relu": _relu}
    if name not in known:
        raise EngineError(
            f"Models with the activation '{name}' cannot be read from safetensors.",
            hint="Use an ONNX export of the model: pip install 'chapterhouse[onnx]'",
        )
    return known[name]


def _gelu(values: Numbers) -> Numbers:
    """Return x Φ(x), with the error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    size = np.abs(values) * np.float32(math.sqrt(0.5))
    step = 1 / (1 + np.float32(0.3275911) * size)
    series = np.full_like(size, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= step
        series += np.float32(factor)
    tail = series * step * np.exp(-np.square(size)) / 2  # 1 - Φ(|x|)
    result: Numbers = values * np.where(values < 0, tail, 1 - tail)
    return result


def _gelu_tanh(values: Numbers) -> Numbers:
    inner = np.float32(math.sqrt(2 / math.pi)) * (values + np.float32(0.044715) * values**3)
    result: Numbers = values * (1 + np.tanh(inner)) / 2
    return result


def _relu(values: Numbers) -> Numbers:
    result: Numbers = np.maximum(values, np.float32(0))
    return result
