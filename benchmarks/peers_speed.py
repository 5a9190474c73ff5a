"""How long another retriever takes for questions over the chunks of our library.

    .venv-peers/bin/python benchmarks/peers_speed.py FOLDER "SYSTEM" OUT [--seconds 30]

Runs in the environment of ``make bench-peers``, one system a process, so that its memory can be
told. ``FOLDER`` holds ``texts.jsonl`` and ``questions.jsonl`` (a JSON string a line) with
``vectors.npy`` and ``questions.npy`` beside them: whoever takes vectors is given ours, ready made,
and so is spared the embedding. Everything else is left at its defaults, ten hits are asked for,
and asking ends after ``--seconds``. ``OUT`` gets version, build seconds, milliseconds of each
question after five to get warm, and peak megabytes.
"""

import argparse
import json
import os
import re
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

HITS = 10
WARM = 5
Vectors = NDArray[np.float32]
Search = Callable[[str, Vectors], object]
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """The chunks, and the questions with their vectors."""

    texts: Sequence[str]
    vectors: Vectors
    questions: Sequence[str]
    asked: Vectors


def llama_index_lexical(corpus: Corpus, _: Path) -> Search:
    node = import_module("llama_index.core.schema").TextNode
    retriever = import_module("llama_index.retrievers.bm25").BM25Retriever.from_defaults(
        nodes=[node(text=text, id_=str(n)) for n, text in enumerate(corpus.texts)],
        similarity_top_k=HITS,
    )
    return lambda text, _: retriever.retrieve(text)


def llama_index_vectors(corpus: Corpus, _: Path) -> Search:
    node = import_module("llama_index.core.schema").TextNode
    stores = import_module("llama_index.core.vector_stores")
    store = stores.SimpleVectorStore()
    pairs = enumerate(zip(corpus.texts, corpus.vectors, strict=True))
    store.add([node(text=t, id_=str(n), embedding=v.tolist()) for n, (t, v) in pairs])

    def search(_: str, vector: Vectors) -> object:
        query = stores.VectorStoreQuery(query_embedding=vector.tolist(), similarity_top_k=HITS)
        return store.query(query)

    return search


def _haystack_store(corpus: Corpus) -> Any:
    document = import_module("haystack").Document
    store = import_module("haystack.document_stores.in_memory").InMemoryDocumentStore()
    pairs = enumerate(zip(corpus.texts, corpus.vectors, strict=True))
    store.write_documents(
        [document(id=str(n), content=t, embedding=v.tolist()) for n, (t, v) in pairs]
    )
    return store


def haystack_lexical(corpus: Corpus, _: Path) -> Search:
    retrievers = import_module("haystack.components.retrievers.in_memory")
    retriever = retrievers.InMemoryBM25Retriever(_haystack_store(corpus), top_k=HITS)
    return lambda text, _: retriever.run(query=text)


def haystack_vectors(corpus: Corpus, _: Path) -> Search:
    retrievers = import_module("haystack.components.retrievers.in_memory")
    retriever = retrievers.InMemoryEmbeddingRetriever(_haystack_store(corpus), top_k=HITS)
    return lambda _, vector: retriever.run(query_embedding=vector.tolist())


def chroma(corpus: Corpus, folder: Path) -> Search:
    client = import_module("chromadb").PersistentClient(path=str(folder / "chroma"))
    space = {"hnsw": {"space": "cosine"}}
    chunks = client.create_collection("chunks", embedding_function=None, configuration=space)
    for start in range(0, len(corpus.texts), 5_000):
        part = slice(start, start + 5_000)
        names = [str(n) for n in range(start, start + len(corpus.texts[part]))]
        chunks.add(ids=names, embeddings=corpus.vectors[part], documents=list(corpus.texts[part]))
    return lambda _, vector: chunks.query(query_embeddings=vector[None, :], n_results=HITS)


def _lance_table(corpus: Corpus, folder: Path, *, words: bool) -> Any:
    arrow = import_module("pyarrow")
    flat, size = corpus.vectors.ravel(), corpus.vectors.shape[1]
    column = arrow.FixedSizeListArray.from_arrays(arrow.array(flat), size)
    data = arrow.table({"text": arrow.array(list(corpus.texts)), "vector": column})
    table = import_module("lancedb").connect(folder / "lance").create_table("chunks", data)
    if words:
        table.create_fts_index("text")
    return table


def _plain(text: str) -> str:
    return re.sub(r"[^\w\s]", " ", text)  # else marks are read as its query language


def lance_lexical(corpus: Corpus, folder: Path) -> Search:
    table = _lance_table(corpus, folder, words=True)
    return lambda text, _: table.search(_plain(text), query_type="fts").limit(HITS).to_list()


def lance_vectors(corpus: Corpus, folder: Path) -> Search:
    table = _lance_table(corpus, folder, words=False)
    return lambda _, vector: table.search(vector).limit(HITS).to_list()


def lance_both(corpus: Corpus, folder: Path) -> Search:
    table = _lance_table(corpus, folder, words=True)

    def search(text: str, vector: Vectors) -> object:
        query = table.search(query_type="hybrid").vector(vector).text(_plain(text))
        return query.limit(HITS).to_list()

    return search


def txtai(corpus: Corpus, _: Path) -> Search:
    known = {
        text: vector
        for texts, vectors in ((corpus.texts, corpus.vectors), (corpus.questions, corpus.asked))
        for text, vector in zip(texts, vectors, strict=True)
    }

    def transform(texts: Sequence[str]) -> Vectors:
        return np.stack([known[text] for text in texts])

    make = import_module("txtai.embeddings").Embeddings
    index = make({"method": "external", "transform": transform, "hybrid": True, "content": False})
    index.index((n, text, None) for n, text in enumerate(corpus.texts))
    return lambda text, _: index.search(text, HITS)


SYSTEMS: dict[str, tuple[str, Callable[[Corpus, Path], Search]]] = {
    "LlamaIndex, BM25Retriever": ("llama-index-core", llama_index_lexical),
    "LlamaIndex, SimpleVectorStore": ("llama-index-core", llama_index_vectors),
    "Haystack, in-memory BM25": ("haystack-ai", haystack_lexical),
    "Haystack, in-memory vectors": ("haystack-ai", haystack_vectors),
    "txtai, hybrid": ("txtai", txtai),
    "Chroma, vectors (HNSW)": ("chromadb", chroma),
    "LanceDB, hybrid": ("lancedb", lance_both),
    "LanceDB, full text": ("lancedb", lance_lexical),
    "LanceDB, vectors": ("lancedb", lance_vectors),
}


def read_corpus(folder: Path) -> Corpus:
    """Return what a folder holds."""

    def lines(name: str) -> list[str]:
        with (folder / name).open(encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]

    vectors, asked = np.load(folder / "vectors.npy"), np.load(folder / "questions.npy")
    return Corpus(lines("texts.jsonl"), vectors, lines("questions.jsonl"), asked)


def peak_megabytes() -> float:
    """Return the peak of this process; Linux's ``ru_maxrss`` counts what it was forked from."""
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:  # not Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) * 1024 / 1e6


def measure(name: str, corpus: Corpus, seconds: float) -> dict[str, object]:
    """Build one system and ask it."""
    distribution, build = SYSTEMS[name]
    with TemporaryDirectory() as folder:
        began = time.perf_counter()
        search = build(corpus, Path(folder))
        built = time.perf_counter() - began
        taken: list[float] = []
        end = time.perf_counter() + seconds
        for text, vector in zip(corpus.questions, corpus.asked, strict=True):
            started = time.perf_counter()
            search(text, vector)
            taken.append((time.perf_counter() - started) * 1e3)
            if time.perf_counter() > end and len(taken) > WARM:
                break
    return {
        "version": metadata.version(distribution),
        "build_seconds": built,
        "milliseconds": taken[WARM:],
        "megabytes": peak_megabytes(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("system", choices=tuple(SYSTEMS))
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=30.0)
    chosen = parser.parse_args()
    os.environ.update(QUIET)
    result = measure(chosen.system, read_corpus(chosen.folder), chosen.seconds)
    chosen.out.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
