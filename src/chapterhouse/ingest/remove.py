"""Take documents out of the library and out of every file of the workspace."""

import fcntl
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.connectors.folder import parents_of
from chapterhouse.errors import NotFoundError
from chapterhouse.files import write_whole
from chapterhouse.ingest import uploads
from chapterhouse.ingest.look import CONTAINERS
from chapterhouse.store.snapshot import database_bytes
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Document, FileSearch, Progress, Removal, Scope, Traces

# A blob is written before its document is committed: it may be needed by one on its way.
GRACE_SECONDS: Final = 3_600.0
LAST_QUESTION: Final = "last.json"  # of the workspace: for open and --continue
LISTINGS: Final = "cache/listings.json"  # of the workspace: what folders of drives had in them
_TOGETHER: Final = 50  # documents of one transaction


def remove_documents(
    document_ids: Iterable[str],
    *,
    store: Store,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Removal:
    """Remove documents with their text, vectors and bytes, and the memories that rest on them.

    Open jobs that would store the same bytes again end with them.

    No search finds them from then on. Words of them stay in the files of the indexes until
    ``erase``, which follows once, after everything that a run removes.

    A file that is still in its folder, or in its archive, comes back with the next ``add`` of it.

    Args:
        on_progress: Called after each removal, when it is safe on disk.

    Raises:
        NotFoundError: an id names no document; nothing was removed.
    """
    documents = [_require(identifier, store) for identifier in dict.fromkeys(document_ids)]
    traces = traces_of(documents, store)
    received: list[str] = []
    for start in range(0, len(documents), _TOGETHER):
        some = documents[start : start + _TOGETHER]
        with store.together():
            received += store.jobs().forget_uploads(some)
            for document in some:
                store.remove(document.id)
                _look_again(document, store)
            store.memories().forget_of([document.id for document in some])
        for done, document in enumerate(some, start + 1):
            on_progress(Progress(done, len(documents), document.source))
    store.jobs().forget_documents(documents)
    store.collect_garbage(GRACE_SECONDS)
    return Removal(tuple(documents), None, replace(traces, uploads=tuple(received)))


def take_off(document: Document, shelves: Collection[str], store: Store) -> Removal:
    """Take a document off some of its shelves; return what ``remove_documents`` would return.

    Who sees only those shelves learns nothing of the others.
    """
    traces = traces_of([document], store)
    store.set_shelves(document.id, sorted(set(document.shelves) - set(shelves)))
    return Removal((document,), None, traces)


def erase(
    traces: Traces,
    store: Store,
    folder: Path,
    rewrite_indexes: Callable[[], int],
) -> FileSearch:
    """Take removed documents out of all files of a workspace, and search the files for them.

    The indexes only mark what is gone, so their files are written anew, and so is the database.

    Args:
        traces: Of one or several runs of ``remove_documents``.
        rewrite_indexes: Writes all indexes anew; returns the change up to which each has come.
    """
    for name in traces.uploads:
        uploads.drop(folder, store.shared_files(), name)
    (folder / LAST_QUESTION).unlink(missing_ok=True)  # it quotes what was found
    (folder / LISTINGS).unlink(missing_ok=True)  # it names files
    store.forget_removals(rewrite_indexes())
    store.compact()
    return search_files(traces, folder, store)


def _require(identifier: str, store: Store) -> Document:
    document = store.document(identifier, Scope.everything())
    if document is None:
        raise NotFoundError(
            f"There is no document '{identifier}'.", hint="See: chapterhouse docs list"
        )
    return document


def _look_again(document: Document, store: Store) -> None:
    """Let the next ``add`` open the archives and messages that a document was in."""
    for location in parents_of(document.location):
        record = store.file(location)
        if record is not None and record.format in CONTAINERS:
            store.record_file(replace(record, size=0, mtime_ns=0, ctime_ns=0, sha256=""))


# --- search every file of a workspace for documents that were removed ----------------------------

_PIECE: Final = 24  # bytes that are looked for: a database has a text in parts
_SHORTEST: Final = 12  # a shorter text says nothing: it may be anywhere
_DISTINCT: Final = 5  # bytes in a piece
_MOST: Final = 200_000  # pieces of all passages; of one at least four, spread over it
# Bytes that are in a text as they are in JSON.
_PLAIN: Final = re.compile(rb'[^\x00-\x1f"\\\x80-\xff]{12,}|[^\x00-\x1f"\\]{12,}')
_WORD: Final = 8  # bytes that are compared at once
_MEETINGS: Final = "councils/*/meetings/*.ndjson"  # of the home: transcripts
_BLOCK: Final = 2 * 2**20
_HASH_BITS: Final = 22
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: multiplicative hashing
_ALL: Final = Scope.everything()


def traces_of(documents: Iterable[Document], store: Store) -> Traces:
    """Return what documents are known by: their passages, names, ids and hashes."""
    pieces: dict[frozenset[bytes], None] = {}
    parts = [(document, store.chunks_of(document.id, _ALL)) for document in documents]
    each = max(4, _MOST // max(1, sum(len(chunks) for _, chunks in parts)))
    for document, chunks in parts:
        names = (document.title, document.id, document.source, document.sha256)
        found = [pieces_of(chunk.text, each) for chunk in chunks]
        found += [end_of(name) for name in (*names, document.source.rpartition("/")[2])]
        pieces.update(dict.fromkeys(filter(None, found)))
    return Traces(tuple(pieces))


def search_files(traces: Traces, folder: Path, store: Store) -> FileSearch:
    """Look for removed documents in every file of a workspace's folder, and in the files' names.

    The transcripts of meetings of the default workspace are in the home.

    What a document that is there has, too, does not count as found. Links are not followed. Lines
    of transcripts, logs and histories that have something of it are taken out.
    """
    home = folder.parents[1]
    meetings = home.glob(_MEETINGS) if folder.name == "default" else ()  # others have their own
    found = chain(folder.rglob("*"), meetings)
    files = sorted(path for path in found if path.is_file() and not path.is_symlink())
    finder = Finder({piece for some in traces.pieces for piece in some})
    places: dict[bytes, set[Path]] = {}
    for path in files if traces.pieces else ():
        for block in chain([os.fsencode(path.relative_to(home))], _blocks(path)):
            for piece in finder.find(block):
                places.setdefault(piece, set()).add(path)
    for text in _known(store) if places else ():
        for piece in finder.find(text):
            places.pop(piece, None)
        if not places:
            break
    holding = {path for some in places.values() for path in some}
    wanted = Finder(places)
    redacted = {path for path in holding if _is_record(path) and _drop_lines(path, wanted)}
    places = {piece: some - redacted for piece, some in places.items() if some - redacted}

    def named(paths: Iterable[Path]) -> tuple[str, ...]:
        parts = (path.relative_to(folder if folder in path.parents else home) for path in paths)
        return tuple(sorted(map(str, parts)))

    return FileSearch(
        len(traces.pieces),
        sum(not places.keys().isdisjoint(some) for some in traces.pieces),
        named(holding - redacted),
        len(files),
        sum(path.stat().st_size for path in files if path.exists()),
        named(redacted),
    )


def _is_record(path: Path) -> bool:
    """Whether a file is one of ours to which lines are added: a transcript, a log, a history."""
    return path.suffix in {".ndjson", ".log"} or path.name in {"log", "chat_history"}


def _drop_lines(path: Path, finder: "Finder") -> bool:
    """Take the lines that have a piece out of a file; say whether that could be done.

    A transcript whose first line has one goes as a whole: it is what the meeting was asked. One
    that a meeting is written to at this moment stays as it is.
    """
    with path.open("rb") as stream, suppress(BlockingIOError):
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lines = stream.read().splitlines(keepends=True)
        stays = [line for line in lines if not finder.find(line)]
        if path.suffix == ".ndjson" and stays[:1] != lines[:1]:
            path.unlink()
        elif path.suffix == ".ndjson":
            write_whole(path, b"".join(stays))
        else:  # a process may be writing to it
            path.write_bytes(b"".join(stays))
        return True
    return False


def pieces_of(passage: str, most: int = 4) -> frozenset[bytes]:
    """Return pieces by which a text is known in a file; none where it is too short.

    Without a bound, a quotation of 47 bytes has one of them.
    """
    runs = [match.group() for match in _PLAIN.finditer(passage.encode("utf-8", "replace"))]
    pieces = [run[at : at + _PIECE] for run in runs for at in range(0, len(run), _PIECE)]
    # Blanks and rules of tables are in any file.
    pieces = [piece for piece in pieces if len(piece) >= _SHORTEST and len(set(piece)) >= _DISTINCT]
    step = max(1, len(pieces) // most)
    return frozenset(islice(pieces[::step], most))


def end_of(name: str) -> frozenset[bytes]:
    """Return the end of a name, which says more than its beginning; none where it is too short."""
    runs = [match.group() for match in _PLAIN.finditer(name.encode("utf-8", "replace"))]
    return frozenset(run[-_PIECE:] for run in runs[-1:])


class Finder:
    """Finds any of some pieces, of at least 12 bytes and at most 24 each."""

    def __init__(self, pieces: Collection[bytes]) -> None:
        self._wanted = frozenset(pieces)
        self._lengths: dict[bytes, set[int]] = {}  # of the pieces that begin with a word
        for piece in self._wanted:
            self._lengths.setdefault(piece[:_WORD], set()).add(len(piece))
        self._is_wanted = np.zeros(1 << _HASH_BITS, dtype=np.bool_)
        self._is_wanted[_hashes(np.frombuffer(b"".join(self._lengths), dtype="<u8"))] = True

    def find(self, block: bytes) -> set[bytes]:
        """Return the pieces that are in ``block``."""
        return {
            piece
            for at in _candidates(block, self._is_wanted)
            for length in self._lengths.get(block[at : at + _WORD], ())
            if (piece := block[at : at + length]) in self._wanted
        }


def _candidates(block: bytes, is_wanted: NDArray[np.bool_]) -> Iterator[int]:
    """Yield where in a block a piece may begin, by the hash of its first eight bytes."""
    for shift in range(min(_WORD, max(len(block) - _WORD + 1, 0))):
        words = np.frombuffer(block, dtype="<u8", count=(len(block) - shift) // _WORD, offset=shift)
        hits = np.flatnonzero(is_wanted[_hashes(words)])
        yield from (hits * _WORD + shift).tolist()


def _hashes(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (words * _FACTOR) >> np.uint64(64 - _HASH_BITS)


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks that overlap, so that every piece is whole in one.

    Whoever closes a file by itself ends all locks that SQLite has on it in this process
    (https://www.sqlite.org/howtocorrupt.html, 2.2): then another process may delete the log under
    an open database. So databases are read through SQLite, and what has their locks, and no text,
    is left alone. A file that was deleted since it was listed has no bytes.
    """
    rest = b""
    for data in _bytes(path):
        yield rest + data
        rest = (rest + data)[-(_PIECE - 1) :]


def _bytes(path: Path) -> Iterator[bytes]:
    if path.suffix == ".db":
        yield from database_bytes(path, _BLOCK)
    elif not path.name.endswith(".db-shm"):
        with suppress(FileNotFoundError), path.open("rb") as stream:
            while data := stream.read(_BLOCK):
                yield data


def _known(store: Store) -> Iterator[bytes]:
    """Yield all that the library says of documents that are there, and of files; then the bytes."""
    for document in store.documents(_ALL):
        body = store.body(document.id, _ALL)
        stated = (document.id, document.source, document.location, document.title, document.sha256)
        notices = (notice.sentence for notice in document.notices)
        statements = (*stated, *document.metadata.values(), *notices, body.text if body else "")
        yield "\n".join(statements).encode("utf-8", "replace")
    for record in store.files():
        statements = (record.location, record.source, record.sha256, record.sentence)
        yield "\n".join(statements).encode("utf-8", "replace")
    for document in store.documents(_ALL):
        yield store.content(document.sha256, _ALL) or b""
