"""Make the vectors that stored documents lack.

Nobody waits for it, but for those of a few small documents. Each document's vectors are committed
by themselves, so that a process that is killed has lost at most the documents it was at, and the
next one goes on from there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from chapterhouse.chunking.build import embedding_text
from chapterhouse.errors import EngineError
from chapterhouse.files import make_folder, write_whole
from chapterhouse.store.embeddings import EmbeddingStore
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Chunk, Document, Progress, Scope
from chapterhouse.types.engines import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Documents by id to the vectors of their chunks and the keys of these; of those alone whose names
# were read in the same run of the encoder.
Vectors = Mapping[str, tuple[Sequence[int], "NDArray[np.float32]"]]
ReadWithNames = Callable[[Sequence[str]], Vectors]
_NOTE: Final = "complete"
_DOCUMENTS_READ: Final = 64
_CHUNKS_AT_ONCE: Final = 64  # embedded together: what a service gets in one request
_CHUNKS_FIRST: Final = 8  # doubled each time: a process that is killed early has done something
_SMALL: Final = 64  # chunks of the largest document whose vectors are waited for


def served_languages(embeddings: EmbeddingStore, embedder: Embedder) -> tuple[str, ...]:
    """Return the languages of the stored documents that an embedder serves."""
    return tuple(name for name in embeddings.languages() if embedder.serves(name))


def embed_pending(
    store: Store,
    embedder: Embedder,
    *,
    read: ReadWithNames = lambda _: {},
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_begin: Callable[[Sequence[Document]], object] = lambda _: None,
    on_batch: Callable[[], object] = lambda: None,
    stop: Event | None = None,
) -> int:
    """Embed the documents that lack vectors of ``embedder``, those added meanwhile included.

    Args:
        read: Embeds those of a few documents whose names are to be read, and reads these.
        on_progress: Called after each document, when its vectors are safe on disk.
        on_begin: Called with every few documents, before they are embedded.
        stop: Ends the run after the present documents when set.

    Returns:
        How many documents got vectors.

    Raises:
        EngineError: the model failed; what was made before is safe, and why it failed is recorded.
    """
    embeddings, written, stop = store.embeddings(), 0, stop or Event()
    progress = embeddings.progress(embedder.fingerprint, served_languages(embeddings, embedder))
    for batch in _batches(store, embedder):
        on_begin([document for document, _ in batch])
        try:
            made = _embed(batch, embeddings, embedder, read)
        except EngineError as error:
            embeddings.record_problem(embedder.fingerprint, f"{error.message} {error.hint}".strip())
            raise
        embeddings.record_problem(embedder.fingerprint, "")
        for document in made:
            written += 1
            done = progress.done + written
            on_progress(Progress(done, max(progress.total, done), document.source))
        on_batch()
        if stop.is_set():
            break
    return written


def embed_documents(
    store: Store,
    embedder: Embedder,
    document_ids: Sequence[str],
    goes_on: Callable[[], bool],
    read: ReadWithNames = lambda _: {},
) -> None:
    """Embed those of these documents that are small, in their order, while ``goes_on`` says so.

    ``read`` is that of ``embed_pending``.

    Raises:
        EngineError: the model failed; what was made before is safe.
    """
    known = store.documents_among(document_ids, Scope.everything())
    small = [
        document
        for document in (known[one] for one in document_ids if one in known)
        if document.chunks <= _SMALL
        and embedder.serves(document.language)
        and embedder.fingerprint not in store.fingerprints_of(document.id)
    ]
    for batch in _group(small, store):
        if not goes_on():
            return
        _embed(batch, store.embeddings(), embedder, read)


def pending_texts(store: Store, embedder: Embedder, limit: int) -> Sequence[str]:
    """Return some of the texts that wait to be embedded."""
    embeddings = store.embeddings()
    languages = served_languages(embeddings, embedder)
    found = embeddings.pending(embedder.fingerprint, languages, "", limit)
    texts = [
        embedding_text(document.title, chunk)
        for document in found
        for chunk in store.chunks_of(document.id, Scope.everything())
    ]
    return texts[:limit]


def read_note(folder: Path) -> str:
    """Return what ``write_note`` wrote; empty where nothing was."""
    try:
        return (folder / _NOTE).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def write_note(folder: Path, text: str) -> None:
    """Note in ``folder`` at which state of the library nothing was pending."""
    make_folder(folder)
    write_whole(folder / _NOTE, text)


def _batches(
    store: Store, embedder: Embedder
) -> Iterator[Sequence[tuple[Document, Sequence[Chunk]]]]:
    """Yield pending documents with their chunks, so many at a time as are embedded together.

    One pass goes through the ids in order; the last one finds what was added meanwhile. A pass
    over documents that all changed under our hands leaves them to the next run.
    """
    embeddings, seen = store.embeddings(), set[str]()
    while True:
        languages = served_languages(embeddings, embedder)
        fresh = False
        for batch in _group(_pending(embeddings, embedder, languages), store):
            new = [(document, chunks) for document, chunks in batch if document.id not in seen]
            seen.update(document.id for document, _ in new)
            if new:
                fresh = True
                yield new
        if not fresh:
            return


def _pending(
    embeddings: EmbeddingStore, embedder: Embedder, languages: Sequence[str]
) -> Iterator[Document]:
    after = ""
    while found := embeddings.pending(embedder.fingerprint, languages, after, _DOCUMENTS_READ):
        yield from found
        after = found[-1].id


def _group(
    documents: Iterable[Document], store: Store
) -> Iterator[Sequence[tuple[Document, Sequence[Chunk]]]]:
    batch: list[tuple[Document, Sequence[Chunk]]] = []
    size, most = 0, _CHUNKS_FIRST
    for document in documents:
        chunks = store.chunks_of(document.id, Scope.everything())
        if batch and size + len(chunks) > most:
            yield batch
            batch, size, most = [], 0, min(most * 2, _CHUNKS_AT_ONCE)
        batch.append((document, chunks))
        size += len(chunks)
    if batch:
        yield batch


def _embed(
    batch: Sequence[tuple[Document, Sequence[Chunk]]],
    embeddings: EmbeddingStore,
    embedder: Embedder,
    read: ReadWithNames,
) -> Sequence[Document]:
    """Embed and commit a batch; return the documents that were not changed meanwhile."""
    made = dict(read([document.id for document, _ in batch]))
    left = [(document, chunks) for document, chunks in batch if document.id not in made]
    texts = [embedding_text(document.title, chunk) for document, own in left for chunk in own]
    vectors = embedder.embed_passages(texts)
    start = 0
    for document, chunks in left:
        made[document.id] = [one.key for one in chunks], vectors[start : start + len(chunks)]
        start += len(chunks)
    written = []
    for document, _ in batch:
        keys, rows = made[document.id]
        if keys and embeddings.put(document.id, keys, embedder.fingerprint, rows):
            written.append(document)
    return written
