"""Repair what ``verify`` finds: from stored bytes, from the files, and from the text itself.

Afterwards the library is verified again, and what is still wrong is named with the reason.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chapterhouse.connectors.content import Content, open_source
from chapterhouse.connectors.folder import SourceFile, above
from chapterhouse.errors import ChapterhouseError, CorruptLibraryError, RejectedError
from chapterhouse.ingest.ingest import add
from chapterhouse.ingest.look import Look, Work
from chapterhouse.ingest.pipeline import run, submit
from chapterhouse.ingest.plan import find_file
from chapterhouse.ingest.remove import GRACE_SECONDS
from chapterhouse.ports.index import Index
from chapterhouse.text.naming import source_name, system_path
from chapterhouse.types import (
    DEFAULT_SHELF,
    Document,
    FileRecord,
    Finding,
    Remedy,
    RepairReport,
    Scope,
    Status,
    Unrepaired,
    Verification,
)

_ALL = Scope.everything()
_ROUNDS = 3  # one repair may bring to light what another hid
_ADVICE = {
    Remedy.REINDEX: "The index could not be built again: is another process writing to it?",
    Remedy.REREAD: "It could not be read again: neither its bytes nor its file are there.",
    Remedy.RESTORE: "There is no file with these bytes any more.",
    Remedy.DROP: "It could not be deleted.",
    Remedy.FORGET: "Its file could not be read again.",
    Remedy.REBUILD: "The database is damaged still: restore it from a backup.",
    Remedy.NONE: "No program can decide this.",
}


def repair(
    found: Verification,
    work: Work,
    indexes: Mapping[str, Index],
    verify: Callable[[], Verification],
    home: Path,
) -> RepairReport:
    """Do what helps against each finding, and verify again.

    Args:
        found: What is wrong.
        work: How files are read and stored.
        indexes: What is derived from the store, by name.
        verify: Looks again.
        home: Files in it are of personas and councils, which read them again themselves.
    """
    reasons: dict[str, str] = {}
    now, tried = found, set[tuple[Remedy, str]]()
    for _ in range(_ROUNDS):
        wanted = {(one.remedy, one.target) for one in now.findings}
        if not wanted - tried:
            break
        tried |= wanted
        reasons |= _apply(now, work, indexes, home)
        now = verify()
    return _report(found, now, reasons)


def _apply(
    found: Verification, work: Work, indexes: Mapping[str, Index], home: Path
) -> dict[str, str]:
    """Do what helps against each finding; return by target why something could not be done."""
    targets = {remedy: _targets(found.findings, remedy) for remedy in Remedy}
    reasons: dict[str, str] = {}
    if targets[Remedy.DROP]:
        work.store.examination().drop_orphans()
        work.store.collect_garbage(GRACE_SECONDS)
    for name in targets[Remedy.RESTORE]:
        reasons[name] = _restore(name, work)
    reasons |= _reread(targets[Remedy.REREAD], work)
    for location in targets[Remedy.FORGET]:
        reasons[location] = _read_file(location, work, home)
    for name, index in indexes.items():
        if name in targets[Remedy.REINDEX]:
            index.rebuild(work.store)
        else:
            _catch_up(index, work)
    return reasons


def _targets(findings: Iterable[Finding], remedy: Remedy) -> Sequence[str]:
    return tuple(dict.fromkeys(one.target for one in findings if one.remedy is remedy))


def _report(found: Verification, now: Verification, reasons: Mapping[str, str]) -> RepairReport:
    left = tuple(
        Unrepaired(one, reasons.get(one.target) or one.hint or _ADVICE[one.remedy])
        for one in now.findings
    )
    still = {(one.part, one.target, one.remedy) for one in now.findings}
    repaired = (one for one in found.findings if (one.part, one.target, one.remedy) not in still)
    return RepairReport(tuple(repaired), left)


def _catch_up(index: Index, work: Work) -> None:
    try:
        index.catch_up(work.store)
    except CorruptLibraryError:
        index.rebuild(work.store)


# --- bytes ----------------------------------------------------------------------------------------


def _restore(name: str, work: Work) -> str:
    """Write the bytes of a document again, from its file; return why not, or nothing."""
    document = work.store.document(name, _ALL)
    if document is None:
        return ""
    content = _file_content(document, work)
    if content is None:
        return "Its file cannot be read, or is gone. The text of the document is not affected."
    if content.sha256 != document.sha256:
        return (
            "Its file has changed since it was read. The text of the document is not affected;"
            " add the file again to replace it."
        )
    work.store.examination().restore(content.sha256, content.data)
    return ""


def _file_content(document: Document, work: Work) -> Content | None:
    file = find_file(document, work.store)
    if file is None or file.problem is not None:
        return None
    try:
        return open_source(file, maximum_bytes=work.maximum_bytes)
    except RejectedError:
        return None


# --- documents ------------------------------------------------------------------------------------


def _reread(names: Sequence[str], work: Work) -> dict[str, str]:
    """Read documents again from their stored bytes, else from their files; return why not."""
    looks = [look for name in names if (look := _look(name, work))]
    if not looks:
        return {}
    report = run(looks, len(looks), work)
    return {
        outcome.record.document_id or outcome.record.location: outcome.record.sentence
        for outcome in report.outcomes
        if outcome.record.status in {Status.REJECTED, Status.SKIPPED}
    }


def _look(name: str, work: Work) -> Look | None:
    started = time.monotonic()
    try:
        document = work.store.document(name, _ALL)
    except CorruptLibraryError:
        work.store.examination().reset(name)
        document = work.store.document(name, _ALL)
    if document is None:
        return None
    path, source = Path(document.location), _source(document, work)
    file = SourceFile(path.parent, (path.name,), document.location, source)
    # From the document: its shelves must stay, whatever the ledger of files says.
    known = FileRecord(
        document.location, source, 0, 0, document.sha256, document.status,
        document_id=document.id, format=document.format,
    )  # fmt: skip
    content = _stored_content(document, work) or _file_content(document, work)
    if content is None:
        error = RejectedError("vanished", _ADVICE[Remedy.REREAD])
        return Look(file, known, error=error, started=started)
    return submit(Look(file, known, content, started=started), work)


def _source(document: Document, work: Work) -> str:
    """Return the source of a document: where the ledger has another, the one its folder gives."""
    roots = {location: label for label, location in work.store.roots()}
    root = next((place for place in above(document.location) if place in roots), None)
    if root is None:
        return document.source
    names = document.location[len(root.rstrip("/")) + 1 :].split("/")
    stated = source_name(roots[root], names)
    try:
        record = work.store.file(document.location)
    except CorruptLibraryError:
        return document.source
    return stated if record and record.source == stated else document.source


def _stored_content(document: Document, work: Work) -> Content | None:
    try:
        data = work.store.content(document.sha256, _ALL)
    except ChapterhouseError:
        return None
    if data is None:
        return None
    return Content(data, document.sha256, len(data), 0, document.modified)


# --- files ----------------------------------------------------------------------------------------


def _read_file(location: str, work: Work, home: Path) -> str:
    """Forget what became of a file, and read it again; return why not, or nothing."""
    store = work.store
    container = next((one for one in above(location) if Path(system_path(one)).is_file()), location)
    store.forget_file(location)
    if container != location and (record := store.file(container)):
        store.record_file(replace(record, size=0, mtime_ns=0, sha256=""))
    path = Path(system_path(container))
    if not path.is_file():
        return ""  # it is forgotten: there is nothing to read
    if path.is_relative_to(home):
        return ""  # a persona's or a council's, which looks at its folder before it answers
    report = add([path], replace(work, shelf=DEFAULT_SHELF))
    refused = [one.record.sentence for one in report.outcomes if not one.record.document_id]
    return refused[0] if refused else ""
