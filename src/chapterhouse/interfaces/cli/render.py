"""What people see of everything but questions. Plain lines, safe to show on any terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.envelope import is_incomplete
from chapterhouse.interfaces.cli.render_models import vector_rows
from chapterhouse.interfaces.cli.session import OK, PARTLY
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.presenting.wording import join_words, outcome_word, searched_text
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
    Notice,
    Status,
    Trust,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chapterhouse.chunking.quality import Quality
    from chapterhouse.reading import formats as known_formats
else:
    known_formats = lazy("chapterhouse.reading.formats")


_COLOURS = {
    Status.READY: Style.GOOD,
    Status.PARTIAL: Style.WARNING,
    Status.SKIPPED: Style.QUIET,
    Status.REJECTED: Style.BAD,
    Status.FAILED: Style.BAD,
    Status.QUARANTINED: Style.BAD,
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
    "failed",
    "failed earlier",
    "quarantined",
    "quarantined earlier",
)
_MOST_EARLIER = 10  # files whose reasons are told again
_MOST_PICTURES = 3  # that are named
_NO_TEXT = " holds no text. "  # of a picture: what is behind it says why


def ready(state: LibraryStatus) -> Iterator[Block]:
    """Say that the library exists and what comes next."""
    yield verbatim("Ready: ", (state.home, Style.STRONG), f", workspace {state.workspace}")
    yield verbatim("Next: chapterhouse add PATH")


def report(value: AddReport) -> Iterator[Block]:
    """Summarise an ``add`` and name every file that is not wholly in the library."""
    counts = Counter(chain.from_iterable(map(_endings, value.outcomes)))
    inside = sum(outcome.inside for outcome in value.outcomes)
    inside += sum(max(len(outcome.earlier) - 1, 0) for outcome in value.outcomes)
    head = counted(counts.total() - inside, "file")
    if inside:
        head += f" and {inside:,} in them"
    counts_text = [f"{counts[word]:,} {word}" for word in _ORDER if counts[word]]
    yield verbatim((head, Style.STRONG), ": ", ", ".join(counts_text) or "nothing to read")
    yield from details(value)
    yield from _missing(value)


def report_code(value: AddReport) -> int:
    """Return 4 where a file is not wholly in the library, now or earlier, else 0."""
    return PARTLY if value.is_partial else OK


def _endings(outcome: FileOutcome) -> list[str]:
    """Return in a word each how a file and, where it has not changed, those in it ended."""
    if not outcome.earlier:
        return [outcome_word(outcome.record)]
    return [
        f"{outcome_word(record)} earlier" if is_incomplete(record) else "unchanged"
        for record in outcome.earlier
    ]


def details(value: AddReport) -> Iterator[Block]:
    """Name the files that are not wholly in the library, with the reasons."""
    records = [one for outcome in value.outcomes for one in (outcome.earlier or (outcome.record,))]
    yield from _pictures([record for record in records if _is_picture(record)])
    for outcome in value.outcomes:
        if is_incomplete(outcome.record) and not _is_picture(outcome.record):
            yield from _outcome(outcome)
    earlier_records = chain.from_iterable(outcome.earlier for outcome in value.outcomes)
    earlier = [one for one in earlier_records if is_incomplete(one) and not _is_picture(one)]
    if len(earlier) > _MOST_EARLIER:
        yield verbatim("See why: chapterhouse docs list --problems")
        return
    for record in earlier:
        yield from _ending(record)


def _is_picture(record: FileRecord) -> bool:
    """Whether a file is a picture in which there is no text to read."""
    return (
        record.code == "no-text"
        and known_formats.claimed_format(record.source) in known_formats.IMAGES
    )


def _pictures(records: Sequence[FileRecord]) -> Iterator[Block]:
    """Name the pictures without text in one line, and below it why."""
    if records:
        names = join_words([record.source for record in records], _MOST_PICTURES)
        label = f"{counted(len(records), 'picture')} without text: {names}"
        reasons = dict.fromkeys(one.sentence.partition(_NO_TEXT)[2] for one in records)
        yield from entry("rejected", Style.BAD, label, *reasons)


def planned(value: AddReport) -> Iterator[Block]:
    """Name the files that an ``add`` would read."""
    wanted = [entry.record for entry in value.outcomes if entry.record.code == "would-be-read"]
    head = f"{len(wanted):,} of {counted(len(value.outcomes), 'file')} would be read"
    yield verbatim((head, Style.STRONG))
    for record in wanted:
        yield verbatim(f"  {record.source}")
    yield from details(value)
    yield from _missing(value)


def _missing(value: AddReport) -> Iterator[Block]:
    """Name files that are gone, and count what was left out for its name."""
    for source in value.missing:
        yield from entry("missing", Style.WARNING, source)
    if value.missing:
        yield verbatim("Their documents are still here: chapterhouse docs remove --missing")
    yield from ignored(value)


def ignored(value: AddReport) -> Iterator[Block]:
    """Count what was left out for its name, by reason."""
    counts = Counter(one.reason for one in value.ignored)
    if counts:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))
        hint = " To add a hidden file, name it." if "hidden" in counts else ""
        yield verbatim(f"Ignored: {reasons}.{hint}")


def entry(word: str, style: Style, name: str, *reasons: str) -> Iterator[Block]:
    """Say in a word what became of something, and below it why."""
    yield verbatim((f"{word:<10}", style), name)
    for reason in filter(None, reasons):
        yield verbatim(reason, indent=10)


def _ending(record: FileRecord, *more: str) -> Iterator[Block]:
    colour = _COLOURS[record.status]
    return entry(outcome_word(record), colour, record.source, _reason(record), *more)


def _reason(record: FileRecord) -> str:
    """Return why a file ended as it did: the sentence, and the code behind it."""
    code = f" ({record.code})" if record.sentence and record.code else ""
    return record.sentence + code


def _outcome(outcome: FileOutcome) -> Iterator[Block]:
    record = outcome.record
    worst = (record.code, record.sentence)  # which the record repeats
    rest = (one for one in outcome.notices if (one.code, one.sentence) != worst)
    return _ending(record, *map(_notice, rest))


def _notice(notice: Notice) -> str:
    says = notice.page is None or f"age {notice.page}" in notice.sentence
    page = "" if says else f" (page {notice.page})"
    return f"{notice.sentence}{page} ({notice.code})"


def status(state: LibraryStatus) -> Iterator[Block]:
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
        *_cut_otherwise(state),
        ("language model", state.language_model.sentence if state.language_model else "none"),
        ("on disk", size(state.disk_bytes)),
    ]
    yield Columns(rows, header=False)


def _cut_otherwise(state: LibraryStatus) -> Iterator[tuple[str, str]]:
    if state.cut_otherwise:
        number = counted(state.cut_otherwise, "document")
        yield ("cutting", f"{number} cut by other settings: chapterhouse reindex")


def checks(found: Sequence[Check]) -> Iterator[Block]:
    """Show what the doctor looked at."""
    for check in found:
        mark = ("ok      ", Style.GOOD) if check.passed else ("PROBLEM ", Style.BAD)
        yield verbatim(mark, (check.name, Style.STRONG), f": {check.sentence}")
        if check.hint:
            yield verbatim(f"        {check.hint}")
    failed = sum(not check.passed for check in found)
    yield verbatim(f"{counted(len(found), 'check')}, {counted(failed, 'problem')}")


def reindexed(state: LibraryStatus, *, dry_run: bool) -> Iterator[Block]:
    """Say what was, or would be, built again."""
    if dry_run and state.cut_otherwise:
        yield verbatim(f"Would cut {counted(state.cut_otherwise, 'document')} again.")
    verb = "Would index" if dry_run else "Indexed"
    yield verbatim(f"{verb} {searched_text(state.documents, state.chunks)}.")


def documents(found: Sequence[Document]) -> Iterator[Block]:
    """List documents, a line each."""
    if not found:
        yield verbatim("No documents. Add some: chapterhouse add PATH")
        return
    rows = [("id", "format", "status", "characters", "title", "source")]
    for one in found:
        length = f"{one.characters:,}"
        rows.append((one.id, one.format, one.status.value, length, one.title, one.source))
    yield Columns(rows, whole={0})


def files(records: Sequence[FileRecord], *, problems: bool = False) -> Iterator[Block]:
    """List what became of every file, with the reason below it."""
    if not records:
        none = "No files. Add some: chapterhouse add PATH"
        yield verbatim("All files are completely in the library." if problems else none)
        return
    rows = [("status", "format", "size", "source", "document")]
    rows += [
        (outcome_word(record), record.format, size(record.size), record.source, record.document_id)
        for record in records
    ]
    yield Columns(rows, whole={4}, below=["", *map(_reason, records)])


def archive(record: FileRecord, inside: Sequence[FileRecord]) -> Iterator[Block]:
    """Show what is known of an archive, and the files in it."""
    rows = [
        ("source", record.source),
        ("location", record.location),
        ("format", record.format),
        ("status", f"{outcome_word(record)}. {record.sentence}"),
        ("size", size(record.size)),
        ("sha256", record.sha256),
    ]
    yield Columns(rows, header=False)
    yield from _inside(inside)


def _inside(inside: Sequence[FileRecord]) -> Iterator[Block]:
    if inside:
        yield verbatim()
        yield verbatim(("Files in it", Style.STRONG))
        yield from files(inside)


def document(entry: Document, body: Body, inside: Sequence[FileRecord]) -> Iterator[Block]:
    """Show everything known of a document, with its outline and the files in it."""
    rows = [
        ("title", entry.title),
        ("id", entry.id),
        ("source", entry.source),
        ("location", entry.location),
        ("format", f"{entry.format}, read by {entry.method}"),
        ("status", entry.status.value),
        ("shelves", ", ".join(entry.shelves)),
        *([] if entry.trust is Trust.OWN else [("trust", entry.trust.value)]),
        ("language", entry.language or "not known"),
        ("modified", f"{datetime.fromtimestamp(entry.modified, UTC):%Y-%m-%d %H:%M} UTC"),
        ("size", size(entry.size)),
        ("text", f"{counted(entry.characters, 'character')}, {counted(entry.chunks, 'chunk')}"),
        ("sha256", entry.sha256),
        ("text sha256", entry.text_sha256),
        *sorted(entry.metadata.items()),
        *((f"notice {notice.code}", notice.sentence) for notice in entry.notices),
    ]
    yield Columns(rows, header=False)
    if any(section.path for section in body.sections):
        yield verbatim()
        yield verbatim(("Sections", Style.STRONG))
    for section in body.sections:
        if section.path:
            indent = "  " * len(section.path)
            span = f"  {section.start}:{section.end}"
            yield verbatim(indent, section.path[-1], (span, Style.QUIET))
    yield from _inside(inside)


def chunk_quality(
    chunks: Sequence[Chunk], measured: "Sequence[Quality]", mean: "Quality"
) -> Iterator[Block]:
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
    yield Columns([*rows, ("mean", "", *figures(mean), "")])


def formats(found: Sequence[FormatSupport]) -> Iterator[Block]:
    """List formats and what reads them."""
    rows = [("format", "extensions", "read by", "here", "note")]
    for one in found:
        here = "yes" if one.available else "no"
        rows.append((one.format, " ".join(one.extensions), one.method, here, one.note))
    yield Columns(rows, wrap=True)


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
