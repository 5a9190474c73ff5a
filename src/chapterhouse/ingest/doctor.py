"""Look for everything that must be true of a library and is not."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ports.index import Index
from chapterhouse.ports.store import Blobs, Store
from chapterhouse.text.counting import counted
from chapterhouse.types import Body, Check, Chunk, Document, Scope

# Half precision keeps the length of a unit vector of 256 numbers within this.
_UNIT_TOLERANCE = 5e-3
_SHOWN = 3

_REPROCESS = "Read these documents again: chapterhouse docs reprocess"
_REINDEX = "Rebuild the indexes: chapterhouse reindex"


def examine(store: Store, blobs: Blobs, indexes: Mapping[str, Index]) -> tuple[Check, ...]:
    """Check the store, every document in it, the bytes it keeps and the indexes made from it.

    Reads everything once; writes nothing. Documents that change meanwhile are ignored.

    Args:
        store: The truth.
        blobs: Where it keeps the bytes of larger files.
        indexes: What was derived from it, by name.
    """
    own = tuple(store.examine())
    if any(check.name == "database" and not check.passed for check in own):
        return own  # what stands on damaged pages would only repeat it
    faults: dict[str, list[str]] = {"text": [], "chunks": [], "vectors": [], "bytes": []}
    number = 0
    needed: set[str] = set()
    for document in store.documents(Scope.everything()):
        number += 1
        needed.add(document.sha256)
        found = list(_document_faults(document, store))
        if found and store.document(document.id, Scope.everything()) == document:
            for kind, sentence in found:
                faults[kind].append(f"{document.source}: {sentence}")
    hints = {"text": _REPROCESS, "chunks": _REPROCESS, "vectors": _REPROCESS}
    hints["bytes"] = _REPROCESS
    return (
        *own,
        *(_check(kind, number, found, hints[kind]) for kind, found in faults.items()),
        _unneeded_blobs(blobs, needed),
        *(_index_check(name, index, store) for name, index in indexes.items()),
    )


def _check(name: str, number: int, faults: list[str], hint: str) -> Check:
    if not faults:
        sound = counted(number, "document is", "documents are")
        return Check(name, passed=True, sentence=f"{sound} sound.")
    shown = "; ".join(faults[:_SHOWN])
    count = counted(len(faults), "fault")
    return Check(name, passed=False, sentence=f"{count}: {shown}", hint=hint)


def _document_faults(document: Document, store: Store) -> Iterator[tuple[str, str]]:
    body = store.body(document.id, Scope.everything())
    if body is None:
        yield "text", "there is none"
        return
    chunks = store.chunks_of(document.id, Scope.everything())
    yield from (("text", sentence) for sentence in _text_faults(document, body))
    yield from (("chunks", sentence) for sentence in _chunk_faults(document, body, chunks))
    yield from (("vectors", sentence) for sentence in _vector_faults(document, chunks, store))
    yield from (("bytes", sentence) for sentence in _bytes_faults(document, store))


def _text_faults(document: Document, body: Body) -> Iterator[str]:
    if hashlib.sha256(body.text.encode()).hexdigest() != document.text_sha256:
        yield "the text does not have its hash"
    if len(body.text) != document.characters:
        yield f"{document.characters:,} characters are stated, {len(body.text):,} are there"
    for name, parts in (("sections", body.sections), ("pages", body.pages)):
        bounds = [0, *(bound for part in parts for bound in (part.start, part.end))]
        if parts and (bounds != sorted(bounds) or bounds[-1] > len(body.text)):
            yield f"its {name} overlap or leave the text"


def _chunk_faults(document: Document, body: Body, chunks: Sequence[Chunk]) -> Iterator[str]:
    if len(chunks) != document.chunks:
        yield f"{document.chunks:,} chunks are stated, {len(chunks):,} are there"
    for place, chunk in enumerate(chunks):
        if chunk.ordinal != place:
            yield f"chunk {place} is numbered {chunk.ordinal}"
        if chunk.text != body.text[chunk.start : chunk.end]:
            yield f"chunk {chunk.ordinal} is not its stretch of the text"


def _vector_faults(document: Document, chunks: Sequence[Chunk], store: Store) -> Iterator[str]:
    for fingerprint in store.fingerprints_of(document.id):
        keys, vectors = store.vectors_of(document.id, fingerprint)
        if keys != [chunk.key for chunk in chunks] or len(vectors) != len(keys):
            yield f"{counted(len(vectors), 'vector')} for {counted(len(chunks), 'chunk')}"
        if not np.isfinite(vectors).all():
            yield "a vector is not finite"
        elif len(vectors) and not _are_units(np.linalg.norm(vectors, axis=1)):
            yield "a vector is not of length 1"


def _are_units(lengths: "np.ndarray[tuple[int, ...], np.dtype[np.floating]]") -> bool:
    """Whether lengths are 1, or 0 for a text without a single known word."""
    return bool(np.all((abs(lengths - 1) < _UNIT_TOLERANCE) | (lengths == 0)))


def _bytes_faults(document: Document, store: Store) -> Iterator[str]:
    try:
        data = store.content(document.sha256, Scope.everything())
    except CorruptLibraryError as error:
        yield error.message
        return
    if data is None:
        yield "the bytes of the file are not kept"
    elif hashlib.sha256(data).hexdigest() != document.sha256:
        yield "the bytes of the file do not have their hash"


def _unneeded_blobs(blobs: Blobs, needed: set[str]) -> Check:
    """Tell of blobs that no document needs: no fault, for one may be on its way."""
    number = sum(sha256 not in needed for sha256 in blobs.hashes())
    return Check("blobs", passed=True, sentence=f"{number} wait for garbage collection.")


def _index_check(name: str, index: Index, store: Store) -> Check:
    try:
        fault, state = _index_state(index, store)
    except CorruptLibraryError as error:
        fault, state = f"cannot be read: {error.message}", ""
    if fault:
        sentence = f"The {name} index {fault}"
        return Check(f"{name} index", passed=False, sentence=sentence, hint=_REINDEX)
    return Check(f"{name} index", passed=True, sentence=f"The {name} index is {state}.")


def _index_state(index: Index, store: Store) -> tuple[str, str]:
    """Return what is wrong with an index, if anything, and how far it has come."""
    sequence = store.sequence()
    behind = sequence - index.sequence()
    if behind < 0:
        return f"is {counted(-behind, 'change')} ahead of the library it belongs to.", ""
    if behind:
        return "", f"{counted(behind, 'change')} behind; it catches up before a search"
    if not sequence:
        return "", "up to date"  # it need not be there yet
    fault = index.fault(store.census(Scope.everything()).chunks)
    if store.sequence() != sequence:
        fault = ""  # a document came or went meanwhile
    return fault, "up to date"
