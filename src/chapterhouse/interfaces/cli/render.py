"""What people see of everything but questions. Plain lines, safe to show on any terminal."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.render_answers import (
    answer,
    answer_markdown,
    context,
    place,
    search,
    text,
)
from chapterhouse.interfaces.cli.render_encoders import vector_rows
from chapterhouse.interfaces.cli.terminal import columns, styled
from chapterhouse.presenting.wording import searched
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    AddReport,
    Body,
    Check,
    Document,
    FileOutcome,
    FileRecord,
    FormatSupport,
    LibraryStatus,
    Removal,
    Status,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

__all__ = [
    "answer",
    "answer_markdown",
    "checks",
    "context",
    "document",
    "documents",
    "files",
    "formats",
    "place",
    "planned",
    "ready",
    "reindexed",
    "removed",
    "report",
    "search",
    "status",
    "text",
]

_COLOURS = {
    Status.READY: "green",
    Status.PARTIAL: "yellow",
    Status.SKIPPED: "dim",
    Status.REJECTED: "red",
}

_EXPECTED = frozenset({"unchanged", "unpacked"})  # codes of files that nobody needs a word about


def ready(target: "Console", state: LibraryStatus) -> None:
    """Say that the library exists and what comes next."""
    target.print(styled("Ready: ", (state.home, "bold"), f", workspace {state.workspace}"))
    target.print(styled("Next: chapterhouse add PATH"))


def report(target: "Console", value: AddReport) -> None:
    """Summarise an ``add`` and name every file that is not wholly in the library."""
    counts = [_count(value, status) for status in Status if value.count(status)]
    head = counted(len(value.outcomes), "file")
    target.print(styled((head, "bold"), ": ", ", ".join(counts) or "nothing to read"))
    for outcome in value.outcomes:
        if _is_telling(outcome):
            _outcome(target, outcome)
    _missing(target, value)


def _is_telling(outcome: FileOutcome) -> bool:
    """Whether a file needs a word of its own: all that are not wholly in the library."""
    record = outcome.record
    passed_over = record.status is Status.SKIPPED and record.code not in _EXPECTED
    return passed_over or record.status in {Status.PARTIAL, Status.REJECTED}


def planned(target: "Console", value: AddReport) -> None:
    """Name the files that an ``add`` would read."""
    wanted = [entry.record for entry in value.outcomes if entry.record.code == "would-be-read"]
    target.print(styled((f"{len(wanted)} of {len(value.outcomes)} files would be read", "bold")))
    for record in wanted:
        target.print(styled(f"  {record.source}"))
    for outcome in value.outcomes:
        if outcome.record.code != "would-be-read" and _is_telling(outcome):
            _outcome(target, outcome)
    _missing(target, value)


def _missing(target: "Console", value: AddReport) -> None:
    for source in value.missing:
        target.print(styled(("missing   ", "yellow"), source))
    if value.missing:
        target.print(styled("Their documents are still here: chapterhouse docs remove --missing"))


def _count(value: AddReport, status: Status) -> str:
    """Return ``21 ready``; what was skipped says why: ``5 skipped (4 unchanged, ...)``."""
    count = f"{value.count(status)} {status.value}"
    records = [outcome.record for outcome in value.outcomes if outcome.record.status is status]
    codes = Counter(record.code for record in records if record.code)
    if status is not Status.SKIPPED or not codes:
        return count
    return f"{count} ({', '.join(f'{number} {code}' for code, number in sorted(codes.items()))})"


def _outcome(target: "Console", outcome: FileOutcome) -> None:
    record = outcome.record
    target.print(styled((f"{record.status.value:<10}", _COLOURS[record.status]), record.source))
    if record.sentence:
        code = f" ({record.code})" if record.code else ""
        target.print(styled(f"          {record.sentence}{code}"))
    for notice in outcome.notices:
        if (notice.code, notice.sentence) == (record.code, record.sentence):
            continue  # the record repeats its worst notice
        page = f" (page {notice.page})" if notice.page else ""
        target.print(styled(f"          {notice.sentence}{page} ({notice.code})"))


def status(target: "Console", state: LibraryStatus) -> None:
    """Show counts and places."""
    behind = state.sequence - min(state.lexical_sequence, state.vector_sequence)
    rows = [
        ("home", state.home),
        ("workspace", state.workspace),
        ("documents", f"{state.documents:,}"),
        ("chunks", f"{state.chunks:,}"),
        ("by status", _counts(state.by_status)),
        ("by format", _counts(state.by_format)),
        ("by shelf", _counts(state.by_shelf)),
        ("changes", f"{state.sequence:,}"),
        ("indexes", f"{counted(behind, 'change')} behind" if behind > 0 else "up to date"),
        ("embedder", state.embedder),
        *vector_rows(state.encoders),
        ("language model", state.language_model.sentence if state.language_model else "none"),
        ("on disk", size(state.disk_bytes)),
    ]
    columns(target, rows, header=False)


def checks(target: "Console", found: Sequence[Check]) -> None:
    """Show what the doctor looked at."""
    for check in found:
        mark = ("ok      ", "green") if check.passed else ("PROBLEM ", "bold red")
        target.print(styled(mark, (check.name, "bold"), f": {check.sentence}"))
        if check.hint:
            target.print(styled(f"        {check.hint}"))
    failed = sum(not check.passed for check in found)
    target.print(styled(f"{counted(len(found), 'check')}, {counted(failed, 'problem')}"))


def reindexed(target: "Console", state: LibraryStatus, *, dry_run: bool) -> None:
    """Say what was, or would be, built again."""
    verb = "Would index" if dry_run else "Indexed"
    target.print(styled(f"{verb} {searched(state.documents, state.chunks)}."))


def documents(target: "Console", found: Sequence[Document]) -> None:
    """List documents, a line each."""
    if not found:
        target.print(styled("No documents. Add some: chapterhouse add PATH"))
        return
    rows = [("id", "format", "status", "characters", "title", "source")]
    rows += [
        (
            entry.id,
            entry.format,
            entry.status.value,
            f"{entry.characters:,}",
            entry.title,
            entry.source,
        )
        for entry in found
    ]
    columns(target, rows)


def files(target: "Console", records: Sequence[FileRecord]) -> None:
    """List what became of every file."""
    if not records:
        target.print(styled("No files. Add some: chapterhouse add PATH"))
        return
    rows = [("status", "code", "format", "size", "source", "document")]
    rows += [
        (
            record.status.value,
            record.code,
            record.format,
            size(record.size),
            record.source,
            record.document_id,
        )
        for record in records
    ]
    columns(target, rows)


def document(target: "Console", entry: Document, body: Body) -> None:
    """Show everything known of a document, with its outline."""
    rows = [
        ("title", entry.title),
        ("id", entry.id),
        ("source", entry.source),
        ("location", entry.location),
        ("format", f"{entry.format}, read by {entry.method}"),
        ("status", entry.status.value),
        ("shelves", ", ".join(entry.shelves)),
        ("language", entry.language or "not known"),
        ("modified", f"{datetime.fromtimestamp(entry.modified, UTC):%Y-%m-%d %H:%M} UTC"),
        ("size", size(entry.size)),
        ("text", f"{counted(entry.characters, 'character')}, {counted(entry.chunks, 'chunk')}"),
        ("sha256", entry.sha256),
        ("text sha256", entry.text_sha256),
        *sorted(entry.metadata.items()),
        *((f"notice {notice.code}", notice.sentence) for notice in entry.notices),
    ]
    columns(target, rows, header=False)
    if any(section.path for section in body.sections):
        target.print()
        target.print(styled(("Sections", "bold")))
    for section in body.sections:
        if section.path:
            indent = "  " * len(section.path)
            span = f"  {section.start}:{section.end}"
            target.print(styled(indent, section.path[-1], (span, "dim")))


def removed(target: "Console", removal: Removal, *, dry_run: bool) -> None:
    """Say what was, or would be, removed, and whether any of it was found afterwards."""
    gone, receipt = removal.documents, removal.receipt
    verb = "Would remove" if dry_run else "Removed"
    target.print(styled(f"{verb} {counted(len(gone), 'document')}."))
    for entry in gone:
        target.print(styled(f"  {entry.id}  {entry.source}"))
    if receipt is None:
        return
    passages = counted(receipt.passages, "passage")
    place = f"{counted(receipt.files, 'file')} ({receipt.bytes / 2**20:,.1f} MB) of the library"
    target.print(f"{receipt.found:,} of {passages} found in {place}.")
    if receipt.places:
        target.print(styled(f"Look into: {', '.join(receipt.places)}"))


def formats(target: "Console", found: Sequence[FormatSupport]) -> None:
    """List formats and what reads them."""
    rows = [("format", "extensions", "read by", "here", "note")]
    rows += [
        (
            entry.format,
            " ".join(entry.extensions),
            entry.method,
            "yes" if entry.available else "no",
            entry.note,
        )
        for entry in found
    ]
    columns(target, rows)


def size(count: int) -> str:
    """Return a number of bytes for people: ``1.4 MB``, in powers of ten."""
    value = float(count)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:  # noqa: PLR2004 - the step between units
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def _counts(counts: "Mapping[str, int]") -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())) or "none"
