"""Add folders: bring the library to the state of the files."""

import hashlib
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from chapterhouse.connectors.content import Content, open_source
from chapterhouse.connectors.folder import GIVEN, SourceFile, above
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import Look, Work, is_suspect, worth_another_try
from chapterhouse.ingest.pipeline import run, run_suspects_last, submit
from chapterhouse.ingest.plan import make_plan
from chapterhouse.text.naming import slug
from chapterhouse.types import AddReport, FileRecord

_NAME = 48  # characters of a text by which it is called


def add(paths: Iterable[Path], work: Work) -> AddReport:
    """Read what is new or changed below ``paths`` and store it, file by file.

    A file whose size and time are those of the last look is not opened; one whose bytes are the
    same is not read. A file that can no longer be read as a document takes its old document with
    it. Files that are gone are named in the report and stay in the library.

    Args:
        paths: Folders and files.
        work: What the run needs.

    Raises:
        NotFoundError: one of ``paths`` is not there; nothing was done.
        ChapterhouseError: the store cannot be written, as when the disk is full; what was told
            before is safe.
    """
    paths, store = tuple(paths), work.store
    plan = make_plan(paths, store)
    labels = {place: store.label_root(place, label) for place, label in plan.new_roots.items()}
    if labels != plan.new_roots:  # another process took a label meanwhile
        plan = make_plan(paths, store)
    again = {  # archives and messages in which something is worth another try
        place
        for record in plan.known.values()
        if worth_another_try(record, retry=work.retry)
        for place in (record.location, *above(record.location))
    }

    def look(file: SourceFile) -> Look:
        return _look(file, plan.known.get(file.location), work, again=file.location in again)

    suspects = _suspects(plan.known.values())
    report = run_suspects_last(plan.files, lambda file: file.location in suspects, look, work)
    for record in plan.missing:
        if not record.document_id:
            store.forget_file(record.location)
    missing = tuple(record.source for record in plan.missing if record.document_id)
    return replace(report, missing=missing, hidden=plan.hidden)


def _suspects(known: Iterable[FileRecord]) -> set[str]:
    """Return the files, or what they lie in, that may have ended their reader or a process."""
    return {
        place
        for record in known
        if is_suspect(record)
        for place in (record.location, *above(record.location))
    }


def add_text(text: str, title: str, work: Work) -> AddReport:
    """Store text that came from no file, as Markdown; the same text is the same document.

    Args:
        text: The text.
        title: Stands above it as its heading; empty where it has one, or needs none.
        work: What the run needs.

    Raises:
        ChapterhouseError: the store cannot be written.
    """
    data = (f"# {title}\n\n{text}" if title else text).encode("utf-8", "replace")
    digest = hashlib.sha256(data).hexdigest()
    location = f"{GIVEN}{digest}"
    source = f"text/{slug((title or text)[:_NAME])}-{digest[:8]}.md"
    file = SourceFile(Path(), (location,), location, source, len(data))
    known = work.store.file(location)
    look = Look(file, known, started=time.monotonic())
    if known is None or worth_another_try(known):
        content = Content(data, digest, len(data), 0, int(time.time()))
        look = submit(replace(look, content=content), work)
    return run([look], 1, work)


def _look(file: SourceFile, known: FileRecord | None, work: Work, *, again: bool) -> Look:
    """Open a file as far as is needed to know what to do with it."""
    look = Look(file, known, started=time.monotonic())
    if file.problem:
        return replace(look, error=RejectedError(file.problem.code, file.problem.sentence))
    settled = None if again else known
    if settled and (settled.size, settled.mtime_ns) == (file.size, file.mtime_ns):
        return look
    try:
        content = open_source(file, maximum_bytes=work.maximum_bytes)
    except RejectedError as error:
        return replace(look, error=error)
    if settled and settled.sha256 == content.sha256:
        return replace(look, content=replace(content, data=b""))  # only its stamp is of use
    return submit(replace(look, content=content), work)
