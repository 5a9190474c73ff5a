"""SQLite FTS5 and LanceDB over the same chunks and questions."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from chapterhouse.models.static import StaticEmbedder
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.stopwords import STOPWORDS

HITS = 10
Search = Callable[[str], object]


def chunk_texts(store: SqliteStore) -> list[str]:
    """Return the text of every chunk."""
    return [
        chunk.text
        for document in store.documents()
        for chunk in store.chunks_of(document.id)
    ]


def chunk_vectors(store: SqliteStore, fingerprint: str) -> list[Any]:
    """Return the vectors of every document with vectors, in the same order."""
    return [store.vectors_of(document.id, fingerprint)[1] for document in store.documents()]


def fts5(texts: Sequence[str], folder: Path) -> dict[str, Search]:
    """FTS5 with porter stems, any of the words, in a file; with and without function words."""
    base = sqlite3.connect(folder / "fts5.db")
    base.execute("CREATE VIRTUAL TABLE found USING fts5(text, tokenize = 'porter unicode61')")
    with base:
        base.executemany("INSERT INTO found (text) VALUES (?)", ((text,) for text in texts))
    statement = "SELECT rowid, text FROM found WHERE found MATCH ? ORDER BY rank LIMIT ?"

    def search(text: str, dropped: frozenset[str] = frozenset()) -> object:
        words = re.findall(r"\w+", text)
        kept = [word for word in words if word.casefold() not in dropped] or words
        query = " OR ".join(f'"{word}"' for word in kept)
        return base.execute(statement, (query, HITS)).fetchall()

    stop = STOPWORDS["en"]
    return {
        "SQLite FTS5, any word": search,
        "SQLite FTS5, function words left out": lambda text: search(text, stop),
    }


def lance(
    texts: Sequence[str], vectors: Sequence[Any], folder: Path, embedder: StaticEmbedder
) -> dict[str, Search]:
    """LanceDB: its full-text index, and its exact vector scan; nothing where not installed."""
    try:
        import lancedb  # noqa: PLC0415 - a benchmark's own, and optional
    except ImportError:
        return {}
    import numpy as np  # noqa: PLC0415 - only here
    import pyarrow as pa  # noqa: PLC0415 - comes with lancedb

    flat = np.concatenate(vectors)
    column = pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), flat.shape[1])
    data = pa.table({"text": pa.array(texts), "vector": column})
    table = lancedb.connect(folder / "lance").create_table("chunks", data)
    table.create_fts_index("text")
    return {
        "LanceDB, full text": lambda text: table.search(
            re.sub(r"[^\w\s]", " ", text), query_type="fts"
        ).limit(HITS).to_list(),
        "LanceDB, exact vectors": lambda text: table.search(embedder.embed_question(text))
        .metric("cosine")
        .limit(HITS)
        .to_list(),
    }
