"""What reads documents, memories or an index says what it may see."""

import inspect
from collections.abc import Callable, Sequence

import pytest

from chapterhouse.index.aliases import AliasIndex
from chapterhouse.index.graph import GraphIndex
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.store.memory import MemoryStore
from chapterhouse.store.reading import StoreReader
from chapterhouse.types import Scope

# What has no scope, by class, and why.
FREE: dict[type, set[str]] = {
    StoreReader: {
        # Indexes follow every change of every document.
        "sequence",
        "changes",
        "document_with_chunks",
        "fingerprints",
        "fingerprints_of",
        "vectors_of",
        # A file is looked at before there is a document that could be on a shelf.
        "file",
        "files",
        "files_sent_as",
        "file_places",
        "roots",
    },
    MemoryStore: {"remember", "forget", "forget_of", "personas"},
    LexicalIndex: {"sequence", "catch_up", "rebuild", "differing"},
    VectorIndex: {"sequence", "catch_up", "rebuild", "differing"},
    AliasIndex: {"sequence", "catch_up", "rebuild", "differing", "close", "size"},
    GraphIndex: {
        *("sequence", "catch_up", "rebuild", "differing", "close", "size"),
        *("pending", "fill", "read"),  # its own work
    },
}


def requires_a_scope(method: Callable[..., object]) -> bool:
    """Whether a scope, or the names of those whose memories may be seen, must be given."""
    parameters = inspect.signature(method).parameters
    wanted = parameters.get("scope") or parameters.get("personas")
    if wanted is None or wanted.default is not inspect.Parameter.empty:
        return False
    return wanted.annotation in {Scope, Sequence[str]} and "shelves" not in parameters


@pytest.mark.parametrize("kind", FREE)
def test_every_read_requires_a_scope(kind: type) -> None:
    methods = inspect.getmembers(kind, inspect.isfunction)
    public = {name: method for name, method in methods if not name.startswith("_")}
    assert {name for name, method in public.items() if not requires_a_scope(method)} == FREE[kind]


def test_a_read_without_a_scope_would_be_noticed() -> None:
    def optional(self: object, scope: Scope = Scope.everything()) -> None: ...  # noqa: B008 - what is forbidden
    def named(self: object, shelves: Sequence[str]) -> None: ...

    assert not requires_a_scope(optional)
    assert not requires_a_scope(named)
