"""A real store to derive indexes from."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.embedders import LetterEmbedder

from chapterhouse.chunking.build import build_chunks, embedding_text
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Body, Document, FileRecord, Scope, Section, Span, Status

EMBEDDER = LetterEmbedder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "library.db", blobs=Blobs(tmp_path / "blobs")) as opened:
        yield opened


@pytest.fixture
def embedder() -> LetterEmbedder:
    return EMBEDDER


@pytest.fixture
def put(store: Store) -> Callable[..., str]:
    """Store a document with one chunk a paragraph; return its id."""

    def put_document(
        name: str, text: str, *, shelves: tuple[str, ...] = ("library",), title: str = ""
    ) -> str:
        body = Body(text, (Section(0, 0, (), 0, len(text)),))
        spans, start = [], 0
        for paragraph in text.split("\n\n"):
            end = min(start + len(paragraph) + 2, len(text))
            spans.append(Span(start, end))
            start = end
        chunks = build_chunks(name, body, spans, len)
        data = text.encode()
        sha256 = hashlib.sha256(data).hexdigest()
        document = Document(
            id=name, source=f"root/{name}.txt", location=f"/made/{name}.txt", title=title or name,
            format="txt", method="test", sha256=sha256, text_sha256=sha256, size=len(data),
            modified=0, language="en", shelves=shelves, characters=len(text), chunks=len(chunks),
        )  # fmt: skip
        record = FileRecord(
            document.location, document.source, len(data), 0, sha256, Status.READY,
            document_id=name, format="txt",
        )  # fmt: skip
        store.put(document, body, chunks, record, data)
        vectors = EMBEDDER.embed_passages([embedding_text(document.title, c) for c in chunks])
        keys = [chunk.key for chunk in store.chunks_of(name, Scope.everything())]
        store.embeddings().put(name, keys, EMBEDDER.fingerprint, vectors)
        return name

    return put_document
