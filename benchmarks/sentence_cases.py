"""Questions with what was found for them and what answers them, for all that chooses sentences.

The open natural folders, contracts, papers, the corpora of ``chunking`` and XQuAD in four
languages. Each question is asked of a library that has all documents, of the same one without the
documents that answer it, and (XQuAD) without its whole article; and each library is asked the
questions of another set. Documents are taken out of the hits and of the counts of words; nothing
is indexed anew. Hits are kept between runs of one state of the code that finds them, in
``$CHAPTERHOUSE_BENCH_CACHE``, else in the system's temporary folder.
"""

import hashlib
import json
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal, Protocol

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse.answering.extractive import Reference
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import reference_of
from chapterhouse.library import Library
from chapterhouse.models import built_in
from chapterhouse.retrieval.pack import merge_ranges
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Body, CorpusCounts, Document, Range, Scope, SearchResult
from collection import Collection, open_collection
from folders import PARTS
from gold_sets import contract_questions, drawn, locate, paper_questions, papers
from gold_spans import load_gold
from judged_sets import CorpusDocument, load_dataset
from libraries import complete_vectors, opened
from marking import has_facts
from measuring import data_folder
from plain_text import comparable, holds
from questions import read_questions
from vector_cache import cache_folder, vectors_cached

EVERYTHING = Scope.everything()
# Texts whose tokens are remembered: all questions of a set look at the same passages (4 GB).
built_in._RECENT = 8_000  # type: ignore[misc]  # noqa: SLF001 - read when the encoder is first used

NATURAL: Final = tuple(name for name, part in PARTS.items() if part == "open")
XQUAD: Final = ("xquad-en", "xquad-de", "xquad-zh", "xquad-ar")
SETS: Final = (*NATURAL, "contracts-gold", "covid-qa-open", "chunking", *XQUAD)
DEPTH: Final = 16  # hits kept of a question
SAMPLE: Final = 200  # questions of a set; of the natural folders all
FOREIGN: Final = 100  # questions of another set

# What became of the documents that answer: all there; never there, in one of two ways; taken out;
# taken out with all of their article; or the question is of another set.
There = Literal["answerable", "near", "far", "taken out", "article out", "foreign"]
Shown = Sequence[tuple[str, int, int, str]]  # document, start, end and text of what is shown


class Wanted(Protocol):
    """What an answer must hold."""

    def share(self, document: str, start: int, end: int, text: str) -> float:
        """Return the share of what is wanted in one sentence, 0 to 1."""
        ...

    def held(self, shown: Shown) -> float:
        """Return the share of what is wanted in what is shown: of facts 0 or 1."""
        ...


@dataclass(frozen=True, slots=True)
class Spans:
    """Gold spans by document id."""

    spans: Mapping[str, Sequence[Range]]

    def share(self, document: str, start: int, end: int, text: str) -> float:
        """Return the share of the gold characters in a span."""
        return self.held([(document, start, end, text)])

    def held(self, shown: Shown) -> float:
        """Return the share of the gold characters in several spans."""
        wanted = found = 0
        for name, gold in self.spans.items():
            own = merge_ranges(
                [(start, end) for document, start, end, _ in shown if document == name]
            )
            for first, last in merge_ranges(gold):
                wanted += last - first
                found += sum(max(min(end, last) - max(start, first), 0) for start, end in own)
        return found / max(wanted, 1)


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of a natural question, and its evidence as it is compared."""

    facts: Sequence[Sequence[str]]
    evidence: Sequence[str]

    def share(self, document: str, start: int, end: int, text: str) -> float:  # noqa: ARG002 - the seam's
        """Return the share of the facts in a text of the evidence; a little for none in it."""
        plain = comparable(text)
        if not any(plain and (plain in quote or quote in plain) for quote in self.evidence):
            return 0.0
        count = sum(any(holds(plain, each) for each in fact) for fact in self.facts)
        return (count or 0.25) / max(len(self.facts), 1)

    def held(self, shown: Shown) -> float:
        """Return 1 where all facts are in the texts, else 0."""
        return float(has_facts("\n".join(text for *_, text in shown), self.facts))


NOTHING: Final = Spans({})


@dataclass(frozen=True, slots=True)
class Case:
    """A question put to a library.

    Attributes:
        result: With ``DEPTH`` hits at most.
        there: Whether an answer is among the documents, and how it comes that it is not.
        wanted: What answers it; ``NOTHING`` where nothing does.
        frequencies: Chunks in which each term of the question occurs.
        kind: Of a natural question; else empty.
    """

    result: SearchResult
    there: There
    wanted: Wanted
    frequencies: Mapping[str, int]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions put to one library, and what answering looks up there."""

    name: str
    census: CorpusCounts
    cases: tuple[Case, ...]
    documents: Mapping[str, Document]
    bodies: Mapping[str, Body]

    def reference(self, case: Case, own: Reference) -> Reference:
        """Return what answering a case looks up: ``own``, in this library."""
        scorer = replace(own.scorer, document_frequency=case.frequencies.__getitem__)
        documents, bodies = self.documents.get, self.bodies.get
        return replace(own, scorer=scorer, document=documents, body=bodies, partly_read=tuple)

    def answerable(self) -> list[Case]:
        """Return the cases whose answer is there."""
        return [case for case in self.cases if case.there == "answerable"]


def group(name: str) -> str:
    """Return the sets that are left out together: of one folder, or of the same articles."""
    return next((start for start in ("contracts", "xquad") if name.startswith(start)), name)


def question_sets(names: Sequence[str] = SETS, step: int = 1) -> Iterator[QuestionSet]:
    """Yield sets by name, with every ``step``-th of their questions of each kind."""
    for name in names:
        found = _kept(name)
        by_kind: dict[There, list[Case]] = {}
        for case in found.cases:
            by_kind.setdefault(case.there, []).append(case)
        yield replace(found, cases=tuple(chain(*(own[::step] for own in by_kind.values()))))


# --- asking --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, what answers it, and the documents that do."""

    text: str
    wanted: Wanted
    gold: frozenset[str] = frozenset()
    article: frozenset[str] = frozenset()
    there: There = "answerable"
    kind: str = ""


@dataclass(slots=True)
class _Asker:
    """Puts questions to one library."""

    library: Library
    runtime: Runtime
    documents: dict[str, Document] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    terms: dict[str, list[frozenset[str]]] = field(default_factory=dict)  # of a document's chunks

    def all_cases(self, asked: Sequence[_Asked], foreign: Sequence[str]) -> Iterator[Case]:
        for one in asked:
            yield self.case(one)
            if one.gold:
                yield self.case(replace(one, there="taken out", wanted=NOTHING), one.gold)
            if one.article:
                yield self.case(replace(one, there="article out", wanted=NOTHING), one.article)
        for text in foreign:
            yield self.case(_Asked(text, NOTHING, there="foreign"))

    def case(self, asked: _Asked, without: frozenset[str] = frozenset()) -> Case:
        limit = DEPTH if not without else 4 * DEPTH
        found = self.library.search.hits(asked.text, limit=limit, per_document=0)
        kept = tuple(islice((hit for hit in found.hits if hit.document.id not in without), DEPTH))
        ranked = tuple(replace(hit, rank=place + 1) for place, hit in enumerate(kept))
        chunks = sum(len(self.terms_of(name)) for name in without)
        result = replace(
            found,
            hits=ranked,
            chunks=found.chunks - chunks,
            documents=found.documents - len(without),
        )
        for hit in kept:
            self.documents[hit.document.id] = hit.document
            self.bodies[hit.document.id] = self.library.documents.body(hit.document.id)
        frequencies = self.frequencies(result, without)
        return Case(result, asked.there, asked.wanted, frequencies, asked.kind)

    def frequencies(self, result: SearchResult, without: frozenset[str]) -> dict[str, int]:
        terms = list(dict.fromkeys(term for _, own in result.question.words for term in own))
        counts = self.runtime.lexical.document_frequencies(terms, EVERYTHING)
        gone = [self.terms_of(name) for name in without]
        return {
            term: count - sum(term in chunk for chunk in chain.from_iterable(gone))
            for term, count in zip(terms, counts, strict=True)
        }

    def terms_of(self, name: str) -> list[frozenset[str]]:
        if name not in self.terms:
            language = self.runtime.store.document(name, EVERYTHING).language  # type: ignore[union-attr]  # it is there
            self.terms[name] = [
                frozenset(analyse(chunk.text, language))
                for chunk in self.library.documents.chunks(name)
            ]
        return self.terms[name]


def _made(name: str) -> QuestionSet:
    with vectors_cached():
        if name in PARTS:
            with opened(name, "built-in") as library:
                return _set(name, library, _natural(name, library))
        if name == "contracts-gold":
            with opened("contracts", "built-in") as library:
                asked = contract_questions(library, SAMPLE)
                return _set(name, library, [_Asked(t, Spans(s), frozenset(s)) for t, s in asked])
        ask, documents = _COLLECTIONS.get(name, (_xquad, _dataset_documents))
        with open_collection(documents(name), markdown=name == "chunking") as collection:
            complete_vectors(collection.library)
            return _set(name, collection.library, ask(name, collection))


def _set(name: str, library: Library, asked: Sequence[_Asked]) -> QuestionSet:
    runtime = library._runtime  # noqa: SLF001 - a benchmark looks inside
    asker = _Asker(library, runtime)
    cases = tuple(asker.all_cases(asked, _foreign(name)))
    return QuestionSet(name, runtime.store.census(EVERYTHING), cases, asker.documents, asker.bodies)


def _foreign(name: str) -> Sequence[str]:
    """Return questions of another set: of the natural folders, or else of XQuAD."""
    if name == "chunking":
        return ()
    if name in XQUAD:
        others = [one.question for folder in NATURAL for one in read_questions(folder)]
    else:
        others = sorted(load_dataset(data_folder() / "retrieval/xquad-en").questions.values())
    return drawn(others, FOREIGN)


def _natural(name: str, library: Library) -> list[_Asked]:
    ids = {one.source.partition("/")[2]: one.id for one in library.documents.list()}
    return [
        _Asked(
            one.question,
            Facts(one.facts, tuple(comparable(each.quote) for each in one.evidence)),
            frozenset(ids[name] for name in one.documents if name in ids),
            there=one.miss or "answerable",
            kind=one.kind,
        )
        for one in read_questions(name)
    ]


def _papers(name: str, collection: Collection) -> list[_Asked]:
    asked = paper_questions(collection, data_folder() / "retrieval" / name, SAMPLE)
    return [_Asked(text, Spans(spans), frozenset(spans)) for text, spans in asked]


def _corpora(_name: str, collection: Collection) -> list[_Asked]:
    gold = load_gold(data_folder() / "chunking")
    ids = {theirs: ours for ours, theirs in collection.names.items()}
    asked = []
    for one in gold.questions:
        body = collection.library.documents.body(ids[one.corpus]).text
        text = gold.texts[one.corpus]
        places = [locate(body, text[start:end], start) for start, end in one.ranges]
        wanted = Spans({ids[one.corpus]: [place for place in places if place]})
        asked.append(_Asked(one.text, wanted))
    return asked


def _xquad(name: str, collection: Collection) -> list[_Asked]:
    dataset = load_dataset(data_folder() / "retrieval" / name)
    ids = {theirs: ours for ours, theirs in collection.names.items()}
    titles = {one.id: one.title for one in dataset.documents}
    asked = []
    for identifier in drawn(sorted(dataset.questions), SAMPLE):
        own = dataset.relevant[identifier]
        title = titles[min(own)]
        article = frozenset(ids[one] for one, other in titles.items() if other == title)
        spans: dict[str, list[Range]] = {}
        for document in own:
            text = collection.library.documents.body(ids[document]).text
            found = [(text.find(answer), len(answer)) for answer in dataset.answers[identifier]]
            spans[ids[document]] = [(start, start + size) for start, size in found if start >= 0]
        text = dataset.questions[identifier]
        asked.append(_Asked(text, Spans(spans), frozenset(spans), article))
    return asked


def _dataset_documents(name: str) -> Sequence[CorpusDocument]:
    return load_dataset(data_folder() / "retrieval" / name).documents


def _corpus_documents(name: str) -> Sequence[CorpusDocument]:
    texts = load_gold(data_folder() / name).texts
    return [CorpusDocument(own, own, text) for own, text in texts.items()]


_Ask = Callable[[str, Collection], list[_Asked]]
_COLLECTIONS: Final[Mapping[str, tuple[_Ask, Callable[[str], Sequence[CorpusDocument]]]]] = {
    "covid-qa-open": (_papers, lambda name: papers(data_folder() / "retrieval" / name)),
    "chunking": (_corpora, _corpus_documents),
}


def own_reference() -> Reference:
    """Return what answering looks up in an empty library: the encoder and all weights."""
    with open_collection(()) as collection:
        return reference_of(collection.runtime, EVERYTHING)


# --- keeping -------------------------------------------------------------------------------------


def _kept(name: str) -> QuestionSet:
    """Return a set, kept between runs of one state of the code."""
    root = cache_folder() / "sentence-cases"
    root.mkdir(exist_ok=True)
    path = root / f"{name}-{_state()}.pickle"
    if path.exists():
        kept: QuestionSet = pickle.loads(path.read_bytes())
        return kept
    made = _made(name)
    path.write_bytes(pickle.dumps(made))
    return made


_AFTER_THE_HITS: Final = frozenset(
    {"sentences.py", "judging.py", "sentence_model.json", "context.py", "pack.py",
     "present.py", "widen.py"}
)  # fmt: skip


def _state() -> str:
    """Return a digest of what decides the hits, and of this file."""
    source = Path(__file__).parents[1] / "src/chapterhouse"
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for folder in ("retrieval", "text", "models", "chunking", "reading", "index", "types"):
        for path in sorted((source / folder).rglob("*")):
            decides = folder != "retrieval" or path.name not in _AFTER_THE_HITS
            if path.suffix in {".py", ".json", ".onnx", ".safetensors"} and decides:
                digest.update(json.dumps(path.name).encode() + path.read_bytes())
    return digest.hexdigest()[:12]
