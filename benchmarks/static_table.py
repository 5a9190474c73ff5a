"""Try to make a better table for the static embedder, and measure it beside the present one.

    python benchmarks/static_table.py MODEL CACHE

MODEL is a folder with all-MiniLM-L6-v2 (Apache-2.0): the teacher, which is not needed afterwards.
CACHE is a folder for what takes minutes: the collections as chunks, and the teacher's vectors.
Needs the dependency group ``train``; what is trained by steps runs on a GPU where there is one.

Every candidate is fitted without the collection that it is measured on (the languages of XQuAD
are left out together), unlike the token weights of the present table, which four of the
collections were counted for. Text vectors are weighted sums of token vectors, normalised, so a
candidate is one matrix:

* learned weights: the present table, token weights moved by contrastive training on questions and
  passages, titles and texts, sentences and their neighbours;
* learned weights and map: also one linear map of the table;
* teacher, own tokens: WordPiece token vectors of the teacher (each token alone), moved so that
  weighted means of them regress onto the teacher's vectors of sentences;
* teacher, present tokens: the present table moved in the same way, in its own space;
* joined: the present table beside one that regresses onto the teacher, made 256 long again.

Beside them, without training: token counts of passages to the power .75, so that what a passage
says over and over does not drown the rest.

Sources: Tulkens and van Dongen, Model2Vec and tokenlearn, 2024; van den Oord, Li and Vinyals,
InfoNCE, 2018.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from chapterhouse.models.embedders import unit_rows
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.retrieval.fuse import TABLE_FUSION
from measuring import Bar, Machine, Row, Table, finish
from static_table_material import (
    COLLECTIONS,
    METHOD,
    SENTENCES,
    Counted,
    Floats,
    Judged,
    Taught,
    family,
    read_collections,
    taught,
)

FIRST_WORD: Final = 1_000  # of the teacher's vocabulary: before it are marks and unused numbers
DIMENSIONS: Final = 256
BATCH, STEPS, HARD = 64, 120, 3
TEMPERATURE: Final = 0.05


# --- candidates --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that a candidate may be made of; ``table`` is without its ``weights``."""

    sets: Mapping[str, Judged]
    present: Counted
    own: Counted
    taught: Taught
    table: Floats
    weights: Floats

    def sentences_without(self, left_out: str) -> NDArray[np.intp]:
        """Return which of the teacher's sentences are not of a collection."""
        return np.flatnonzero([family(name) != left_out for name, _ in self.taught.sentences])


def present_table(material: Material, _left_out: str) -> Floats:
    """Return what the product uses."""
    return material.table * material.weights[:, None]


def learned(material: Material, left_out: str, *, with_map: bool) -> Floats:
    """Move token weights, and bend the space, so that what belongs together comes together."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    choose = np.random.default_rng(0)
    table, weights = (torch.tensor(a, device=device) for a in (material.table, material.weights))
    moved = torch.zeros(len(weights), device=device, requires_grad=True)
    bend = torch.zeros(DIMENSIONS, DIMENSIONS, device=device, requires_grad=True)
    groups = [{"params": [moved], "lr": 0.01}, {"params": [bend], "lr": 0.0005 * with_map}]
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, STEPS)

    def vectors(rows: Any) -> Any:
        ids, starts = (
            torch.from_numpy(part.astype(np.int64)).to(device)
            for part in (rows.indices, rows.indptr[:-1])
        )
        counts = torch.from_numpy(rows.data).to(device)
        weighed = counts * weights[ids] * moved[ids].exp()
        summed = torch.nn.functional.embedding_bag(
            ids, table, starts, mode="sum", per_sample_weights=weighed
        )
        return torch.nn.functional.normalize(summed + summed @ bend)

    families = sorted({family(name) for name in material.sets} - {left_out})
    for _ in range(STEPS):
        chosen = families[choose.integers(len(families))]
        name = choose.choice([each for each in material.sets if family(each) == chosen])
        asked, given, allowed = _batch(material, name, choose)
        scores = vectors(asked) @ vectors(given).T / TEMPERATURE
        scores = scores.masked_fill(~torch.from_numpy(allowed).to(device), -1e4)
        loss = torch.nn.functional.cross_entropy(scores, torch.arange(len(scores), device=device))
        loss = loss + 0.002 * (moved**2).sum() + 0.3 * (bend**2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    found = material.table * (material.weights * np.exp(moved.detach().cpu().numpy()))[:, None]
    bent: Floats = found + found @ bend.detach().cpu().numpy()
    return bent


def _batch(material: Material, name: str, choose: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return texts, one text for each of them and others, and which of those are none of its own.

    Half of the batches are judged questions, their passages and some that BM25 takes for one.
    """
    judged, counted = material.sets[name], material.present
    if choose.random() < 0.5:
        first, second = counted.pairs[name]
        picked = choose.permutation(first.shape[0])[: 2 * BATCH]
        return first[picked], second[picked], np.ones((len(picked), len(picked)), dtype=bool)
    questions: list[int] = []
    right: list[int] = []
    wrong: list[int] = []
    for number in choose.permutation(len(judged.questions)):
        ranked = [place for place, _ in judged.hits[number]]
        grades = judged.grades[number]
        good = [place for place in ranked if judged.names[place] in grades][:6]
        bad = [place for place in ranked if judged.names[place] not in grades][:40]
        if good and len(questions) < BATCH:
            questions.append(int(number))
            right.append(int(choose.choice(good)))
            wrong += map(int, choose.choice(bad, min(HARD, len(bad)), replace=False))
    given = [*right, *wrong]
    allowed = np.asarray([[judged.names[place] not in judged.grades[number] for place in given]
                          for number in questions])  # fmt: skip
    np.fill_diagonal(allowed, val=True)
    return counted.questions[name][questions], counted.passages[name][given], allowed


def means(rows: Any, weights: Floats) -> Any:
    """Return rows of weights that sum to 1, so that they take means of token vectors."""
    weighed = rows @ diags(weights)
    return diags(1 / np.maximum(np.asarray(weighed.sum(axis=1)).ravel(), 1e-9)) @ weighed


def moved_onto(start: Floats, rows: Any, wanted: Floats, penalty: float) -> Floats:
    """Move token vectors so that means of them come near what is wanted: ridge regression.

    Conjugate gradients on the dual, for all dimensions at once; a token in no row stays.
    """
    rows = csr_matrix(rows, dtype=np.float32)
    back = rows.T.tocsr()
    rest = wanted - rows @ start
    solution, direction = np.zeros_like(rest), rest.copy()
    size = (rest**2).sum(axis=0)
    for _ in range(30):
        image = rows @ (back @ direction) + penalty * direction
        step = size / np.maximum((direction * image).sum(axis=0), 1e-12)
        solution += step * direction
        rest -= step * image
        before, size = size, (rest**2).sum(axis=0)
        direction = rest + size / np.maximum(before, 1e-12) * direction
    found: Floats = start + back @ solution
    return found


def principal(vectors: Floats) -> Floats:
    """Return the directions of most variance, shape (length, DIMENSIONS)."""
    _, directions = np.linalg.eigh(np.cov(vectors.T))
    return directions[:, ::-1][:, :DIMENSIONS].astype(np.float32)


def linear(given: Floats, wanted: Floats) -> Floats:
    """Return the matrix that maps one set of vectors onto another: ridge regression."""
    square = given.T @ given
    penalty = 0.1 * np.trace(square) / len(square) * np.eye(len(square))
    found: Floats = np.linalg.solve(square + penalty, given.T @ wanted).astype(np.float32)
    return found


def own_tokens(material: Material, left_out: str, *, penalty: float = 0.03) -> Floats:
    """Distil the teacher into its own vocabulary."""
    kept = material.sentences_without(left_out)
    others = [rows for name, rows in material.own.passages.items() if family(name) != left_out]
    weights = inverse_frequency(others)
    mean = material.taught.vectors[kept].mean(axis=0)
    directions = principal(material.taught.vectors[kept])
    wanted = (material.taught.vectors[kept] - mean) @ directions
    alone = material.taught.token_vectors
    start = (alone - alone[FIRST_WORD:].mean(axis=0)) @ directions
    rows = means(material.own.sentences[kept], weights)
    first = rows @ start
    start *= (first * wanted).sum() / (first**2).sum()
    return moved_onto(start, rows, wanted, penalty) * weights[:, None]


def inverse_frequency(parts: Sequence[Any]) -> Floats:
    """Return token weights as ``token_weights.py`` makes them."""
    total = sum(rows.shape[0] for rows in parts)
    frequency = sum(np.asarray((rows > 0).sum(axis=0)).ravel() for rows in parts)
    inverse = np.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
    weights: Floats = np.sqrt(inverse / inverse.max()).astype(np.float32)
    return weights


def present_tokens(material: Material, left_out: str) -> Floats:
    """Move the present table half-way towards the teacher, turned into its space."""
    kept = material.sentences_without(left_out)
    rows = means(material.present.sentences[kept], material.weights)
    now = (rows @ material.table).astype(np.float32)
    centred = material.taught.vectors[kept] - material.taught.vectors[kept].mean(axis=0)
    turned = unit_rows(centred @ linear(centred, unit_rows(now)))
    wanted = 0.5 * now + 0.5 * turned * np.linalg.norm(now, axis=1, keepdims=True)
    return moved_onto(material.table, rows, wanted, 0.03) * material.weights[:, None]


def joined(material: Material, left_out: str, *, share: float = 0.6) -> Floats:
    """Put beside the present table one that regresses onto the teacher, and shorten both."""
    kept = material.sentences_without(left_out)
    rows = means(material.present.sentences[kept], material.weights)
    now = (rows @ material.table).astype(np.float32)
    centred = material.taught.vectors[kept] - material.taught.vectors[kept].mean(axis=0)
    wanted = centred @ principal(centred)
    mapped = material.table @ linear(now, wanted)
    regressed = moved_onto(mapped, rows, wanted, 0.03)
    share *= np.linalg.norm(now, axis=1).mean() / np.linalg.norm(rows @ regressed, axis=1).mean()
    both = np.hstack([material.table, share * regressed])
    vectors = unit_rows(rows @ both)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    short = both @ directions[:, ::-1][:, :DIMENSIONS].astype(np.float32)
    return (short * material.weights[:, None]).astype(np.float32)


# --- measuring ---------------------------------------------------------------------------------

Candidate = Callable[[Material, str], Floats]
PRESENT: Final = "wordllama (present)"
DAMPED: Final = "counts ^ .75"
LEARNED_DAMPED: Final = "learned weights, counts ^ .75"
POWER: Final = {DAMPED: 0.75, LEARNED_DAMPED: 0.75}  # of the counts in passages
OWN_TOKENS: Final = "teacher, own tokens"
CANDIDATES: Final[Mapping[str, Candidate]] = {
    PRESENT: present_table,
    DAMPED: present_table,
    "learned weights": lambda m, left_out: learned(m, left_out, with_map=False),
    LEARNED_DAMPED: lambda m, left_out: learned(m, left_out, with_map=False),
    "learned weights and map": lambda m, left_out: learned(m, left_out, with_map=True),
    OWN_TOKENS: own_tokens,
    "teacher, present tokens": present_tokens,
    "joined": joined,
}


def cosines(name: str, candidate: str, table: Floats, material: Material) -> Floats:
    """Return the cosines of a collection's questions and passages."""
    counted = material.own if candidate == OWN_TOKENS else material.present
    passages = counted.passages[name].power(POWER.get(candidate, 1.0))
    asked, given = (unit_rows(rows @ table) for rows in (counted.questions[name], passages))
    found: Floats = asked @ given.T
    return found


def measure(judged: Judged, near: Floats, floor: float, ceiling: float) -> tuple[float, float]:
    """Return mean nDCG@10 of the vectors alone, and fused with BM25."""
    alone, fused = [], []
    own = TABLE_FUSION
    least = floor + (own.alone - own.floor) / (own.ceiling - own.floor) * (ceiling - floor)
    for cosine, hits, grades in zip(near, judged.hits, judged.grades, strict=True):
        nearest = np.argsort(-cosine, kind="stable")[: METHOD.vector_depth]
        alone.append(ndcg([judged.names[place] for place in nearest], grades))
        lexical = np.zeros(len(cosine))
        for place, score in hits:
            lexical[place] = score / hits[0][1]
        found = np.union1d([place for place, _ in hits], nearest[cosine[nearest] >= least])
        places = found.astype(np.intp)
        scores = (1 - own.weight) * lexical[places] + own.weight * np.clip(
            (cosine[places] - floor) / (ceiling - floor), 0, 1
        )
        best = places[np.argsort(-scores, kind="stable")]
        fused.append(ndcg([judged.names[place] for place in best], grades))
    return float(np.mean(alone)), float(np.mean(fused))


def ndcg(names: Sequence[str], grades: Mapping[str, float]) -> float:
    """Return nDCG@10, a name counted where it is first seen."""
    discounts = 1 / np.log2(np.arange(2, 12))
    gains = [grades.get(name, 0.0) for name in list(dict.fromkeys(names))[:10]]
    ideal = sorted(grades.values(), reverse=True)[:10]
    return float(gains @ discounts[: len(gains)] / (ideal @ discounts[: len(ideal)]))


def bounds(candidate: str, tables: Mapping[str, Floats], material: Material) -> tuple[float, float]:
    """Return mean and 99.9th percentile of the cosines, averaged over the English collections."""
    pairs = []
    for name in SENTENCES:
        near = cosines(name, candidate, tables[family(name)], material)
        pairs.append((near.mean(), np.quantile(near, 0.999)))
    low, high = np.mean(pairs, axis=0)
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("cache", type=Path)
    chosen = parser.parse_args()
    machine = Machine()
    material = gather(chosen.model, chosen.cache)
    figures: dict[str, dict[str, tuple[float, float]]] = {}
    spread: dict[str, tuple[float, float]] = {}
    scale: dict[str, tuple[float, float]] = {}
    for candidate, make in CANDIDATES.items():
        tables = {left: make(material, left) for left in sorted({*map(family, COLLECTIONS)})}
        spread[candidate] = bounds(candidate, tables, material)
        (low, high), (present_low, present_high) = spread[candidate], spread[PRESENT]
        stretch = (high - low) / (present_high - present_low)
        floor, ceiling = (low + (bound - present_low) * stretch
                          for bound in (TABLE_FUSION.floor, TABLE_FUSION.ceiling))  # fmt: skip
        figures[candidate] = {
            name: measure(judged, cosines(name, candidate, tables[family(name)], material),
                          floor, ceiling)
            for name, judged in material.sets.items()
        }  # fmt: skip
        scale[candidate] = (floor, ceiling)
        print(candidate, np.mean(list(figures[candidate].values()), axis=0).round(4), flush=True)
    report(figures, scale, machine)


def gather(model: Path, cache: Path) -> Material:
    """Read everything."""
    cache.mkdir(parents=True, exist_ok=True)
    sets = read_collections(cache)
    teacher = taught(model, cache)
    sentences = [text for _, text in teacher.sentences]
    present = StaticEmbedder()
    table, weights = present._table, present._token_weights  # noqa: SLF001 - the very table
    return Material(
        sets,
        Counted(present._tokenizer, sets, sentences),  # noqa: SLF001 - and its tokenizer
        Counted(teacher.tokenizer, sets, sentences),
        teacher,
        (table / np.linalg.norm(table, axis=1).mean()).astype(np.float32),
        weights,
    )


def report(
    figures: Mapping[str, Mapping[str, tuple[float, float]]],
    scale: Mapping[str, tuple[float, float]],
    machine: Machine,
) -> None:
    """Write the figures: whether any candidate is nowhere below the present table."""
    tables = []
    worst: dict[str, list[float]] = {name: [] for name in figures}
    for side, title in enumerate(("Alone", "Fused with BM25")):
        rows: list[Row] = [(candidate, *(round(row[name][side], 4) for name in COLLECTIONS),
                 round(float(np.mean([row[name][side] for name in COLLECTIONS])), 4))
                for candidate, row in figures.items()]  # fmt: skip
        tables.append(Table(f"{title}: nDCG@10", ("candidate", *COLLECTIONS, "mean"), tuple(rows)))
        for candidate, row in figures.items():
            gains = [row[name][side] - figures[PRESENT][name][side] for name in COLLECTIONS]
            worst[candidate].append(min(gains))
    span: list[Row] = [(name, round(low, 3), round(high, 3), *np.round(worst[name], 4).tolist())
            for name, (low, high) in scale.items()]  # fmt: skip
    columns = ("candidate", "floor", "ceiling", "worst gain alone", "worst gain fused")
    tables.append(Table("Floor and ceiling of the cosine, and the worst collection", columns,
                        tuple(span)))  # fmt: skip
    best = max(min(gains) for name, gains in worst.items() if name != PRESENT)
    bar = Bar("best candidate's worst gain, alone or fused, on a collection left out", best, 0.0)
    setting = machine.setting("torch", "scipy")
    finish("static_table", "A better static table", [bar], tables, setting)


if __name__ == "__main__":
    main()
