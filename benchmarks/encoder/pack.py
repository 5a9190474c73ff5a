"""The student's weights as the two files that ``chapterhouse.models.built_in`` reads."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save
from torch import Tensor, nn

from chapterhouse.models.bert import Linear, quantize
from chapterhouse.models.built_in import pack_table
from network import LONGEST, Encoder

Tensors = dict[str, NDArray[np.generic]]


def write_encoder(student: Encoder, tokenizer: Path, target: Path) -> None:
    """Write weights and tokenizer, and print their sizes and SHA-256."""
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
    data = save(tensors)
    words = tokenizer.read_bytes()
    for name, content, stored in (
        ("encoder.safetensors", data, data),
        ("encoder_tokenizer.json.gz", words, gzip.compress(words, mtime=0)),
    ):
        (target / name).write_bytes(stored)
        print(f"{name}: {len(stored):,} bytes, content {hashlib.sha256(content).hexdigest()}")


def _put_linear(tensors: Tensors, name: str, *parts: nn.Module) -> None:
    weights = np.concatenate([_numbers(part.weight).T for part in parts], axis=1)
    bias = np.concatenate([_numbers(part.bias) for part in parts])
    small = quantize(Linear(np.ascontiguousarray(weights), bias))
    tensors[f"{name}.weights"] = small.weights
    tensors[f"{name}.bias"] = bias.astype(np.float16)
    tensors[f"{name}.scale"] = np.asarray(small.scale)


def _put_norm(tensors: Tensors, name: str, norm: nn.LayerNorm) -> None:
    tensors[f"{name}.weight"] = _numbers(norm.weight)
    tensors[f"{name}.bias"] = _numbers(norm.bias)


def _numbers(tensor: object) -> NDArray[np.float32]:
    assert isinstance(tensor, Tensor)
    numbers: NDArray[np.float32] = tensor.detach().numpy()
    return numbers
