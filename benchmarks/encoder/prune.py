"""The student before training: fewer layers, heads and inner neurons, solved for anew.

Layer by layer, and always from the student's own inputs, the dense layer that joins the heads and
the one that joins the neurons are solved for by least squares so that the student's state comes
nearest to the teacher's. Heads and neurons are left out one by one, each time the one without which
the rest, solved for anew, comes nearest (the rule of optimal brain surgery: squared weights over
the diagonal of the inverse of the inputs' products), which costs little once that inverse is known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from network import HEAD, Encoder, Layer, padded_batches

RIDGE = 1e-4  # of the mean of the diagonal


@dataclass(frozen=True, slots=True)
class Layout:
    """A layer of the student: the teacher's layer it takes the place of, its heads and neurons."""

    source: int
    heads: int
    inner: int


@dataclass(frozen=True, slots=True)
class Sums:
    """What a layer of the teacher normalizes: behind its heads and behind its neurons, by batch."""

    heads: list[Tensor]
    neurons: list[Tensor]


class Batches:
    """Texts in batches; states of them are lists of tensors (texts, tokens, size)."""

    def __init__(self, rows: Sequence[Sequence[int]], tokens: int = 4_096) -> None:
        parts = list(padded_batches(rows, tokens))
        self.ids = [ids for _, ids, _ in parts]
        self.masks = [None if mask is None else mask[:, None, None, :].bool() for *_, mask in parts]
        self._own = [None if mask is None else mask.bool() for *_, mask in parts]

    def flat(self, states: Sequence[Tensor]) -> Iterator[Tensor]:
        """Yield the states of the tokens without those of the padding, (tokens, size)."""
        for state, own in zip(states, self._own, strict=True):
            yield state.flatten(0, 1) if own is None else state[own]


@torch.no_grad()
def sums_of(teacher: Encoder, batches: Batches) -> list[Sums]:
    """Return what each layer of the teacher comes to."""
    found, states = [], [teacher.begin(ids) for ids in batches.ids]
    for layer in teacher.layers:
        pairs = zip(states, batches.masks, strict=True)
        heads = [x + layer.o(layer.attend(x, mask)) for x, mask in pairs]
        middle = [layer.n1(x) for x in heads]
        neurons = [x + layer.f2(layer.neurons(x)) for x in middle]
        states = [layer.n2(x) for x in neurons]
        found.append(Sums(heads, neurons))
    return found


@torch.no_grad()
def prune(
    teacher: Encoder, layouts: Sequence[Layout], batches: Batches, wanted: Sequence[Sums]
) -> Encoder:
    """Return a student of these layers, fitted to what the teacher comes to."""
    student = Encoder([(each.heads, each.inner) for each in layouts], len(teacher.words.weight))
    for name in ("words", "places", "norm"):
        getattr(student, name).load_state_dict(getattr(teacher, name).state_dict())
    states = [student.begin(ids) for ids in batches.ids]
    for layout, layer in zip(layouts, student.layers, strict=True):
        source = teacher.layers[layout.source]
        states = _fit(source, layer, layout, batches, states, wanted[layout.source])
    return student.eval()


def _fit(
    source: Layer, layer: Layer, layout: Layout, batches: Batches, states: list[Tensor], sums: Sums
) -> list[Tensor]:
    seen = [source.attend(x, mask) for x, mask in zip(states, batches.masks, strict=True)]
    solution = Solution(batches, seen, sums.heads, states)
    kept = solution.keep(layout.heads, HEAD)
    solution.write(layer.o)
    for name in ("q", "k", "v"):
        _take(getattr(layer, name), getattr(source, name), kept)
    layer.n1.load_state_dict(source.n1.state_dict())
    middle = [layer.n1(x + layer.o(y[..., kept])) for x, y in zip(states, seen, strict=True)]
    active = [source.neurons(x) for x in middle]
    solution = Solution(batches, active, sums.neurons, middle)
    kept = solution.keep(layout.inner, 1)
    solution.write(layer.f2)
    _take(layer.f1, source.f1, kept)
    layer.n2.load_state_dict(source.n2.state_dict())
    return [layer.n2(x + layer.f2(y[..., kept])) for x, y in zip(middle, active, strict=True)]


def _take(layer: nn.Linear, source: nn.Linear, kept: Tensor) -> None:
    layer.weight.copy_(source.weight[kept])
    layer.bias.copy_(source.bias[kept])


class Solution:
    """Weights, and a bias as the last row, by which inputs come nearest to sums less skips."""

    def __init__(
        self,
        batches: Batches,
        inputs: Sequence[Tensor],
        sums: Sequence[Tensor],
        skips: Sequence[Tensor],
    ) -> None:
        size = inputs[0].shape[-1] + 1
        products = torch.zeros(size, size, dtype=torch.float64)
        targets = torch.zeros(size, sums[0].shape[-1], dtype=torch.float64)
        for x, total, skip in zip(*map(batches.flat, (inputs, sums, skips)), strict=True):
            rows = torch.cat([x, torch.ones(len(x), 1)], dim=-1)
            products += rows.T @ rows
            targets += rows.T @ (total - skip)
        products += RIDGE * products.diagonal().mean() * torch.eye(size, dtype=torch.float64)
        self.inverse = torch.linalg.inv(products)
        self.weights = self.inverse @ targets
        self.inputs = torch.arange(size - 1)

    def keep(self, groups: int, width: int) -> Tensor:
        """Leave out all but so many groups of inputs of a width; return which inputs are left."""
        while (excess := len(self.inputs) // width - groups) > 0:
            # Several at once, ever fewer: one by one gives hardly better for much more work.
            self._leave_out(self._least(width, max(1, excess // 8) if width == 1 else 1))
        return self.inputs

    def _least(self, width: int, count: int) -> Tensor:
        """Return the places of the groups that are missed least, each left out alone."""
        places = torch.arange(len(self.inputs)).view(-1, width)
        blocks = self.inverse[places[:, :, None], places[:, None, :]]
        weights = self.weights[places]
        loss = (weights * torch.linalg.solve(blocks, weights)).sum((1, 2))
        return places[loss.argsort()[:count]].flatten()

    def _leave_out(self, places: Tensor) -> None:
        stay = torch.ones(len(self.weights), dtype=torch.bool)
        stay[places] = False
        across = self.inverse[stay][:, places] @ torch.linalg.inv(self.inverse[places][:, places])
        self.weights = self.weights[stay] - across @ self.weights[places]
        self.inverse = self.inverse[stay][:, stay] - across @ self.inverse[places][:, stay]
        self.inputs = self.inputs[stay[:-1]]

    def write(self, layer: nn.Linear) -> None:
        """Set a dense layer that reads the inputs that are left."""
        layer.weight.copy_(self.weights[:-1].T)
        layer.bias.copy_(self.weights[-1])
