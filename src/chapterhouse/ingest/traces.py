"""Search files for passages that were removed: what a receipt of a removal rests on."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.database_file import database_bytes
from chapterhouse.ports.store import Store
from chapterhouse.types import Document, Scope, SearchCount

_PROBE: Final = 24  # bytes that are looked for: a text lies in a database in pieces
_SHORTEST: Final = 12  # a shorter text says nothing: it may stand anywhere
_PROBES: Final = 4  # of a passage, spread over it
# Bytes that stand in a text as they do in JSON.
_PLAIN: Final = re.compile(rb'[^\x00-\x1f"\\\x80-\xff]{12,}|[^\x00-\x1f"\\]{12,}')
_LEAST_BYTES: Final = 6  # different ones in a piece of a file: runs of zeros stand anywhere
_WORD: Final = 8  # bytes that are compared at once
_BLOCK: Final = 2 * 2**20
_DATABASE: Final = ".db"
_LOCKS: Final = ".db-shm"
_HASH_BITS: Final = 22
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: multiplicative hashing
_ALL: Final = Scope.everything()


@dataclass(frozen=True, slots=True)
class FileSearch:
    """What looking into every file of a workspace came to; the fields are those of a receipt."""

    passages: SearchCount
    files: int
    bytes: int
    retained: tuple[str, ...]


def search_files(
    pieces: Sequence[frozenset[bytes]], document_ids: Collection[str], folder: Path, store: Store
) -> FileSearch:
    """Look in every file of ``folder`` for what was removed.

    What is also in a document that is there, or in bytes that are retained on purpose, does not
    count as found.

    Args:
        pieces: Of each passage that was removed; see ``probes_of``.
        document_ids: Of the removed documents.
        folder: Links in it are not followed.
        store: What is there.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    finder = Finder({piece for some in pieces for piece in some})
    places = {
        piece: {path.relative_to(folder) for path in paths}
        for piece, paths in finder.find_in_files(files).items()
    }
    retained = _drop_explained(places, document_ids, store, finder) if places else ()
    found = sum(not places.keys().isdisjoint(some) for some in pieces)
    where = sorted({str(path) for paths in places.values() for path in paths})
    size = sum(path.stat().st_size for path in files if path.exists())
    return FileSearch(
        SearchCount(sum(map(bool, pieces)), found, tuple(where)), len(files), size, retained
    )


def probes_of(passage: str) -> frozenset[bytes]:
    """Return some pieces by which a text is known again in a file; none where it is too short."""
    runs = [match.group() for match in _PLAIN.finditer(passage.encode("utf-8", "replace"))]
    pieces = [run[at : at + _PROBE] for run in runs for at in range(0, len(run), _PROBE)]
    pieces = [piece for piece in pieces if len(piece) >= _SHORTEST]
    step = max(1, len(pieces) // _PROBES)
    return frozenset(islice(pieces[::step], _PROBES))


def bytes_of(original: bytes) -> frozenset[bytes]:
    """Return some pieces by which the bytes of a file are known again."""
    step = max(1, len(original) // (_PROBES + 1))
    pieces = (original[at : at + _PROBE] for at in range(step, len(original), step))
    distinct = (piece for piece in pieces if len(set(piece)) >= _LEAST_BYTES)
    return frozenset(piece for piece in islice(distinct, _PROBES) if len(piece) >= _SHORTEST)


class Finder:
    """Finds any of some probes, of at least 12 bytes and at most 24 each."""

    def __init__(self, probes: Collection[bytes]) -> None:
        self._wanted = frozenset(probes)
        self._lengths: dict[bytes, set[int]] = {}  # of the probes that begin with a word
        for probe in self._wanted:
            self._lengths.setdefault(probe[:_WORD], set()).add(len(probe))
        self._is_wanted = np.zeros(1 << _HASH_BITS, dtype=np.bool_)
        self._is_wanted[_hashes(np.frombuffer(b"".join(self._lengths), dtype="<u8"))] = True

    def find(self, block: bytes) -> set[bytes]:
        """Return the probes that stand in ``block``."""
        return {
            piece
            for at in _candidates(block, self._is_wanted)
            for length in self._lengths.get(block[at : at + _WORD], ())
            if (piece := block[at : at + length]) in self._wanted
        }

    def find_in_files(self, files: Iterable[Path]) -> dict[bytes, set[Path]]:
        """Return the probes that stand in files, with all of these.

        Raises:
            OSError: a file cannot be read.
        """
        found: dict[bytes, set[Path]] = {}
        for path in files if self._wanted else ():
            for block in _blocks(path):
                for piece in self.find(block):
                    found.setdefault(piece, set()).add(path)
        return found


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks that overlap, so that every probe is whole in one."""
    rest = b""
    for data in _pieces(path):
        block = rest + data
        yield block
        rest = block[-(_PROBE - 1) :]


def _pieces(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file; none of one that was removed since it was listed.

    Who closes a file by itself ends all locks that SQLite holds on it in this process
    (https://www.sqlite.org/howtocorrupt.html, 2.2): then another process may delete the log under
    an open database. So databases are read by what SQLite reads them with, which closes them when
    that does no harm, and what holds their locks, and no text, is left alone.
    """
    if path.name.endswith(_LOCKS):
        return
    if path.suffix == _DATABASE:
        yield from database_bytes(path, _BLOCK)
        return
    with suppress(FileNotFoundError), path.open("rb") as stream:
        while data := stream.read(_BLOCK):
            yield data


def _candidates(block: bytes, is_wanted: NDArray[np.bool_]) -> Iterator[int]:
    """Yield where in a block a probe may begin, by the hash of its first eight bytes."""
    for shift in range(min(_WORD, max(len(block) - _WORD + 1, 0))):
        words = np.frombuffer(block, dtype="<u8", count=(len(block) - shift) // _WORD, offset=shift)
        hits = np.flatnonzero(is_wanted[_hashes(words)])
        yield from (hits * _WORD + shift).tolist()


def _hashes(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (words * _FACTOR) >> np.uint64(64 - _HASH_BITS)


# --- what may be there ---------------------------------------------------------------------------


def _drop_explained(
    places: dict[bytes, set[Path]], document_ids: Collection[str], store: Store, finder: Finder
) -> tuple[str, ...]:
    """Drop from ``places`` what may be there; return the sources whose original bytes hold some.

    The bytes of these removed documents are looked at first: they explain most, as a rule all.
    """
    retained: set[str] = set()

    def holds(source: str, sha256: str, row: str) -> None:
        data = store.content(sha256, _ALL) or b""
        here = finder.find(data) | finder.find(row.encode("utf-8", "replace"))
        for piece in here & places.keys():
            retained.add(source)
            places[piece] = {path for path in places[piece] if not _is_truth(path, sha256)}
            if not places[piece]:
                del places[piece]

    entries = sorted(store.removed().entries(), key=lambda entry: entry.id not in document_ids)
    own = sum(entry.id in document_ids for entry in entries)
    for entry in entries[:own]:
        holds(entry.source, entry.sha256, f"{entry.title}\n{entry.source}\n{entry.location}")
    for text in _texts(store) if places else ():
        for piece in finder.find(text) & places.keys():
            del places[piece]
        if not places:
            break
    for document in store.documents(_ALL) if places else ():
        holds(document.source, document.sha256, "")
    for entry in entries[own:] if places else ():
        holds(entry.source, entry.sha256, f"{entry.title}\n{entry.source}\n{entry.location}")
    return tuple(sorted(retained))


def _texts(store: Store) -> Iterator[bytes]:
    """Yield all that is known of the documents that are there, and of files."""
    for document in store.documents(_ALL):
        body = store.body(document.id, _ALL)
        yield "\n".join((*_stated(document), body.text if body else "")).encode("utf-8", "replace")
    for record in store.files():
        stated = (record.location, record.source, record.sentence)
        yield "\n".join(stated).encode("utf-8", "replace")


def _stated(document: Document) -> Iterator[str]:
    yield from (document.id, document.source, document.location, document.title)
    yield from document.metadata.values()
    yield from (notice.sentence for notice in document.notices)


def _is_truth(path: Path, sha256: str) -> bool:
    """Whether a file of a workspace is where the bytes of this hash belong."""
    return path.parts[0].startswith("library.db") or path.name == sha256
