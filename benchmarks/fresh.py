"""What is found while vectors are missing: of a share of the chunks, of languages, of new uploads.

    python benchmarks/fresh.py [--part missing|mixed|uploads ...] [--write]

**Missing.** The vectors of a random tenth and half of the chunks of open collections are hidden;
nDCG@10 of their questions, beside words alone.

**Mixed.** One library of paragraphs in five languages, of which the encoder in the box serves
three; nDCG@10 of each language's own questions, beside words alone in the same library.

**Uploads.** A hundred facts, each added to a library that has all its vectors and asked about at
once, before anything makes its vectors, among older documents that say the same of other things;
how many are among the first three hits.

"Words alone" is the product without vectors: reranking, other names and the hop stay.
"""

import argparse
import random
import statistics
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "natural"))

import numpy as np
from numpy.typing import NDArray

from chapterhouse.evaluation.measures import estimate, ndcg
from chapterhouse.ports.index import VectorSearch
from chapterhouse.retrieval.fuse import lexical_scores
from chapterhouse.retrieval.method import Method
from chapterhouse.retrieval.pipeline import Sources, retrieve
from chapterhouse.types import Query, Scope, Scored
from collection import Collection, open_collection
from data_folder import data_folder
from judged_sets import CorpusDocument, Dataset, load_dataset
from measuring import Bar, Machine, Row, Table, finish
from questions import read_questions
from vector_cache import vectors_cached

SETS = ("cacm", "cisi", "cranfield", "med", "pubmedqa", "time", "xquad-de", "xquad-en")
SHARES = (0.0, 0.1, 0.5)
LANGUAGES = ("ar", "de", "en", "zh")
FRENCH = "guides-fr"
QUESTIONS = 300
TOP = 10
SEED = 11
_EVERYTHING = 1_000_000  # hits: more than any collection here has chunks

Grades = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Hiding:
    """An index some of whose vectors are not there."""

    index: VectorSearch
    hidden: frozenset[int]

    def search(
        self, vector: NDArray[np.float32], scope: Scope, limit: int, also: Sequence[int] = ()
    ) -> Sequence[Scored]:
        """Return what the index would without them."""
        found = [
            hit
            for hit in self.index.search(vector, scope, _EVERYTHING)
            if hit.key not in self.hidden
        ]
        wanted = set(also)
        return [*found[:limit], *(hit for hit in found[limit:] if hit.key in wanted)]


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions with the documents that answer them, by the collection's names."""

    questions: Mapping[str, str]
    relevant: Mapping[str, Grades]

    def first(self, number: int) -> "Asked":
        """Return the first of them."""
        return replace(self, questions=dict(islice(self.questions.items(), number)))


def words_alone(method: Method) -> Method:
    """Return the method without vectors."""
    return replace(method, fuse=lexical_scores)


def scores(collection: Collection, asked: Asked, sources: Sources, method: Method) -> list[float]:
    """Return nDCG@10 of each question; a document counts by its best chunk."""
    result = []
    for key, text in asked.questions.items():
        query = Query(text, Scope.everything(), limit=TOP, per_document=1)
        hits = retrieve(query, sources, method).hits
        ranking = [collection.names[hit.document.id] for hit in hits]
        result.append(ndcg(ranking, asked.relevant[key], TOP))
    return result


def hiding(collection: Collection, sources: Sources, share: float) -> Sources:
    """Return sources that lack the vectors of a random share of the chunks."""
    keys = sorted(
        chunk.key
        for document in collection.library.documents.list()
        for chunk in collection.library.documents.chunks(document.id)
    )
    hidden = frozenset(random.Random(SEED).sample(keys, round(share * len(keys))))
    table = sources.table
    return replace(
        sources,
        vector=Hiding(sources.vector, hidden),
        table=replace(table, vector=Hiding(table.vector, hidden)) if table else None,
    )


# --- missing -----------------------------------------------------------------------------------


def measure_missing() -> tuple[list[Bar], Table]:
    """Hide vectors of every set, and ask its questions."""
    rows: list[Row] = []
    worst = dict.fromkeys(SHARES, 1.0)
    for name in SETS:
        dataset = load_dataset(data_folder() / "retrieval" / name)
        asked = Asked(dataset.questions, dataset.relevant).first(QUESTIONS)
        with open_collection(dataset.documents) as collection:
            method, sources = collection.library.search.method, collection.sources()
            alone = statistics.fmean(scores(collection, asked, sources, words_alone(method)))
            means = {}
            for share in SHARES:
                some = hiding(collection, sources, share)
                means[share] = statistics.fmean(scores(collection, asked, some, method))
                worst[share] = min(worst[share], means[share] - alone)
        rows.append((name, f"{alone:.4f}", *(f"{means[share]:.4f}" for share in SHARES)))
        print(*rows[-1], flush=True)
    averages = [statistics.fmean(float(row[place]) for row in rows) for place in range(1, 5)]
    rows.append(("mean", *(f"{mean:.4f}" for mean in averages)))
    bars = [
        Bar(f"{share:.0%} missing: the worst set less words alone", worst[share], least=-0.005)
        for share in SHARES[1:]
    ]
    bars.append(Bar("half missing: mean less words alone", averages[3] - averages[0], least=0))
    columns = ("set", "words alone", *(f"{share:.0%} missing" for share in SHARES))
    return bars, Table("nDCG@10 where vectors are missing", columns, tuple(rows))


# --- mixed -------------------------------------------------------------------------------------


def measure_mixed() -> tuple[list[Bar], Table]:
    """Ask a library of five languages the questions of each."""
    documents: list[CorpusDocument] = []
    languages: dict[str, Asked] = {}
    for language in LANGUAGES:
        dataset = load_dataset(data_folder() / "retrieval" / f"xquad-{language}")
        documents += [replace(each, id=f"{language} {each.id}") for each in dataset.documents]
        languages[language] = _renamed(dataset, language).first(QUESTIONS)
    texts, languages["fr"] = _french()
    documents += texts
    rows: list[Row] = []
    least: list[float] = []
    with open_collection(documents) as collection:
        method, sources = collection.library.search.method, collection.sources()
        for language, asked in sorted(languages.items()):
            alone = scores(collection, asked, sources, words_alone(method))
            own = scores(collection, asked, sources, method)
            gain = estimate([a - b for a, b in zip(own, alone, strict=True)])
            means = (statistics.fmean(alone), statistics.fmean(own))
            least.append(means[1] - means[0])
            interval = f"{gain.mean:+.4f} ({gain.low:+.3f} to {gain.high:+.3f})"
            rows.append((language, len(own), *(f"{mean:.4f}" for mean in means), interval))
            print(*rows[-1], flush=True)
    bars = [Bar("mixed library: the worst language less words alone", min(least), least=-0.003)]
    columns = ("language", "questions", "words alone", "the product", "gain, 95 %")
    return bars, Table("nDCG@10 in a library of five languages", columns, tuple(rows))


def _renamed(dataset: Dataset, language: str) -> Asked:
    relevant = {
        key: {f"{language} {name}": grade for name, grade in grades.items()}
        for key, grades in dataset.relevant.items()
    }
    return Asked(dataset.questions, relevant)


def _french() -> tuple[list[CorpusDocument], Asked]:
    """Return the guides in French and the natural questions that they answer."""
    folder = data_folder() / "folders" / FRENCH
    documents = [
        CorpusDocument(f"fr {path.relative_to(folder)}", "", path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.md"))
    ]
    known = {document.id for document in documents}
    relevant = {
        question.id: {f"fr {name}": 1 for name in question.documents}
        for question in read_questions(FRENCH)
        if question.documents and all(f"fr {name}" in known for name in question.documents)
    }
    texts = {each.id: each.question for each in read_questions(FRENCH) if each.id in relevant}
    return documents, Asked(texts, relevant)


# --- uploads -----------------------------------------------------------------------------------

_NEW = (
    "berth", "sauna", "crane", "laundry", "slipway", "locker", "kayak", "bicycle", "projector",
    "workshop", "parking space", "guest cabin", "library card", "storage box", "ferry ticket",
    "fishing permit", "swimming lesson", "garden plot", "meeting room", "boat trailer",
)  # fmt: skip
_OLD = (
    "mooring", "tennis court", "forklift", "ironing room", "boat lift", "safe", "canoe", "scooter",
    "loudspeaker", "darkroom", "garage", "tent pitch", "museum pass", "cellar", "bus ticket",
    "hunting licence", "sailing course", "greenhouse", "lecture hall", "car trailer",
)  # fmt: skip
# What is said of each thing, and what is asked.
_FACTS = (
    ("The {thing} fee is {number} crowns a night.", "What does the {thing} cost a night?"),
    ("To book the {thing}, call extension {number}.", "Which number do I call for the {thing}?"),
    ("The deposit for the {thing} is {number} crowns.", "How high is the {thing} deposit?"),
    ("The {thing} is closed in week {number}.", "When is the {thing} not open?"),
    ("The key of the {thing} hangs on hook {number}.", "Where do I find the key of the {thing}?"),
)


def measure_uploads() -> tuple[list[Bar], Table]:
    """Add a hundred facts one by one, and ask about each at once."""
    documents = load_dataset(data_folder() / "retrieval" / "xquad-en").documents
    older = [
        CorpusDocument(f"{thing} {kind}", "", _said(fact[0], thing, kind))
        for thing in _OLD
        for kind, fact in enumerate(_FACTS)
    ]
    places = []
    with open_collection([*documents, *older]) as collection:
        library = collection.library
        for number, (thing, fact) in enumerate((thing, fact) for thing in _NEW for fact in _FACTS):
            text, title = _said(fact[0], thing, number), f"Note {number}"
            added = library.documents.add_text(text, title=title).outcomes[0].record
            hits = library.search.hits(fact[1].format(thing=thing), limit=TOP).hits
            ranks = [hit.rank for hit in hits if hit.document.id == added.document_id]
            places.append(min(ranks, default=TOP + 1))
    first = sum(place <= 3 for place in places)
    rows = [(f"{place}" if place <= TOP else "not found", places.count(place))
            for place in sorted(set(places))]  # fmt: skip
    table = Table(
        "Rank of a fact that was uploaded a moment before", ("rank", "facts"), tuple(rows)
    )
    return [Bar("uploads among the first three, of 100", first, least=100)], table


def _said(text: str, thing: str, number: int) -> str:
    said = text.format(thing=thing, number=number + 11)
    return said[0].upper() + said[1:]


PARTS = {"missing": measure_missing, "mixed": measure_mixed, "uploads": measure_uploads}


def measured(names: Sequence[str]) -> Iterator[tuple[list[Bar], Table]]:
    """Yield bars and table of each part."""
    for name in names:
        yield PARTS[name]()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = Machine()
    with vectors_cached():
        parts = list(measured(chosen.part))
    return finish(
        "fresh",
        "What is found while vectors are missing",
        [bar for bars, _ in parts for bar in bars],
        [table for _, table in parts],
        machine.setting("onnxruntime"),
        (__doc__.strip().split("\n\n", 2)[2].replace("\n", " "),),
        write=chosen.write,
    )


if __name__ == "__main__":
    sys.exit(main())
