"""Packing: speed, exactness, and how much of the answer is in how many tokens.

    python benchmarks/packing.py [--fit] [--quick]

The curve: each question is asked of a library, and its 30 best hits are packed. "Naive" is the
eight best hits whole, under the same headings. A question's gold span is the words that answer it
(three corpora of ../shared/data/chunking with offsets; XQuAD by the words of the answer in their
paragraph); recall is the share of its characters that the context holds, averaged over questions,
and "whole" the share of questions all of whose characters it holds. Tokens are those of the whole
Markdown, headings and places included, by the product's estimate.

The weights of each row were fitted on the other sets (leave-one-set-out, each set weighing the
same); ``--fit`` prints the weights fitted on all, which are in ``retrieval/relevance.py``.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from chapterhouse.retrieval.context import (
    ContextSources,
    Packing,
    build_context,
    repack,
)
from chapterhouse.retrieval.pack import (
    Item,
    pack_exactly,
    pack_greedily,
    pack_in_order,
    total_tokens,
    total_value,
)
from chapterhouse.retrieval.present import arranged, markdown
from chapterhouse.retrieval.relevance import ShareModel
from chapterhouse.text.tokens import estimate_tokens
from chapterhouse.types import Context, Excerpt, Hit, Stretch
from collection import EMBEDDER
from measuring import Bar, Machine, Row, Table, finish, percentile
from packing_sets import XQUAD, Case, models_without, opened, recall

NAIVE = 8
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PRICES = tuple(10.0**power for power in np.arange(-5.75, -3.7, 0.125))
BAR = 0.6
SEED = 1
FILLING = Packing(price=0.0)  # whatever the budget has room for


@dataclass(frozen=True, slots=True)
class Point:
    """Means over the questions of a set."""

    tokens: float
    recall: float
    whole: float


# --- the curve -----------------------------------------------------------------------------------


def naive(case: Case, number: int = NAIVE) -> tuple[int, Sequence[Excerpt]]:
    """Return the first hits whole, and what they cost under the same headings."""
    hits = case.result.hits[:number]
    excerpts = [_whole(hit) for hit in hits]
    return estimate_tokens(markdown(arranged(excerpts))), excerpts


def _whole(hit: Hit) -> Excerpt:
    chunk = hit.chunk
    return Excerpt(hit, chunk.start, chunk.end, chunk.header + chunk.text, 0, 1 / hit.rank)


def held_by(excerpts: Sequence[Excerpt]) -> Mapping[str, Sequence[Stretch]]:
    held: dict[str, list[Stretch]] = {}
    for excerpt in excerpts:
        held.setdefault(excerpt.hit.document.id, []).append((excerpt.start, excerpt.end))
    return held


def point(cases: Sequence[Case], found: Sequence[tuple[int, Sequence[Excerpt]]]) -> Point:
    recalls = [recall(held_by(e), c.gold) for c, (_, e) in zip(cases, found, strict=True)]
    return Point(
        statistics.fmean(tokens for tokens, _ in found),
        statistics.fmean(recalls),
        statistics.fmean(one == 1 for one in recalls),
    )


def candidates_of(cases: Sequence[Case], models: tuple[ShareModel, ...]) -> Sequence[Context]:
    """Build each question's context once; it is packed again for every budget."""
    return [
        build_context(case.result, sources_of(case), packing=Packing(models=models))
        for case in cases
    ]


def sources_of(case: Case) -> ContextSources:
    return ContextSources(
        body=lambda _: None,  # nothing is widened
        count_tokens=estimate_tokens,
        document_frequency=lambda term: case.frequency[term],
        embedder=EMBEDDER,
    )


def at_budget(
    cases: Sequence[Case], contexts: Sequence[Context], share: float, packing: Packing
) -> Point:
    """Pack each question into a share of what its naive hits cost."""
    found = []
    for case, context in zip(cases, contexts, strict=True):
        budget = max(int(share * naive(case)[0]), 1)
        packed = repack(context, estimate_tokens, budget, packing)
        assert packed.tokens <= budget
        found.append((packed.tokens, packed.excerpts))
    return point(cases, found)


def at_price(cases: Sequence[Case], contexts: Sequence[Context], price: float) -> Point:
    """Pack each question within the default budget, leaving out what is not worth its tokens."""
    packed = [repack(c, estimate_tokens, packing=Packing(price=price)) for c in contexts]
    return point(cases, [(one.tokens, one.excerpts) for one in packed])


def whole_only(contexts: Sequence[Context]) -> Sequence[Context]:
    """Leave each hit only its longest version."""
    return [
        replace(
            context,
            candidates=tuple({e.hit.chunk.id: e for e in context.candidates}.values()),
        )
        for context in contexts
    ]


# --- speed and exactness -------------------------------------------------------------------------


def random_items(number: int, chooser: random.Random) -> Sequence[Item]:
    """Return items like those of a search: whole chunks of some thirty documents."""
    return [
        Item(
            chooser.randint(60, 300),
            chooser.random() ** 3,
            f"document {chooser.randrange(30)}",
            opening=25,
        )
        for _ in range(number)
    ]


def median_milliseconds(work: Callable[[], object], times: int = 100) -> float:
    """Return the median processor time: what others do on the machine counts less."""
    seconds = []
    for _ in range(times):
        began = time.thread_time()
        work()
        seconds.append(time.thread_time() - began)
    return percentile(seconds, 0.5) * 1_000


def speeds() -> Sequence[tuple[str, float, float]]:
    """Return what was packed, the median milliseconds, and the bound."""
    chooser = random.Random(SEED)
    few, many = random_items(50, chooser), random_items(200, chooser)
    return [
        (
            "50 candidates at 2,000 tokens, ms of processor time",
            median_milliseconds(lambda: pack_exactly(few, 2_000)),
            1.0,
        ),
        (
            "200 candidates at 4,000 tokens, ms of processor time",
            median_milliseconds(lambda: pack_exactly(many, 4_000)),
            5.0,
        ),
    ]


def exactness(instances: int = 2_000) -> tuple[int, float, float]:
    """Return how many random instances equal brute force, and greedy's worst and mean share."""
    chooser = random.Random(SEED)
    equal, shares = 0, []
    for _ in range(instances):
        items = [
            Item(chooser.randint(0, 9), chooser.randint(0, 8) / 8, chooser.choice("ab"), opening=2)
            for _ in range(chooser.randint(1, 8))
        ]
        budget = chooser.randint(0, 30)
        best = max(
            total_value(items, chosen)
            for bits in product((False, True), repeat=len(items))
            for chosen in [[place for place, bit in enumerate(bits) if bit]]
            if total_tokens(items, chosen) <= budget
        )
        equal += abs(total_value(items, pack_exactly(items, budget)) - best) < 1e-7
        if best:
            shares.append(total_value(items, pack_greedily(items, budget)) / best)
    return equal, min(shares), statistics.fmean(shares)


# --- the page ------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="print the weights fitted on all sets")
    parser.add_argument(
        "--quick", action="store_true", help="a quarter of the questions, unwritten"
    )
    options = parser.parse_args()
    machine = Machine()
    with opened(options.quick) as sets:
        if options.fit:
            print(models_without(sets))
        rows = {name: measured(name, sets) for name in sets}
    return report(sets, rows, machine, write=not options.quick)


@dataclass(frozen=True, slots=True)
class Curves:
    """Everything measured on one set."""

    naive: Point
    budgets: Sequence[Point]  # by share
    prices: Sequence[Point]
    others: Mapping[str, Point]  # ways of choosing at the bar's share
    milliseconds: float  # of building one context


def measured(name: str, sets: Mapping[str, Sequence[Case]]) -> Curves:
    cases = sets[name]
    contexts = candidates_of(cases, models_without(sets, name))
    whole = whole_only(contexts)
    return Curves(
        naive=point(cases, [naive(case) for case in cases]),
        budgets=[at_budget(cases, contexts, share, FILLING) for share in SHARES],
        prices=[at_price(cases, contexts, price) for price in PRICES],
        others={
            "whole hits in order": at_budget(cases, whole, BAR, Packing(pack_in_order, price=0.0)),
            "whole hits, exactly": at_budget(cases, whole, BAR, FILLING),
            "sentences, greedily": at_budget(
                cases, contexts, BAR, Packing(pack_greedily, price=0.0)
            ),
            "sentences, exactly": at_budget(cases, contexts, BAR, FILLING),
        },
        milliseconds=median_milliseconds(
            lambda: build_context(cases[0].result, sources_of(cases[0])), 20
        ),
    )


def report(
    sets: Mapping[str, Sequence[Case]],
    rows: Mapping[str, Curves],
    machine: Machine,
    *,
    write: bool,
) -> int:
    """Print and write the page; return 1 where a bar is missed."""
    together = merged_curves([name for name in rows if name not in XQUAD], sets, rows)
    barred = {"chunking (three corpora)": together} | {name: rows[name] for name in XQUAD}
    equal, worst, mean = exactness()
    bars = [
        *(Bar(what, milliseconds, most=bound) for what, milliseconds, bound in speeds()),
        Bar("equal to brute force, of 2,000 random instances", equal, least=2_000),
        *(
            Bar(f"{name}: share of the naive tokens that reaches its recall", reach(one), most=BAR)
            for name, one in barred.items()
        ),
    ]
    everything = dict(rows) | {"chunking (three corpora)": together}
    numbers = {name: len(sets[name]) for name in sets}
    numbers["chunking (three corpora)"] = sum(n for name, n in numbers.items() if name not in XQUAD)
    return finish(
        "packing",
        "Packing",
        bars,
        [
            naive_table(everything, numbers),
            curve_table(
                "By price: recall at each price of a token",
                everything,
                [f"{price:.1e}" for price in PRICES],
                lambda one: one.prices,
                PRICE_NOTE,
            ),
            curve_table(
                "By budget: recall in each share of the question's own naive tokens",
                everything,
                [f"{share:.0%}" for share in SHARES],
                lambda one: one.budgets,
                BUDGET_NOTE,
            ),
            others_table(everything),
        ],
        machine.setting(),
        [
            NOTE,
            f"Greedy reaches {mean:.1%} of the best value on average there, at worst {worst:.1%}.",
        ],
        write=write,
    )


NOTE = (
    "A bar of a set counts the cheaper of two ways: the least price at which the mean tokens are "
    "as few, within the default budget of 2,000, or an equal budget for every question. Weights "
    "are fitted on the other sets; the price is the same for all questions of a set."
)
PRICE_NOTE = "Budget 2,000. Mean tokens over the naive mean, then recall and whole."
BUDGET_NOTE = "No price. Mean tokens over the naive mean, then recall and whole."


def reach(one: Curves) -> float:
    """Return the least share of the naive tokens, measured, at which naive recall is reached."""
    points = [*one.prices, *one.budgets]
    enough = [p.tokens for p in points if p.recall >= one.naive.recall - 1e-9]
    return min(enough, default=float("inf")) / one.naive.tokens


def merged_curves(
    names: Sequence[str], sets: Mapping[str, Sequence[Case]], rows: Mapping[str, Curves]
) -> Curves:
    """Return several sets as one, each question weighing the same."""
    sizes = np.asarray([len(sets[name]) for name in names], dtype=np.float64)

    def mean(points: Sequence[Point]) -> Point:
        columns = np.asarray([(p.tokens, p.recall, p.whole) for p in points])
        return Point(*(float(x) for x in sizes @ columns / sizes.sum()))

    first = rows[names[0]]
    return Curves(
        naive=mean([rows[name].naive for name in names]),
        budgets=[mean([rows[n].budgets[i] for n in names]) for i in range(len(SHARES))],
        prices=[mean([rows[n].prices[i] for n in names]) for i in range(len(PRICES))],
        others={way: mean([rows[n].others[way] for n in names]) for way in first.others},
        milliseconds=statistics.fmean(rows[name].milliseconds for name in names),
    )


def naive_table(rows: Mapping[str, Curves], numbers: Mapping[str, int]) -> Table:
    return Table(
        "The eight best hits whole",
        ("set", "questions", "tokens", "recall", "whole", "reached at", "ms a context"),
        tuple(
            (
                name,
                numbers[name],
                round(one.naive.tokens),
                one.naive.recall,
                one.naive.whole,
                f"{reach(one):.0%}",
                one.milliseconds,
            )
            for name, one in rows.items()
        ),
    )


def curve_table(
    title: str,
    rows: Mapping[str, Curves],
    columns: Sequence[str],
    points: Callable[[Curves], Sequence[Point]],
    note: str,
) -> Table:
    body: list[Row] = [
        (
            name,
            *(
                f"{p.tokens / one.naive.tokens:.0%} {p.recall:.3f} {p.whole:.3f}"
                for p in points(one)
            ),
        )
        for name, one in rows.items()
    ]
    return Table(title, ("set", *columns), tuple(body), note)


def others_table(rows: Mapping[str, Curves]) -> Table:
    ways = list(next(iter(rows.values())).others)
    return Table(
        f"Ways of choosing: recall in {BAR:.0%} of the question's own naive tokens",
        ("set", *ways),
        tuple((name, *(one.others[way].recall for way in ways)) for name, one in rows.items()),
        "In order: the hits one after the other, as far as they fit. Greedily is by value per "
        "token, which takes the shortest version of a hit and never a longer one.",
    )


if __name__ == "__main__":
    raise SystemExit(main())
