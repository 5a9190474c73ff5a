"""A library of any size out of real sentences, and real questions for it.

The English collections' sentences are shuffled into sections of about 650 characters, eight to a
document, so that term frequencies are real though the growth of the vocabulary is not. Documents
go through everything but the file reader into the folders that ``Library.open`` expects.
"""

import hashlib
import os
import random
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.ingest.prepare import Cutter, PreparedDocument, prepare
from chapterhouse.library import Library
from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.types import DEFAULT_SHELF, ExtractedPage, Extraction, FileRecord, Scope, Status
from judged_sets import load_dataset

COLLECTIONS = ("cranfield", "cacm", "cisi", "npl", "time", "xquad-en", "pubmedqa", "anthropic-docs")
SECTION = 550  # characters before it is full; with the heading about 650
SECTIONS = 8  # of a document
SMALL_SHELF = "one-percent"
_SENTENCE = (20, 400)  # characters; shorter and longer ones are debris of tables


def sentences(data: Path) -> list[str]:
    """Return the distinct sentences of the English collections, in order."""
    found: dict[str, None] = {}
    for name in COLLECTIONS:
        for document in load_dataset(data / "retrieval" / name).documents:
            text = " ".join(document.text.split())
            for span in sentence_spans(text, 0, len(text)):
                sentence = text[slice(*span)].strip()
                if _SENTENCE[0] <= len(sentence) <= _SENTENCE[1]:
                    found[sentence] = None
    return list(found)


def questions(data: Path, count: int) -> list[str]:
    """Return real questions, as many of each collection as possible, in a fixed shuffle."""
    pools = [
        list(load_dataset(data / "retrieval" / name).questions.values()) for name in COLLECTIONS
    ]
    for pool in pools:
        random.Random(1).shuffle(pool)
    chosen: list[str] = []
    for pool in cycle(pools):
        if len(chosen) == count or not any(pools):
            break
        if pool:
            chosen.append(pool.pop())
    return chosen


def documents(pool: Sequence[str], seed: int = 0) -> Iterator[str]:
    """Yield Markdown documents without end, the pool shuffled anew each time it is used up."""
    chance = random.Random(seed)
    supply = _without_end(pool, chance)
    while True:
        sections = []
        for _ in range(SECTIONS):
            heading = " ".join(next(supply).split()[:5]).strip("#.:;,")
            sections.append(f"## {heading}\n\n{_section(supply)}")
        yield f"# {' '.join(next(supply).split()[:4]).strip('#.:;,')}\n\n" + "\n\n".join(sections)


def _without_end(pool: Sequence[str], chance: random.Random) -> Iterator[str]:
    while True:
        yield from chance.sample(pool, len(pool))


def _section(supply: Iterator[str]) -> str:
    chosen: list[str] = []
    length = 0
    while length < SECTION:
        chosen.append(next(supply))
        length += len(chosen[-1]) + 1
    return " ".join(chosen)


def drawn_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit vectors drawn from hashes of the texts, shape (texts, 384).

    They stand under the name of the encoder in the box, and questions are embedded by it: as much
    work as in earnest, without the hour that real ones take to make.
    """
    rows = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=384) for text in texts]
    vectors = np.asarray(rows, dtype=np.float32).reshape(len(texts), 384)
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def build(home: Path, pool: Sequence[str], chunks: int) -> int:
    """Put documents into the store of a home until it holds so many chunks; return their number.

    Every hundredth document stands on ``SMALL_SHELF`` as well.
    """
    own = home / "workspaces" / "default"
    own.mkdir(parents=True)
    make = partial(prepare, cutter=Cutter(chunk_by_sentence, estimate_tokens))
    total = 0
    with Store(own / "library.db", blobs=Blobs(own / "blobs")) as store:
        for number, text in enumerate(documents(pool)):
            shelves = (DEFAULT_SHELF, SMALL_SHELF) if number % 100 == 0 else (DEFAULT_SHELF,)
            total += put(store, text, number, shelves, make)
            if total >= chunks:
                break
    return total


def kept_library(pool: Sequence[str], chunks: int) -> Path:
    """Return the home of a library of so many chunks, built once and kept for later runs.

    It lies below ``$CHAPTERHOUSE_BENCH_CACHE``, else in the system's temporary folder, under a
    name that says what it was made of. Whoever adds documents to it takes them out again.
    """
    default = Path(tempfile.gettempdir()) / "chapterhouse-bench"
    cache = Path(os.environ.get("CHAPTERHOUSE_BENCH_CACHE") or default)
    made_of = f"{built_in_encoder().fingerprint} {len(pool)} {SECTION} {SECTIONS}"
    home = cache / f"{chunks}-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}"
    if not home.exists():
        unfinished = home.with_name(f"{home.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        build(unfinished, pool, chunks)
        with Library.open(unfinished) as library:
            library.encoders.embed_pending()  # they are all there: the encoder takes over
        unfinished.rename(home)
    return home


def put(
    store: Store,
    text: str,
    number: int,
    shelves: tuple[str, ...],
    make: "partial[PreparedDocument]",
) -> int:
    """Store one Markdown document; return the number of its chunks."""
    data = text.encode()
    sha256 = hashlib.sha256(data).hexdigest()
    name = f"report-{number:06}.md"
    file = SourceFile(Path("/set"), (name,), f"/set/{name}", f"set/{name}", len(data))
    extraction = Extraction((ExtractedPage(text),), "md", "collection", markdown=True)
    made = make(extraction, file, Content(data, sha256, len(data), mtime_ns=0, modified=0))
    record = FileRecord(file.location, file.source, len(data), 0, sha256, Status.READY, format="md")
    document = replace(made.document, shelves=shelves)
    identifier = store.put(document, made.body, made.chunks, record, data)
    keys = [chunk.key for chunk in store.chunks_of(identifier, Scope.everything())]
    rows = drawn_vectors([chunk.text for chunk in made.chunks])
    store.embeddings().put(identifier, keys, built_in_encoder().fingerprint, rows)
    return len(made.chunks)
