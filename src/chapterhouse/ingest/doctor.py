"""Whether a library is sound, what it runs on, and what to do where something is wrong.

Every document is looked at by itself, so that one that cannot be read hides no other.
"""

import hashlib
import platform
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import numpy as np

from chapterhouse.connectors.folder import is_there
from chapterhouse.errors import CorruptLibraryError
from chapterhouse.files import OTHERS
from chapterhouse.index import Index
from chapterhouse.reading.formats import supported_formats
from chapterhouse.reading.pool import describe_readers
from chapterhouse.store.blobs import BlobStore
from chapterhouse.store.sqlite import Store
from chapterhouse.text.counting import counted
from chapterhouse.types import Check, Document, EncoderStatus, Progress, Scope, SourceKind

_ALL: Final = Scope.everything()
_PACKAGES: Final = ("apsw", "tantivy", "numpy", "simsimd", "onnxruntime", "pypdfium2", "xberg")
_LEAST_BYTES: Final = 100_000_000  # free, below which the next add may fail
_WRITE: Final = 0o022
_SHOWN: Final = 3
_ATTEMPTS: Final = 2  # more, at an index that changes meanwhile
# Half precision keeps the length of a unit vector of 256 numbers within this.
_UNIT_TOLERANCE: Final = 5e-3
_REPROCESS: Final = "Read again what is named: chapterhouse docs reprocess ID"
_REINDEX: Final = "Run: chapterhouse reindex"
_RESTORE: Final = (
    "Restore it from an export: move the folder of the workspace away, then: chapterhouse import"
    " FILE. Or add the folders again."
)


def check_library(
    store: Store,
    blobs: BlobStore,
    indexes: Mapping[str, Index],
    *,
    thorough: bool,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> tuple[Check, ...]:
    """Compare a library with itself; of a damaged database nothing but that is said.

    Args:
        thorough: Bring the indexes up to date, read every text, row, byte and vector, and compare
            what is made of them; else only counts, records and keys.
    """
    try:
        faults = list(store.examination().faults(thorough=thorough))
        documents = _document_faults(store, blobs, on_progress, thorough=thorough)
        census = store.census(_ALL)
    except CorruptLibraryError as error:
        return (Check("database", passed=False, sentence=error.message, hint=_RESTORE),)
    number = counted(census.documents, "document")
    looked = "read and compared" if thorough else "with all their records and bytes"
    different = [
        fault
        for name, index in indexes.items()
        if (fault := _index_fault(name, index, store, thorough=thorough))
    ]
    return (
        _check("database", faults, "Its pages and records are sound.", f"{_REPROCESS}. {_RESTORE}"),
        _check(
            "documents",
            list(documents.values()),
            f"{number}, {counted(census.chunks, 'chunk')}, {looked}.",
            _REPROCESS.replace("ID", " ".join(list(documents)[:_SHOWN])),
        ),
        _check("indexes", different, f"{', '.join(indexes)}: as the documents say.", _REINDEX),
    )


def check_surroundings(
    own_version: str,
    home: Path,
    folder: Path,
    store: Store,
    encoders: Sequence[EncoderStatus],
    ignored: Collection[str] = (),
) -> tuple[Check, ...]:
    """Return what a library runs on, one check a kind; it fails where work will."""
    return (
        Check("versions", passed=True, sentence=_versions(own_version)),
        Check("readers", passed=True, sentence=describe_readers()),
        _check_formats(),
        _check_disk(folder),
        _check_privacy(home),
        _check_folders(store),
        _check_encoders(encoders),
        *_check_settings(ignored),
    )


# --- the library ----------------------------------------------------------------------------------


def _document_faults(
    store: Store, blobs: BlobStore, on_progress: Callable[[Progress], None], *, thorough: bool
) -> Mapping[str, str]:
    """Return what is wrong with documents, by id; what changed meanwhile is left out."""
    examination = store.examination()
    names, inline = examination.document_ids(), examination.hashes()
    faults: dict[str, str] = {}
    for done, name in enumerate(names, start=1):
        try:
            document = store.document(name, _ALL)
            if document is None:  # removed meanwhile
                continue
            fault = next(_content_faults(document, store), "") if thorough else ""
            has_bytes = inline.get(document.sha256, False) or blobs.has(document.sha256)
            if not fault and (thorough or not has_bytes):
                fault = _bytes_fault(document, store)
            if fault and store.document(name, _ALL) == document:
                faults[name] = f"{document.source}: {fault}"
        except CorruptLibraryError as error:
            faults[name] = f"{name}: {error.message}"
        on_progress(Progress(done, len(names), name))
    return faults


def _content_faults(document: Document, store: Store) -> Iterator[str]:
    body, chunks = store.body(document.id, _ALL), store.chunks_of(document.id, _ALL)
    if body is None:
        yield "it has no text"
        return
    if hashlib.sha256(body.text.encode()).hexdigest() != document.text_sha256:
        yield "its text is not the one that was written"
    if [chunk.ordinal for chunk in chunks] != list(range(document.chunks)):
        yield f"it states {document.chunks:,} chunks and has {len(chunks):,}"
    if any(chunk.text != body.text[chunk.start : chunk.end] for chunk in chunks):
        yield "a chunk is not its passage of the text"
    if fault := store.examination().row_fault(document.id):
        yield fault
    for fingerprint in store.fingerprints_of(document.id):
        keys, vectors = store.vectors_of(document.id, fingerprint)
        if keys != [chunk.key for chunk in chunks] or len(vectors) != len(keys):
            yield f"{counted(len(vectors), 'vector')} for {counted(len(chunks), 'chunk')}"
        lengths = np.linalg.norm(vectors, axis=1)
        # 0 for a text without a single known word; no comparison holds for what is no number.
        if not np.all((abs(lengths - 1) < _UNIT_TOLERANCE) | (lengths == 0)):
            yield "a vector is not of length 1"


def _bytes_fault(document: Document, store: Store) -> str:
    try:
        data = store.content(document.sha256, _ALL)
    except CorruptLibraryError as error:
        return error.message
    return "the bytes of its file are gone" if data is None else ""


def _index_fault(name: str, index: Index, store: Store, *, thorough: bool) -> str:
    try:
        if thorough:
            index.catch_up(store)
        if (ahead := index.sequence() - store.sequence()) > 0:
            return f"The {name} index is {counted(ahead, 'change')} ahead of the library."
        different = _differing(index, store, thorough=thorough)
    except CorruptLibraryError as error:
        return error.message
    if not different:
        return ""
    shown = ", ".join(sorted(different)[:_SHOWN])
    number = counted(len(different), "document")
    return f"The {name} index differs from the library in {number}: {shown}."


def _differing(index: Index, store: Store, *, thorough: bool) -> set[str]:
    """Return the documents that an index has otherwise; nothing of one that is behind.

    What others change meanwhile differs once, and not again when the index has followed.
    """
    if index.sequence() < store.sequence():
        return set()
    found = set(index.differing(store, thorough=thorough))
    for _ in range(_ATTEMPTS):
        if not found or index.catch_up(store) < store.sequence():
            return set()
        found &= set(index.differing(store, thorough=thorough))
    return found


def _check(name: str, faults: Sequence[str], sound: str, hint: str) -> Check:
    if not faults:
        return Check(name, passed=True, sentence=sound)
    shown = "; ".join(faults[:_SHOWN])
    return Check(
        name, passed=False, sentence=f"{counted(len(faults), 'fault')}: {shown}", hint=hint
    )


# --- what it runs on ------------------------------------------------------------------------------


def _versions(own: str) -> str:
    found = {"Chapterhouse": own, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"{', '.join(f'{name} {number}' for name, number in found.items())}; {system}."


def _check_formats() -> Check:
    rows = supported_formats()
    missing = [row for row in rows if not row.available]
    sentence = f"{len(rows) - len(missing)} of {len(rows)} formats can be read here."
    notes = " ".join(dict.fromkeys(row.note for row in missing))
    hint = f"Not {', '.join(row.format for row in missing)}. {notes}" if missing else ""
    return Check("formats", passed=True, sentence=sentence, hint=hint)


def _check_disk(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    passed = free >= _LEAST_BYTES
    # Rounded down to a power of ten, so that two looks agree.
    sentence = f"At least {10 ** (len(str(free)) - 1):,} bytes are free."
    hint = "" if passed else "Free some space before you add documents."
    return Check("disk", passed=passed, sentence=sentence, hint=hint)


def _check_privacy(home: Path) -> Check:
    """Say whether others can read or write what is in the home, or exchange it."""
    mode = home.stat().st_mode
    inside = home.iterdir() if mode & OTHERS else ()
    seen = [one for one in inside if not one.is_symlink() and one.stat().st_mode & OTHERS]
    if not (seen or mode & _WRITE):
        return Check("privacy", passed=True, sentence=f"Nobody else can read what {home} holds.")
    shown = ", ".join(str(one) for one in seen[:_SHOWN] or (home,))
    sentence = f"Other users of this machine can look into {shown}."
    return Check("privacy", passed=False, sentence=sentence, hint=f"Run: chmod -R go= {home}")


def _check_folders(store: Store) -> Check:
    found = [one.location for one in store.sources().sources() if one.kind is SourceKind.FOLDER]
    away = [location for location in found if not is_there(location)]
    sentence = f"{counted(len(found), 'folder')} followed, {len(away)} of them away."
    hint = f"Their documents stay. Not there: {', '.join(away)}" if away else ""
    return Check("folders", passed=True, sentence=sentence, hint=hint)


def _check_encoders(encoders: Sequence[EncoderStatus]) -> Check:
    parts = [f"{one.role} {one.name}, {one.done:,} of {one.total:,} documents" for one in encoders]
    problem = next((one.problem for one in encoders if one.problem), "")
    return Check("encoders", passed=True, sentence=f"{'; '.join(parts) or 'None'}.", hint=problem)


def _check_settings(ignored: Collection[str]) -> Iterator[Check]:
    if ignored:
        sentence = f"Ignored: {', '.join(sorted(ignored))}."
        hint = "See why: chapterhouse settings list"
        yield Check("settings", passed=True, sentence=sentence, hint=hint)
