"""Rankings of other lexical retrievers over one collection, for the quality benchmark.

    .venv-peers/bin/python benchmarks/peers_lexical.py corpus.jsonl queries.jsonl out.json

Runs in the environment of ``make bench-peers`` and imports nothing of Chapterhouse. Every system
gets title and text as one text and is left at its defaults; the result says what those are::

    {"<system>": {"version": str, "defaults": str, "seconds": float,
                  "rankings": {"<query id>": ["<document id>", …]}}}

At most 100 documents a query, best first, those of equal score in order of id, none that shares
no term with the query.
"""

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryDirectory

DEPTH = 100
Ranking = list[tuple[str, float]]
Search = Callable[[str], Ranking]
# None of them is to call home or to fetch a model.
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
}


@dataclass(frozen=True, slots=True)
class System:
    """A retriever: its distribution, what its defaults are, and how it is built over texts."""

    distribution: str
    defaults: str
    build: Callable[[Mapping[str, str], Path], Search]


def words_of(text: str) -> str:
    """Return a question without the marks that some of them read as a query language."""
    return " ".join(re.findall(r"\w+", text))


def llama_index(texts: Mapping[str, str], _: Path) -> Search:
    """Build ``BM25Retriever.from_defaults``, which wants no more hits than there are texts."""
    schema = import_module("llama_index.core.schema")
    retriever = import_module("llama_index.retrievers.bm25").BM25Retriever.from_defaults(
        nodes=[schema.TextNode(text=text, id_=name) for name, text in texts.items()],
        similarity_top_k=min(DEPTH, len(texts)),
    )

    def search(text: str) -> Ranking:
        return [(hit.node.node_id, hit.score) for hit in retriever.retrieve(text)]

    return search


def haystack(texts: Mapping[str, str], _: Path) -> Search:
    """Build an ``InMemoryBM25Retriever``."""
    document = import_module("haystack").Document
    stores = import_module("haystack.document_stores.in_memory")
    retrievers = import_module("haystack.components.retrievers.in_memory")
    store = stores.InMemoryDocumentStore()
    store.write_documents([document(id=name, content=text) for name, text in texts.items()])
    retriever = retrievers.InMemoryBM25Retriever(store, top_k=DEPTH)

    def search(text: str) -> Ranking:
        return [(hit.id, hit.score) for hit in retriever.run(query=text)["documents"]]

    return search


def lance(texts: Mapping[str, str], folder: Path) -> Search:
    """Build a LanceDB table with a full-text index."""
    rows = [{"id": name, "text": text} for name, text in texts.items()]
    table = import_module("lancedb").connect(folder / "lance").create_table("texts", rows)
    table.create_fts_index("text")

    def search(text: str) -> Ranking:
        found = table.search(words_of(text), query_type="fts").limit(DEPTH).to_list()
        return [(hit["id"], hit["_score"]) for hit in found]

    return search


def tantivy(texts: Mapping[str, str], folder: Path, *, stems: bool = False) -> Search:
    """Build a Tantivy index and ask through its own query parser."""
    library = import_module("tantivy")
    builder = library.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", tokenizer_name="en_stem" if stems else "default")
    place = folder / f"tantivy-{stems}"
    place.mkdir()
    index = library.Index(builder.build(), path=str(place))
    writer = index.writer(num_threads=1)
    for name, text in texts.items():
        writer.add_document(library.Document(id=name, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(text: str) -> Ranking:
        try:
            query = index.parse_query(words_of(text).lower(), ["text"])  # AND, OR are operators
        except ValueError:  # no word is left: its tokenizer drops runs of Chinese as too long
            return []
        hits = searcher.search(query, DEPTH).hits
        return [(searcher.doc(place)["id"][0], score) for score, place in hits]

    return search


def tantivy_stemmed(texts: Mapping[str, str], folder: Path) -> Search:
    """Build a Tantivy index with its English stemmer."""
    return tantivy(texts, folder, stems=True)


SYSTEMS = {
    "LlamaIndex BM25Retriever": System(
        "llama-index-retrievers-bm25",
        "bm25s: Lucene's BM25 (k1 1.5, b .75), English Snowball stems and stop words",
        llama_index,
    ),
    "Haystack InMemoryBM25Retriever": System(
        "haystack-ai", "BM25L, lower-cased words, no stems, no stop words", haystack
    ),
    "LanceDB full text": System(
        "lancedb", "BM25, English stems and stop words, ASCII folding", lance
    ),
    "Tantivy default": System("tantivy", "BM25, lower-cased words, no stems", tantivy),
    "Tantivy en_stem": System("tantivy", "BM25, lower-cased words, English stems", tantivy_stemmed),
}


def read_texts(path: Path) -> dict[str, str]:
    """Return title and text by id from the JSON lines of a collection."""
    records = (json.loads(line) for line in _lines(path))
    return {
        str(record["_id"]): f"{record.get('title') or ''}\n{record['text']}".strip()
        for record in records
    }


def _lines(path: Path) -> Iterable[str]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:  # only at line feeds: other separators may stand in a text
            if line.strip():
                yield line


def ranked(found: Ranking) -> list[str]:
    """Return ids, best first, equal scores in order of id, nothing without a score."""
    best = sorted(found, key=lambda hit: (-hit[1], hit[0]))
    return [name for name, score in best if score > 0][:DEPTH]


def rankings(
    systems: Sequence[str], texts: Mapping[str, str], queries: Mapping[str, str]
) -> dict[str, object]:
    """Return what the systems find for every query."""
    result: dict[str, object] = {}
    for name in systems:
        system = SYSTEMS[name]
        began = time.perf_counter()
        with TemporaryDirectory() as folder:
            search = system.build(texts, Path(folder))
            found = {query: ranked(search(text)) for query, text in queries.items()}
        result[name] = {
            "version": metadata.version(system.distribution),
            "defaults": system.defaults,
            "seconds": round(time.perf_counter() - began, 2),
            "rankings": found,
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--systems", nargs="+", choices=tuple(SYSTEMS), default=tuple(SYSTEMS))
    chosen = parser.parse_args()
    os.environ.update(QUIET)
    texts, queries = read_texts(chosen.corpus), read_texts(chosen.queries)
    result = rankings(chosen.systems, texts, queries)
    chosen.out.write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
