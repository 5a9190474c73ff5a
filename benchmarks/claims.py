"""How well the judge of claims tells the eight classes apart, and how fast.

    python benchmarks/claims.py [--each 60] [--dry]

``claims_cases.py`` makes labelled answer sentences from real documents. What was chosen, was chosen
on the development half; the bar is on the test half. An unsafe acceptance is a sentence that is
unsupported, misattributed, stitched or fabricated and was judged verbatim or supported.
"""

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence

from chapterhouse.claims.judge import fabricated, judge
from chapterhouse.types import Judgement, Support
from claims_cases import Case, answers, build, halves
from data_folder import data_folder
from measuring import Bar, Machine, Table, finish

UNSAFE = (Support.UNSUPPORTED, Support.MISATTRIBUTED, Support.FRANKENQUOTE, Support.FABRICATED)
CARRIED = (Support.VERBATIM, Support.SUPPORTED)
Judged = tuple[Case, Judgement]


def judged(case: Case) -> Judgement:
    """Judge a case as a caller does: what is marked and was not given is fabricated."""
    given = {evidence.document_id for evidence in (*case.cited, *case.others)}
    if case.marker and case.marker not in given:
        return fabricated(case.marker)
    return judge(case.sentence, case.cited, case.others)


def scores(results: Sequence[Judged]) -> dict[Support, tuple[float, float, float]]:
    """Return precision, recall and F1 of every class."""
    found = {}
    for support in Support:
        right = sum(case.gold is support and told.support is support for case, told in results)
        told_so = sum(told.support is support for _, told in results)
        is_so = sum(case.gold is support for case, _ in results)
        precision, recall = right / max(told_so, 1), right / max(is_so, 1)
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        found[support] = (precision, recall, f1)
    return found


def macro(results: Sequence[Judged]) -> float:
    """Return the mean F1 of the classes."""
    return statistics.fmean(f1 for _, _, f1 in scores(results).values())


def unsafe(results: Sequence[Judged]) -> list[Judged]:
    """Return the sentences that no reader should have been shown as carried."""
    return [(c, told) for c, told in results if c.gold in UNSAFE and told.support in CARRIED]


def tables(name: str, results: Sequence[Judged]) -> list[Table]:
    figures = scores(results)
    rows = tuple((s.value, *(round(value, 3) for value in figures[s])) for s in Support)
    counts = Counter((case.gold, told.support) for case, told in results)
    confusion = tuple((gold.value, *(counts[gold, told] for told in Support)) for gold in Support)
    errors = Counter(
        (case.gold.value, case.rule, told.support.value)
        for case, told in results
        if case.gold is not told.support
    )
    wrong = tuple((*key, count) for key, count in sorted(errors.items()))
    return [
        Table(f"{name}: classes", ("class", "precision", "recall", "F1"), rows),
        Table(
            f"{name}: what was judged what",
            ("is \\ judged", *(s.value for s in Support)),
            confusion,
        ),
        Table(
            f"{name}: errors by rule",
            ("is", "made by", "judged", "sentences"),
            wrong or (("none", "", "", 0),),
        ),
    ]


def times(cases: Sequence[Case]) -> tuple[float, float, float]:
    """Return milliseconds a sentence, its evidence known already: median, mean, 95th percentile."""
    taken = []
    for case in cases:
        judged(case)
        start = time.perf_counter()
        judged(case)
        taken.append((time.perf_counter() - start) * 1_000)
    taken.sort()
    return statistics.median(taken), statistics.fmean(taken), taken[int(0.95 * len(taken))]


def main() -> None:
    """Build both halves, judge them, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=60, help="sentences of a class and half")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    machine = Machine()
    shown: list[Table] = []
    outcome: dict[str, list[Judged]] = {}
    questions: tuple[int, int] = (0, 0)
    for half in halves(data_folder()):
        cases = build(half, arguments.each)
        outcome[half.name] = [(case, judged(case)) for case in cases]
        shown += tables(half.name, outcome[half.name])
        told = [
            judge(statement, (source.evidence,), ()).support in CARRIED
            for question, gold, source in half.questions
            for statement, _ in answers(question, gold, source)
        ]
        questions = (sum(told), len(told))
    test = outcome["test"]
    median, mean, slow = times([case for case, _ in test])
    bars = [
        Bar("sentences, test half", len(test), least=300),
        Bar("macro-F1, test half", round(macro(test), 4), least=0.9),
        Bar("unsafe acceptances, test half", len(unsafe(test)), most=2),
        Bar("milliseconds a sentence, median", round(median, 2), most=2),
    ]
    development = outcome["development"]
    notes = [
        (
            f"Development half: {len(development)} sentences, macro-F1 {macro(development):.4f}, "
            f"{len(unsafe(development))} unsafe acceptances. A sentence takes {mean:.1f} ms on "
            f"average, 95 of a hundred at most {slow:.1f} ms."
        ),
        (
            "Not in the classes, because nothing but a model could tell: the simple questions of "
            "the test half with their gold answer as a statement, in whatever words the question "
            f"has: {questions[0]} of {questions[1]} are carried."
        ),
    ]
    sys.exit(
        finish("claims", "Claims", bars, shown, machine.setting(), notes, write=not arguments.dry)
    )


if __name__ == "__main__":
    main()
