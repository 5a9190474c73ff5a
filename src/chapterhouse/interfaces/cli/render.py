"""What people see of everything but questions. Plain lines, safe to show on any terminal."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.envelope import is_incomplete
from chapterhouse.interfaces.cli.render_models import vector_rows
from chapterhouse.interfaces.cli.session import OK, PARTLY
from chapterhouse.interfaces.cli.terminal import columns, one_line, say, shown, styled
from chapterhouse.presenting.citing import page_name, without_title
from chapterhouse.presenting.wording import outcome_word, searched_text
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    AddReport,
    Body,
    Check,
    Chunk,
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
    from rich.text import Text

    from chapterhouse.chunking.quality import Quality


_COLOURS = {
    Status.READY: "green",
    Status.PARTIAL: "yellow",
    Status.SKIPPED: "dim",
    Status.REJECTED: "red",
}

# How files end, in the order in which they are counted.
_ORDER = (
    "ready",
    "partial",
    "unpacked",
    "unchanged",
    "partial earlier",
    "skipped",
    "skipped earlier",
    "rejected",
    "rejected earlier",
)
_HASH_DIGITS = 12
_AROUND = 200  # characters shown on each side of a citation
_MOST_EARLIER = 10  # files whose reasons are told again


def ready(target: "Console", state: LibraryStatus) -> None:
    """Say that the library exists and what comes next."""
    say(target, "Ready: ", (state.home, "bold"), f", workspace {state.workspace}")
    say(target, "Next: chapterhouse add PATH")


def report(target: "Console", value: AddReport) -> None:
    """Summarise an ``add`` and name every file that is not wholly in the library."""
    counts = Counter(chain.from_iterable(map(_endings, value.outcomes)))
    inside = sum(outcome.inside for outcome in value.outcomes)
    inside += sum(max(len(outcome.earlier) - 1, 0) for outcome in value.outcomes)
    head = counted(counts.total() - inside, "file")
    if inside:
        head += f" and {inside:,} in them"
    counts_text = [f"{counts[word]:,} {word}" for word in _ORDER if counts[word]]
    say(target, (head, "bold"), ": ", ", ".join(counts_text) or "nothing to read")
    _details(target, value)
    _missing(target, value)


def report_code(value: AddReport) -> int:
    """Return 4 where a file was rejected or read in part, now or earlier, else 0."""
    incomplete = (Status.REJECTED, Status.PARTIAL)
    partly = any(value.count(status) or value.count_earlier(status) for status in incomplete)
    return PARTLY if partly else OK


def _endings(outcome: FileOutcome) -> list[str]:
    """Return in a word each how a file and, where it has not changed, those in it ended."""
    if not outcome.earlier:
        return [outcome_word(outcome.record)]
    return [
        f"{outcome_word(record)} earlier" if is_incomplete(record) else "unchanged"
        for record in outcome.earlier
    ]


def _details(target: "Console", value: AddReport) -> None:
    """Name the files that are not wholly in the library, with the reasons."""
    for outcome in value.outcomes:
        if is_incomplete(outcome.record):
            _outcome(target, outcome)
    records = chain.from_iterable(outcome.earlier for outcome in value.outcomes)
    earlier = list(filter(is_incomplete, records))
    if len(earlier) > _MOST_EARLIER:
        say(target, "See why: chapterhouse docs list --problems")
        return
    for record in earlier:
        _ending(target, record)


def planned(target: "Console", value: AddReport) -> None:
    """Name the files that an ``add`` would read."""
    wanted = [entry.record for entry in value.outcomes if entry.record.code == "would-be-read"]
    head = f"{len(wanted):,} of {counted(len(value.outcomes), 'file')} would be read"
    say(target, (head, "bold"))
    for record in wanted:
        say(target, f"  {record.source}")
    _details(target, value)
    _missing(target, value)


def _missing(target: "Console", value: AddReport) -> None:
    """Name files that are gone, and count what was left out for its name."""
    for source in value.missing:
        say(target, ("missing   ", "yellow"), source)
    if value.missing:
        say(target, "Their documents are still here: chapterhouse docs remove --missing")
    if value.hidden:
        hidden = counted(value.hidden, "hidden file or folder was", "hidden files and folders were")
        say(target, f"{hidden} ignored. To add one, name it.")


def _ending(target: "Console", record: FileRecord) -> None:
    colour = _COLOURS[record.status]
    say(target, (f"{outcome_word(record):<10}", colour), record.source)
    if record.sentence:
        say(target, f"          {_reason(record)}")


def _reason(record: FileRecord) -> str:
    """Return why a file ended as it did: the sentence, and the code behind it."""
    return f"{record.sentence} ({record.code})" if record.code else record.sentence


def _outcome(target: "Console", outcome: FileOutcome) -> None:
    record = outcome.record
    _ending(target, record)
    for notice in outcome.notices:
        if (notice.code, notice.sentence) == (record.code, record.sentence):
            continue  # the record repeats its worst notice
        says = notice.page is None or f"age {notice.page}" in notice.sentence
        page = "" if says else f" (page {notice.page})"
        say(target, f"          {notice.sentence}{page} ({notice.code})")


def status(target: "Console", state: LibraryStatus) -> None:
    """Show counts and places."""
    behind = state.sequence - min(state.index_sequences.values())
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
        *vector_rows(state.encoders, state.documents),
        ("language model", state.language_model.sentence if state.language_model else "none"),
        ("on disk", size(state.disk_bytes)),
    ]
    columns(target, rows, header=False)


def checks(target: "Console", found: Sequence[Check]) -> None:
    """Show what the doctor looked at."""
    for check in found:
        mark = ("ok      ", "green") if check.passed else ("PROBLEM ", "bold red")
        say(target, mark, (check.name, "bold"), f": {check.sentence}")
        if check.hint:
            say(target, f"        {check.hint}")
    failed = sum(not check.passed for check in found)
    say(target, f"{counted(len(found), 'check')}, {counted(failed, 'problem')}")


def reindexed(target: "Console", state: LibraryStatus, *, dry_run: bool) -> None:
    """Say what was, or would be, built again."""
    verb = "Would index" if dry_run else "Indexed"
    say(target, f"{verb} {searched_text(state.documents, state.chunks)}.")


def documents(target: "Console", found: Sequence[Document]) -> None:
    """List documents, a line each."""
    if not found:
        say(target, "No documents. Add some: chapterhouse add PATH")
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
    columns(target, rows, whole={0})


def files(target: "Console", records: Sequence[FileRecord], *, problems: bool = False) -> None:
    """List what became of every file, with the reason below it."""
    if not records:
        none = "No files. Add some: chapterhouse add PATH"
        say(target, "All files are wholly in the library." if problems else none)
        return
    rows = [("status", "format", "size", "source", "document")]
    rows += [
        (outcome_word(record), record.format, size(record.size), record.source, record.document_id)
        for record in records
    ]
    columns(target, rows, whole={4}, below=["", *map(_reason, records)])


def archive(target: "Console", record: FileRecord, inside: Sequence[FileRecord]) -> None:
    """Show what is known of an archive, and the files in it."""
    rows = [
        ("source", record.source),
        ("location", record.location),
        ("format", record.format),
        ("status", f"{outcome_word(record)}. {record.sentence}"),
        ("size", size(record.size)),
        ("sha256", record.sha256),
    ]
    columns(target, rows, header=False)
    _inside(target, inside)


def _inside(target: "Console", inside: Sequence[FileRecord]) -> None:
    if inside:
        target.print()
        say(target, ("Files in it", "bold"))
        files(target, inside)


def document(target: "Console", entry: Document, body: Body, inside: Sequence[FileRecord]) -> None:
    """Show everything known of a document, with its outline and the files in it."""
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
        say(target, ("Sections", "bold"))
    for section in body.sections:
        if section.path:
            indent = "  " * len(section.path)
            span = f"  {section.start}:{section.end}"
            say(target, indent, section.path[-1], (span, "dim"))
    _inside(target, inside)


def chunk_quality(
    target: "Console", chunks: Sequence[Chunk], measured: "Sequence[Quality]", mean: "Quality"
) -> None:
    """List the chunks of a document with their measures, then the means."""

    def figures(quality: "Quality") -> tuple[str, ...]:
        return tuple(f"{value:.2f}" for value in astuple(quality))

    rows: list[tuple[str, ...]] = [
        ("chunk", "characters", "entropy", "coherence", "density", "importance", "text")
    ]
    rows += [
        (str(chunk.ordinal), f"{chunk.start}:{chunk.end}", *figures(quality), chunk.text[:60])
        for chunk, quality in zip(chunks, measured, strict=True)
    ]
    columns(target, [*rows, ("mean", "", *figures(mean), "")])


def removed(target: "Console", removal: Removal, *, dry_run: bool) -> None:
    """Say what was, or would be, removed, and whether any of it was found afterwards."""
    gone, receipt = removal.documents, removal.receipt
    verb = "Would remove" if dry_run else "Removed"
    say(target, f"{verb} {counted(len(gone), 'document')}.")
    for entry in gone:
        say(target, f"  {entry.id}  {entry.source}")
    if receipt is None:
        return
    passages = counted(receipt.passages, "passage")
    place = f"{counted(receipt.files, 'file')} ({receipt.bytes / 2**20:,.1f} MB) of the library"
    target.print(f"{receipt.found:,} of {passages} found in {place}.")
    if receipt.places:
        say(target, f"Look into: {', '.join(receipt.places)}")


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
    columns(target, rows, wrap=True)


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


# --- places -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a document with where it stands and what stands around it."""

    document: Document
    start: int
    end: int
    text: str
    before: str
    after: str
    section_path: tuple[str, ...]
    page: int | None
    page_label: str


def place_of(document: Document, body: Body, start: int, end: int) -> Place:
    """Find the section and page of ``text[start:end]`` by its first character."""
    section = next((s for s in body.sections if s.start <= start < s.end), None)
    page = next((p for p in body.pages if p.start <= start < p.end), None)
    return Place(
        document=document,
        start=start,
        end=end,
        text=body.text[start:end],
        before=body.text[max(0, start - _AROUND) : start],
        after=body.text[end : end + _AROUND],
        section_path=section.path if section else (),
        page=page.number if page else None,
        page_label=page.label if page else "",
    )


def place(target: "Console", value: Place) -> None:
    """Show a span of a document with what surrounds it."""
    facts = [
        value.document.source,
        page_name(value.document.page_kind, value.page, value.page_label),
        f"characters {value.start}–{value.end}",
        f"sha256 {value.document.text_sha256[:_HASH_DIGITS]}",
    ]
    title = value.document.title
    path = " › ".join((title, *without_title(title, value.section_path)))
    say(target, (one_line(path), "bold cyan"))
    say(target, (" · ".join(map(one_line, filter(None, facts))), "dim"))
    target.print()
    target.print(_framed(target, value))


def _framed(target: "Console", value: Place) -> "Text":
    """Set the span off by colour, or by marks where there is none."""
    opening, closing = ("", "") if target.is_terminal and not target.no_color else ("»", "«")
    return styled(
        (value.before, "dim"),
        (f"{opening}{value.text}{closing}", "bold reverse" if not opening else ""),
        (value.after, "dim"),
    )


def text(target: "Console", body: Body) -> None:
    """Print the whole canonical text, safe to show."""
    target.out(shown(body.text), highlight=False, end="" if body.text.endswith("\n") else "\n")
