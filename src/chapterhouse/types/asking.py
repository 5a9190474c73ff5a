"""Questions, hits, and answers with their citations."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chapterhouse.types.documents import Chunk, Document


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it is put to the library.

    Attributes:
        text: The question.
        shelves: Only documents on one of these; empty means all.
        limit: Number of hits wanted, 1 to 1,000.
        per_document: At most so many hits from one document; 0 means no cap.
    """

    text: str
    shelves: tuple[str, ...] = ()
    limit: int = 10
    per_document: int = 3


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """An index term of a question and its weight: how often the question says it."""

    term: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk key and its score in one list; higher is better."""

    key: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that answers a query, best first.

    ``stages`` holds the score and rank of each stage that saw it, for ``--explain``.
    """

    rank: int
    score: float
    chunk: Chunk
    document: Document
    stages: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one query and what was done to find them."""

    query: Query
    hits: tuple[Hit, ...]
    terms: tuple[str, ...]  # what the question became in the index
    languages: tuple[str, ...]  # the stemmers that were tried
    exact: tuple[str, ...]  # file names, identifiers and phrases looked for to the letter
    documents: int  # number searched
    chunks: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation that anyone can check: ``text[start:end] == quote`` in the canonical text."""

    number: int
    document_id: str
    title: str
    source: str
    section_path: tuple[str, ...]
    page: int | None
    page_kind: str
    page_label: str
    start: int
    end: int
    quote: str
    text_sha256: str
    verified: bool = False


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer and the numbers of the citations that carry it."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """What was looked through for an answer."""

    documents: int
    chunks: int
    terms: tuple[str, ...]
    missing_terms: tuple[str, ...]  # words of the question that stand in no document searched
    nearest: tuple[str, ...]  # the closest headings, as "title › section"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its evidence, or an honest refusal.

    Attributes:
        found: Whether the documents hold an answer.
        evidence: Strength of the evidence, 0 to 1; below the threshold ``found`` is False.
        method: How it was composed: ``extractive``, later also a model's name.
    """

    question: str
    found: bool
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    searched: Searched
    evidence: float
    method: str = "extractive"

    @property
    def text(self) -> str:
        """The answer as one line of text with bracketed citation numbers."""
        return " ".join(
            sentence.text + "".join(f" [{number}]" for number in sentence.citations)
            for sentence in self.sentences
        )
