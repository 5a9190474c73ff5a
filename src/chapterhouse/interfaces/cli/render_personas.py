"""What people see of personas. Plain lines, safe to show on any terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from chapterhouse.agents.curated import Outcome as Curation
from chapterhouse.agents.problems import Problem, Severity
from chapterhouse.interfaces.cli import render
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types.personas import CONFIG_FILE

if TYPE_CHECKING:
    from chapterhouse.agents.listing import Listed
    from chapterhouse.agents.persona_update import PersonaUpdate, Proposal
    from chapterhouse.agents.registry import Refresh


# Every standing of a file, in order. By value: what lists files is slow to load.
STANDINGS: Final = {
    "indexed": Style.GOOD,
    "partial": Style.WARNING,
    "new": Style.NOTABLE,
    "rejected": Style.BAD,
    "removed": Style.QUIET,
    "ignored": Style.QUIET,
}
_REPORTED: Final = frozenset((Curation.FAILED, Curation.CONFLICT, Curation.ORPHANED))


def problems(found: Sequence[Problem]) -> Iterator[Block]:
    """Show what validation found."""
    for one in found:
        yield from problem(one)
    errors = sum(one.severity is Severity.ERROR for one in found)
    warnings = len(found) - errors
    yield verbatim(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}")


def problem(found: Problem) -> Iterator[Block]:
    """Show where something is wrong, why, and what to do."""
    colour = Style.BAD if found.severity is Severity.ERROR else Style.WARNING
    where = one_line(": ".join(filter(None, (found.file, found.place))))
    severity = (f"{found.severity.value:<8}", colour)
    yield verbatim(severity, (where, Style.STRONG), (f"  ({found.code.value})", Style.QUIET))
    yield verbatim(f"        {one_line(found.sentence)}")
    yield verbatim((f"        {one_line(found.hint)}", Style.QUIET))


def documents(listed: "Sequence[Listed]", into: str) -> Iterator[Block]:
    """List files, and under each that is not indexed why; or say ``into`` what to drop some."""
    if not listed:
        yield verbatim(f"No documents. Drop some into {into}")
        return
    width = max(map(len, STANDINGS)) + 2
    for entry in listed:
        shared = f"  shared with {', '.join(entry.shared_with)}" if entry.shared_with else ""
        detail = f"  {entry.document_id}  {counted(entry.chunks, 'chunk')}" if entry.chunks else ""
        yield verbatim(
            (f"{entry.status.value:<{width}}", STANDINGS[entry.status]),
            (one_line(entry.source), Style.STRONG),
            (one_line(detail + shared).join(("  ", "")) if detail or shared else "", Style.QUIET),
        )
        if entry.reason:
            code = f" ({entry.code})" if entry.code else ""
            yield verbatim(" " * width + one_line(entry.reason) + code)
    counts = Counter(entry.status.value for entry in listed)
    text = ", ".join(f"{counts[name]} {name}" for name in STANDINGS if counts[name])
    yield verbatim((f"{counted(len(listed), 'file')}: ", Style.STRONG), text)


def moved(entry: "Listed", back: str, *, out: bool, dry_run: bool) -> Iterator[Block]:
    """Say what was taken out of the index or into it again, and how to undo it."""
    verb = ("Would take" if dry_run else "Took", "out of the index" if out else "in again")
    yield verbatim(f"{verb[0]} {one_line(entry.source)} {verb[1]}.")
    if out and not dry_run:
        yield verbatim(f"The file stays where it is; {CONFIG_FILE} names it under 'exclude'.")
        yield verbatim(f"Bring it back with: {back}")


def update(value: "PersonaUpdate", *, dry_run: bool, shown: bool = False) -> Iterator[Block]:
    """Say what was fetched, curated and indexed, and show the proposal unless it was ``shown``."""
    for name in value.copied:
        yield verbatim(f"Copied in: {one_line(name)}")
    yield from _fetched(value)
    yield from refresh(value.refresh, dry_run=dry_run)
    if value.again and value.again.outcomes:
        yield verbatim(f"Read anew: {counted(len(value.again.outcomes), 'document')}")
    if value.accepted:
        yield verbatim(("Profile written.", Style.GOOD), f" See {CONFIG_FILE}.")
    if not (shown and value.proposal):
        yield from proposal(value.proposal)
    if value.proposal and not value.accepted:
        yield verbatim(f"Not written. Accept it: chapterhouse persona update {value.slug} --yes")


def _fetched(value: "PersonaUpdate") -> Iterator[Block]:
    if value.fetched is None:
        return
    counts = Counter(outcome.status for outcome in value.fetched.outcomes)
    text = ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none listed"
    yield verbatim(("Pages: ", Style.STRONG), text)
    for outcome in value.fetched.outcomes:
        if outcome.status == "failed":
            why = one_line(f"{outcome.message} {outcome.hint}")
            url = one_line(outcome.link.url)
            yield from render.entry("failed", Style.BAD, url, f"{why} ({outcome.code})")
    for page in value.fetched.orphaned:
        gone = f"{one_line(page.url)}: no list has it any more"
        yield from render.entry("gone", Style.QUIET, gone)


def refresh(value: "Refresh", *, dry_run: bool = False) -> Iterator[Block]:
    """Say what bringing a persona up to date did."""
    for warning in value.warnings:
        yield from render.entry("warning", Style.WARNING, one_line(warning))
    if value.curation is not None:
        counts = Counter(outcome.status.value for outcome in value.curation.outcomes)
        text = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        verb = "Would curate" if dry_run else "Curated"
        yield verbatim((f"{verb}: ", Style.STRONG), text or "nothing")
        for outcome in value.curation.outcomes:
            if outcome.status in _REPORTED:
                name, why = one_line(outcome.source), one_line(outcome.sentence)
                reason = f"{why} ({outcome.code})"
                yield from render.entry(outcome.status.value, Style.BAD, name, reason)
    if value.sync is not None:
        yield from (render.planned if dry_run else render.report)(value.sync.files)
        for source in value.sync.removed:
            yield from render.entry("removed", Style.QUIET, one_line(source))
        for move in value.sync.moves:
            shelves = (*(f"+{name}" for name in move.joined), *(f"-{name}" for name in move.left))
            text = f"{one_line(move.source)}: {' '.join(shelves)}"
            yield from render.entry("shelves", Style.QUIET, text)


def proposal(value: "Proposal") -> Iterator[Block]:
    """Show a proposed profile as a difference."""
    for warning in value.warnings:
        yield from render.entry("warning", Style.WARNING, one_line(warning))
    if not value:
        yield verbatim("The profile stays as it is.")
        return
    yield verbatim(("Profile, ", Style.STRONG), f"by {one_line(value.method)}; yours stays:")
    for change in value.changes:
        yield verbatim((f"  {change.key}", Style.STRONG))
        is_text = isinstance(change.before, str) or isinstance(change.after, str)
        dropped = (str(change.before or ""),) if is_text else change.dropped
        added = (str(change.after or ""),) if is_text else change.added
        for entry in filter(None, dropped):
            yield verbatim((f"    - {entry}", Style.BAD))
        for entry in filter(None, added):
            yield verbatim((f"    + {entry}", Style.GOOD))
