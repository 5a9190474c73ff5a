"""Tools that search: what a least similarity keeps.

    python benchmarks/knowledge.py

The first ten passages for questions of seven collections, judged by document, and for questions
that belong to another collection. What is kept by the final score from .65 on, which
``search_knowledge`` takes for the similarity, and by the cosine of the built-in vectors. The
default reranker was fitted on these collections, the questions among them: leave-one-out figures
of its ranking are in ``results/reranker.md``.
"""

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chapterhouse.council.knowledge import KNOWLEDGE_SIMILARITY
from collection import Collection, open_collection
from data_folder import data_folder
from judged_sets import Dataset, load_dataset
from measuring import Bar, Machine, Row, Table, finish
from vector_cache import vectors_cached

SEED = 1
# Collections, and whose questions none of their texts answers.
JUDGED: Mapping[str, str] = {
    "xquad-en": "cranfield",
    "xquad-de": "",
    "xquad-zh": "",
    "cranfield": "xquad-en",
    "anthropic-docs": "pubmedqa",
    "pubmedqa": "anthropic-docs",
    "time": "anthropic-docs",
}
ASKED = 120
FOREIGN = 60
PASSAGES = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A passage that was found: its question, whether it answers it, and its numbers."""

    question: str
    own: bool  # whether the question belongs to the collection
    relevant: bool
    score: float
    cosine: float


def judged(name: str, sets: Mapping[str, Dataset]) -> list[Judged]:
    """Ask a collection its own questions, and those of another."""
    own, chance = sets[name], random.Random(SEED)
    questions = sorted(own.questions.items())
    asked = chance.sample(questions, min(ASKED, len(questions)))
    foreign = sorted(sets[JUDGED[name]].questions.items()) if JUDGED[name] else []
    with vectors_cached(), open_collection(own.documents) as collection:
        found = [one for q, text in asked for one in passages(collection, own, q, text)]
        for q, text in chance.sample(foreign, min(FOREIGN, len(foreign))):
            found += passages(collection, None, q, text)
    return found


def passages(collection: Collection, own: Dataset | None, q: str, text: str) -> list[Judged]:
    hits = collection.library.search.hits(text, limit=PASSAGES, per_document=0).hits
    relevant = own.relevant[q] if own else {}
    return [
        Judged(
            q,
            own is not None,
            collection.names[hit.document.id] in relevant,
            hit.score,
            hit.stages.get("cosine", 0.0),
        )
        for hit in hits
    ]


def share(values: Sequence[bool]) -> float:
    return 100 * statistics.fmean(values) if values else math.nan


def kept(name: str, found: Sequence[Judged], least: float) -> Row:
    """Return what a least score keeps, in percent, and what a least cosine would."""
    own = [one for one in found if one.own]
    near = [one for one in own if one.score >= least]
    foreign = [one.score >= least for one in found if not one.own]
    answered = {one.question for one in near if one.relevant}
    right = [one.cosine >= least for one in own if one.relevant]
    wrong = [one.cosine >= least for one in own if not one.relevant]
    return (
        name,
        100 * len(answered) / len({one.question for one in own if one.relevant}),
        share([one.relevant for one in near]),
        share(foreign) if foreign else "",
        share(right),
        share(wrong),
    )


def similarity(data: Path) -> tuple[list[Bar], list[Table]]:
    sets = {name: load_dataset(data / "retrieval" / name) for name in JUDGED}
    found = {name: judged(name, sets) for name in JUDGED}
    everything = [
        Judged(f"{name} {one.question}", one.own, one.relevant, one.score, one.cosine)
        for name, of_set in found.items()
        for one in of_set
    ]
    columns = (
        "collection",
        "questions with an answer kept",
        "kept that answer",
        "foreign kept",
        "cosine: answers kept",
        "cosine: others kept",
    )
    rows = [kept(name, of_set, KNOWLEDGE_SIMILARITY) for name, of_set in found.items()]
    rows.append(kept("all", everything, KNOWLEDGE_SIMILARITY))
    note = (
        "In percent. The first is of the questions that have an answer among the first "
        f"{PASSAGES} passages."
    )
    title = f"What {KNOWLEDGE_SIMILARITY:g} keeps (search_knowledge)"
    right, foreign = rows[-1][2], rows[-1][3]
    assert isinstance(right, float)
    assert isinstance(foreign, float)
    bars = [
        Bar("kept that answer, percent", right, least=75),
        Bar("passages kept for foreign questions, percent", foreign, most=1),
    ]
    return bars, [Table(title, columns, tuple(rows), note)]


def main() -> int:
    machine = Machine()
    bars, tables = similarity(data_folder())
    note = (
        "The default reranker, whose score is the similarity, was fitted on these collections: "
        "where it was not, expect less. What it gains there is in `reranker.md`."
    )
    return finish("knowledge", "Tools that search", bars, tables, machine.setting(), [note])


if __name__ == "__main__":
    raise SystemExit(main())
