"""Tools that search: BM25 in memory at 10,000 texts, and what a least similarity keeps.

    python benchmarks/corpus.py

Speed: 10,000 real texts of four English collections, the collections' own questions, four results
each, beside bm25s on the same tokens. Scores are compared with bm25s (which leaves out the factor
k1 + 1, and has 32 bits) and with the formula written out.

Similarity: the first ten passages for questions of seven collections, judged by document, and for
questions that belong to another collection. What is kept by the final score from .65 and .7 on,
which ``search_knowledge`` and ``semantic_search`` take for the similarity, and by the cosine of
the built-in vectors. The default reranker was fitted on these collections, the questions among
them: leave-one-out figures of its ranking are in ``results/reranker.md``.
"""

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import bm25s

from chapterhouse.council.corpus import K1, B, Corpus, build_index, search, tokenize
from chapterhouse.council.knowledge import KNOWLEDGE_SIMILARITY, SEMANTIC_SIMILARITY
from chapterhouse.evaluation.datasets import Dataset, load_dataset
from collection import Collection, indexed
from data_folder import data_folder
from measuring import Bar, Machine, Row, Table, finish, percentile
from vector_cache import vectors_cached

TEXTS = 10_000
QUESTIONS = 400
TOP_K = 4
COMPARED = 40  # questions whose scores are compared
SEED = 1
IN_MEMORY = ("cranfield", "cacm", "cisi", "npl")
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


# --- speed ---------------------------------------------------------------------------------------


def material(data: Path) -> tuple[list[str], list[str]]:
    """Return texts and questions of the English collections, mixed."""
    sets = [load_dataset(data / "retrieval" / name) for name in IN_MEMORY]
    texts = [f"{d.title}\n{d.text}" for one in sets for d in one.documents if d.text.strip()]
    questions = [text for one in sets for text in one.questions.values()]
    chance = random.Random(SEED)
    chance.shuffle(texts)
    chance.shuffle(questions)
    return texts[:TEXTS], questions[:QUESTIONS]


def timed(call: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    """Return milliseconds a question, after a few that do not count."""
    for question in questions[:20]:
        call(question)
    found = []
    for question in questions:
        started = time.perf_counter()
        call(question)
        found.append((time.perf_counter() - started) * 1_000)
    return found


def by_formula(corpus: Corpus, question: str) -> dict[int, float]:
    """Return the scores above 0, as the formula is written."""
    documents = [corpus.tokens(item.text) for item in corpus.texts]
    mean = statistics.fmean(map(len, documents))
    scores: dict[int, float] = {}
    for token in corpus.tokens(question):
        having = [row for row, document in enumerate(documents) if token in document]
        idf = math.log(1 + (len(documents) - len(having) + 0.5) / (len(having) + 0.5))
        for row in having:
            tf, length = documents[row].count(token), len(documents[row])
            part = idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / mean))
            scores[row] = scores.get(row, 0.0) + part
    return scores


def beside_formula(corpus: Corpus, question: str) -> float:
    """Return by how much any score differs from the formula."""
    expected = by_formula(corpus, question)
    found = {hit.place: hit.score for hit in search(corpus, question, len(corpus.texts))}
    assert found.keys() == expected.keys()
    return max(abs(found[place] - score) for place, score in expected.items())


def speed(data: Path) -> tuple[list[Bar], Table]:
    texts, questions = material(data)
    started = time.perf_counter()
    corpus = build_index(texts)
    ours_built = time.perf_counter() - started
    started = time.perf_counter()
    theirs = bm25s.BM25(method="lucene", k1=K1, b=B)
    theirs.index([tokenize(text) for text in texts], show_progress=False)
    theirs_built = time.perf_counter() - started

    def ask_theirs(question: str) -> object:
        return theirs.retrieve([tokenize(question)], k=TOP_K, show_progress=False)

    ours = timed(lambda question: search(corpus, question, TOP_K), questions)
    other = timed(ask_theirs, questions)
    apart = agreement(corpus, theirs, questions[:COMPARED])
    exact = max(beside_formula(corpus, question) for question in questions[:3])
    ratio = percentile(ours, 0.5) / percentile(other, 0.5)
    rows: list[Row] = [
        (name, built, *(percentile(times, share) for share in (0.5, 0.95, 0.99)))
        for name, built, times in (
            ("chapterhouse", ours_built, ours),
            ("bm25s", theirs_built, other),
        )
    ]
    rows.append(("ours / bm25s", ours_built / theirs_built, *(
        percentile(ours, share) / percentile(other, share) for share in (0.5, 0.95, 0.99)
    )))  # fmt: skip
    bars = [
        Bar(f"p99 of a query among {len(texts):,} texts, ms", percentile(ours, 0.99), most=5),
        Bar("median, over that of bm25s", ratio, most=1),
        Bar("largest difference from the formula written out", exact, most=1e-9),
        Bar("largest relative difference from bm25s", apart, most=1e-5),
    ]
    title = f"{len(questions)} queries for {TOP_K} of {len(texts):,} texts"
    columns = ("", "building, s", "p50, ms", "p95, ms", "p99, ms")
    note = "Tokens are made within both times. One thread."
    return bars, Table(title, columns, tuple(rows), note)


def agreement(corpus: Corpus, theirs: bm25s.BM25, questions: Sequence[str]) -> float:
    """Return by how much scores differ at most, relative to the best of the question."""
    worst = 0.0
    for question in questions:
        known = [token for token in tokenize(question) if token in corpus.numbers]
        scores = theirs.get_scores(known) * (K1 + 1)
        hits = search(corpus, question, len(corpus.texts))
        worst = max(worst, *(abs(hit.score - scores[hit.place]) / hits[0].score for hit in hits))
    return float(worst)


# --- similarity ----------------------------------------------------------------------------------


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
    with vectors_cached(), indexed(own.documents) as collection:
        found = [one for q, text in asked for one in passages(collection, own, q, text)]
        for q, text in chance.sample(foreign, min(FOREIGN, len(foreign))):
            found += passages(collection, None, q, text)
    return found


def passages(collection: Collection, own: Dataset | None, q: str, text: str) -> list[Judged]:
    hits = collection.library.search(text, limit=PASSAGES, per_document=0).hits
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
    tables, bars = [], []
    for tool, least in (
        ("search_knowledge", KNOWLEDGE_SIMILARITY),
        ("semantic_search", SEMANTIC_SIMILARITY),
    ):
        rows = [kept(name, of_set, least) for name, of_set in found.items()]
        rows.append(kept("all", everything, least))
        note = (
            "In percent. The first is of the questions that have an answer among the first "
            f"{PASSAGES} passages."
        )
        tables.append(Table(f"What {least:g} keeps ({tool})", columns, tuple(rows), note))
        right, foreign = rows[-1][2], rows[-1][3]
        assert isinstance(right, float)
        assert isinstance(foreign, float)
        bars += [
            Bar(f"{least:g}: kept that answer, percent", right, least=75),
            Bar(f"{least:g}: passages kept for foreign questions, percent", foreign, most=1),
        ]
    return bars, tables


def main() -> int:
    machine, data = Machine(), data_folder()
    bars, table = speed(data)
    more, tables = similarity(data)
    setting = machine.setting("bm25s")
    note = (
        "The default reranker, whose score is the similarity, was fitted on these collections: "
        "where it was not, expect less. What it gains there is in `reranker.md`."
    )
    return finish("corpus", "Tools that search", [*bars, *more], [table, *tables], setting, [note])


if __name__ == "__main__":
    raise SystemExit(main())
