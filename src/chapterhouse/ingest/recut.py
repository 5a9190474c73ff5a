"""Cut stored documents again: their texts stay, and chunks, vectors and index entries are new."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.chunking.analysis import analyse_body
from chapterhouse.chunking.build import build_chunks, embedding_text
from chapterhouse.chunking.fingerprint import formats_of
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Document, Progress, Scope
from chapterhouse.types.engines import Chunker, Embedder

_ALL: Final = Scope.everything()


@dataclass(frozen=True, slots=True)
class Cutter:
    """What cuts documents.

    Attributes:
        cut_by: Returns the fingerprint of all this for a document of these formats.
    """

    chunker: Chunker
    count_tokens: Callable[[str], int]
    cut_by: Callable[[Sequence[str]], str]

    def is_right(self, document: Document) -> bool:
        """Whether a document was cut as it would be now."""
        return document.cut_by == self.wanted(document)

    def wanted(self, document: Document) -> str:
        """Return the fingerprint that a document cut now has."""
        return self.cut_by(formats_of(document.source, document.format))


def count_others(store: Store, cutter: Cutter) -> int:
    """Count the documents that were cut otherwise than they would be now."""
    return sum(
        number
        for by, kind, ending, number in store.cuttings(_ALL)
        if by != cutter.cut_by(formats_of(ending, kind))
    )


def cut_all(
    store: Store, cutter: Cutter, embedder: Embedder, on_progress: Callable[[Progress], None]
) -> int:
    """Cut every document again that was cut otherwise; return how many.

    What is done is safe: after an interrupt, or the end of the process, the same call does the
    rest.
    """
    waiting = [document for document in store.documents(_ALL) if not cutter.is_right(document)]
    done = 0
    for number, document in enumerate(waiting, start=1):
        done += _cut(document, store, cutter, embedder)
        on_progress(Progress(number, len(waiting), document.source))
    return done


def _cut(document: Document, store: Store, cutter: Cutter, embedder: Embedder) -> bool:
    """Cut a document again; say whether that was done: it may be removed or read anew meanwhile."""
    body = store.body(document.id, _ALL)
    if body is None:
        return False
    formats = formats_of(document.source, document.format)
    known = analyse_body(body, formats)
    chunks = build_chunks(document.id, known, cutter.chunker(known), cutter.count_tokens)
    vectors = None
    if chunks and embedder.serves(document.language):
        vectors = embedder.embed_passages(
            [embedding_text(document.title, chunk) for chunk in chunks]
        )
    marked = replace(document, cut_by=cutter.cut_by(formats))
    with store.together():  # nobody writes between the look and the write
        if store.document(document.id, _ALL) != document:
            return False
        return store.cut_anew(marked, chunks, vectors, embedder.fingerprint)
