"""Teacher and student as PyTorch modules, and how texts go through them."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn
from torch.nn import functional

SIZE, HEAD, LONGEST = 384, 32, 256  # numbers of a state and of a head; tokens of a text
EPSILON = 1e-12
_FAR = -1e4  # what a token that is none adds to its score


class Layer(nn.Module):
    """A layer of BERT with ``heads`` heads and ``inner`` neurons."""

    def __init__(self, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(SIZE, HEAD * heads) for _ in range(3))
        self.o = nn.Linear(HEAD * heads, SIZE)
        self.n1, self.n2 = (nn.LayerNorm(SIZE, eps=EPSILON) for _ in range(2))
        self.f1, self.f2 = nn.Linear(SIZE, inner), nn.Linear(inner, SIZE)

    def attend(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return what the heads give, before the layer that joins them."""
        texts, tokens, _ = x.shape

        def heads(y: Tensor) -> Tensor:
            return y.view(texts, tokens, self.heads, HEAD).transpose(1, 2)

        query, key, value = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        if torch.is_grad_enabled():
            # PyTorch's own takes longer backwards, in 16 bits on a processor, than all the rest.
            scores = query @ key.transpose(-1, -2) / HEAD**0.5
            if mask is not None:
                scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(
                    ~mask, _FAR
                )
            mixed = scores.softmax(-1).to(value.dtype) @ value
        else:
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return mixed.transpose(1, 2).reshape(texts, tokens, HEAD * self.heads)

    def neurons(self, x: Tensor) -> Tensor:
        """Return how active the inner neurons are."""
        return functional.gelu(self.f1(x))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the state behind the layer."""
        x = self.n1(x + self.o(self.attend(x, mask)))
        out: Tensor = self.n2(x + self.f2(self.neurons(x)))
        return out


class Encoder(nn.Module):
    """BERT whose layers have heads and inner neurons of their own, with a mean over the tokens."""

    def __init__(self, shape: Sequence[tuple[int, int]], words: int) -> None:
        super().__init__()
        self.shape = list(shape)
        self.words, self.places = nn.Embedding(words, SIZE), nn.Embedding(512, SIZE)
        self.norm = nn.LayerNorm(SIZE, eps=EPSILON)
        self.layers = nn.ModuleList(Layer(heads, inner) for heads, inner in shape)

    def begin(self, ids: Tensor) -> Tensor:
        """Return what the first layer reads."""
        begun: Tensor = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]])
        return begun

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> list[Tensor]:
        """Return the state after each layer; ``mask`` is 1 where a token is, (texts, tokens)."""
        state, states = self.begin(ids), []
        seen = None if mask is None else mask[:, None, None, :].bool()
        for layer in self.layers:
            state = layer(state, seen)
            states.append(state)
        return states


def quick_products() -> AbstractContextManager[object]:
    """Return a context of products of 16-bit numbers where they are quicker.

    They are ten times as fast on a processor with AMX, and fifty times as slow on one without.
    """
    quick = torch.cpu._is_amx_tile_supported()  # noqa: SLF001 - there is no public way to ask
    return torch.autocast("cpu", torch.bfloat16) if quick else nullcontext()


def mean_of(state: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the unit vectors of texts, (texts, size)."""
    if mask is None:
        return functional.normalize(state.mean(1), dim=-1)
    weights = mask[..., None]
    return functional.normalize((state * weights).sum(1) / weights.sum(1), dim=-1)


@torch.no_grad()
def embed(encoder: Encoder, rows: Sequence[Sequence[int]], tokens: int = 4_096) -> Tensor:
    """Return the unit vectors of texts given as tokens, (texts, size)."""
    vectors = torch.zeros(len(rows), SIZE)
    for places, ids, mask in padded_batches(rows, tokens):
        vectors[places] = mean_of(encoder(ids, mask)[-1], mask)
    return vectors


def padded_batches(
    rows: Sequence[Sequence[int]], tokens: int
) -> Iterator[tuple[list[int], Tensor, Tensor | None]]:
    """Yield places, ids and mask of batches of about ``tokens`` tokens, shortest texts first."""
    order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    while order:
        count = 1
        while count < len(order) and (count + 1) * len(rows[order[count]]) <= tokens:
            count += 1
        places, order = order[:count], order[count:]
        yield places, *padded([rows[place] for place in places])


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor | None]:
    """Return token ids and mask; no mask where all are of one length."""
    longest = max(map(len, rows))
    ids, mask = torch.zeros(len(rows), longest, dtype=torch.long), torch.zeros(len(rows), longest)
    for row, own in enumerate(rows):
        ids[row, : len(own)] = torch.tensor(own)
        mask[row, : len(own)] = 1
    return ids, None if all(len(row) == longest for row in rows) else mask
