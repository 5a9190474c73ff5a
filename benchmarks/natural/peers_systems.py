"""Other splitters and retrievers over the natural folders; runs in ``.venv-peers`` alone.

    .venv-peers/bin/python benchmarks/natural/peers_systems.py split FOLDER
    .venv-peers/bin/python benchmarks/natural/peers_systems.py rank FOLDER LANGUAGE

``FOLDER`` is where ``peers.py`` leaves what is needed and finds what was made::

    documents.jsonl             {"document", "text"} a line: our reading, the title in front
    questions.jsonl             a string a line
    SPLITTER.jsonl              {"document", "text"} a line: the chunks of langchain, llama_index
                                and haystack; the last two are made here by ``split``
    SPLITTER.npy questions.npy  unit vectors of the chunks and questions, where there are any
    rankings.json               made here by ``rank``: {system: {"version", "defaults",
                                "rankings": [[line of SPLITTER.jsonl, …] a question]}}

Everything is left at its defaults but for the number of hits and the language of the folder.
"""

import argparse
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

HITS = 20
# None of them is to call home or to fetch a model.
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
}
_STOP_WORDS = {"English": "en", "French": "fr", "German": "de"}

Vectors = NDArray[np.float32]
Search = Callable[[str, Vectors | None], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The chunks of a splitter, their vectors if there are any, and the folder's language."""

    texts: Sequence[str]
    vectors: Vectors
    language: str


def llama_index_split(documents: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Cut with ``SentenceSplitter``: 1,024 tokens, 200 shared."""
    document = import_module("llama_index.core").Document
    splitter = import_module("llama_index.core.node_parser").SentenceSplitter()
    given = [document(text=each["text"], id_=each["document"]) for each in documents]
    nodes = splitter.get_nodes_from_documents(given)
    return [{"document": node.ref_doc_id, "text": node.text} for node in nodes]


def haystack_split(documents: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Cut with ``DocumentSplitter``: 200 words, none shared."""
    document = import_module("haystack").Document
    splitter = import_module("haystack.components.preprocessors").DocumentSplitter()
    splitter.warm_up()
    given = [document(content=each["text"], meta={"name": each["document"]}) for each in documents]
    return [
        {"document": made.meta["name"], "text": made.content}
        for made in splitter.run(given)["documents"]
    ]


def bm25s(corpus: Corpus, _: Path) -> Search:
    """BM25 with stop words and Snowball stems of the folder's language."""
    library = import_module("bm25s")
    stemmer = import_module("Stemmer").Stemmer(corpus.language.lower())
    options = {
        "stopwords": _STOP_WORDS[corpus.language],
        "stemmer": stemmer,
        "show_progress": False,
    }
    engine = library.BM25()
    engine.index(library.tokenize(list(corpus.texts), **options), show_progress=False)
    count = min(HITS, len(corpus.texts))

    def search(text: str, _: Vectors | None) -> Sequence[int]:
        tokens = library.tokenize([text], **options)
        found, scores = engine.retrieve(tokens, k=count, show_progress=False, n_threads=1)
        return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    return search


def lance(corpus: Corpus, folder: Path) -> Search:
    """Full text in LanceDB, in the folder's language."""
    rows = [{"id": number, "text": text} for number, text in enumerate(corpus.texts)]
    table = import_module("lancedb").connect(folder / "lance").create_table("chunks", rows)
    table.create_fts_index("text", language=corpus.language)

    def search(text: str, _: Vectors | None) -> Sequence[int]:
        words = re.sub(r"[^\w\s]", " ", text)  # else marks are read as its query language
        found = table.search(words, query_type="fts").limit(HITS).to_list()
        return [int(hit["id"]) for hit in found]

    return search


def chroma(corpus: Corpus, folder: Path) -> Search:
    """Vectors in Chroma, by cosine."""
    client = import_module("chromadb").PersistentClient(path=str(folder / "chroma"))
    space = {"hnsw": {"space": "cosine"}}
    chunks = client.create_collection("chunks", embedding_function=None, configuration=space)
    for start in range(0, len(corpus.texts), 5_000):
        part = list(corpus.texts[start : start + 5_000])
        names = [str(start + number) for number in range(len(part))]
        vectors = corpus.vectors[start : start + 5_000]
        chunks.add(ids=names, embeddings=vectors, documents=part)
    count = min(HITS, len(corpus.texts))

    def search(_: str, vector: Vectors | None) -> Sequence[int]:
        assert vector is not None
        found = chunks.query(query_embeddings=vector[None, :], n_results=count)
        return [int(name) for name in found["ids"][0]]

    return search


def llama_index(corpus: Corpus, _: Path) -> Search:
    """Vectors in LlamaIndex's own store."""
    node = import_module("llama_index.core.schema").TextNode
    stores = import_module("llama_index.core.vector_stores")
    store = stores.SimpleVectorStore()
    pairs = enumerate(zip(corpus.texts, corpus.vectors, strict=True))
    store.add([node(text=t, id_=str(n), embedding=v.tolist()) for n, (t, v) in pairs])

    def search(_: str, vector: Vectors | None) -> Sequence[int]:
        assert vector is not None
        query = stores.VectorStoreQuery(query_embedding=vector.tolist(), similarity_top_k=HITS)
        return [int(name) for name in store.query(query).ids]

    return search


def haystack(corpus: Corpus, _: Path) -> Search:
    """Vectors in Haystack's own store."""
    document = import_module("haystack").Document
    stores = import_module("haystack.document_stores.in_memory")
    retrievers = import_module("haystack.components.retrievers.in_memory")
    store: Any = stores.InMemoryDocumentStore()
    pairs = enumerate(zip(corpus.texts, corpus.vectors, strict=True))
    store.write_documents(
        [document(id=str(n), content=t, embedding=v.tolist()) for n, (t, v) in pairs]
    )
    retriever = retrievers.InMemoryEmbeddingRetriever(store, top_k=HITS)

    def search(_: str, vector: Vectors | None) -> Sequence[int]:
        assert vector is not None
        found = retriever.run(query_embedding=vector.tolist())["documents"]
        return [int(hit.id) for hit in found]

    return search


@dataclass(frozen=True, slots=True)
class System:
    """A retriever over the chunks of a splitter, and whether it needs vectors."""

    distribution: str
    splitter: str
    vectors: bool
    build: Callable[[Corpus, Path], Search]


SYSTEMS = {
    "bm25s over LangChain's splitter": System("bm25s", "langchain", vectors=False, build=bm25s),
    "LanceDB full text over LangChain's splitter": System(
        "lancedb", "langchain", vectors=False, build=lance
    ),
    "Chroma over LangChain's splitter": System("chromadb", "langchain", vectors=True, build=chroma),
    "LlamaIndex": System("llama-index-core", "llama_index", vectors=True, build=llama_index),
    "Haystack": System("haystack-ai", "haystack", vectors=True, build=haystack),
}


def rank(folder: Path, language: str) -> dict[str, object]:
    """Ask every system every question; those that need vectors are left out without."""
    questions = [str(each) for each in read_lines(folder / "questions.jsonl")]
    given = folder / "questions.npy"
    asked = list(np.load(given)) if given.exists() else [None] * len(questions)
    made: dict[str, object] = {}
    for name, system in SYSTEMS.items():
        path = folder / f"{system.splitter}.npy"
        if system.vectors and not path.exists():
            continue
        texts = [each["text"] for each in read_lines(folder / f"{system.splitter}.jsonl")]
        vectors = np.load(path) if system.vectors else np.empty((0, 0), np.float32)
        with TemporaryDirectory() as place:
            search = system.build(Corpus(texts, vectors, language), Path(place))
            rankings = [search(text, vector) for text, vector in zip(questions, asked, strict=True)]
        version = metadata.version(system.distribution)
        made[name] = {"version": version, "splitter": system.splitter, "rankings": rankings}
    return made


def read_lines(path: Path) -> list[Any]:
    """Return the values of a file of JSON lines."""
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def write_lines(path: Path, values: Sequence[object]) -> None:
    """Write values as JSON lines."""
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{json.dumps(value)}\n" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("split", "rank"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("language", nargs="?", choices=tuple(_STOP_WORDS), default="English")
    chosen = parser.parse_args()
    os.environ.update(QUIET)
    if chosen.step == "split":
        documents = read_lines(chosen.folder / "documents.jsonl")
        write_lines(chosen.folder / "llama_index.jsonl", llama_index_split(documents))
        write_lines(chosen.folder / "haystack.jsonl", haystack_split(documents))
    else:
        ranked = rank(chosen.folder, chosen.language)
        (chosen.folder / "rankings.json").write_text(json.dumps(ranked), encoding="utf-8")


if __name__ == "__main__":
    main()
