"""What people see of sources and of syncs."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from chapterhouse.interfaces.cli import removals, render
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.presenting.wording import staying_sentence
from chapterhouse.text.counting import counted
from chapterhouse.types import Job, Source, SourceKind, Status, SyncReport, source_result

_SHOWN: Final = 20  # names of what was removed, renamed or moved
_AGENTS: Final = (SourceKind.PERSONA, SourceKind.COUNCIL)
_MEGABYTE: Final = 2**20


def reports(found: Sequence[SyncReport], *, dry_run: bool) -> Iterator[Block]:
    """Say what a sync did, a line for each source, and name what is not wholly in the library."""
    if not found:
        yield verbatim("There is nothing to sync. Add a folder: chapterhouse source add FOLDER")
    for report in found:
        yield from _report(report, dry_run=dry_run)


def changes(found: Sequence[SyncReport]) -> Iterator[Block]:
    """Say what a sync did where it did something, with the time."""
    now = datetime.now().astimezone().strftime("%H:%M:%S")
    for report in found:
        if report.changed or is_partial(report):
            yield verbatim((now, Style.QUIET))
            yield from _report(report, dry_run=False)


def is_partial(report: SyncReport) -> bool:
    """Whether something was not read, or not synced."""
    left = report.search is not None and report.search.found
    failed = report.problem or report.staying or left
    return bool(failed) or render.report_code(report.files) != 0


def _report(report: SyncReport, *, dry_run: bool) -> Iterator[Block]:
    yield verbatim((report.source, Style.STRONG), f": {_counts(report, dry_run=dry_run)}")
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
        yield from render.entry(word, Style.QUIET, name, reason)
    if len(entries) > _SHOWN:
        yield verbatim((f"... and {len(entries) - _SHOWN:,} more", Style.QUIET))
    yield from render.details(report.files)
    yield from render.ignored(report.files)
    if report.search:
        yield from removals.shown_search(report.search)


def _counts(report: SyncReport, *, dry_run: bool) -> str:
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


def added(source: Source) -> Iterator[Block]:
    """Say that a source is followed, and what comes next."""
    yield verbatim("Following ", (source.name, Style.STRONG), f": {one_line(source.location)}")
    yield verbatim(f"Next: chapterhouse sync {source.name}")


def trusted(source: Source) -> Iterator[Block]:
    """Say how far a source is trusted now."""
    yield verbatim((source.name, Style.STRONG), f": {source.trust}")


def dropped(source: Source, removed: int, stays: int, *, dry_run: bool) -> Iterator[Block]:
    """Say that a source is not followed any more."""
    verb = "Would stop following" if dry_run else "No longer following"
    yield verbatim(f"{verb} ", (source.name, Style.STRONG))
    if removed:
        what = "would be removed" if dry_run else "were removed"
        yield verbatim(f"{counted(removed, 'document')} {what}.")
    if stays:
        yield verbatim(f"{counted(stays, 'document stays', 'documents stay')} in the library.")


def sources(found: Sequence[Source], stale: Mapping[str, bool]) -> Iterator[Block]:
    """List sources, a line each."""
    if not found:
        yield verbatim("No sources yet. Add one: chapterhouse source add FOLDER")
        return
    rows = [("source", "kind", "shelf", "trust", "synced", "state", "place")]
    rows += [
        (
            one.name,
            one.kind.value,
            one.shelf,
            "" if one.kind in _AGENTS else one.trust.value,
            _when(one),
            _state(one, stale[one.name]),
            one.location,
        )
        for one in found
    ]
    yield Columns(rows)
    for one in found:
        if one.problem:
            yield verbatim((f"{one.name}: {one_line(one.problem)}", Style.WARNING))


def source(
    one: Source, counts: Mapping[str, int], syncs: Sequence[Job], *, stale: bool
) -> Iterator[Block]:
    """Show one source, what became of its files, and what the latest syncs did."""
    rows = [
        ("source", one.name),
        ("kind", one.kind.value),
        ("place", one.location),
        ("shelf", one.shelf),
        ("trust", "" if one.kind in _AGENTS else one.trust.value),
        ("include", ", ".join(one.include)),
        ("exclude", ", ".join(one.exclude)),
        ("maximum", f"{one.maximum_bytes // _MEGABYTE:,} MB" if one.maximum_bytes else ""),
        ("synced", _when(one)),
        ("state", _state(one, stale)),
        ("files", ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))),
        ("problem", one.problem),
    ]
    yield Columns([row for row in rows if row[1]], header=False)
    for job in syncs:
        yield verbatim(f"{_moment(job.finished)}  {job.id}  {_did(job, one.name)}")


def _did(job: Job, name: str) -> str:
    part = source_result(job, name)
    numbers = {"changed": part["changed"], "removed": part["removed"]}
    done = ", ".join(f"{number:,} {word}" for word, number in numbers.items() if number)
    return " ".join(filter(None, (done or "nothing to do", one_line(part["problem"]))))


def _when(one: Source) -> str:
    return _moment(one.synced) if one.synced else "never"


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _state(one: Source, stale: bool) -> str:
    if one.problem:
        return "problem"
    if not one.synced:
        return "not read yet"
    if one.kind in {SourceKind.LINKS, SourceKind.CLOUD}:
        return "looked at by sync"
    return "has changed" if stale else "current"
