"""What reads through a seam says which documents it may see."""

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import iter_modules

import pytest

from chapterhouse import ports
from chapterhouse.index.aliases import AliasIndex
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.store.memory import MemoryStore
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Scope

PROTOCOLS = [
    found
    for module in iter_modules(ports.__path__, f"{ports.__name__}.")
    for _, found in inspect.getmembers(import_module(module.name), inspect.isclass)
    if found.__module__ == module.name
]


# --- scopes ----------------------------------------------------------------------------------

SEAMS_OF_WHAT_IS_KEPT = (
    "chapterhouse.ports.store",
    "chapterhouse.ports.index",
    "chapterhouse.ports.memories",
    "chapterhouse.ports.vectors",
)
# What has no scope, and why.
FOLLOWS_EVERYTHING = {
    # An index has to know every change, of every document.
    "Index": {"sequence", "catch_up", "rebuild", "differing"},
    "ChangeLog": {"sequence", "changes", "document_with_chunks"},
    # Vectors are made for all documents and read by indexes alone; a role is no document's.
    "DocumentVectors": {"fingerprints", "fingerprints_of", "vectors_of"},
    "Embeddings": {"put", "pending", "progress", "languages", "last", "added", "record_problem"},
    "EncoderRoles": {"encoders", "build", "activate", "forget", "drop_others"},
    # A file is looked at before there is a document that could be on a shelf.
    "FileLedger": {
        "file",
        "files",
        "record_file",
        "set_volume",
        "forget_file",
        "label_root",
        "roots",
        "file_places",
    },
    # They write, or look after the store itself.
    "DocumentWriter": {"together", "put", "remove", "cut_anew", "set_shelves", "move_files"},
    "Upkeep": {"collect_garbage", "compact", "forget_removals"},
    # A copy is of the whole store.
    "Backup": {"blob_hashes", "snapshot", "relocate"},
    # Bytes by their hash, which only the store knows; it asks by scope before.
    "Blobs": {"put", "get", "has", "delete", "hashes"},
    # It opens other seams, which have scopes of their own.
    "Store": {
        *("embeddings", "examination", "jobs", "memories", "questions", "settings"),
        "sources",
    },
    # A source is no document; what its shelf may be read by is for those who ask.
    "Sources": {"sources", "save", "drop"},
    # They write, delete what is named, or name whose memories there are.
    "Memories": {"remember", "forget", "forget_of", "personas"},
}
KEPT = [protocol for protocol in PROTOCOLS if protocol.__module__ in SEAMS_OF_WHAT_IS_KEPT]
IMPLEMENTATIONS = {
    "Documents": SqliteStore,
    "Statistics": SqliteStore,
    "Memories": MemoryStore,
    "LexicalSearch": LexicalIndex,
    "VectorSearch": VectorIndex,
    "NameSearch": AliasIndex,
}


def own_methods(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


def requires_a_scope(method: Callable[..., object]) -> bool:
    """Whether a scope, or the names of those whose memories may be seen, must be given."""
    parameters = inspect.signature(method).parameters
    wanted = parameters.get("scope") or parameters.get("personas")
    if wanted is None or wanted.default is not inspect.Parameter.empty:
        return False
    return wanted.annotation in {Scope, Sequence[str]} and "shelves" not in parameters


@pytest.mark.parametrize("protocol", KEPT, ids=lambda found: found.__name__)
def test_every_read_requires_a_scope(protocol: type) -> None:
    free = FOLLOWS_EVERYTHING.get(protocol.__name__, set())
    assert free <= own_methods(protocol), "no longer there"
    for name in sorted(own_methods(protocol) - free):
        assert requires_a_scope(getattr(protocol, name)), name
        made = getattr(IMPLEMENTATIONS[protocol.__name__], name)
        assert requires_a_scope(made), f"{name} of the implementation"


def test_a_read_without_a_scope_would_be_noticed() -> None:
    def optional(self: object, scope: Scope = Scope.everything()) -> None: ...  # noqa: B008 - what is forbidden
    def named(self: object, shelves: Sequence[str]) -> None: ...

    assert not requires_a_scope(optional)
    assert not requires_a_scope(named)
    assert not requires_a_scope(SqliteStore.sequence)
