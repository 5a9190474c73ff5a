"""Judged collections beside the natural one: contracts, papers, questions of several steps.

``contracts-gold``: a passage or a quotation that overlaps a gold span of the right document.
``covid-qa-open``: one of the first five passages overlaps the span. ``2wiki-open``: all gold
documents are among the first eight hits. ``xquad-en``: the gold paragraph is among the first three.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from chapterhouse.library import Library
from chapterhouse.settings import Settings
from chapterhouse.types import Range
from collection import Collection, open_collection
from judged_sets import CorpusDocument, load_dataset
from libraries import complete_vectors, settings_of
from marking import SEED, Share, share
from measuring import data_folder

Each = TypeVar("Each")
Spans = Mapping[str, Sequence[Range]]  # gold spans by our id of the document


@dataclass(frozen=True, slots=True)
class SetScore:
    """A figure of a judged collection."""

    name: str
    measure: str
    share: Share


def overlaps(spans: Spans, document: str, start: int, end: int) -> bool:
    """Whether a passage of a document overlaps one of the gold spans."""
    return any(start < last and first < end for first, last in spans.get(document, ()))


def locate(text: str, wanted: str, near: int) -> Range | None:
    """Return where a gold text is in our reading, white space aside; None where it is not.

    Args:
        text: The canonical text of our reading.
        wanted: The gold text as the file has it.
        near: Its offset in the file; of several places the nearest is taken.
    """
    places = [place for place, letter in enumerate(text) if not letter.isspace()]
    squeezed = "".join(text.split())
    sought = "".join(wanted.split())
    found = []
    start = squeezed.find(sought) if sought else -1
    while start >= 0:
        found.append((places[start], places[start + len(sought) - 1] + 1))
        start = squeezed.find(sought, start + 1)
    return min(found, key=lambda span: abs(span[0] - near), default=None)


def contract_questions(library: Library, sample: int | None) -> Iterator[tuple[str, Spans]]:
    """Yield the questions of ``contracts-gold`` and their spans in a library with the folder."""
    folder = data_folder() / "folders"
    ids = {document.source.partition("/")[2]: document.id for document in library.documents.list()}
    for row in drawn(rows(folder / "contracts-gold.jsonl"), sample):
        spans: dict[str, list[Range]] = {}
        for each in row["spans"]:
            # newline="" keeps the file's own line ends, which the offsets count
            with (folder / "contracts" / each["document"]).open(
                encoding="utf-8", newline=""
            ) as file:
                wanted = file.read()[each["start"] : each["end"]]
            body = library.documents.body(ids[each["document"]]).text
            if place := locate(body, wanted, each["start"]):
                spans.setdefault(ids[each["document"]], []).append(place)
        yield row["question"], spans


def score_contracts(library: Library, sample: int | None) -> Iterator[SetScore]:
    """Yield the figures of ``contracts-gold`` in a library that holds the folder."""
    found = [_contract(library, *asked) for asked in contract_questions(library, sample)]
    measures = ("overlap in 3", "overlap in 8", "quoted sentence overlaps", "answer shown")
    for measure, values in zip(measures, zip(*found, strict=True), strict=True):
        yield SetScore("contracts-gold", measure, share(values))


def _contract(library: Library, text: str, spans: Spans) -> tuple[bool, bool, bool, bool]:
    hits = [
        overlaps(spans, hit.chunk.document_id, hit.chunk.start, hit.chunk.end)
        for hit in library.search.hits(text).hits
    ]
    answer = library.answers.ask(text, model="none", remember=False, use_cache=False)
    quoted = any(overlaps(spans, c.document_id, c.start, c.end) for c in answer.citations)
    return any(hits[:3]), any(hits[:8]), answer.found and quoted, answer.found


def score_sets(choice: str, sample: int | None) -> Iterator[SetScore]:
    """Yield the figures of the sets in BEIR layout and of ``covid-qa-open``."""
    root = data_folder() / "retrieval"
    settings = Settings(embedding=settings_of(choice))
    yield _papers(root / "covid-qa-open", settings, sample)
    yield _documents(root / "2wiki-open", settings, sample, 8, "all documents in 8")
    yield _documents(root / "xquad-en", settings, sample, 3, "paragraph in 3")


def papers(root: Path) -> Sequence[CorpusDocument]:
    """Return the papers of ``covid-qa-open``."""
    return [CorpusDocument(row["_id"], "", row["text"]) for row in rows(root / "documents.jsonl")]


def paper_questions(
    collection: Collection, root: Path, sample: int | None
) -> Iterator[tuple[str, Spans]]:
    """Yield the questions of ``covid-qa-open`` and their spans in a collection of its papers."""
    texts = {document.id: document.text for document in papers(root)}
    ids = _ids(collection)
    for row in drawn(rows(root / "questions.jsonl"), sample):
        own = ids[row["document"]]
        wanted = texts[row["document"]][row["start"] : row["end"]]
        place = locate(collection.library.documents.body(own).text, wanted, row["start"])
        yield row["text"], {own: [place]} if place else {}


def _papers(root: Path, settings: Settings, sample: int | None) -> SetScore:
    values = []
    with open_collection(papers(root), settings=settings) as collection:
        complete_vectors(collection.library)
        for text, spans in paper_questions(collection, root, sample):
            hits = collection.library.search.hits(text).hits[:5]
            values.append(
                any(overlaps(spans, h.chunk.document_id, h.chunk.start, h.chunk.end) for h in hits)
            )
    return SetScore(root.name, "overlap in 5", share(values))


def _documents(
    root: Path, settings: Settings, sample: int | None, count: int, measure: str
) -> SetScore:
    dataset = load_dataset(root)
    names = drawn(sorted(dataset.questions), sample)
    values = []
    with open_collection(dataset.documents, settings=settings) as collection:
        complete_vectors(collection.library)
        for name in names:
            hits = collection.library.search.hits(dataset.questions[name]).hits[:count]
            shown = {collection.names[hit.document.id] for hit in hits}
            values.append(set(dataset.relevant[name]) <= shown)
    return SetScore(root.name, measure, share(values))


def _ids(collection: Collection) -> dict[str, str]:
    return {theirs: ours for ours, theirs in collection.names.items()}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def drawn(items: Sequence[Each], sample: int | None) -> list[Each]:
    """Return a seeded sample in the order of the items; all of them when ``sample`` is None."""
    if sample is None or sample >= len(items):
        return list(items)
    drawn = sorted(random.Random(SEED).sample(range(len(items)), sample))
    return [items[place] for place in drawn]
