"""Questions, and what is found for them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from chapterhouse.types.documents import Chunk, Document, Scope
from chapterhouse.types.writing import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TermRows:
    """The terms of some chunks, one row a chunk, each term as a 32-bit hash (``text/terms.py``).

    A row holds, in order, the terms of the chunk's header and text, of its section path, and of
    its document's title. A chunk that is not known has an empty row.

    Attributes:
        terms: All rows one after the other, shape (terms,).
        starts: Where each row starts, and the end of the last one, shape (rows + 1,).
        sections: Where the terms of the section path start in each row, shape (rows,).
        titles: Where the terms of the title start in each row, shape (rows,).
    """

    terms: "NDArray[np.uint32]"
    starts: "NDArray[np.int64]"
    sections: "NDArray[np.int64]"
    titles: "NDArray[np.int64]"


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The tokens of a text, in order, those of no character left out.

    Attributes:
        starts: Where each starts in the text, shape (tokens,).
        ends: Where each ends, shape (tokens,).
        vectors: What each means in this text, shape (tokens, dimensions).
        words: What each means by itself, shape (tokens, dimensions).
    """

    starts: "NDArray[np.int64]"
    ends: "NDArray[np.int64]"
    vectors: "NDArray[np.float32]"
    words: "NDArray[np.float32]"

    def behind(self, start: int) -> "TokenVectors":
        """Return those of the text from ``start`` on, as of a text by itself."""
        own = self.starts >= start
        places = self.starts[own] - start, self.ends[own] - start
        return TokenVectors(*places, self.vectors[own], self.words[own])


@dataclass(frozen=True, slots=True)
class Memory:
    """A question that was asked once and the answer that was given.

    Attributes:
        id: ``m`` and its number; never given again.
        persona: Slug of who answered; empty for the library itself; ``council_SLUG`` for what a
            council decided, ``council_SLUG/KEY`` for what its member held there.
        expires: When it is forgotten, in seconds; 0 for never.
        answer: The text that was given, with its citation numbers.
        found: Whether it was an answer rather than a refusal.
        method: How it was composed: ``extractive`` or a model's name.
        sequence: Of the library, when it was answered.
    """

    id: str
    persona: str
    asked: int
    expires: int
    question: str
    answer: str
    found: bool
    method: str
    sources: tuple[str, ...] = ()
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that fits some words; higher scores fit better."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the library, with what to search.

    Attributes:
        limit: Number of hits wanted, 1 to 1,000.
        per_document: At most so many hits from one document; 0 means no cap.
        tags: What the asker knows about; documents that carry one of them rank a little higher.
        documents: Those that alone are searched; None for all inside the scope. Their ids, once the
            query is checked; before it also other names, and folders.
    """

    text: str
    scope: Scope
    limit: int = 10
    per_document: int = 0
    tags: tuple[str, ...] = ()
    documents: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that was asked in a conversation, as it was completed, and its answer."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question in a conversation.

    Attributes:
        search_text: What is searched for instead: with more words of the subject, by which
            the answer is not chosen. Empty where that is the question.
        method: Who completed it: ``rules`` by its words alone, or a model's name; empty where it
            stands as it was asked.
        warning: Why the model did not complete it; or empty.
        recalled: Earlier answers that a model will be reminded of.
    """

    asked: str
    question: str
    search_text: str = ""
    method: str = ""
    usage: Usage | None = None
    warning: str = ""
    recalled: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Other forms of a question, written by a language model.

    Attributes:
        parts: The questions that have to be answered first; none of a simple one.
        terms: Words and phrases that documents may use for what is asked.
        passage: What a document could say in answer, true or not; or empty.
    """

    parts: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    passage: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of a question that no document has, and the word of the documents that is near it."""

    written: str
    meant: str

    @property
    def notice(self) -> str:
        """Return the sentence about it for the asker."""
        return f"Searched also for: {self.meant} (you wrote: {self.written})"


def corrected(text: str, found: Sequence[Correction]) -> str:
    """Return a question with the words that are meant in the place of those that were written."""
    for correction in found:
        text = re.sub(rf"(?<!\w){re.escape(correction.written)}(?!\w)", correction.meant, text)
    return text


class VariantKind(StrEnum):
    """How a variant of a question came about."""

    ASKED = "asked"  # the question itself
    AS_WRITTEN = "as-written"  # the question itself, where the first variant corrects its words
    PART = "part"  # one of several things it asks
    EXPANSION = "expansion"  # with terms that the documents use for the same thing
    HYPOTHETICAL = "hypothetical"  # an answer made up by a model, to be searched by likeness


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of putting a question to the index.

    Attributes:
        text: What is shown of it, and what is embedded.
        weight: Its share when the variants' lists are fused; the question itself has 1.
        note: Why it is there, such as the abbreviation that was resolved.
    """

    kind: VariantKind
    text: str
    terms: tuple["WeightedTerm", ...]
    weight: float = 1.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """An index term and its weight: how often the question says it, or a share of that."""

    term: str
    weight: float = 1.0


class AliasKind(StrEnum):
    """How a document gives a thing another name."""

    ABBREVIATION = "abbreviation"  # the name is the short form
    ALSO_KNOWN_AS = "also-known-as"
    KEY_TERM = "key-term"  # the other name is the title of the document that lists it


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names of one thing, as a document gives them."""

    name: str
    other: str
    kind: AliasKind


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk key and its score in one list; higher is better."""

    key: int
    score: float


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the cosines of one embedder join the scores of words; all between 0 and 1.

    Attributes:
        weight: Of the cosine; the words' score has the rest.
        floor: Cosine of unrelated texts; what lies below counts nothing.
        ceiling: Cosine of the same statement; what lies above counts as much.
        alone: From here on a chunk that shares no word with the question may be a hit.
        weights: Instead of ``weight`` for questions in these languages.
        across: Instead of all these where no document is in the question's language, since there
            cosines are lower, and words shared by chance; None for the same.
    """

    weight: float
    floor: float
    ceiling: float
    alone: float
    weights: Mapping[str, float] = field(default_factory=dict)
    across: "Fusion | None" = None

    def in_language(self, language: str) -> "Fusion":
        """Return the figures for questions in a language that documents are in."""
        return replace(self, weight=self.weights.get(language, self.weight), weights={})


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that answers a query, best first.

    Attributes:
        score: 0 to 1, of the last stage.
        stages: The score and rank of each stage that saw it, for ``--explain``.
        repeats: Ids of chunks that were left out because they say the same.
    """

    rank: int
    score: float
    chunk: Chunk
    document: Document
    stages: Mapping[str, float] = field(default_factory=dict)
    repeats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question made ready for searching.

    Attributes:
        content: The question without its function words.
        terms: Index terms under every stemmer tried, each with the number of times it occurs.
        order: Index terms under the likeliest stemmer, in the order in which they occur.
        words: Its content words, each with its own index terms, for judging evidence.
        languages: The stemmers tried, the likeliest first.
        identifiers: Codes and names with digits, underscores or inner capitals.
        file_names: Words that look like file names.
        names: What decides, since only some documents go by it (``retrieval/names.py``).
    """

    text: str
    content: str
    terms: tuple[WeightedTerm, ...]
    order: tuple[str, ...]
    words: tuple[tuple[str, tuple[str, ...]], ...]
    languages: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def index_terms(self) -> tuple[str, ...]:
        """What it became in the index."""
        return tuple(term.term for term in self.terms)

    @property
    def exact(self) -> tuple[str, ...]:
        """Everything that is looked for word for word."""
        return self.phrases + self.file_names + self.identifiers

    @property
    def is_literal(self) -> bool:
        """Whether no other words are searched: a file, a quotation, little but codes."""
        codes = len(self.identifiers) * 2 >= len(self.content.split())
        return bool(self.file_names or self.phrases) or (bool(self.identifiers) and codes)

    @property
    def names_files(self) -> bool:
        """Whether file names are most of it, so that these files come before all else."""
        named = len(self.file_names) * 2 >= len(self.content.split())
        return bool(self.file_names) and named


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one query and what was done to find them."""

    query: Query
    question: Question  # as it was searched: its misspelled words corrected
    hits: tuple[Hit, ...]
    documents: int  # number searched
    chunks: int
    variants: tuple[Variant, ...] = ()  # every way in which it was asked; the question is first
    warnings: tuple[str, ...] = ()  # what did not work and what was done instead
    corrections: tuple[Correction, ...] = ()  # of misspelled words

    def unexplained(self) -> "SearchResult":
        """Return it without how the question was asked and what each stage gave to each hit."""
        return replace(self, variants=(), hits=tuple(replace(hit, stages={}) for hit in self.hits))


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a reader is given of a document: a hit, narrowed to its best sentences or widened.

    Attributes:
        hit: The hit it was made from; the better one where two became one.
        text: ``body.text[start:end]``, and before it, where it continues a table, its header.
        tokens: What it costs, header and the line above it included.
        relevance: Share of the answer that it may be expected to hold, 0 to 1; all hits of a
            question share 1.
    """

    hit: Hit
    start: int
    end: int
    text: str
    tokens: int
    relevance: float


@dataclass(frozen=True, slots=True)
class Context:
    """Excerpts that fit a budget of tokens, in the order in which they should be read.

    Attributes:
        candidates: All there were to choose from; with them it can be packed again.
        markdown: The excerpts under their sources, for a reader or a model.
        sources: Ids of the documents, each once, in order of appearance.
        diversity: Number of sources over number of excerpts; 0 without excerpts.
        information_gain: Relevance of the excerpts over that of all hits, 0 to 1.
    """

    question: str
    excerpts: tuple[Excerpt, ...]
    candidates: tuple[Excerpt, ...]
    markdown: str
    tokens: int
    maximum: int
    sources: tuple[str, ...]
    diversity: float
    information_gain: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Persona:
    """Someone who answers from documents of their own.

    Attributes:
        slug: Name in kebab case; also the name of their shelf.
        prose: Who they are, in their owner's words.
        expertise: Their field in one or two sentences.
    """

    slug: str
    display_name: str
    prose: str = ""
    tags: tuple[str, ...] = ()
    key_terms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    expertise: str = ""
    shelves: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The shelves that they read, their own first."""
        return tuple(dict.fromkeys((self.slug, *self.shelves)))
