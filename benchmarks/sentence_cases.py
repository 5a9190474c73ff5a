"""Questions with what was found for them and what of it answers: for fitting sentence models.

The natural folders that are open, contracts, papers, and XQuAD in four languages. A sentence
counts by the share of the question's facts that it states inside the evidence, or by the share of
the gold span that it holds.
"""

import dataclasses
import hashlib
import json
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse.asking import sources_of
from chapterhouse.evaluation.collection import indexed
from chapterhouse.evaluation.datasets import CorpusDocument, load_dataset
from chapterhouse.library import Library
from chapterhouse.retrieval.question import Question, understand
from chapterhouse.types import Hit
from data_folder import data_folder
from folders import PARTS
from gold_sets import drawn, locate
from gold_sets import rows as rows_of
from libraries import complete_vectors, opened
from plain_text import comparable, holds
from questions import read_questions

XQUAD = ("xquad-en", "xquad-de", "xquad-zh", "xquad-ar")
SAMPLE = 200
HITS = 12


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a set.

    Attributes:
        hits: Best first.
        frequencies: Chunks in which each term of the question occurs.
        chunks: Chunks there are.
        gold: Share of what is wanted in a span of a document: of its id, start, end and text.
        answerable: Whether the library holds an answer at all.
        near: Whether an unanswerable question is a near miss.
        facts: Of a natural question; else empty.
    """

    question: Question
    hits: tuple[Hit, ...]
    frequencies: dict[str, int]
    chunks: int
    wanted: object
    answerable: bool = True
    near: bool = False
    taken_out: tuple[Hit, ...] | None = None


@dataclass(frozen=True, slots=True)
class Spans:
    """Gold spans by document id."""

    spans: dict[str, list[tuple[int, int]]]

    def share(self, document: str, start: int, end: int, _text: str) -> float:
        """Return the share of the gold characters in a span."""
        wanted = sum(b - a for own in self.spans.values() for a, b in own)
        held = sum(max(min(end, b) - max(start, a), 0) for a, b in self.spans.get(document, ()))
        return held / max(wanted, 1)

    def complete(self, shown: Sequence[tuple[str, int, int, str]]) -> bool:
        """Whether something shown overlaps a gold span."""
        return any(self.share(*one) > 0 for one in shown)


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of a natural question, and its evidence as it is compared."""

    facts: tuple[tuple[str, ...], ...]
    evidence: tuple[str, ...]

    def share(self, _document: str, _start: int, _end: int, text: str) -> float:
        """Return the share of the facts in a text of the evidence; half of one for none in it."""
        plain = comparable(text)
        inside = any(plain and (plain in quote or quote in plain) for quote in self.evidence)
        held = sum(any(holds(plain, each) for each in fact) for fact in self.facts)
        return (held or 0.25) / max(len(self.facts), 1) if inside else 0.0

    def complete(self, shown: Sequence[tuple[str, int, int, str]]) -> bool:
        """Whether all facts are in what is shown."""
        plain = comparable("\n".join(text for *_, text in shown))
        return bool(self.facts) and all(
            any(holds(plain, each) for each in fact) for fact in self.facts
        )


def natural(part: str) -> Iterator[tuple[str, list[Case]]]:
    """Yield the folders of a part of the natural collection."""
    for name in (name for name, own in PARTS.items() if own == part):
        yield name, _kept(name, lambda name=name: list(_natural(name)))


def _natural(name: str) -> Iterator[Case]:
    with opened(name, "built-in") as library:
        for question in read_questions(name):
            evidence = tuple(comparable(each.quote) for each in question.evidence)
            wanted = Facts(question.facts, evidence)
            made = case_of(library, question.question, wanted)
            near = question.miss == "near"
            yield dataclasses.replace(made, answerable=question.answerable, near=near)


def judged_sets() -> Iterator[tuple[str, list[Case]]]:
    """Yield contracts, papers and XQuAD."""
    yield "contracts-gold", _kept("contracts-gold", lambda: list(_contracts()))
    yield "covid-qa-open", _kept("covid-qa-open", lambda: list(_papers()))
    for name in XQUAD:
        yield name, _kept(name, lambda name=name: list(_xquad(name)))


def _contracts() -> Iterator[Case]:
    folder = data_folder() / "folders"
    with opened("contracts", "built-in") as library:
        ids = {one.source.partition("/")[2]: one.id for one in library.documents()}
        for row in drawn(rows_of(folder / "contracts-gold.jsonl"), SAMPLE):
            spans: dict[str, list[tuple[int, int]]] = {}
            for each in row["spans"]:
                path = folder / "contracts" / each["document"]
                with path.open(encoding="utf-8", newline="") as file:
                    wanted = file.read()[each["start"] : each["end"]]
                own = ids[each["document"]]
                if place := locate(library.body(own).text, wanted, each["start"]):
                    spans.setdefault(own, []).append(place)
            yield case_of(library, row["question"], Spans(spans), without=frozenset(spans))


def _papers() -> Iterator[Case]:
    root = data_folder() / "retrieval/covid-qa-open"
    texts = {row["_id"]: row["text"] for row in rows_of(root / "documents.jsonl")}
    documents = [CorpusDocument(name, "", text) for name, text in texts.items()]
    with indexed(documents) as collection:
        complete_vectors(collection.library)
        ids = {theirs: ours for ours, theirs in collection.names.items()}
        for row in drawn(rows_of(root / "questions.jsonl"), SAMPLE):
            own, text = ids[row["document"]], texts[row["document"]]
            wanted = text[row["start"] : row["end"]]
            place = locate(collection.library.body(own).text, wanted, row["start"])
            spans = Spans({own: [place]} if place else {})
            yield case_of(collection.library, row["text"], spans, without=frozenset({own}))


def _xquad(name: str) -> Iterator[Case]:
    dataset = load_dataset(data_folder() / "retrieval" / name)
    with indexed(dataset.documents) as collection:
        complete_vectors(collection.library)
        ids = {theirs: ours for ours, theirs in collection.names.items()}
        for identifier in drawn(sorted(dataset.questions), SAMPLE):
            spans: dict[str, list[tuple[int, int]]] = {}
            for document in dataset.relevant[identifier]:
                text = collection.library.body(ids[document]).text
                for answer in dataset.answers[identifier]:
                    if (start := text.find(answer)) >= 0:
                        spans[ids[document]] = [(start, start + len(answer))]
            text = dataset.questions[identifier]
            yield case_of(collection.library, text, Spans(spans), without=frozenset(spans))


def case_of(
    library: Library, text: str, wanted: object, without: frozenset[str] = frozenset()
) -> Case:
    """Return a question with its hits, and those without the documents that answer it."""
    result = library.search(text, limit=HITS)
    sources = sources_of(library._engines)  # noqa: SLF001 - a benchmark looks inside
    census = sources.census(())
    question = understand(result.question, census.languages)
    terms = list(dict.fromkeys(term for _, own in question.words for term in own))
    counts = sources.lexical.document_frequencies(terms)
    out = None
    if without:
        others = library.search(text, limit=4 * HITS).hits
        out = tuple(hit for hit in others if hit.document.id not in without)[:HITS]
    frequencies = dict(zip(terms, counts, strict=True))
    return Case(question, result.hits, frequencies, result.chunks, wanted, taken_out=out)


def _kept(name: str, make: Callable[[], list[Case]]) -> list[Case]:
    """Return what ``make`` returns, kept between runs of one state of the code."""
    root = Path(gettempdir()) / "chapterhouse-sentences"
    root.mkdir(exist_ok=True)
    path = root / f"{name}-{_state()}.pickle"
    if path.exists():
        kept: list[Case] = pickle.loads(path.read_bytes())
        return kept
    made = make()
    path.write_bytes(pickle.dumps(made))
    return made


def _state() -> str:
    """Return a digest of what decides the hits."""
    source = Path(__file__).parents[1] / "src/chapterhouse"
    files = sorted(
        path
        for folder in ("retrieval", "text", "models", "chunking", "reading", "index")
        for path in (source / folder).rglob("*")
        if path.suffix in {".py", ".json", ".safetensors"} and "sentence" not in path.name
    )
    digest = hashlib.sha256(json.dumps([HITS, SAMPLE]).encode())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
