"""How well two claims are told to agree, to contradict each other, or to say nothing of each other.

    python benchmarks/disagreement.py [--each 60] [--dry]

``disagreement_cases.py`` makes labelled pairs from real documents. What was chosen, was chosen on
the development half; the bars are on the test half. Other draws from the test half's documents
show how much is chance. False conflicts are what is told of neighbouring paragraphs of one article,
which do not contradict each other.
"""

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from chapterhouse.claims.relation import Relation, Stated, may_disagree, relation, stated_in
from data_folder import data_folder
from disagreement_cases import Pair, build
from disagreement_sources import Half, halves
from measuring import Bar, Machine, Row, Table, finish

CONTRADICTIONS = (Relation.NUMBER, Relation.DATE, Relation.NEGATION)
DRAWS = 5
SET = 10  # paragraphs
Told = tuple[Pair, Relation]


def told(pairs: Sequence[Pair]) -> list[Told]:
    """Return each pair with what the detector says."""
    return [(pair, relation(pair.one, pair.other, pair.language)) for pair in pairs]


def scores(results: Sequence[Told]) -> dict[Relation, tuple[float, float, float]]:
    """Return precision, recall and F1 of every relation."""
    found = {}
    for kind in Relation:
        right = sum(pair.gold is kind and said is kind for pair, said in results)
        told_so = sum(said is kind for _, said in results)
        is_so = sum(pair.gold is kind for pair, _ in results)
        precision, recall = right / max(told_so, 1), right / max(is_so, 1)
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        found[kind] = (precision, recall, f1)
    return found


def macro(results: Sequence[Told]) -> float:
    """Return the mean F1 of the relations."""
    return statistics.fmean(f1 for _, _, f1 in scores(results).values())


def false_alarms(results: Sequence[Told]) -> float:
    """Return the share of pairs without a contradiction that are told to have one."""
    without = [said for pair, said in results if pair.gold not in CONTRADICTIONS]
    return sum(said in CONTRADICTIONS for said in without) / max(len(without), 1)


def tables(name: str, results: Sequence[Told]) -> list[Table]:
    """Return the tables of one half."""
    figures = scores(results)
    counts = Counter((pair.gold, said) for pair, said in results)
    languages = sorted({pair.language for pair, _ in results})
    rules = sorted({(pair.gold.value, _rule(pair)) for pair, _ in results})
    return [
        Table(
            f"{name}: relations",
            ("relation", "precision", "recall", "F1"),
            tuple((k.value, *(round(value, 3) for value in figures[k])) for k in Relation),
        ),
        Table(
            f"{name}: what was told what",
            ("is \\ told", *(k.value for k in Relation)),
            tuple((gold.value, *(counts[gold, k] for k in Relation)) for gold in Relation),
        ),
        Table(
            f"{name}: by language",
            ("language", "pairs", "macro-F1", *(f"F1 {k.value}" for k in Relation)),
            tuple(
                _language_row(language, [r for r in results if r[0].language == language])
                for language in languages
            ),
        ),
        Table(
            f"{name}: by the rule that made the pair",
            ("is", "made by", "pairs", "right"),
            tuple(
                _rule_row(gold, rule, [r for r in results if _named(r[0], gold, rule)])
                for gold, rule in rules
            ),
            "With other words beside the change counted together.",
        ),
    ]


def _rule(pair: Pair) -> str:
    rules = pair.rule.split("+")
    return rules[0] if pair.gold is not Relation.AGREE or len(rules) == 1 else "several"


def _named(pair: Pair, gold: str, rule: str) -> bool:
    return pair.gold.value == gold and _rule(pair) == rule


def _language_row(language: str, results: Sequence[Told]) -> Row:
    each = [round(f1, 3) for _, _, f1 in scores(results).values()]
    return (language, len(results), round(macro(results), 3), *each)


def _rule_row(gold: str, rule: str, results: Sequence[Told]) -> Row:
    return gold, rule, len(results), sum(pair.gold is said for pair, said in results)


def conflicts_among_neighbours(half: Half) -> tuple[int, int]:
    """Return how many sets of neighbouring paragraphs were looked at, and the conflicts told."""
    sets = found = 0
    for sources in half.sources.values():
        ordered = sorted(sources, key=lambda source: (source.article, source.id))
        for first in range(0, len(ordered), SET):
            sets += 1
            stated = stated_in([s.evidence for s in ordered[first : first + SET]])
            found += sum(
                may_disagree(one, other) and relation(*_texts(one, other)) in CONTRADICTIONS
                for one, other in combinations(stated, 2)
            )
    return sets, found


def _texts(one: Stated, other: Stated) -> tuple[str, str, str]:
    language = one.evidence.language or other.evidence.language
    return one.sentence.text, other.sentence.text, language


def milliseconds(pairs: Sequence[Pair]) -> float:
    """Return the median time of a comparison of sentences that were not read before."""
    taken = []
    for number, pair in enumerate(pairs):
        start = time.perf_counter()
        relation(f"{pair.one} ({number})", f"{pair.other} ({number})", pair.language)
        taken.append((time.perf_counter() - start) * 1_000)
    return statistics.median(taken)


def main() -> None:
    """Build both halves, compare the pairs, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=60, help="pairs of a relation and half")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    machine = Machine()
    shown: list[Table] = []
    outcome: dict[str, list[Told]] = {}
    alarms: dict[str, tuple[int, int]] = {}
    draws: list[float] = []
    for half in halves(data_folder()):
        outcome[half.name] = told(build(half, arguments.each))
        shown += tables(half.name, outcome[half.name])
        alarms[half.name] = conflicts_among_neighbours(half)
        if half.name == "test":
            drawn = [replace(half, seed=half.seed + 100 * n) for n in range(1, DRAWS + 1)]
            draws = [macro(told(build(other, arguments.each))) for other in drawn]
    test = outcome["test"]
    sets = sum(looked for looked, _ in alarms.values())
    bars = [
        Bar("pairs, test half", len(test), least=240),
        Bar("macro-F1, test half", round(macro(test), 4), least=0.8),
        Bar(f"macro-F1, lowest of {DRAWS} other draws", round(min(draws), 4), least=0.8),
        Bar("contradictions told of pairs without, test half", round(false_alarms(test), 4), most=0.1),  # noqa: E501
        Bar(f"conflicts told in {sets} sets of neighbouring paragraphs", sum(found for _, found in alarms.values()), most=3),  # noqa: E501
        Bar("milliseconds a pair, median", round(milliseconds([p for p, _ in test]), 2), most=2),
    ]  # fmt: skip
    development = outcome["development"]
    notes = [
        (
            f"Development half: {len(development)} pairs, macro-F1 {macro(development):.4f}, "
            f"contradictions told of pairs without {false_alarms(development):.4f}. "
            f"Other draws from the documents of the test half: "
            f"{', '.join(f'{value:.3f}' for value in draws)}."
        ),
        "Method and limits: `docs/decisions/0015-disagreement.md`.",
    ]
    sys.exit(
        finish(
            "disagreement",
            "Disagreement",
            bars,
            shown,
            machine.setting(),
            notes,
            write=not arguments.dry,
        )
    )


if __name__ == "__main__":
    main()
