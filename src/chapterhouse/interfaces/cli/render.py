"""What people see of files that were read and of syncs, in plain lines."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.interfaces.cli.envelope import is_incomplete
from chapterhouse.interfaces.cli.session import OK, PARTLY, Outcome
from chapterhouse.presenting.blocks import Style, TerminalBlock, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.wording import join_words, outcome_word, staying_sentence
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    AddReport,
    FileOutcome,
    FileRecord,
    FileSearch,
    Notice,
    Status,
    SyncReport,
)

if TYPE_CHECKING:
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
_SHOWN: Final = 20  # names of what was removed, renamed or moved
_MOST_EARLIER = 10  # files whose reasons are told again
_MOST_OF_A_KIND: Final = 10  # files with one problem that are named
_MOST_PICTURES = 3  # that are named
_NO_TEXT = " holds no text. "  # of a picture: what is behind it says why
_NO_OCR: Final = "OCR is not installed: "  # and what to do
_SEE_ALL: Final = "See all of them: chapterhouse docs list --problems"


def report(value: AddReport) -> Iterator[TerminalBlock]:
    """Summarise an ``add`` and name every file that is not wholly in the library."""
    counts = Counter(chain.from_iterable(map(_endings, value.outcomes)))
    inside = sum(outcome.inside for outcome in value.outcomes)
    inside += sum(max(len(outcome.earlier) - 1, 0) for outcome in value.outcomes)
    head = counted(counts.total() - inside, "file")
    if inside:
        head += f" and {inside:,} in them"
    counts_text = [f"{counts[word]:,} {word}" for word in _ORDER if counts[word]]
    ended = ", ".join(counts_text) or "nothing to read"
    written = f"; {counted(value.chunks, 'chunk')}" if value.chunks else ""
    yield verbatim((head, Style.STRONG), ": ", ended, written)
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


def details(value: AddReport) -> Iterator[TerminalBlock]:
    """Name the files that are not wholly in the library, with the reasons."""
    records = [one for outcome in value.outcomes for one in (outcome.earlier or (outcome.record,))]
    yield from _pictures([record for record in records if _is_picture(record)])
    outcomes = (one for one in value.outcomes if not _is_picture(one.record))
    yield from _problems([one for one in outcomes if is_incomplete(one.record)])
    earlier_records = chain.from_iterable(outcome.earlier for outcome in value.outcomes)
    earlier = [one for one in earlier_records if is_incomplete(one) and not _is_picture(one)]
    if len(earlier) > _MOST_EARLIER:
        yield verbatim("See why: chapterhouse docs list --problems")
        return
    yield from map(_problem, earlier)


def _is_picture(record: FileRecord) -> bool:
    """Whether a file is a picture in which there is no text to read."""
    return (
        record.code == "no-text"
        and known_formats.claimed_format(record.source) in known_formats.IMAGES
    )


def _pictures(records: Sequence[FileRecord]) -> Iterator[TerminalBlock]:
    """Count the pictures without text in a line for each reason, and name the first ones."""
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for record in records:
        by_reason[record.sentence.partition(_NO_TEXT)[2]].append(record.source)
    for reason, sources in by_reason.items():
        names = join_words(sources, _MOST_PICTURES)
        what_to_do = reason.partition(_NO_OCR)[2].rstrip(".")
        if what_to_do:
            were = counted(len(sources), "picture was", "pictures were")
            named = f": {names}" if len(sources) <= _MOST_PICTURES else ""
            label = f"{were} not read{named} (text recognition is not installed: {what_to_do})"
        else:
            label = f"{counted(len(sources), 'picture')} without text: {names}. {reason}".strip()
        yield verbatim(("rejected  ", Style.BAD), label)
    if any(len(sources) > _MOST_PICTURES for sources in by_reason.values()):
        yield verbatim(_SEE_ALL)


def _problems(outcomes: Sequence[FileOutcome]) -> Iterator[TerminalBlock]:
    """Name files with their reasons, a line each, and count those of a kind behind the tenth."""
    counts = Counter[tuple[str, str]]()
    for outcome in outcomes:
        kind = outcome_word(outcome.record), outcome.record.code
        counts[kind] += 1
        if counts[kind] <= _MOST_OF_A_KIND:
            yield _problem(outcome.record, len(_further(outcome)))
    more = {kind: number - _MOST_OF_A_KIND for kind, number in counts.items()}
    for (word, code), number in more.items():
        if number > 0:
            yield verbatim((f"{word:<10}", Style.QUIET), f"{number:,} more ({code})")
    if any(number > 0 for number in more.values()):
        yield verbatim(_SEE_ALL)


def planned(value: AddReport) -> Iterator[TerminalBlock]:
    """Name the files that an ``add`` would read."""
    wanted = [entry.record for entry in value.outcomes if entry.record.code == "would-be-read"]
    head = f"{len(wanted):,} of {counted(len(value.outcomes), 'file')} would be read"
    yield verbatim((head, Style.STRONG))
    for record in wanted:
        yield verbatim(f"  {record.source}")
    yield from details(value)
    yield from _missing(value)


def _missing(value: AddReport) -> Iterator[TerminalBlock]:
    """Name files that are gone, and count what was left out for its name."""
    for source in value.missing:
        yield from entry("missing", Style.WARNING, source)
    if value.missing:
        yield verbatim("Their documents are still here: chapterhouse docs remove --missing")
    yield from ignored(value)


def ignored(value: AddReport) -> Iterator[TerminalBlock]:
    """Count what was left out for its name, by reason."""
    counts = Counter(one.reason for one in value.ignored)
    if counts:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))
        hint = " To add a hidden file, name it." if "hidden" in counts else ""
        yield verbatim(f"Ignored: {reasons}.{hint}")


def entry(word: str, style: Style, name: str, *reasons: str) -> Iterator[TerminalBlock]:
    """Say in a word what became of something, and below it why."""
    yield verbatim((f"{word:<10}", style), name)
    for reason in filter(None, reasons):
        yield verbatim(reason, indent=10)


def _problem(record: FileRecord, further: int = 0) -> TerminalBlock:
    word = (f"{outcome_word(record):<10}", _COLOURS[record.status])
    more = f" And {counted(further, 'more notice')}." if further else ""
    reason = f"{one_line(reason_of(record))}{more}"
    return verbatim(word, record.source, f": {reason}" if reason else "")


def reason_of(record: FileRecord) -> str:
    """Return why a file ended as it did: the sentence, and the code behind it."""
    code = f" ({record.code})" if record.sentence and record.code else ""
    return record.sentence + code


def _further(outcome: FileOutcome) -> tuple[Notice, ...]:
    """Return the notices that the record does not repeat."""
    worst = (outcome.record.code, outcome.record.sentence)
    return tuple(one for one in outcome.notices if (one.code, one.sentence) != worst)


# --- syncs --------------------------------------------------------------------------------------


def synced(found: Sequence[SyncReport], *, dry_run: bool) -> Outcome:
    """Return what a sync did; exit code 4 where something was not synced or not read."""
    code = PARTLY if any(map(is_partial, found)) else OK
    return Outcome(
        {"sources": found, "dry_run": dry_run}, sync_reports(found, dry_run=dry_run), code
    )


def sync_reports(found: Sequence[SyncReport], *, dry_run: bool) -> Iterator[TerminalBlock]:
    """Say what a sync did, a line for each source, and name what is not wholly in the library."""
    if not found:
        yield verbatim("There is nothing to sync. Add a folder: chapterhouse source add FOLDER")
    for report in found:
        yield from _sync_report(report, dry_run=dry_run)


def sync_changes(found: Sequence[SyncReport]) -> Iterator[TerminalBlock]:
    """Say what a sync did where it did something, with the time."""
    now = datetime.now().astimezone().strftime("%H:%M:%S")
    for report in found:
        if report.changed or is_partial(report):
            yield verbatim((now, Style.QUIET))
            yield from _sync_report(report, dry_run=False)


def is_partial(report: SyncReport) -> bool:
    """Whether something was not read, or not synced."""
    left = report.search is not None and report.search.found
    failed = report.problem or report.staying or left
    return bool(failed) or report_code(report.files) != 0


def _sync_report(report: SyncReport, *, dry_run: bool) -> Iterator[TerminalBlock]:
    yield verbatim((report.source, Style.STRONG), f": {_sync_counts(report, dry_run=dry_run)}")
    for reason in filter(None, (report.problem, *map(staying_sentence, report.staying))):
        yield verbatim((one_line(reason), Style.WARNING), indent=2)
    renamed = [one.record for one in report.files.outcomes if "renamed" in one.record.code]
    entries = [("renamed", record.source, record.sentence) for record in renamed]
    entries += [("removed", source, "") for source in report.removed]
    entries += [
        (
            "moved",
            move.source,
            f"Joined: {', '.join(move.joined)}."
            if move.joined
            else f"Left: {', '.join(move.left)}.",
        )
        for move in report.moves
    ]
    for word, name, reason in entries[:_SHOWN]:
        yield from entry(word, Style.QUIET, name, reason)
    if len(entries) > _SHOWN:
        yield verbatim((f"... and {len(entries) - _SHOWN:,} more", Style.QUIET))
    yield from details(report.files)
    yield from ignored(report.files)
    if report.search:
        yield from file_search(report.search)


def _sync_counts(report: SyncReport, *, dry_run: bool) -> str:
    codes = [one.record.code for one in report.files.outcomes if not one.inside]
    read = [one for one in report.files.outcomes if one.record.document_id and one.chunks]
    wanted = codes.count("would-be-read")
    numbers = {
        "read": len(read),
        "to be read": wanted,
        "renamed": sum("renamed" in code for code in codes),
        "to be removed" if dry_run else "removed": len(report.removed),
        "moved between shelves": len(report.moves),
        "unchanged": codes.count("unchanged"),
        **{
            f"{status.value}{when}": count(status)
            for when, count in (("", report.files.count), (" earlier", report.files.count_earlier))
            for status in (Status.PARTIAL, Status.REJECTED, Status.FAILED, Status.QUARANTINED)
        },
    }
    parts = [f"{number:,} {word}" for word, number in numbers.items() if number]
    if not parts and (report.problem or report.staying):
        return "not synced"
    return ", ".join(parts) or "nothing to do"


def file_search(search: FileSearch) -> Iterator[TerminalBlock]:
    """Say whether a file of the library still has something of what was removed."""
    if search.redacted:
        names = ", ".join(map(one_line, search.redacted))
        yield verbatim(f"Lines that quoted or named it were taken out of: {names}")
    place = f"{counted(search.files, 'file')} ({search.bytes / 2**20:,.1f} MB) of the library"
    sought = counted(search.searched, "passage or name", "passages and names")
    if not search.found:
        yield verbatim(("Nothing of it is left", Style.GOOD), f": searched {place} for {sought}.")
        return
    yield verbatim(("Some of it is left", Style.BAD), f": {search.found:,} of {sought} in {place}.")
    yield verbatim(f"Look into: {', '.join(map(one_line, search.places))}")
