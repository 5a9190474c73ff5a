"""SQLite FTS5 over the same chunks and questions, and what is handed to other retrievers."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.types import Scope

EVERYTHING = Scope.everything()

HITS = 10
Search = Callable[[str], object]


def chunk_texts(store: SqliteStore) -> list[str]:
    """Return the text of every chunk."""
    return [
        chunk.text
        for document in store.documents(EVERYTHING)
        for chunk in store.chunks_of(document.id, EVERYTHING)
    ]


def chunk_vectors(store: SqliteStore, fingerprint: str) -> list[NDArray[np.float32]]:
    """Return the vectors of every document with vectors, in the same order."""
    return [
        store.vectors_of(document.id, fingerprint)[1] for document in store.documents(EVERYTHING)
    ]


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
