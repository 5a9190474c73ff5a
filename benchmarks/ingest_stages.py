"""What each step from a file to the index costs, alone and on one core."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from chapterhouse.chunking.build import build_chunks, embedding_text
from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.connectors.content import Content, open_source
from chapterhouse.connectors.folder import SourceFile, walk
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.ingest.prepare import Prepared, prepare
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.canonical import compose
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.text.language import detect
from chapterhouse.types import FileRecord
from measuring import Table

Item = TypeVar("Item")
Result = TypeVar("Result")


def stages(folder: Path, count: int) -> Table:
    """Time each step over the first ``count`` files of a folder."""
    costs: dict[str, float] = {}

    def timed(name: str, step: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        began = time.perf_counter()
        results = [step(item) for item in items]
        costs[name] = time.perf_counter() - began
        return results

    files = list(islice(walk(folder, "notes"), count))
    embedder = StaticEmbedder()
    embedder.embed_question("load the table")
    detect("load the model of languages")
    contents = timed("open and hash", open_source, files)
    pairs = list(zip(files, contents, strict=True))
    with ReadingPool(1) as pool:
        pool.read(b"warm up", "warm.md")
        timed(
            "read in a worker, waiting for each", lambda p: pool.read(p[1].data, p[0].name), pairs
        )
    limits = Limits()
    extractions = timed("read", lambda p: read(p[1].data, p[0].name, limits), pairs)
    bodies = [body for body, _ in timed("clean and compose", compose, extractions)]
    timed("tell the language", lambda body: detect(body.text), bodies)
    spans = timed("cut", chunk_by_sentence, bodies)
    parts = list(zip(bodies, spans, strict=True))
    chunked = timed(
        "make chunks", lambda p: build_chunks("doc", p[0], p[1], estimate_tokens), parts
    )
    texts = [[embedding_text("title", chunk) for chunk in chunks] for chunks in chunked]
    timed("embed", embedder.embed_passages, texts)
    make = partial(
        prepare, chunker=chunk_by_sentence, embedder=embedder, count_tokens=estimate_tokens
    )
    work = list(zip(extractions, pairs, strict=True))
    prepared = timed("all between reading and storing", lambda w: make(w[0], *w[1]), work)
    _keep(pairs, prepared, embedder, timed)
    rows = tuple((name, seconds / len(files) * 1e3) for name, seconds in costs.items())
    note = f"Over {len(files)} files, one step after the other, each alone."
    return Table("Each stage alone", ("stage", "ms a file"), rows, note)


def _keep(
    pairs: Sequence[tuple[SourceFile, Content]],
    prepared: Sequence[Prepared],
    embedder: StaticEmbedder,
    timed: Callable[[str, Callable[..., object], Iterable[object]], object],
) -> None:
    """Time the store and the indexes."""
    with TemporaryDirectory() as name:
        blobs = FolderBlobs(Path(name) / "blobs")
        with SqliteStore(Path(name) / "library.db", blobs=blobs) as store:
            kept = list(zip(pairs, prepared, strict=True))
            timed("store, one durable transaction a file", lambda k: _put(store, *k), kept)
            lexical = LexicalIndex(Path(name) / "lexical")
            vectors = VectorIndex(Path(name) / "vectors", embedder)
            timed("lexical index", lexical.catch_up, [store])
            timed("vector index", vectors.catch_up, [store])


def _put(store: SqliteStore, pair: tuple[SourceFile, Content], made: Prepared) -> None:
    file, content = pair
    document = made.document
    record = FileRecord(
        location=file.location,
        source=file.source,
        size=content.size,
        mtime_ns=content.mtime_ns,
        sha256=content.sha256,
        status=document.status,
        document_id=document.id,
        format=document.format,
    )
    store.put(
        document, made.body, made.chunks, made.vectors, made.fingerprint, record, content.data
    )
