"""The teacher and the student as PyTorch modules, and how texts go through them."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

TEACHER = {  # sentence-transformers/all-MiniLM-L6-v2, 1110a243fdf4706b3f48f1d95db1a4f5529b4d41
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
LAYERS, SIZE, HEADS, LONGEST = 6, 384, 12, 256


class Layer(nn.Module):
    """A layer of BERT with ``inner`` neurons between its two dense layers."""

    def __init__(self, inner: int) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(SIZE, SIZE) for _ in range(4))
        self.n1, self.n2 = nn.LayerNorm(SIZE, eps=1e-12), nn.LayerNorm(SIZE, eps=1e-12)
        self.f1, self.f2 = nn.Linear(SIZE, inner), nn.Linear(inner, SIZE)

    def attend(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return what the heads give, before the layer that joins them."""
        texts, tokens, _ = x.shape

        def heads(y: Tensor) -> Tensor:
            return y.view(texts, tokens, HEADS, -1).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            heads(self.q(x)), heads(self.k(x)), heads(self.v(x)), attn_mask=mask
        )
        return mixed.transpose(1, 2).reshape(texts, tokens, SIZE)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the state behind the layer."""
        x = self.n1(x + self.o(self.attend(x, mask)))
        out: Tensor = self.n2(x + self.f2(functional.gelu(self.f1(x))))
        return out


class Encoder(nn.Module):
    """BERT with a mean over the tokens."""

    def __init__(self, inner: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30_522, SIZE), nn.Embedding(512, SIZE)
        self.kind = nn.Parameter(torch.zeros(SIZE))
        self.norm = nn.LayerNorm(SIZE, eps=1e-12)
        self.layers = nn.ModuleList(Layer(inner) for _ in range(LAYERS))

    def begin(self, ids: Tensor) -> Tensor:
        """Return what the first layer reads."""
        begun: Tensor = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]] + self.kind)
        return begun

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[list[Tensor], Tensor]:
        """Return the state after each layer and the unit vectors, (texts, size)."""
        state, states = self.begin(ids), []
        for layer in self.layers:
            state = layer(state, mask[:, None, None, :].bool())
            states.append(state)
        weights = mask[..., None]
        mean = (state.float() * weights).sum(1) / weights.sum(1)
        return states, functional.normalize(mean, dim=-1)


_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "o": "attention.output.dense", "n1": "attention.output.LayerNorm",
    "f1": "intermediate.dense", "f2": "output.dense", "n2": "output.LayerNorm",
}  # fmt: skip


def load_teacher(folder: Path) -> Encoder:
    """Return the teacher.

    Raises:
        SystemExit: the folder's files are not those of the pinned revision.
    """
    for name, digest in TEACHER.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise SystemExit(f"{folder / name} is not the pinned file of all-MiniLM-L6-v2")
    tensors = load_file(folder / "model.safetensors")
    state = {
        "words.weight": tensors["embeddings.word_embeddings.weight"],
        "places.weight": tensors["embeddings.position_embeddings.weight"],
        "kind": tensors["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": tensors["embeddings.LayerNorm.weight"],
        "norm.bias": tensors["embeddings.LayerNorm.bias"],
    }
    for number in range(LAYERS):
        for ours, theirs in _NAMES.items():
            for kind in ("weight", "bias"):
                name = f"encoder.layer.{number}.{theirs}.{kind}"
                state[f"layers.{number}.{ours}.{kind}"] = tensors[name]
    teacher = Encoder(inner=1_536)
    teacher.load_state_dict(state)
    return teacher.eval().requires_grad_(requires_grad=False)


def tokenize(folder: Path, texts: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each text, at most 256."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return token ids and mask, padded to a multiple of 32 so that few shapes occur."""
    longest = (max(map(len, rows)) + 31) // 32 * 32
    ids, mask = torch.zeros(len(rows), longest, dtype=torch.long), torch.zeros(len(rows), longest)
    for row, own in enumerate(rows):
        ids[row, : len(own)] = torch.tensor(own)
        mask[row, : len(own)] = 1
    return ids, mask


def equal_lengths(rows: Sequence[Sequence[int]], most: int = 32) -> Iterator[Tensor]:
    """Yield token ids in batches of texts of one length, which need no mask."""
    by_length: dict[int, list[Sequence[int]]] = {}
    for row in rows:
        by_length.setdefault(len(row), []).append(row)
    for _, same in sorted(by_length.items()):
        for start in range(0, len(same), most):
            yield torch.tensor(same[start : start + most])
