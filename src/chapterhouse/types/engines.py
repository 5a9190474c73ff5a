"""What cuts, embeds, searches, ranks and writes texts, as protocols."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from chapterhouse.types import (
    Attachment,
    Body,
    Fusion,
    ModelLimits,
    OutputFormat,
    Scope,
    Scored,
    Span,
    TermRows,
    TokenVectors,
    Tool,
    WeightedTerm,
    Writing,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Result = TypeVar("_Result")


class Chunker(Protocol):
    """A body to spans that follow one another and cover its text."""

    def __call__(self, body: Body) -> Sequence[Span]:
        """Cut ``body``."""


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def fingerprint(self) -> str:
        """Name of the model and its weights; vectors of different fingerprints never mix."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def serves(self, language: str) -> bool:
        """Whether texts in this language (ISO 639-1, empty for unknown) gain by its vectors."""

    def embed_passages(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one unit vector a text, shape (len(texts), dimensions)."""

    def embed_question(self, text: str) -> "NDArray[np.float32]":
        """Return one unit vector, shape (dimensions,)."""


class TokenEmbedder(Protocol):
    """Texts to one vector a token."""

    def serves(self, language: str) -> bool:
        """Whether texts in this language (ISO 639-1, empty for unknown) gain by its vectors."""

    def read_passages(
        self, texts: Sequence[str], use: Callable[[int, TokenVectors], _Result]
    ) -> "tuple[NDArray[np.float32], list[_Result]]":
        """Return one unit vector a text, and what ``use`` makes of each one's number and tokens."""

    def embed_passage_tokens(self, texts: Sequence[str]) -> "Sequence[TokenVectors]":
        """Return the tokens of each passage with their vectors; of a long one all."""

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""

    def embed_question_tokens(self, text: str) -> "TokenVectors":
        """Return the tokens of a question with their vectors."""


class Reranker(Protocol):
    """A model that reads a question and passages together."""

    @property
    def fingerprint(self) -> str:
        """Name of the model, as it is shown."""

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score a passage, higher is better, in the order of ``passages``.

        Raises:
            EngineError: the model cannot be reached or gave something else; the caller goes on
                without it.
        """


class LanguageModel(Protocol):
    """A model that writes text."""

    @property
    def fingerprint(self) -> str:
        """Name of the model, as it is shown."""

    def limits(self) -> ModelLimits:
        """Return what the model takes; may wait for its server, which is asked once."""

    def complete(self, instructions: str, prompt: str) -> str:
        """Return what the model writes. Text of documents stands in ``prompt`` only.

        Raises:
            EngineError: the model cannot be reached or gave nothing; the caller goes on
                without it.
        """

    async def write(
        self,
        instructions: str,
        prompt: str,
        *,
        tools: Sequence[Tool] = (),
        on_text: Callable[[str], None] | None = None,
        output: OutputFormat | None = None,
        images: Sequence[Attachment] = (),
    ) -> Writing:
        """Return what the model writes, calling tools on the way.

        Args:
            instructions: The system message. Text of documents never stands in it.
            on_text: Is given the text as it comes, part by part.
            output: The form of the answer. Not every service can hold a model to it, so the
                instructions describe it too, and the text may be of another form all the same.
            images: Shown to the model behind the prompt; one that does not see them refuses.

        Raises:
            EngineError: the model cannot be reached or gave nothing.
        """


class LexicalSearch(Protocol):
    """The chunks that share terms with a question.

    Scores and counts come from the chunks inside the scope: what is on other shelves never moves
    them.
    """

    def search(
        self,
        terms: Sequence[WeightedTerm],
        scope: Scope,
        limit: int,
        documents: Sequence[str] = (),
    ) -> Sequence[Scored]:
        """Return at most ``limit`` chunks by BM25, best first; ties in order of key.

        With ``documents``, only chunks of these, also those in which none of the terms occurs.
        """

    def search_phrase(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[Scored]:
        """Return chunks in which the terms ``words`` stand one after the other."""

    def document_frequencies(self, terms: Sequence[str], scope: Scope) -> Sequence[int]:
        """Count the chunks in which each term occurs, all at one state of the index."""

    def terms_of(self, keys: Sequence[int], scope: Scope) -> TermRows:
        """Return the terms of chunks, one row for each of ``keys`` in their order.

        The row of a chunk outside the scope is empty.
        """

    def size(self, scope: Scope) -> int:
        """Count the chunks."""


class MentionSearch(Protocol):
    """What documents speak of, as far as they were read for it: nothing is read when asked."""

    def entities_in(self, document: str, start: int, end: int, scope: Scope) -> Sequence[str]:
        """Return the entities named in a part of a document, in their order."""

    def documents_naming(
        self, entities: Sequence[str], scope: Scope, most: int
    ) -> Mapping[str, Sequence[str]]:
        """Return the documents that name each entity, without those that more than most do."""


class VectorSearch(Protocol):
    """The chunks nearest to a question's vector."""

    def search(
        self,
        vector: "NDArray[np.float32]",
        scope: Scope,
        limit: int,
        also: Sequence[int] = (),
    ) -> Sequence[Scored]:
        """Return the ``limit`` chunks of highest cosine, and the cosines of those in ``also``."""


@dataclass(frozen=True, slots=True)
class VectorLayer:
    """An embedder, the index of its vectors, and how their cosines join the scores of words."""

    embedder: Embedder
    index: VectorSearch
    fusion: Fusion
