"""Make the encoder in the box: prune the teacher, train the student, pack its weights.

    make encoder TEACHER=FOLDER [MINUTES=36]

``FOLDER`` has the pinned files of all-MiniLM-L6-v2 (``chapterhouse model use`` fetches them). The
result is written to ``src/chapterhouse/models``; ``chapterhouse.models.built_in`` names its
digests, which have to be changed with it. Needs PyTorch (``pip install torch``), which is in no
lock file, for no user needs it.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

from material import texts_for_training
from network import Encoder, load_teacher, padded, tokenize
from pack import write_encoder
from prune import prune

SEED = 0
INNER = 1_024
CALIBRATION = 3_300  # texts that the pruned weights are solved on
TOKENS = 4_096  # a step, about
RATE, WARM_UP = 1.5e-4, 100
COSINE, SIMILARITY = 2.0, 20.0  # weights beside the states' relative error


def batches(rows: Sequence[Sequence[int]], seed: int) -> Iterator[list[Sequence[int]]]:
    """Yield batches of texts of about one length without end, in an order of the seed."""
    order = random.Random(seed)
    while True:
        waiting: dict[int, list[Sequence[int]]] = {}
        for row in order.sample(list(rows), len(rows)):
            length = (len(row) + 31) // 32 * 32
            own = waiting.setdefault(length, [])
            own.append(row)
            if len(own) == max(16, min(64, TOKENS // length)):
                yield waiting.pop(length)


def loss_of(student: Encoder, teacher: Encoder, ids: Tensor, mask: Tensor) -> Tensor:
    """Return how far the student is: every second layer's states, vectors, their similarities."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            wanted, target = teacher(ids, mask)
        states, vectors = student(ids, mask)
    weights = mask[..., None]
    apart = [
        ((ours.float() - theirs.float()) * weights).pow(2).sum()
        / (theirs.float() * weights).pow(2).sum()
        for ours, theirs in list(zip(states, wanted, strict=True))[1::2]
    ]
    cosine = (1 - (vectors * target).sum(1)).mean()
    similarity = (vectors @ vectors.T - target @ target.T).pow(2).mean()
    return sum(apart, torch.zeros(())) / len(apart) + COSINE * cosine + SIMILARITY * similarity


def train(
    student: Encoder, teacher: Encoder, rows: Sequence[Sequence[int]], minutes: float
) -> None:
    """Train for some minutes; the rate falls along a cosine to a fiftieth."""
    student.update()
    for frozen in (student.words.weight, student.places.weight, student.kind):
        frozen.requires_grad_(requires_grad=False)
    trained = [weight for weight in student.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.0)
    began, total = time.monotonic(), 0.0
    for step, batch in enumerate(batches(rows, SEED), 1):
        done = (time.monotonic() - began) / (60 * minutes)
        if done >= 1:
            return
        falling = 0.5 * (1 + math.cos(math.pi * done)) * 0.98 + 0.02
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, step / WARM_UP) * falling
        loss = loss_of(student, teacher, *padded(batch))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        total += float(loss)
        if step % 20 == 0:
            print(f"step {step}, {done:.0%}: loss {total / 20:.4f}", flush=True)
            total = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teacher", type=Path)
    parser.add_argument("--minutes", type=float, default=36)
    parser.add_argument("--target", type=Path, required=True, help="folder for the two files")
    chosen = parser.parse_args()
    torch.manual_seed(SEED)
    teacher = load_teacher(chosen.teacher)
    texts = texts_for_training(SEED)
    rows = tokenize(chosen.teacher, texts)
    print(f"{len(rows)} texts of {sum(map(len, rows)) / len(rows):.0f} tokens", flush=True)
    student = prune(teacher, INNER, rows[:CALIBRATION])
    if chosen.minutes:
        train(student, teacher, rows, chosen.minutes)
    write_encoder(student.eval(), chosen.teacher / "tokenizer.json", chosen.target)


if __name__ == "__main__":
    main()
