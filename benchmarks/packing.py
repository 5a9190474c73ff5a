"""Packing: how much of the answers a context holds in how many tokens, and how fast it is packed.

    python benchmarks/packing.py [--part open|test] [--quick]

Each question is searched and its first 12 hits are packed with the weights as shipped. "Naive" is
the first eight hits whole, under the same headings. Of a natural question a context holds all
facts or it does not; of the others it holds a share of the gold span's characters. Tokens are
those of the whole Markdown, headings and places included, by the product's estimate.

The natural folders are the open ones; ``--part test`` opens the test folders to report.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse.answering.extractive import Reference
from chapterhouse.retrieval.context import PRICE, ContextSources, Packing, build_context, repack
from chapterhouse.retrieval.pack import Item, pack
from chapterhouse.retrieval.present import arrange, markdown
from chapterhouse.settings import PackingSettings
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import Context, Excerpt, SearchResult
from folders import PARTS
from measuring import Bar, Machine, Row, Table, finish, percentile
from sentence_cases import NATURAL, SETS, Case, QuestionSet, Shown, own_reference, question_sets

NAIVE: Final = 8
HITS: Final = PackingSettings().hits
PRICES: Final = (0.0, 5e-6, 1e-5, 2e-5, 3e-5, 4e-5, 6e-5, 8e-5, 1.2e-4, 1.6e-4)
TEST: Final = tuple(name for name, part in PARTS.items() if part == "test")
BAR: Final = 0.45
SEED: Final = 1
TIMED: Final = 20  # questions of each row


@dataclass(frozen=True, slots=True)
class Point:
    """What the contexts of some questions hold and cost, one figure a question."""

    tokens: tuple[int, ...]
    held: tuple[float, ...]

    def beside(self, naive: "Point") -> str:
        """Return tokens as a share of the naive ones, and the mean held."""
        return f"{self.cost(naive):.0%} {statistics.fmean(self.held):.3f}"

    def cost(self, naive: "Point") -> float:
        """Return the tokens as a share of the naive ones."""
        return sum(self.tokens) / sum(naive.tokens)


@dataclass(frozen=True, slots=True)
class Measured:
    """A group of questions: the first eight hits whole, and the contexts, by price."""

    naive: Point
    contexts: Mapping[float, Point]
    milliseconds: float


# --- contexts ------------------------------------------------------------------------------------


def first(result: SearchResult, number: int) -> SearchResult:
    """Return a search with its first hits alone."""
    return replace(result, hits=result.hits[:number])


def whole(case: Case) -> tuple[int, float]:
    """Return what the first eight hits cost and hold whole, under the same headings."""
    excerpts = [
        Excerpt(h, h.chunk.start, h.chunk.end, h.chunk.header + h.chunk.text, 0, 1 / h.rank)
        for h in case.result.hits[:NAIVE]
    ]
    page = markdown(arrange(excerpts))
    return estimate_tokens(page), held(case, excerpts, page)


def packed(case: Case, context: Context) -> tuple[int, float]:
    """Return what a context costs and holds."""
    return context.tokens, held(case, context.excerpts, context.markdown)


def held(case: Case, excerpts: Iterable[Excerpt], page: str) -> float:
    """Return the share of what is wanted: of gold spans by offsets, of facts in the page."""
    shown: Shown = [(e.hit.document.id, e.start, e.end, "") for e in excerpts]
    return case.wanted.held([*shown, ("", 0, 0, page)])


def contexts(case: Case, lookup: ContextSources) -> Mapping[float, tuple[int, float]]:
    """Return what the context at each price costs and holds."""
    built = build_context(first(case.result, HITS), lookup)
    return {
        price: packed(case, repack(built, estimate_tokens, packing=Packing(price=price)))
        for price in (PRICE, *PRICES)
    }


def measured(sets: Sequence[QuestionSet], own: Reference) -> Measured:
    """Return the curves of some sets together."""
    naive: list[tuple[int, float]] = []
    rows: dict[float, list[tuple[int, float]]] = {price: [] for price in (PRICE, *PRICES)}
    times: list[float] = []
    for own_set, case in ((each, case) for each in sets for case in each.answerable()):
        reference = own_set.reference(case, own)
        words = replace(reference.scorer, encoder=None)  # as ``asking`` has it
        lookup = ContextSources(reference.body, estimate_tokens, words)
        if len(times) < TIMED:
            times.append(seconds(lambda c=case, s=lookup: build_context(first(c.result, HITS), s)))  # type: ignore[misc]  # no types in a lambda
        for price, value in contexts(case, lookup).items():
            rows[price].append(value)
        naive.append(whole(case))
    return Measured(
        _point(naive),
        {price: _point(values) for price, values in rows.items()},
        percentile(times, 0.5) * 1_000,
    )


def _point(values: Sequence[tuple[int, float]]) -> Point:
    tokens, shares = zip(*values, strict=True)
    return Point(tokens, shares)


# --- speed ---------------------------------------------------------------------------------------


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work: what others do on the machine counts less."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def speed(number: int, budget: int, most: float) -> Bar:
    """Return the median milliseconds of packing items like those of a search."""
    chooser = random.Random(SEED)
    items = [
        Item(chooser.randint(60, 300), chooser.random() ** 3, f"{chooser.randrange(30)}", "", 25)
        for _ in range(number)
    ]
    times = [seconds(lambda: pack(items, budget)) for _ in range(100)]
    what = f"{number} candidates at {budget:,} tokens, ms of processor time"
    return Bar(what, percentile(times, 0.5) * 1_000, most=most)


# --- the page ------------------------------------------------------------------------------------


def groups(part: str, step: int) -> Mapping[str, Sequence[QuestionSet]]:
    """Return the sets to measure by the name of their row: the natural folders as one."""
    folders = TEST if part == "test" else NATURAL
    others = ("covid-qa-open",) if part == "test" else tuple(n for n in SETS if n not in NATURAL)
    label = f"natural, {part} folders"
    return {label: list(question_sets(folders, step))} | {
        name: list(question_sets([name], step)) for name in others
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("open", "test"), default="open")
    parser.add_argument("--quick", action="store_true", help="a quarter of the questions, unkept")
    options = parser.parse_args()
    machine = Machine()
    own = own_reference()
    step = 4 if options.quick else 1
    rows = {name: measured(own_sets, own) for name, own_sets in groups(options.part, step).items()}
    return finish(
        "packing" if options.part == "open" else "packing_test",
        "Packing",
        [speed(50, 2_000, 1.0), speed(200, 4_000, 5.0), *bars(rows)],
        [summary(rows), prices(rows)],
        machine.setting(),
        (NOTE,),
        write=not options.quick,
    )


NOTE = (
    "Cells of curves: tokens as a share of the naive ones, then the mean share held. Reached at: "
    "the least share of the naive tokens, over all prices, at which no less is held."
)


def bars(rows: Mapping[str, Measured]) -> Iterable[Bar]:
    """Yield what the natural folders and the papers must reach."""
    for name, one in rows.items():
        if name.startswith("natural") or name == "covid-qa-open":
            lost = statistics.fmean(one.naive.held) - statistics.fmean(one.contexts[PRICE].held)
            yield Bar(f"{name}: share of the naive tokens that holds as much", reach(one), most=BAR)
            yield Bar(f"{name}: less held than naive at the defaults", max(lost, 0.0), most=0)


def reach(one: Measured) -> float:
    """Return the least share of the naive tokens at which no less is held."""
    least = statistics.fmean(one.naive.held) - 1e-9
    held = one.contexts.values()
    enough = [p.cost(one.naive) for p in held if statistics.fmean(p.held) >= least]
    return min(enough, default=float("inf"))


def summary(rows: Mapping[str, Measured]) -> Table:
    """Return the naive hits beside the contexts as shipped."""
    columns = (
        "set", "questions", "naive tokens", "held", "tokens", "held by the context", "of the naive",
        "reached at", "ms a context",
    )  # fmt: skip
    body: list[Row] = []
    for name, one in rows.items():
        naive, own = one.naive, one.contexts[PRICE]
        body.append(
            (
                name, len(naive.held), round(statistics.fmean(naive.tokens)),
                statistics.fmean(naive.held), round(statistics.fmean(own.tokens)),
                statistics.fmean(own.held), f"{own.cost(naive):.0%}", f"{reach(one):.0%}",
                one.milliseconds,
            )
        )  # fmt: skip
    return Table("Eight hits whole, and the context as shipped", columns, tuple(body))


def prices(rows: Mapping[str, Measured]) -> Table:
    """Return the curve of the prices."""
    return Table(
        f"By price: {HITS} hits",
        ("set", *(f"{price:.1e}" for price in PRICES)),
        tuple(
            (name, *(one.contexts[price].beside(one.naive) for price in PRICES))
            for name, one in rows.items()
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
