"""A judged collection put into a real store and real indexes, without files in between."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.answering.extractive import Reference
from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.evaluation.datasets import CorpusDocument
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.lifecycle.prepare import Prepared, prepare
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.protocols import Chunker
from chapterhouse.retrieval.pipeline import Sources
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.tokens import estimate_tokens
from chapterhouse.types import Body, ExtractedPage, Extraction, FileRecord, Span, Status

EMBEDDER = StaticEmbedder()
Make = Callable[[Extraction, SourceFile, Content], Prepared]


class NoVectors(StaticEmbedder):
    """The embedder of a library that is left to BM25 alone."""

    def serves(self, language: str) -> bool:  # noqa: ARG002 - the seam's signature
        """Serve no language."""
        return False


@dataclass(frozen=True, slots=True)
class Collection:
    """An indexed collection. ``names`` gives the collection's document id for ours."""

    store: SqliteStore
    lexical: LexicalIndex
    vectors: VectorIndex
    names: dict[str, str]

    def sources(self, embedder: StaticEmbedder = EMBEDDER) -> Sources:
        """Return what retrieval looks into."""
        return Sources(
            lexical=self.lexical,
            vector=self.vectors,
            embedder=embedder,
            census=self.store.census,
            chunks=self.store.chunks,
            documents=self.store.documents_among,
            chunks_named=self.store.chunks_named,
        )

    def reference(self, embedder: StaticEmbedder = EMBEDDER) -> Reference:
        """Return what answering looks up."""
        return Reference(
            embedder=embedder,
            document_frequency=self.lexical.document_frequency,
            document=self.store.document,
            body=self.store.body,
        )


def whole(body: Body) -> Sequence[Span]:
    """Leave a document in one chunk, as the engines measured beside us see it."""
    return (Span(0, len(body.text)),) if body.text else ()


@contextmanager
def indexed(
    documents: Sequence[CorpusDocument], chunker: Chunker = chunk_by_sentence
) -> Iterator[Collection]:
    """Put documents through everything but the reader, and remove it all in the end."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        blobs = FolderBlobs(folder / "blobs")
        with SqliteStore(folder / "library.db", blobs=blobs) as store:
            make = partial(
                prepare, chunker=chunker, embedder=EMBEDDER, count_tokens=estimate_tokens
            )
            names = {}
            for number, document in enumerate(documents):
                if not document.text.strip():  # one of Cranfield's is empty
                    continue
                names[_put(store, document, number, make)] = document.id
            collection = Collection(
                store,
                LexicalIndex(folder / "lexical"),
                VectorIndex(folder / "vectors", EMBEDDER),
                names,
            )
            collection.lexical.catch_up(store)
            collection.vectors.catch_up(store)
            yield collection


def _put(store: SqliteStore, document: CorpusDocument, number: int, make: Make) -> str:
    data = f"{document.title}\n{document.text}".encode()
    sha256 = hashlib.sha256(data).hexdigest()
    source = f"set/{number:06}.txt"
    name = f"{number:06}.txt"
    file = SourceFile(Path("/set"), (name,), f"/set/{name}", source, len(data))
    extraction = Extraction(
        (ExtractedPage(document.text),), "txt", "collection", markdown=False, title=document.title
    )
    content = Content(data, sha256, len(data), mtime_ns=0, modified=0)
    prepared = make(extraction, file, content)
    record = FileRecord(
        file.location,
        source,
        len(data),
        0,
        sha256,
        Status.READY,
        document_id=prepared.document.id,
        format="txt",
    )
    # The name of a file in no folder says nothing: only what the collection calls it counts.
    stored = replace(prepared.document, title=document.title)
    store.put(
        stored, prepared.body, prepared.chunks, prepared.vectors, prepared.fingerprint, record, data
    )
    return stored.id
