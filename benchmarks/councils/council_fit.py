"""Fit which sentence answers an aspect, and whether it does, on the open councils.

python benchmarks/councils/council_fit.py           measure, leaving one council out
python benchmarks/councils/council_fit.py --write   also fit on all of them, and write
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

import numpy as np
from council_cases import (
    SAID_NOTHING,
    align,
    councils,
    is_quoted,
    is_right,
    make_library,
    quotations,
)
from numpy.typing import NDArray
from scipy.optimize import minimize

from chapterhouse import Library
from chapterhouse.council.positions.aspects import aspects_of
from chapterhouse.council.positions.candidates import FEATURES, Candidates, candidates_of
from chapterhouse.council.positions.choose import SIGNS, choose, signs_of
from chapterhouse.council.positions.position import stated
from chapterhouse.types import Aspect, Scope

WEIGHTS = Path(__file__).parents[2] / "src/chapterhouse/council/positions/position_model.json"
CHOICE_PENALTY, ANSWERS_PENALTY = 0.1, 0.5
LEAST = 0.45  # below it documents are called silent: of a hundred positions then about five
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cell:
    """One member on one aspect: the candidates, which of them the gold quotes, which are right."""

    council: str
    place: tuple[str, str]  # of the aspect: question and gold aspect
    aspect: Aspect
    candidates: Candidates
    silent: bool
    quoted: NDArray[np.bool_]
    right: NDArray[np.bool_]


def cells(folder: Path) -> list[Cell]:
    """Return every cell of the open councils."""
    found: list[Cell] = []
    for council in councils("open"):
        with Library.open(make_library(council, folder)) as library:
            runtime = library._runtime  # noqa: SLF001 - candidates are not public
            census = runtime.store.census(Scope.everything())
            for question in council["questions"]:
                asked = aspects_of(question["question"], census.languages, question["options"])
                for aspect, gold in align(asked, question.get("aspects", ())):
                    for member, cell in gold["cells"].items():
                        own = candidates_of(aspect, Scope.of([member]), runtime.settings, runtime)
                        place = question["id"], gold["id"]
                        found.append(_cell(council["council"], place, aspect, own, cell))
    return found


def _cell(
    council: str, place: tuple[str, str], aspect: Aspect, own: Candidates, gold: dict[str, Any]
) -> Cell:
    silent = gold["position"] in SAID_NOTHING
    quoted = quotations(gold)
    language = own.hits[0].document.language if own.hits else ""
    right = []
    for text in own.texts:
        said = stated(aspect, text, language)
        values = [value.text for value in said.values]
        right.append(not silent and is_right(gold, said.kind.value, text, values))
    return Cell(
        council,
        place,
        aspect,
        own,
        silent,
        np.asarray([not silent and is_quoted(text, quoted) for text in own.texts], dtype=bool),
        np.asarray(right, dtype=bool),
    )


def fit_choice(data: Sequence[Cell]) -> tuple[float, ...]:
    """Return the weights by which the quoted sentences get the most."""
    known = [cell for cell in data if cell.quoted.any()]

    def loss(weights: Floats) -> float:
        total = CHOICE_PENALTY * float((weights**2).sum())
        for cell in known:
            logits = cell.candidates.table @ weights
            powers = np.exp(logits - logits.max())
            total -= float(np.log(powers[cell.quoted].sum() / powers.sum() + 1e-12))
        return total

    start = np.zeros(len(FEATURES))
    start[0] = 1.0
    return tuple(minimize(loss, start, method="L-BFGS-B").x.round(3))


def fit_answers(data: Sequence[Cell], choice: tuple[float, ...]) -> tuple[float, ...]:
    """Return the weights by which what is said is told from silence."""
    rows, spoken = [], []
    for cell, signs in _signs(data, choice):
        rows.append((1.0, *signs))
        spoken.append(0.0 if cell.silent else 1.0)
    table, said = np.asarray(rows), np.asarray(spoken)

    def loss(weights: Floats) -> float:
        logits = table @ weights
        own = np.logaddexp(0, -logits * (2 * said - 1)).sum()
        return float(own + ANSWERS_PENALTY * (weights[1:] ** 2).sum())

    return tuple(minimize(loss, np.zeros(table.shape[1]), method="L-BFGS-B").x.round(3))


def _signs(
    data: Sequence[Cell], choice: tuple[float, ...]
) -> Iterator[tuple[Cell, tuple[float, ...]]]:
    """Yield the cells that have candidates, each with its signs."""
    chosen = [(cell, one) for cell in data if (one := choose(cell.candidates, choice))]
    scores: dict[tuple[str, str], list[float]] = {}
    for cell, one in chosen:
        scores.setdefault(cell.place, []).append(one.score)
    for cell, one in chosen:
        yield cell, signs_of(cell.candidates, one, cell.aspect, scores[cell.place])


def measure(data: Sequence[Cell]) -> None:
    """Print how many cells are right, each council left out of the fit."""
    total = np.zeros(5)
    for name in dict.fromkeys(cell.council for cell in data):
        rest = [cell for cell in data if cell.council != name]
        choice = fit_choice(rest)
        answers = fit_answers(rest, choice)
        left = [cell for cell in data if cell.council == name]
        signs = {id(cell): found for cell, found in _signs(left, choice)}
        outcomes = [_outcome(cell, choice, answers, signs.get(id(cell))) for cell in left]
        own = np.sum(outcomes, axis=0)
        _show(name, own)
        total += own
    _show("all", total)


def _outcome(
    cell: Cell,
    choice: tuple[float, ...],
    answers: tuple[float, ...],
    signs: tuple[float, ...] | None,
) -> Floats:
    """Return: silent, of them right; speaking, of them right, of them wrongly called silent."""
    chosen = choose(cell.candidates, choice)
    said = right = False
    if chosen and signs:
        said = 1 / (1 + np.exp(-float(np.dot(answers, (1.0, *signs))))) >= LEAST
        right = bool(cell.right[chosen.row])
    if cell.silent:
        return np.asarray([1.0, not said, 0, 0, 0])
    return np.asarray([0, 0, 1.0, said and right, not said])


def _show(name: str, found: Floats) -> None:
    silent, kept, spoken, right, lost = found
    print(
        f"{name:16s} cells right {100 * (kept + right) / (silent + spoken):.0f} %, "
        f"silent {100 * kept / max(silent, 1):.0f} %, said {100 * right / spoken:.0f} %, "
        f"wrongly silent {100 * lost / spoken:.0f} %"
    )


def main() -> int:
    """Measure, and write where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = cells(Path(folder))
    measure(data)
    if chosen.write:
        choice = fit_choice(data)
        answers = fit_answers(data, choice)
        weights = {
            "choice": dict(zip(FEATURES, choice, strict=True)),
            "answers": dict(zip(("intercept", *SIGNS), answers, strict=True)),
            "least": LEAST,
        }
        WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
