"""Another library of the same workspace: made beside the one that serves, then exchanged with it.

It is the folder ``rebuild`` or ``previous`` of the workspace, a home of its own. Bytes of larger
files are those of the workspace. Whatever moment a process dies at, the workspace has one whole
library: the exchange of two databases is one step, and an index that is not there is made again.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError, NotFoundError, RefusedError
from chapterhouse.files import exchange, make_folder, sync_folder, write_whole
from chapterhouse.ports.store import Store
from chapterhouse.types import Document, Scope

REBUILD: Final = "rebuild"  # the folder of the library that is being made
PREVIOUS: Final = "previous"  # and of the one that served before
_DATABASE: Final = "library.db"
_INDEX: Final = "index"
_ASIDE: Final = "index.aside"  # the index of the library that serves, while databases are exchanged
_STATE: Final = "state.json"
_TOGETHER: Final = 20  # documents of one transaction
_ALL: Final = Scope.everything()


@dataclass(frozen=True, slots=True)
class Second:
    """How far another library of the workspace is.

    Attributes:
        sequence: The last change of the one that serves that it has.
        inode: Of its database when the two were about to be exchanged; 0 before.
        after: The last change of what served from then on.
    """

    sequence: int
    inode: int = 0
    after: int = 0


def own_folder(home: Path) -> Path:
    """Return where the database and the indexes of a library with a home of its own are."""
    return home / "workspaces" / "default"


def read_second(home: Path) -> Second | None:
    """Return how far the library in this folder is; None where there is none that is whole."""
    try:
        fields = json.loads((home / _STATE).read_bytes())
        return Second(int(fields["sequence"]), int(fields["inode"]), int(fields["after"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def require_second(home: Path) -> Second:
    """Return how far the library in this folder is.

    Raises:
        RefusedError: somebody deleted it meanwhile.
    """
    found = read_second(home)
    if found is None:
        raise RefusedError(
            f"{home} was deleted meanwhile, as a removal of documents does.",
            hint="Nothing else was changed. Begin again: chapterhouse rebuild",
        )
    return found


def begin(store: Store, home: Path, open_store: Callable[[], int]) -> Second:
    """Copy a library as it is at one moment, unless that was done before.

    Args:
        store: Of the library that serves.
        home: The folder of the copy.
        open_store: Opens the copy once; returns its last change.
    """
    found = read_second(home)
    if found is not None:
        return found
    shutil.rmtree(home, ignore_errors=True)
    own = own_folder(home)
    make_folder(own)
    store.snapshot(own / _DATABASE, lambda: None, memories=True)
    sync_folder(own)
    return _write(home, Second(open_store()))


def bring_over(store: Store, other: Store, home: Path) -> int:
    """Bring to another library what changed in the one that serves; return how many documents.

    Args:
        store: Of the one that serves.
        other: Of the other.
        home: The folder of the other.
    """
    state, latest = require_second(home), store.sequence()
    changed = _changed(store, state.sequence)
    gone = other.document_ids(_ALL) - store.document_ids(_ALL)
    names = sorted(gone | changed.keys())
    for start in range(0, len(names), _TOGETHER):
        with other.together():  # first all go, so that two may have changed places
            for name in names[start : start + _TOGETHER]:
                other.remove(name)
    documents = [document for document in changed.values() if document is not None]
    for document in documents:
        _copy(document, store, other)
    _write(home, replace(require_second(home), sequence=latest))
    return len(names)


def _changed(store: Store, after: int) -> dict[str, Document | None]:
    found: dict[str, Document | None] = {}
    while changes := store.changes(after, 1_000):
        found |= {change.document_id: change.document for change in changes}
        after = changes[-1].sequence
    return found


def _copy(document: Document, store: Store, other: Store) -> None:
    """Copy a document with all that belongs to it; nothing where it is gone meanwhile."""
    body, record = store.body(document.id, _ALL), store.file(document.location)
    content = store.content(document.sha256, _ALL)
    chunks = store.chunks_of(document.id, _ALL)
    if body is None or record is None or content is None or len(chunks) != document.chunks:
        if store.document(document.id, _ALL) != document:
            return  # its change comes with the next call
        raise CorruptLibraryError(
            f"Not all of the document {document.source} is there.",
            hint="See what is missing: chapterhouse verify",
        )
    with other.together():
        other.put(document, body, chunks, None, "", record, content)
        keys = [chunk.key for chunk in other.chunks_of(document.id, _ALL)]
        for fingerprint in store.fingerprints_of(document.id):
            _, vectors = store.vectors_of(document.id, fingerprint)
            if len(vectors) == len(keys):
                other.embeddings().put(document.id, keys, fingerprint, vectors)


# --- the exchange ---------------------------------------------------------------------------------


def switch(folder: Path, name: str, after: int) -> None:
    """Exchange the library that serves with another one, which both nobody has open.

    Args:
        folder: Of the workspace.
        name: ``REBUILD`` or ``PREVIOUS``.
        after: The last change of the other one.

    Raises:
        RefusedError: somebody deleted the other one meanwhile.
        OSError: it cannot be done; the library that served serves.
    """
    home = folder / name
    own = own_folder(home)
    state = require_second(home)
    for database in (folder / _DATABASE, own / _DATABASE):
        _require_closed(database)
    _write(home, replace(state, inode=(own / _DATABASE).stat().st_ino, after=after))
    try:
        if (folder / _INDEX).exists():
            (folder / _INDEX).rename(own / _ASIDE)
        exchange(own / _DATABASE, folder / _DATABASE)
    finally:
        settle(folder, name)


def settle(folder: Path, name: str) -> bool:
    """Finish an exchange, or undo it, whichever a process that died had come to.

    Returns:
        Whether there was one, and it is done: the library from before is ``PREVIOUS``.
    """
    home = folder / name
    own, state = own_folder(home), read_second(home)
    if state is None or not state.inode:
        return False
    is_done = (folder / _DATABASE).stat().st_ino == state.inode
    if is_done:
        if (own / _INDEX).exists() and not (folder / _INDEX).exists():
            (own / _INDEX).rename(folder / _INDEX)
        shutil.rmtree(own / _INDEX, ignore_errors=True)  # one has been made again meanwhile
        if (own / _ASIDE).exists():
            (own / _ASIDE).rename(own / _INDEX)
        _write(home, Second(state.after))
        if name == REBUILD:
            _drop(folder / PREVIOUS)
            home.rename(folder / PREVIOUS)
    else:
        if (own / _ASIDE).exists() and not (folder / _INDEX).exists():
            (own / _ASIDE).rename(folder / _INDEX)
        shutil.rmtree(own / _ASIDE, ignore_errors=True)
        _write(home, replace(state, inode=0))
    sync_folder(folder)
    return is_done


def drop_others(folder: Path) -> tuple[str, ...]:
    """Delete the other libraries of a workspace; return the names of their folders."""
    return tuple(name for name in others(folder) if drop(folder, name))


def others(folder: Path) -> tuple[str, ...]:
    """Return the names of the folders of other libraries of a workspace."""
    return tuple(name for name in (REBUILD, PREVIOUS) if (folder / name).exists())


def drop(folder: Path, name: str) -> bool:
    """Delete another library of a workspace; say whether there was one."""
    if not (folder / name).exists():
        return False
    settle(folder, name)
    _drop(folder / name)
    return True


def require_previous(folder: Path) -> None:
    """Refuse where no library served before.

    Raises:
        NotFoundError: none did, or it was deleted.
    """
    if read_second(folder / PREVIOUS) is None:
        raise NotFoundError(
            "There is no library from before to return to.",
            hint="There is one after chapterhouse rebuild, until documents are removed.",
        )


def _require_closed(database: Path) -> None:
    log = Path(f"{database}-wal")
    if log.exists() and log.stat().st_size:
        raise ChapterhouseError(
            f"The database {database} has changes that are in its log only.",
            hint="Another process has it open. End it, and try again.",
        )


def _drop(home: Path) -> None:
    (home / _STATE).unlink(missing_ok=True)  # first: what is left is no library
    if home.exists():
        shutil.rmtree(home)


def _write(home: Path, state: Second) -> Second:
    write_whole(home / _STATE, json.dumps(asdict(state)))
    return state
