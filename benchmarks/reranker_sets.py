"""The collections that the feature reranker is fitted on: questions with judged candidates.

Every collection is searched by the product with its defaults. Documents are judged in those in
BEIR layout; elsewhere chunks are: by the share of the answer that stands in them, and in the open
folders of the natural collection by whether they hold what its questions quote as evidence, or all
facts. The test folders are not opened.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

sys.path.append(str(Path(__file__).parent / "natural"))

import numpy as np
from numpy.typing import NDArray

from chapterhouse.library import Library
from chapterhouse.retrieval.candidates import Method
from chapterhouse.retrieval.fuse import lexical_scores
from chapterhouse.retrieval.rerank import FEATURES, FeatureModel, Shortlist, table_of
from chapterhouse.types import Chunk
from collection import Collection, open_collection
from folders import PARTS
from gold_sets import Spans, contract_questions, paper_questions, papers
from gold_spans import load_gold
from judged_sets import CorpusDocument, Dataset, load_dataset
from libraries import opened
from marking import has_facts
from measuring import data_folder
from plain_text import comparable
from questions import Question, read_questions

DATASETS = ("cranfield", "cacm", "cisi", "npl", "time", "anthropic-docs", "pubmedqa",
            "xquad-en", "xquad-de", "xquad-zh")  # fmt: skip
FOLDERS = tuple(name for name, part in PARTS.items() if part == "open")
MOST_QUESTIONS = 400  # of a collection

Floats = NDArray[np.float64]
Judge = Callable[[Chunk], float]
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Example:
    """A question's shortlist.

    Attributes:
        table: Its features, shape (candidates, features).
        names: What each candidate counts for in the judgements: its document, or itself.
        grades: Grade of each candidate.
        ideal: All grades of the question, highest first.
        lexical: Grades by BM25 alone, in order, each name where it is first seen.
    """

    table: Floats
    names: tuple[str, ...]
    grades: Floats
    ideal: tuple[float, ...]
    lexical: tuple[float, ...]


def family(name: str) -> str:
    """Return what is left out together: translations, and questions about the same documents."""
    return next((each for each in ("xquad", "contracts") if name.startswith(each)), name)


def read_sets() -> dict[str, Sequence[Example]]:
    """Index every collection and return its questions' shortlists."""
    sets = {}
    # The weights that are there may be of other features; none are needed here.
    any_model = FeatureModel(0.0, (0.0,) * len(FEATURES))
    with patch("chapterhouse.answering.search.fitted_model", lambda: any_model):
        for name, examples in _sets():
            sets[name] = examples
            print(f"{name}: {len(examples)} questions", flush=True)
    return sets


def _sets() -> Iterator[tuple[str, Sequence[Example]]]:
    root = data_folder() / "retrieval"
    for name in FOLDERS:
        with opened(name, "built-in") as library:
            yield name, of_folder(library, read_questions(name))
            if name == "contracts":
                yield "contracts-gold", of_spans(library, list(contract_questions(library, None)))
    for name in DATASETS:
        dataset = load_dataset(root / name)
        with open_collection(dataset.documents) as collection:
            yield name, of_dataset(dataset, collection)
    gold = load_gold(data_folder() / "chunking")
    texts = [CorpusDocument(name, "", text) for name, text in gold.texts.items()]
    with open_collection(texts) as collection:
        ids = {theirs: ours for ours, theirs in collection.names.items()}
        asked = [(each.text, {ids[each.corpus]: each.ranges}) for each in gold.questions]
        yield "chunking", of_spans(collection.library, asked)
    covid = root / "covid-qa-open"
    with open_collection(papers(covid)) as collection:
        asked_papers = list(paper_questions(collection, covid, None))
        yield covid.name, of_spans(collection.library, asked_papers)


def of_dataset(dataset: Dataset, collection: Collection) -> Sequence[Example]:
    """Judge chunks by their documents."""

    def document(chunk: Chunk) -> str:
        return collection.names[chunk.document_id]

    examples = []
    for identifier in some(sorted(dataset.questions)):
        relevant = dataset.relevant[identifier]

        def judge(chunk: Chunk, relevant: Mapping[str, int] = relevant) -> float:
            return float(relevant.get(document(chunk), 0))

        text, ideal = dataset.questions[identifier], map(float, relevant.values())
        examples.append(_example(collection.library, text, document, judge, ideal))
    return examples


def of_spans(library: Library, questions: Sequence[tuple[str, Spans]]) -> Sequence[Example]:
    """Judge chunks by the share of the answer that stands in them."""
    found = (
        _of_chunks(library, text, spans, partial(_share, spans)) for text, spans in some(questions)
    )
    return [example for example in found if example]


def of_folder(library: Library, questions: Sequence[Question]) -> Sequence[Example]:
    """Judge chunks by whether they hold a quotation of the evidence, or all facts."""
    documents = {each.source.partition("/")[2]: each for each in library.documents.list()}
    examples = []
    for question in questions:
        own = [documents[name] for name in question.documents if name in documents]
        titles = {document.id: document.title for document in own}
        judge = partial(_holds, question, titles)
        examples.append(_of_chunks(library, question.question, titles, judge))
    return [example for example in examples if example]


def some(items: Sequence[Each]) -> Sequence[Each]:
    """Return at most ``MOST_QUESTIONS`` of the items, evenly taken."""
    return items[:: max(1, -(-len(items) // MOST_QUESTIONS))]


def _share(spans: Spans, chunk: Chunk) -> float:
    """Return how much of an answer stands in a chunk, 0 to 1."""
    inside = sum(
        max(0, min(chunk.end, end) - max(chunk.start, start))
        for start, end in spans.get(chunk.document_id, ())
    )
    return inside / sum(end - start for own in spans.values() for start, end in own)


def _holds(question: Question, titles: Mapping[str, str], chunk: Chunk) -> float:
    """Return 1 where a chunk of a document of the evidence quotes it or has all facts, else 0."""
    if chunk.document_id not in titles:
        return 0.0
    place = " › ".join([titles[chunk.document_id], *chunk.section_path])
    shown = f"{chunk.header}\n{chunk.text}"
    text = comparable(shown)
    quoted = any(comparable(evidence.quote) in text for evidence in question.evidence)
    return float(quoted or has_facts(f"{place}\n{shown}", question.facts))


def _of_chunks(
    library: Library, text: str, documents: Iterable[str], judge: Judge
) -> Example | None:
    """Return an example whose chunks are judged; None where none of ``documents`` is relevant."""
    ideal = [judge(chunk) for document in documents for chunk in library.documents.chunks(document)]
    if not any(ideal):
        return None
    return _example(library, text, lambda chunk: chunk.id, judge, ideal)


def _example(
    library: Library,
    text: str,
    name: Callable[[Chunk], str],
    judge: Judge,
    ideal: Iterable[float],
) -> Example:
    method = replace(library.search.method, hop=None)  # it comes behind
    listed = shortlist(library, text, method)
    words = shortlist(library, text, replace(method, fuse=lexical_scores, expand=()))
    first = {name(chunk): judge(chunk) for chunk in reversed(words.chunks if words else ())}
    lexical = dict.fromkeys(name(chunk) for chunk in (words.chunks if words else ()))
    chunks = listed.chunks if listed else ()
    return Example(
        table_of(listed) if listed else np.zeros((0, len(FEATURES))),
        tuple(map(name, chunks)),
        np.asarray([judge(chunk) for chunk in chunks]),
        tuple(sorted(ideal, reverse=True)),
        tuple(first[each] for each in lexical),
    )


def shortlist(library: Library, text: str, method: Method) -> Shortlist | None:
    """Return what the product would rerank for a question; None where it finds nothing."""
    seen: list[Shortlist] = []

    def look(listed: Shortlist) -> Sequence[float]:
        seen.append(listed)
        return listed.scores

    library.search.hits(text, method=replace(method, rerank=look))
    return seen[0] if seen else None
