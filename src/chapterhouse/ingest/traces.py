"""Search files for passages that were removed: what a receipt of a removal rests on."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.ports.store import Store
from chapterhouse.types import Receipt, Scope

_PROBE: Final = 24  # bytes that are looked for: a text lies in a database in pieces
_SHORTEST: Final = 12  # a shorter text says nothing: it may stand anywhere
_PROBES: Final = 4  # of a passage, spread over it
# Bytes that stand in a text as they do in JSON.
_PLAIN: Final = re.compile(rb'[^\x00-\x1f"\\\x80-\xff]{12,}|[^\x00-\x1f"\\]{12,}')
_WORD: Final = 8  # bytes that are compared at once
_BLOCK: Final = 2 * 2**20
_HASH_BITS: Final = 22
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: multiplicative hashing


def take_receipt(passages: Sequence[str], folder: Path, store: Store) -> Receipt:
    """Look in every file of ``folder`` for what was removed.

    What also stands in a document that is still there does not count as found.

    Args:
        passages: The texts that were removed.
        folder: Links in it are not followed.
        store: What is still there.
    """
    probes = {passage: probes_of(passage) for passage in dict.fromkeys(passages)}
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    wanted = {probe for some in probes.values() for probe in some}
    places = find_probes(wanted, files)
    known = _known(places, store) if places else set()
    found = {probe: path for probe, path in places.items() if probe not in known}
    return Receipt(
        passages=sum(bool(some) for some in probes.values()),
        found=sum(not found.keys().isdisjoint(some) for some in probes.values()),
        files=len(files),
        bytes=sum(path.stat().st_size for path in files),
        places=tuple(sorted({str(path.relative_to(folder)) for path in found.values()})),
    )


def probes_of(passage: str) -> frozenset[bytes]:
    """Return some pieces by which a text is known again in a file; none where it is too short."""
    runs = [match.group() for match in _PLAIN.finditer(passage.encode())]
    pieces = [run[at : at + _PROBE] for run in runs for at in range(0, len(run), _PROBE)]
    pieces = [piece for piece in pieces if len(piece) >= _SHORTEST]
    step = max(1, len(pieces) // _PROBES)
    return frozenset(islice(pieces[::step], _PROBES))


def find_probes(probes: Collection[bytes], files: Iterable[Path]) -> dict[bytes, Path]:
    """Return those of ``probes`` (at least 12 bytes each) that stand in files, with one of each.

    Raises:
        OSError: a file cannot be read.
    """
    wanted = frozenset(probes)
    lengths: dict[bytes, set[int]] = {}  # of the probes that begin with a word
    for probe in wanted:
        lengths.setdefault(probe[:_WORD], set()).add(len(probe))
    hashes = _hashes(np.frombuffer(b"".join(lengths), dtype="<u8"))
    is_wanted = np.zeros(1 << _HASH_BITS, dtype=np.bool_)
    is_wanted[hashes] = True
    found: dict[bytes, Path] = {}
    for path in files:
        for block in _blocks(path):
            for at in _candidates(block, is_wanted):
                for length in lengths.get(block[at : at + _WORD], ()):
                    if (piece := block[at : at + length]) in wanted:
                        found.setdefault(piece, path)
    return found


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks that overlap, so that every probe is whole in one."""
    try:
        stream = path.open("rb")
    except FileNotFoundError:  # removed since it was listed
        return
    with stream:
        rest = b""
        while data := stream.read(_BLOCK):
            block = rest + data
            yield block
            rest = block[-(_PROBE - 1) :]


def _candidates(block: bytes, is_wanted: NDArray[np.bool_]) -> Iterator[int]:
    """Yield where in a block a probe may begin, by the hash of its first eight bytes."""
    for shift in range(min(_WORD, max(len(block) - _WORD + 1, 0))):
        words = np.frombuffer(block, dtype="<u8", count=(len(block) - shift) // _WORD, offset=shift)
        hits = np.flatnonzero(is_wanted[_hashes(words)])
        yield from (hits * _WORD + shift).tolist()


def _hashes(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (words * _FACTOR) >> np.uint64(64 - _HASH_BITS)


def _known(probes: Iterable[bytes], store: Store) -> set[bytes]:
    """Return those of ``probes`` that stand in the text of a document that is still there."""
    left, known = set(probes), set[bytes]()
    for document in store.documents(Scope.everything()):
        body = store.body(document.id, Scope.everything())
        text = body.text.encode() if body else b""
        known |= {probe for probe in left if probe in text}
        left -= known
        if not left:
            break
    return known
