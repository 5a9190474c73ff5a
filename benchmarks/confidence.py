"""Fit how likely what is shown answers a question, and measure it on what it was not fitted on.

    python benchmarks/confidence.py           measure, leaving one folder or set out
    python benchmarks/confidence.py --write   also fit on all and write the weights

The questions of ``sentence_cases.py``: natural ones over the open folders, answerable or not, and
those of judged sets; with the documents that answer them, without, and of other folders. What is
shown is right where it has all facts, or overlaps the gold span. The natural questions as they are
count most, so that the confidence is calibrated on them.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "natural"))

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from chapterhouse.answering.choosing import WHOLE
from chapterhouse.answering.confidence import BY_MEANING, BY_WORDS, Signs
from chapterhouse.answering.extractive import CHUNKS_READ, Reference, make_screen
from marking import calibration_error
from measuring import Bar, Machine, Table, finish
from sentence_cases import NATURAL, Case, QuestionSet, There, group, own_reference, question_sets

WEIGHTS = Path(__file__).parents[1] / "src/chapterhouse/answering/confidence.json"
SET_WEIGHT = 0.05  # of a question of a set, where one of a folder counts 1
# Of a question without its documents; more for languages that have no unanswerable ones besides.
OUT_WEIGHT = {True: 0.12, False: 0.6}
AS_ASKED = ("answerable", "near", "far")
NOT_THERE: Sequence[There] = ("near", "far", "taken out", "article out", "foreign")
PENALTY = 1.0
ANSWER, PASSAGES = 0.75, 0.03

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shown:
    """What was shown for a question: by which signs, if right, and if it may answer."""

    set: str
    there: There
    signs: Signs
    right: bool
    may_answer: bool


# --- asking --------------------------------------------------------------------------------------


def everything() -> list[Shown]:
    """Ask everything."""
    own = own_reference()
    return [shown for one in question_sets() for case in one.cases for shown in ask(one, case, own)]


def ask(one: QuestionSet, case: Case, own: Reference) -> Iterator[Shown]:
    """Yield what is shown for a case, where anything is."""
    result = replace(case.result, hits=case.result.hits[:CHUNKS_READ])
    found = make_screen(result, one.reference(case, own), WHOLE)
    if found.signs is None:
        return
    places = [(part.hit.document.id, *span, "") for part in found.parts for span in part.spans]
    bodies = one.bodies
    text = "\n".join(part.text(bodies[part.hit.document.id].text) for part in found.parts)
    held = case.wanted.held([*places, ("", 0, 0, text)])
    yield Shown(one.name, case.there, found.signs, held > 0, found.may_answer)


# --- fitting -------------------------------------------------------------------------------------


def fit(found: Sequence[Shown]) -> Floats:
    """Return the intercept and a weight for each sign, of cases of one model."""
    table, right = _table(found), np.asarray([case.right for case in found], dtype=float)
    weights = np.asarray([_weight(case) for case in found])
    mean, deviation = table.mean(axis=0), table.std(axis=0) + 1e-9
    scaled = (table - mean) / deviation

    def loss(model: Floats) -> tuple[float, Floats]:
        chance = 1 / (1 + np.exp(-(scaled @ model[1:] + model[0])))
        likely = right * np.log(chance + 1e-12) + (1 - right) * np.log(1 - chance + 1e-12)
        slope = weights * (chance - right)
        steep = np.concatenate([[slope.sum()], scaled.T @ slope + PENALTY * model[1:]])
        return float(-(weights * likely).sum() + PENALTY / 2 * model[1:] @ model[1:]), steep

    start = np.zeros(table.shape[1] + 1)
    model: Floats = minimize(loss, start, jac=True, method="L-BFGS-B").x
    own = model[1:] / deviation
    return np.concatenate([[model[0] - mean @ own], own])


def _weight(case: Shown) -> float:
    out = 1.0 if case.there in AS_ASKED else OUT_WEIGHT[case.signs.meaning]
    return out * (1.0 if case.set in NATURAL or not case.signs.meaning else SET_WEIGHT)


def _table(found: Sequence[Shown]) -> Floats:
    signs = BY_MEANING if found[0].signs.meaning else BY_WORDS
    return np.asarray([[getattr(case.signs, sign) for sign in signs] for case in found])


def stated(found: Sequence[Shown], model: Floats) -> Floats:
    """Return the confidence in each case."""
    result: Floats = 1 / (1 + np.exp(-(_table(found) @ model[1:] + model[0])))
    return result


def left_out(found: Sequence[Shown]) -> Floats:
    """Return the confidence in each case by a model of all other folders and sets."""
    result = np.zeros(len(found))
    groups = [(case.signs.meaning, _group(case)) for case in found]
    for own in dict.fromkeys(groups):
        inside = [n for n, other in enumerate(groups) if other == own]
        rest = [
            case
            for case, other in zip(found, groups, strict=True)
            if other != own and other[0] is own[0]
        ]
        result[inside] = stated([found[n] for n in inside], fit(rest))
    return result


def _group(case: Shown) -> str:
    """Return what is left out together; by words, each language is one."""
    return group(case.set) if case.signs.meaning else case.set


def as_asked(case: Shown) -> bool:
    """Whether it is a natural question with all documents there."""
    return case.set in NATURAL and case.there in AS_ASKED


# --- telling -------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write weights and results")
    chosen = parser.parse_args()
    machine = Machine()
    found = everything()
    sure, models = left_out(found), weights(found)
    if chosen.write:
        written = models | {"answer": ANSWER, "passages": PASSAGES}
        WEIGHTS.write_text(json.dumps(written, indent=1) + "\n", "utf-8")
    natural = [n for n, case in enumerate(found) if case.set in NATURAL]
    asked = [n for n, case in enumerate(found) if as_asked(case)]
    error = calibration_error([sure[n] for n in asked], [found[n].right for n in asked])
    own = _figures([found[n] for n in natural], sure[natural])
    bars = [
        Bar("natural: shown as an answer and wrong, of answerable", own["wrong"], most=0.08),
        Bar("natural: near misses shown as an answer", own["near"], most=0.15),
        Bar("natural: far questions shown as an answer", own["far"], most=0.03),
        Bar("natural: expected calibration error", round(error, 4), most=0.08),
    ]
    columns = ("right", "answers", "wrong", *NOT_THERE)
    lines = []
    for name in ("natural, all", *dict.fromkeys(case.set for case in found)):
        inside = (
            natural
            if name == "natural, all"
            else [n for n, case in enumerate(found) if case.set == name]
        )
        figures = _figures([found[n] for n in inside], sure[inside])
        lines.append((name, *(_percent(figures[column]) for column in columns)))
    head = ("set", "gold shown", "shown as answer", "and wrong", *NOT_THERE)
    tables = [
        Table("Shown as an answer, percent, each folder and set left out", head, tuple(lines))
    ]
    signs = dict.fromkeys(sign for model in models.values() for sign in model)
    rows = [(sign, *(model.get(sign, "–") for model in models.values())) for sign in signs]
    tables.append(Table("Weights", ("sign", *models), tuple(rows)))
    return finish("confidence", "How sure an answer is", bars, tables, machine.setting(), (),
                  write=chosen.write)  # fmt: skip


def weights(found: Sequence[Shown]) -> dict[str, dict[str, float]]:
    """Return the intercept and weights of both models, fitted on all.

    No set is in a language that the encoder does not serve: the model by words stays as it was
    fitted on Chinese and Arabic for the encoder before this one.
    """
    written = json.loads(WEIGHTS.read_text("utf-8"))
    for name, meaning, signs in (("by meaning", True, BY_MEANING), ("by words", False, BY_WORDS)):
        cases = [case for case in found if case.signs.meaning is meaning]
        if not cases:
            continue
        model = fit(cases)
        written[name] = dict(zip(("intercept", *signs), model.round(3).tolist(), strict=True))
    return {name: written[name] for name in ("by meaning", "by words")}


def _figures(found: Sequence[Shown], sure: Floats) -> dict[str, float]:
    shown = [s >= ANSWER and case.may_answer for s, case in zip(sure, found, strict=True)]

    def share(kind: str, values: Sequence[bool]) -> float:
        own = [value for value, case in zip(values, found, strict=True) if case.there == kind]
        return float(np.mean(own)) if own else float("nan")

    wrong = [one and not case.right for one, case in zip(shown, found, strict=True)]
    return {
        "right": share("answerable", [case.right for case in found]),
        "answers": share("answerable", shown),
        "wrong": share("answerable", wrong),
    } | {kind: share(kind, shown) for kind in NOT_THERE}


def _percent(value: float) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.1f}"


if __name__ == "__main__":
    sys.exit(main())
