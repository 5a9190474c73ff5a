"""Fit the weights by which sentences are judged, and measure them on sets they were not fitted on.

    python benchmarks/sentences.py [--write] [--quick]

A conditional logit: the likelihood of the sentences that hold the answer, among all sentences of
the first hits. A sentence counts by the share of the question's facts that it states inside the
evidence, or by the share of the gold span that it holds. Judged is what a reader sees: whether the
best sentences, as many as fit into 120 words, hold all facts or touch the gold span. Weights of a
row are fitted without its set, and without those of the same documents. ``--write`` keeps the
weights fitted on all sets in ``retrieval/sentence_model.json``.
"""

import argparse
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import minimize

from chapterhouse.answering.choosing import WORDS
from chapterhouse.answering.extractive import CHUNKS_READ
from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.retrieval.judging import (
    BY_MEANING,
    BY_WORDS,
    Floats,
    features,
    serves,
    word_weights,
)
from chapterhouse.retrieval.sentences import split_hits, text_of
from chapterhouse.text.counting import script_language
from chapterhouse.types.engines import TokenEmbedder
from measuring import Bar, Machine, Row, Table, finish
from sentence_cases import NATURAL, Case, Shown, Wanted, group, question_sets

MODEL: Final = Path(__file__).parents[1] / "src/chapterhouse/retrieval/sentence_model.json"
RIDGE: Final = 0.01
NATURAL_WEIGHT: Final = 3.0  # of a natural folder, where another set weighs 1
GAINS: Final = (2.0, 2.0)  # points over the hits in order, by meaning and by words

Weights = Sequence[float]


@dataclass(frozen=True, slots=True)
class Judged:
    """The sentences of a question's hits: tables of features, and what each holds."""

    meaning: Floats | None  # None where the encoder does not serve the language
    words: Floats
    gold: Floats
    shown: Shown
    wanted: Wanted

    def table(self, names: Sequence[str]) -> Floats | None:
        """Return the features of one kind."""
        return self.meaning if names is BY_MEANING else self.words


def judged(case: Case, encoder: TokenEmbedder) -> Judged | None:
    """Return the sentences of a case; None where nothing was found."""
    hits, question = case.result.hits[:CHUNKS_READ], case.result.question
    sentences = split_hits(hits)
    if not sentences:
        return None
    weights = word_weights(question, case.frequencies.__getitem__, max(case.result.chunks, 1))
    own = [(hits[s.rank].document.id, s.begin, s.stop, text_of(hits[s.rank], s)) for s in sentences]
    return Judged(
        features(question, hits, sentences, weights, encoder)
        if serves(encoder, question, hits)
        else None,
        features(question, hits, sentences, weights, None),
        np.asarray([case.wanted.share(*one) for one in own]),
        own,
        case.wanted,
    )


# --- fitting -------------------------------------------------------------------------------------


def fit(choices: Sequence[tuple[Floats, Floats, float]]) -> tuple[float, ...]:
    """Return the weights under which the gold is likeliest, with a ridge.

    Args:
        choices: Features and gold of the sentences of each question, and what it counts.
    """
    scale = np.concatenate([table for table, _, _ in choices]).std(axis=0) + 1e-9
    scaled = [(table / scale, gold / gold.sum(), weight) for table, gold, weight in choices]

    def loss(model: Floats) -> tuple[float, Floats]:
        value, slope = RIDGE / 2 * float(model @ model), RIDGE * model
        for table, gold, weight in scaled:
            logits = table @ model
            powers = np.exp(logits - logits.max())
            chances = powers / powers.sum()
            value -= weight * float(gold @ np.log(chances + 1e-12))
            slope = slope + weight * (table.T @ (chances - gold))
        return value, slope

    found = minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B")
    return tuple(float(weight) for weight in (found.x / scale).round(3))


def choices(
    sets: Mapping[str, Sequence[Judged | None]], names: Sequence[str]
) -> list[tuple[Floats, Floats, float]]:
    """Return what is fitted on: questions weigh the same within a set, natural folders more."""
    total = sum(map(_weight, sets))
    found = []
    for name, several in sets.items():
        tables = [(one.table(names), one.gold) for one in several if one and one.gold.sum() > 0]
        usable = [(table, gold) for table, gold in tables if table is not None]
        found += [(table, gold, _weight(name) / len(usable) / total) for table, gold in usable]
    return found


def _weight(name: str) -> float:
    return NATURAL_WEIGHT if name in NATURAL else 1.0


# --- measuring -----------------------------------------------------------------------------------


def share_shown(several: Iterable[Judged | None], names: Sequence[str], weights: Weights) -> float:
    """Return the share of questions that the best sentences answer; not a number for none."""
    values = []
    for one in several:
        table = one.table(names) if one else np.zeros((0, len(names)))
        if table is not None:
            values.append(one is not None and _answers(one, table @ np.asarray(weights)))
    return statistics.fmean(values) if values else float("nan")


def _answers(one: Judged, logits: Floats) -> bool:
    """Whether the best sentences, as many as fit into the words of a screen, answer."""
    left, chosen = WORDS, []
    for place in np.argsort(-logits, kind="stable"):
        text = one.shown[place][3]
        unspaced = sum(1 for letter in text if script_language(letter))
        words = len(text.split()) + unspaced // 2
        if words <= left:
            chosen.append(one.shown[place])
            left -= words
    held = one.wanted.held(chosen)
    return held > 0


def left_out(sets: Mapping[str, Sequence[Judged | None]], name: str, names: Sequence[str]) -> Row:
    """Return what each way of judging shows of a set, in percent; weights of the other sets."""
    others = {one: own for one, own in sets.items() if group(one) != group(name)}
    single = [tuple(float(own == feature) for own in names) for feature in names]
    weights = [single[0], fit(choices(others, names)), *single[1:]]
    shares = [share_shown(sets[name], names, own) for own in weights]
    return name, *(round(100 * share, 1) for share in shares)


def table(title: str, sets: Mapping[str, Sequence[Judged | None]], names: Sequence[str]) -> Table:
    """Return all sets by one kind of features, those that the encoder does not serve left out."""
    rows = [left_out(sets, name, names) for name in sets]
    rows = [row for row in rows if not any(map(np.isnan, row[1:]))]
    means = np.asarray([row[1:] for row in rows], dtype=float).mean(axis=0).round(1)
    return Table(
        title,
        ("set", "hits in order", "all features", *names[1:]),
        (*rows, ("mean", *(float(mean) for mean in means))),
        "Percent of the answerable questions; a column of one feature judges by it alone.",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the weights fitted on all sets")
    parser.add_argument("--quick", action="store_true", help="a quarter of the questions, unkept")
    options = parser.parse_args()
    machine = Machine()
    encoder = built_in_encoder()
    sets = {
        one.name: [judged(case, encoder) for case in one.answerable()]
        for one in question_sets(step=4 if options.quick else 1)
    }
    weights = {
        kind: dict(zip(names, fit(choices(sets, names)), strict=True))
        for kind, names in (("by meaning", BY_MEANING), ("by words", BY_WORDS))
    }
    if options.write:
        MODEL.write_text(json.dumps(weights, indent=1) + "\n", "utf-8")
    tables = [
        table("By meaning", sets, BY_MEANING),
        table("By words", sets, BY_WORDS),
    ]
    bars = [
        Bar(f"{each.title.lower()}: points over the hits in order, mean", gain(each), least=least)
        for each, least in zip(tables, GAINS, strict=True)
    ]
    notes = [f"Fitted on all sets: {json.dumps(weights)}"]
    return finish(
        "sentences",
        f"Sentences that answer, in {WORDS} words",
        bars,
        tables,
        machine.setting(),
        notes,
        write=not options.quick,
    )


def gain(found: Table) -> float:
    """Return what all features show more than the hits in order, in points."""
    before, after = found.rows[-1][1:3]
    return float(after) - float(before)


if __name__ == "__main__":
    raise SystemExit(main())
