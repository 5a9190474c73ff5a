"""Compare a library with itself: database, documents, bytes, and the indexes made from them.

Every document is looked at by itself, so that one that cannot be read hides no other. Nothing is
written, and nothing that is damaged ends the look.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ingest.remove import GRACE_SECONDS
from chapterhouse.ports.index import Index
from chapterhouse.ports.store import Blobs, Store
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    Body,
    Chunk,
    Difference,
    Document,
    Finding,
    Progress,
    Remedy,
    Scope,
    Verification,
)

# Half precision keeps the length of a unit vector of 256 numbers within this.
_UNIT_TOLERANCE: Final = 5e-3
_MOST_DIFFERENCES: Final = 50  # of one index that are listed
_ATTEMPTS: Final = 3  # at an index that changes meanwhile
_INDEX_FOLDERS: Final = re.compile(r"lexical|names|vectors(-[0-9a-f]{12})?")
_ALL: Final = Scope.everything()
_FOREIGN: Final = "Chapterhouse did not write it and does not delete it: move it away."


def verify_library(
    store: Store,
    blobs: Blobs,
    indexes: Mapping[str, Index],
    folder: Path | None = None,
    *,
    quick: bool = False,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Verification:
    """Look for everything that must be true of a library and is not.

    Args:
        store: The truth.
        blobs: Where it has the bytes of larger files.
        indexes: What was derived from it, by name.
        folder: Of the workspace, to look for strange files in; None to leave that out.
        quick: Leave out the hashes of bytes and rows, and what is made of the texts again.
        on_progress: Called after each document and each index.
    """
    counts: dict[str, int] = {}
    findings: list[Finding] = []
    try:
        findings += store.examination().findings()
        if not any(one.remedy is Remedy.REBUILD for one in findings):
            findings += _documents(store, blobs, counts, quick=quick, on_progress=on_progress)
            findings += _blobs(store, blobs, counts)
    except CorruptLibraryError as error:
        findings.append(Finding("database", error.message, Remedy.REBUILD, hint=error.hint))
    if not any(one.remedy is Remedy.REBUILD for one in findings):
        counts["indexes"] = len(indexes)
        for done, (name, index) in enumerate(indexes.items(), start=1):
            findings += _index(name, index, store, quick=quick)
            on_progress(Progress(done, len(indexes), f"{name} index"))
        findings += _strange_folders(folder) if folder else ()
    return Verification(tuple(dict.fromkeys(findings)), counts, quick)


# --- documents ------------------------------------------------------------------------------------


def _documents(
    store: Store,
    blobs: Blobs,
    counts: dict[str, int],
    *,
    quick: bool,
    on_progress: Callable[[Progress], None],
) -> Iterator[Finding]:
    examination = store.examination()
    names, inline = examination.document_ids(), examination.hashes()
    counts.update(documents=len(names), chunks=0)
    for done, name in enumerate(names, start=1):
        try:
            found = store.document(name, _ALL)
            if found is None:  # removed meanwhile
                continue
            faults = list(_document(found, store, quick=quick))
            if not quick and (fault := examination.row_fault(name)):
                faults.append(("rows", fault))
            is_there = inline.get(found.sha256, False) or blobs.has(found.sha256)
            if not (quick and is_there) and (fault := _bytes_fault(found, store)):
                faults.append(("bytes", fault))
        except CorruptLibraryError as error:
            yield Finding("rows", f"{name}: {error.message}", Remedy.REREAD, name)
            continue
        if faults and store.document(name, _ALL) == found:
            for part, sentence in faults:
                remedy = Remedy.RESTORE if part == "bytes" else Remedy.REREAD
                yield Finding(part, f"{found.source}: {sentence}", remedy, name)
        counts["chunks"] += found.chunks
        on_progress(Progress(done, len(names), found.source))


def _document(document: Document, store: Store, *, quick: bool) -> Iterator[tuple[str, str]]:
    body = store.body(document.id, _ALL)
    if body is None:
        yield "text", "there is none"
        return
    chunks = store.chunks_of(document.id, _ALL)
    yield from (("text", sentence) for sentence in _text_faults(document, body))
    yield from (("chunks", sentence) for sentence in _chunk_faults(document, body, chunks))
    if not quick:  # the index of vectors compares them
        yield from (("vectors", sentence) for sentence in _vector_faults(document, chunks, store))


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
            yield f"chunk {chunk.ordinal} is not its passage of the text"


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


def _bytes_fault(document: Document, store: Store) -> str:
    try:
        data = store.content(document.sha256, _ALL)
    except CorruptLibraryError as error:
        return error.message
    return "the bytes of the file are gone" if data is None else ""


# --- bytes and folders ----------------------------------------------------------------------------


def _blobs(store: Store, blobs: Blobs, counts: dict[str, int]) -> Iterator[Finding]:
    needed = store.examination().hashes()
    counts["blobs"] = sum(not inline for inline in needed.values())
    for sha256 in blobs.hashes(GRACE_SECONDS):
        if sha256 not in needed:
            yield Finding("blobs", f"no document needs the blob {sha256}", Remedy.DROP, sha256)
    for path in blobs.foreign():
        sentence = f"a strange file lies among the blobs: {path}"
        yield Finding("blobs", sentence, Remedy.NONE, path, _FOREIGN)


def _strange_folders(folder: Path) -> Iterator[Finding]:
    place = folder / "index"
    for path in sorted(place.iterdir()) if place.is_dir() else ():
        if not _INDEX_FOLDERS.fullmatch(path.name):
            sentence = f"a strange file lies among the indexes: {path.name}"
            yield Finding("indexes", sentence, Remedy.NONE, path.name, _FOREIGN)


# --- indexes --------------------------------------------------------------------------------------


def _index(name: str, index: Index, store: Store, *, quick: bool) -> Iterator[Finding]:
    part = f"{name} index"
    try:
        sequence, found = _differences(index, store, quick=quick)
    except CorruptLibraryError as error:
        sentence = f"The {part} cannot be read: {error.message}"
        yield Finding(part, sentence, Remedy.REINDEX, name)
        return
    latest = store.sequence()
    if sequence > latest:
        changes = counted(sequence - latest, "change")
        sentence = f"The {part} is {changes} ahead of the library it belongs to."
        yield Finding(part, sentence, Remedy.REINDEX, name)
    elif not (sequence or quick) and store.census(_ALL).chunks:
        yield Finding(part, f"The {part} is not there.", Remedy.REINDEX, name)
    for one in found:
        sentence = f"The {part} {one.sentence}."
        target, hint = one.document_id or name, _FOREIGN if one.remedy is Remedy.NONE else ""
        yield Finding(part, sentence, one.remedy, target, hint)


def _differences(index: Index, store: Store, *, quick: bool) -> tuple[int, list[Difference]]:
    """Return how far an index is, and what differs; nothing of one that changes all the time."""
    sequence = 0
    for _ in range(_ATTEMPTS):
        before = index.sequence(), store.sequence()
        sequence = before[0]
        if sequence > before[1] or not sequence:
            break
        found = list(islice(index.differences(store, thorough=not quick), _MOST_DIFFERENCES))
        if (index.sequence(), store.sequence()) == before:
            return sequence, found
    return sequence, []
