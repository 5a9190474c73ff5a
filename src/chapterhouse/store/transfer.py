"""All of a library but its documents, taken from the database of another one."""

from pathlib import Path
from typing import Final

from chapterhouse.store.connections import Connections
from chapterhouse.store.statements import run

# In this order: the terms of memories have their keys, and documents those of their questions.
_PARTS: Final = (
    "memories",
    "memory_terms",
    "questions",
    "question_documents",
    "encoders",
    "sources",
    "files",
    "roots",
    "jobs",
    "settings",
)
_ASKED: Final = (
    "cached_answer",
    "unreferenced_content",
    "memory",
    "memory_term",
    "question",
)


def drop_rest(connections: Connections) -> None:
    """Delete what was asked, which ``take_rest`` brings back."""
    with connections.write() as connection:
        for part in _ASKED:
            run(connection, f"drop_every_{part}")
    connections.compact()


def take_rest(connections: Connections, path: Path) -> None:
    """Replace all but the documents by what the database at ``path`` holds, in one transaction.

    Bytes of files that only the other one has come, too.

    Raises:
        CorruptLibraryError: the other one is damaged.
        ChapterhouseError: the disk is full, or another process wrote for half a minute.
    """
    with connections.attached(path), connections.write() as connection:
        for part in _PARTS:
            run(connection, f"drop_rest_{part}")
            run(connection, f"take_{part}")
        run(connection, "take_contents")
