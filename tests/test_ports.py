"""What reads through a seam says which documents it may see."""

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module

from chapterhouse import ports
from chapterhouse.types import Scope

# What has no scope, and why.
FOLLOWS_EVERYTHING = {
    "Index",  # it has to know every change, of every document
    "ChangeLog",
    "DocumentVectors",  # vectors are made for all documents and read by indexes alone
    "Embeddings",
    "FileLedger",  # a file is looked at before there is a document that could be on a shelf
    "DocumentWriter",
    "Upkeep",  # a copy is of the whole store
    "Blobs",  # bytes by their hash, which only the store knows; it asks by scope before
    "Store",  # it opens other seams, which have scopes of their own
    "Sources",  # no document; what its shelf may be read by is for those who ask
    "Examination",
    "Questions",  # counts for those who look after all documents
    "StoredSettings",
}
# What of the others writes, deletes what is named, or names whose memories there are.
FREE = {"remember", "forget", "forget_of", "personas"}


def requires_a_scope(method: Callable[..., object]) -> bool:
    """Whether a scope, or the names of those whose memories may be seen, must be given."""
    parameters = inspect.signature(method).parameters
    wanted = parameters.get("scope") or parameters.get("personas")
    if wanted is None or wanted.default is not inspect.Parameter.empty:
        return False
    return wanted.annotation in {Scope, Sequence[str]} and "shelves" not in parameters


def test_every_read_requires_a_scope() -> None:
    modules = [
        import_module(f"{ports.__name__}.{name}")
        for name in ("store", "index", "memories", "vectors")
    ]
    kept = {
        name: found
        for module in modules
        for name, found in inspect.getmembers(module, inspect.isclass)
        if found.__module__ == module.__name__
    }
    assert kept.keys() > FOLLOWS_EVERYTHING, "no longer there"
    reads = {
        method
        for name in kept.keys() - FOLLOWS_EVERYTHING
        for method in vars(kept[name])
        if not method.startswith("_") and not requires_a_scope(getattr(kept[name], method))
    }
    assert reads == FREE


def test_a_read_without_a_scope_would_be_noticed() -> None:
    def optional(self: object, scope: Scope = Scope.everything()) -> None: ...  # noqa: B008 - what is forbidden
    def named(self: object, shelves: Sequence[str]) -> None: ...

    assert not requires_a_scope(optional)
    assert not requires_a_scope(named)
