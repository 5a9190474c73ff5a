"""The chunkers of other libraries behind our seam, at several sizes each.

Sizes are tokens of the tokenizer that the measures count with, where a library lets one be given.
Chonkie's semantic chunker gets our built-in table, since its own model would be a download.
"""

import gzip
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

import chonkie
import numpy as np
import semchunk
from chonkie.embeddings import BaseEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from numpy.typing import NDArray
from tokenizers import Tokenizer

from chapterhouse.models.static import StaticEmbedder
from chapterhouse.ports.models import Chunker
from chapterhouse.types import Body, Span

_TABLE = StaticEmbedder()
# Chonkie takes a tokenizer of this library; it is the one that our table's counts come from.
_PACKED = files("chapterhouse.models").joinpath("static_tokenizer.json.gz").read_bytes()
_TOKENIZER: Any = Tokenizer.from_str(gzip.decompress(_PACKED).decode())
_TOKENIZER.no_padding()
_TOKENIZER.no_truncation()
_TOKENS = (100, 150, 200, 250, 300, 400, 800)
_BETWEEN = (125, 175, 225)  # of the strongest, where the others' best settings lie close together
_CHARACTERS = (500, 600, 800, 1_000, 1_500)
_THRESHOLDS = (0.3, 0.5, 0.7)
# As the published evaluation set them; the library's own are blank lines, lines and spaces.
_SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]


class _Table(BaseEmbeddings):  # type: ignore[misc]  # to mypy it is Any, see pyproject.toml
    """Our built-in table as Chonkie wants it."""

    def embed(self, text: str) -> NDArray[np.float32]:
        return _TABLE.embed_question(text)

    def embed_batch(self, texts: list[str]) -> list[NDArray[np.float32]]:
        return list(_TABLE.embed_passages(texts))

    @property
    def dimension(self) -> int:
        return _TABLE.dimensions

    def get_tokenizer(self) -> object:
        return _TOKENIZER


def other_chunkers() -> Iterator[tuple[str, str, Chunker]]:
    """Yield library and splitter, setting, and the chunker."""
    for size in sorted((*_TOKENS, *_BETWEEN)):
        yield "LangChain recursive", f"{size} tokens", recursive_by_tokens(size)
    for size in _TOKENS:
        yield "semchunk", f"{size} tokens", _semchunk(size)
        for splitter in (chonkie.SentenceChunker, chonkie.RecursiveChunker):
            chunker = splitter(_TOKENIZER, chunk_size=size)
            yield f"Chonkie {splitter.__name__}", f"{size} tokens", _chonkie(chunker)
    for size in (200, 300, 400):
        for threshold in _THRESHOLDS:
            semantic = chonkie.SemanticChunker(_Table(), threshold=threshold, chunk_size=size)
            setting = f"{size} tokens, threshold {threshold}"
            yield "Chonkie SemanticChunker", setting, _chonkie(semantic)
    for size in _CHARACTERS:
        yield "LangChain recursive", f"{size} characters", _langchain(size, 0)
        tokens = chonkie.TokenChunker("character", chunk_size=size)
        yield "Chonkie TokenChunker", f"{size} characters", _chonkie(tokens)
    yield "LangChain recursive", "1000 characters, 200 shared", _langchain(1_000, 200)


def _langchain(size: int, overlap: int) -> Chunker:
    return _langchain_spans(
        RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, add_start_index=True)
    )


def recursive_by_tokens(size: int) -> Chunker:
    """Cut with LangChain's recursive splitter to so many tokens at most."""
    return _langchain_spans(
        RecursiveCharacterTextSplitter(
            separators=_SEPARATORS,
            chunk_size=size,
            chunk_overlap=0,
            length_function=_TABLE.count_tokens,
            add_start_index=True,
        )
    )


def _langchain_spans(splitter: RecursiveCharacterTextSplitter) -> Chunker:
    def cut(body: Body) -> Sequence[Span]:
        found = splitter.create_documents([body.text])
        starts = [int(document.metadata["start_index"]) for document in found]
        return tuple(
            Span(start, start + len(document.page_content))
            for start, document in zip(starts, found, strict=True)
        )

    return cut


def _semchunk(size: int) -> Chunker:
    # Its types say that it may return any of four shapes; with offsets it is always this one.
    splitter: Any = semchunk.chunkerify(_TABLE.count_tokens, size)

    def cut(body: Body) -> Sequence[Span]:
        _, offsets = splitter(body.text, offsets=True)
        return tuple(Span(start, end) for start, end in offsets)

    return cut


def _chonkie(chunker: chonkie.BaseChunker) -> Chunker:
    def cut(body: Body) -> Sequence[Span]:
        return tuple(Span(chunk.start_index, chunk.end_index) for chunk in chunker.chunk(body.text))

    return cut
