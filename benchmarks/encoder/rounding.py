"""Numbers in few bits: blocks of 4-bit numbers with a scale, and weights rounded to them.

A block's scale is its number of largest size over -8, as in the teacher's file; so what is the
teacher's comes out as it was. Weights are rounded input by input, and what rounding one takes away
is made up for by the inputs after it (the GPTQ rule), on texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from network import Encoder
from prune import Batches

BLOCK = 32  # numbers of an output that share a scale
DAMPING = 1e-2  # of the mean of the diagonal


@dataclass(frozen=True, slots=True)
class Rounded:
    """Weights as integers from -8 to 7, (outputs, inputs), with scales, (outputs, blocks)."""

    codes: Tensor
    scales: Tensor

    def weights(self) -> Tensor:
        """Return the weights, (outputs, inputs)."""
        blocks = self.codes.reshape(len(self.codes), -1, BLOCK) * self.scales[..., None]
        return blocks.reshape(self.codes.shape)


def scales_of(blocks: Tensor) -> Tensor:
    """Return the scale of each block, (..., numbers) to (...); as 16-bit numbers can be."""
    largest = blocks.gather(-1, blocks.abs().argmax(-1, keepdim=True))[..., 0]
    return (largest / -8).half().float()


def codes_of(numbers: Tensor, scales: Tensor) -> Tensor:
    """Return numbers as integers from -8 to 7."""
    steps = torch.where(scales == 0, torch.ones(()), scales)
    return (numbers / steps).round().clamp(-8, 7)


def in_blocks(weights: Tensor) -> Rounded:
    """Return weights, each rounded by itself."""
    blocks = weights.reshape(len(weights), -1, BLOCK)
    scales = scales_of(blocks)
    return Rounded(codes_of(blocks, scales[..., None]).reshape(weights.shape), scales)


def round_layers(student: Encoder, batches: Batches) -> list[dict[str, Rounded]]:
    """Round all dense layers of a student in place, layer by layer, on its own inputs.

    Returns the numbers of each layer's weights by the name of the dense layer.
    """
    found: list[dict[str, Rounded]] = []
    with torch.no_grad():
        states = [student.begin(ids) for ids in batches.ids]
        for layer in student.layers:
            found.append({})
            for name in ("q", "k", "v"):
                found[-1][name] = _round(getattr(layer, name), batches, states)
            seen = [layer.attend(x, mask) for x, mask in zip(states, batches.masks, strict=True)]
            found[-1]["o"] = _round(layer.o, batches, seen)
            states = [layer.n1(x + layer.o(y)) for x, y in zip(states, seen, strict=True)]
            found[-1]["f1"] = _round(layer.f1, batches, states)
            active = [layer.neurons(x) for x in states]
            found[-1]["f2"] = _round(layer.f2, batches, active)
            states = [layer.n2(x + layer.f2(y)) for x, y in zip(states, active, strict=True)]
    return found


def _round(linear: nn.Linear, batches: Batches, inputs: Sequence[Tensor]) -> Rounded:
    rounded = in_blocks(linear.weight)
    if torch.allclose(rounded.weights(), linear.weight, rtol=1e-3, atol=1e-6):
        return rounded
    size = linear.in_features
    products = torch.zeros(size, size, dtype=torch.float64)
    mean, count = torch.zeros(size, dtype=torch.float64), 0
    for rows in batches.flat(inputs):
        products += rows.T @ rows
        mean += rows.sum(0)
        count += len(rows)
    # The bias makes up for the mean of the error, so only what differs from the mean counts.
    mean /= count
    products -= count * torch.outer(mean, mean)
    products += DAMPING * products.diagonal().mean() * torch.eye(size, dtype=torch.float64)
    upper = torch.linalg.cholesky(torch.linalg.inv(products), upper=True)
    left = linear.weight.double().clone()
    for place in range(size):
        block = place // BLOCK
        if place % BLOCK == 0:
            rounded.scales[:, block] = scales_of(left[:, place : place + BLOCK].float())
        scales = rounded.scales[:, block]
        rounded.codes[:, place] = codes_of(left[:, place].float(), scales)
        error = (left[:, place] - rounded.codes[:, place] * scales) / upper[place, place]
        left[:, place:] -= torch.outer(error, upper[place, place:])
    linear.bias += ((linear.weight - rounded.weights()).double() @ mean).float()
    linear.weight.copy_(rounded.weights())
    return rounded
