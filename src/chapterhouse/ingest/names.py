"""Read documents for names in the run of the encoder that makes their vectors."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from chapterhouse.chunking.build import embedding_text
from chapterhouse.text.entities import EntityHead, entity_head, find_mentions, packaged_head
from chapterhouse.text.entity_names import entities_in, reads_names
from chapterhouse.types import Body, Chunk, Document, TokenVectors
from chapterhouse.types.engines import TokenEmbedder
from chapterhouse.types.graph import EntityNames, Mention

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@cache
def _head() -> EntityHead:
    return entity_head(packaged_head())


def read_names(
    encoder: TokenEmbedder, texts: Sequence[tuple[Document, Body, Sequence[Chunk]]]
) -> "Iterator[tuple[EntityNames, NDArray[np.float32] | None]]":
    """Yield what each document speaks of with the vectors of its chunks: of one run of the encoder.

    A document in a language in which names would be guessed has those of its fields, no vectors.
    """
    chunks = [
        (document.title, chunk)
        for document, _, own in texts
        if reads_names(document.language)
        for chunk in own
    ]
    passages = [embedding_text(*one) for one in chunks]

    def find(number: int, tokens: TokenVectors) -> Sequence[Mention]:
        text = chunks[number][1].text
        return find_mentions(text, tokens.behind(len(passages[number]) - len(text)), _head())

    vectors, found = encoder.read_passages(passages, find)
    start = 0
    for document, body, own in texts:
        if reads_names(document.language):
            end = start + len(own)
            yield entities_in(document, body, own, found[start:end]), vectors[start:end]
            start = end
        else:
            yield entities_in(document, body, own, [()] * len(own)), None
