"""How fast the graph answers at 100,000 entities: neighbours, paths, forward push, the first list.

    python benchmarks/graph_speed.py [--write]

The graph is drawn with a fixed seed: 40,000 documents of seven sentences, a name in a sentence as
often as its rank says (Zipf). Each figure is of a hundred questions, in milliseconds of a
processor, so that what else runs on the machine moves none. Names are drawn from all entities, and
from the fifty that most sentences name.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from chapterhouse.index.graph import GraphIndex
from chapterhouse.retrieval.candidates import Neighbours
from chapterhouse.retrieval.neighbours import push
from chapterhouse.types import Chunk, Scope
from measuring import Bar, Machine, Row, Table, finish, percentile

DOCUMENTS: Final = 40_000
SENTENCES: Final = 7  # of a document
LENGTH: Final = 100  # characters of a sentence
NAMES: Final = 120_000  # to draw from
MOST: Final = 5  # names of a sentence
QUESTIONS: Final = 100
NAMED_MOST: Final = 50
HITS: Final = Neighbours().hits
RELATIONS: Final = 20_000
ALL: Final = Scope.everything()
HALF: Final = Scope.of(["even"])


def fill(graph: GraphIndex) -> None:
    """Write the rows of all documents."""
    chance = np.random.default_rng(0)
    ranks = 1.0 / np.arange(1, NAMES + 1) ** 0.85
    counts = chance.integers(1, MOST + 1, DOCUMENTS * SENTENCES)
    drawn = chance.choice(NAMES, counts.sum(), p=ranks / ranks.sum())
    owners = np.repeat(np.arange(len(counts)), counts)
    mentions = [
        (_document(at // SENTENCES), f"name {one}", f"Name {one}", "person", 0.9, start, start,
         start + LENGTH - 1, at)
        for one, at in zip(drawn.tolist(), owners.tolist(), strict=True)
        for start in [at % SENTENCES * LENGTH]
    ]  # fmt: skip
    related = [
        (one[0], one[1], "uses", other[1], one[6], one[7], 0.9)
        for one, other in pairwise(mentions)
        if one[-1] == other[-1]
    ][:RELATIONS]
    shelves = ((_document(one), ("even", "odd")[one % 2]) for one in range(DOCUMENTS))
    with graph._read() as database, database as connection:  # noqa: SLF001 - rows without a store
        connection.executemany("INSERT INTO mention VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", mentions)
        connection.executemany("INSERT INTO relation VALUES (?, ?, ?, ?, ?, ?, ?)", related)
        connection.executemany("INSERT INTO membership VALUES (?, ?)", shelves)
        connection.execute("INSERT INTO progress VALUES (1, ?, 1)", (graph.version,))


def _document(number: int) -> str:
    return f"d{number:06}"


def timed(ask: Callable[[int], object]) -> Row:
    """Return the median and the 95th of a hundred of what questions take, in milliseconds."""
    taken = []
    for number in range(QUESTIONS):
        begun = time.process_time()
        ask(number)
        taken.append((time.process_time() - begun) * 1e3)
    return round(percentile(taken, 0.5), 2), round(percentile(taken, 0.95), 2)


def rows_of(graph: GraphIndex) -> Sequence[tuple[str, Row]]:
    """Return what each kind of question takes."""
    chance = np.random.default_rng(1)
    begun = time.process_time()
    _, total = graph.entities(ALL)
    first = time.process_time() - begun
    most = [one.id for one in graph.entities(ALL, limit=NAMED_MOST)[0]]
    keys = sorted(graph._view(ALL).entities)  # noqa: SLF001 - keys alone: names take a minute
    some = [keys[one] for one in chance.choice(total, 2 * QUESTIONS, replace=False)]
    starts = chance.choice(DOCUMENTS, (QUESTIONS, HITS), replace=False).tolist()

    def pushed(number: int, scope: Scope) -> object:
        places = [(_document(one), 0, SENTENCES * LENGTH) for one in starts[number]]
        hits = {Chunk(name, 0, start, end, ""): 1.0 for name, start, end in places}
        (asked, *_) = graph.entities_in(*places[0], ALL)
        return push(hits, asked, scope, graph, Neighbours().documents)

    graph.entities(HALF)
    print(f"{total:,} entities, {graph.size():,} mentions, first list {first:.1f} s")
    return [
        ("neighbours", timed(lambda one: graph.connections([some[one]], ALL))),
        (
            "neighbours of the most named",
            timed(lambda one: graph.connections([most[one % NAMED_MOST]], ALL)),
        ),
        (
            "a path of three steps at most",
            timed(lambda one: graph.path(some[one], some[-1 - one], ALL)),
        ),
        ("push", timed(lambda one: pushed(one, ALL))),
        ("push, half of the documents in scope", timed(lambda one: pushed(one, HALF))),
        (f"the first list of {total:,} entities after a change", (round(first * 1e3), "–")),
    ]


def main() -> int:
    """Draw the graph, ask it and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keeps the result")
    options, machine = parser.parse_args(), Machine()
    with TemporaryDirectory(prefix="graph-") as name:
        graph = GraphIndex(Path(name), lambda _: ())
        fill(graph)
        rows = rows_of(graph)
        mentions = graph.size()
        graph.close()
    slowest = {label: float(figures[1]) for label, figures in rows if figures[1] != "–"}
    bars = [
        Bar("neighbours, 95th of a hundred, ms", slowest["neighbours"], most=20),
        Bar("paths, 95th of a hundred, ms", slowest["a path of three steps at most"], most=20),
        Bar("push, 95th of a hundred, ms", slowest["push"], most=5),
    ]
    table = Table(
        f"Milliseconds of a processor, {mentions:,} mentions in {DOCUMENTS:,} documents",
        ("question", "median", "95th of a hundred"),
        tuple((label, *figures) for label, figures in rows),
    )
    title = "The graph at 100,000 entities"
    return finish("graph_speed", title, bars, [table], machine.setting(), write=options.write)


if __name__ == "__main__":
    raise SystemExit(main())
