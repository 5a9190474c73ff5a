"""What people see of personas. Plain lines, safe to show on any terminal."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from chapterhouse.agents.curated import Outcome as Curation
from chapterhouse.agents.persona_config import CONFIG_FILE
from chapterhouse.agents.persona_folder import PROSE_FILE, RAW, PersonaFolder
from chapterhouse.agents.problems import Problem, Severity
from chapterhouse.interfaces.cli import render
from chapterhouse.interfaces.cli.terminal import columns, indented, one_line, say, styled
from chapterhouse.text.counting import counted
from chapterhouse.types import CorpusCounts

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.agents.listing import Listed
    from chapterhouse.agents.persona_update import PersonaUpdate
    from chapterhouse.agents.personas import Entry
    from chapterhouse.agents.proposal import Change, Proposal
    from chapterhouse.agents.refresh import Refresh


# Every standing of a file, in order. By value: what lists files is slow to load.
STANDINGS: Final = {
    "indexed": "green",
    "partial": "yellow",
    "new": "cyan",
    "rejected": "red",
    "removed": "dim",
    "ignored": "dim",
}
_REPORTED: Final = frozenset((Curation.FAILED, Curation.CONFLICT, Curation.ORPHANED))


def made(
    target: "Console",
    folder: PersonaFolder,
    problems: Sequence[Problem],
    reopening: str,
) -> None:
    """Say where a new persona is and what comes next."""
    slug = folder.slug
    say(target, "Made ", (folder.display_name, "bold"), f" in {folder.path}")
    say(target, "Next:")
    steps = (
        (f"1. Say who they are, in {PROSE_FILE}:", f"chapterhouse persona edit {slug}{reopening}"),
        (f"2. Drop documents, or a .links list of web pages, into {RAW}/, or name them:",
         f"chapterhouse persona update {slug} --file PATH{reopening}"),
        ("3. Read everything and let the documents propose a profile:",
         f"chapterhouse persona update {slug}{reopening}"),
    )  # fmt: skip
    for what, how in steps:
        say(target, f"  {what}")
        say(target, f"     {how}")
    for one in problems:
        problem(target, one)


def entries(target: "Console", found: "Sequence[Entry]", counts: Mapping[str, int]) -> None:
    """List personas, a line each; those that cannot be used with the reason under it."""
    if not found:
        say(target, "No personas. Make one: chapterhouse persona new SLUG")
        return
    rows = [("slug", "name", "documents", "tags")]
    rows += [
        (
            entry.slug,
            entry.folder.display_name if entry.folder else "(cannot be used)",
            f"{counts[entry.slug]:,}",
            _few(entry.folder.config.tags) if entry.folder else "",
        )
        for entry in found
    ]
    columns(target, rows)
    for entry in found:
        for one in entry.problems:
            problem(target, one)


def persona(
    target: "Console", folder: PersonaFolder, census: CorpusCounts, *, current: bool
) -> None:
    """Show everything known of a persona."""
    config, profile = folder.config, folder.config.profile
    state = (
        "" if current else "; their folder has changed since, and is read with the next question"
    )
    rows = [
        ("name", folder.display_name),
        ("slug", folder.slug),
        ("folder", str(folder.path)),
        ("expertise", profile.expertise or "not told yet"),
        ("tags", ", ".join(config.tags) or "none"),
        ("key terms", ", ".join(profile.key_terms) or "none"),
        ("aliases", ", ".join(profile.aliases) or "none"),
        ("documents", f"{census.documents:,}, {counted(census.chunks, 'chunk')}{state}"),
        ("folders", ", ".join(map(str, folder.folders)) or "none but their own"),
        ("reads too", ", ".join(config.shelves) or "no other shelf"),
        ("removed", ", ".join(config.exclude) or "nothing"),
        ("retrieval", _settings(config.retrieval.model_dump(exclude_none=True))),
        ("grounding", config.grounding),
        ("model", config.model or "the library's"),
        ("out of scope", config.out_of_scope),
        ("memory", _settings(config.memory.model_dump(exclude_none=True))),
        ("answers", _settings(config.answer.model_dump(exclude_none=True))),
    ]
    columns(target, rows, header=False)
    if folder.prose:
        target.print()
        indented(target, folder.prose, 2)


def problems(target: "Console", found: Sequence[Problem]) -> None:
    """Show what validation found."""
    for one in found:
        problem(target, one)
    errors = sum(one.severity is Severity.ERROR for one in found)
    warnings = len(found) - errors
    say(target, f"{counted(errors, 'error')}, {counted(warnings, 'warning')}")


def problem(target: "Console", found: Problem) -> None:
    """Show where something is wrong, why, and what to do."""
    colour = "bold red" if found.severity is Severity.ERROR else "yellow"
    where = one_line(": ".join(filter(None, (found.file, found.place))))
    severity = (f"{found.severity.value:<8}", colour)
    say(target, severity, (where, "bold"), (f"  ({found.code.value})", "dim"))
    say(target, f"        {one_line(found.sentence)}")
    say(target, (f"        {one_line(found.hint)}", "dim"))


def documents(target: "Console", listed: "Sequence[Listed]") -> None:
    """List a persona's files, and under each that is not indexed why."""
    if not listed:
        say(target, f"No documents. Drop some into {RAW}/.")
        return
    width = max(map(len, STANDINGS)) + 2
    for entry in listed:
        shared = f"  shared with {', '.join(entry.shared_with)}" if entry.shared_with else ""
        detail = f"  {entry.document_id}  {counted(entry.chunks, 'chunk')}" if entry.chunks else ""
        target.print(
            styled(
                (f"{entry.status.value:<{width}}", STANDINGS[entry.status]),
                (one_line(entry.source), "bold"),
                (one_line(detail + shared).join(("  ", "")) if detail or shared else "", "dim"),
            )
        )
        if entry.reason:
            code = f" ({entry.code})" if entry.code else ""
            say(target, " " * width + one_line(entry.reason) + code)
    counts = Counter(entry.status.value for entry in listed)
    text = ", ".join(f"{counts[name]} {name}" for name in STANDINGS if counts[name])
    say(target, (f"{counted(len(listed), 'file')}: ", "bold"), text)


def moved(target: "Console", entry: "Listed", back: str, *, out: bool, dry_run: bool) -> None:
    """Say what was taken out of the index or into it again, and how to undo it."""
    verb = ("Would take" if dry_run else "Took", "out of the index" if out else "in again")
    say(target, f"{verb[0]} {one_line(entry.source)} {verb[1]}.")
    if out and not dry_run:
        say(target, f"The file stays where it is; {CONFIG_FILE} names it under 'exclude'.")
        say(target, f"Bring it back with: {back}")


def update(
    target: "Console", value: "PersonaUpdate", *, dry_run: bool, shown: bool = False
) -> None:
    """Say what was fetched, curated and indexed, and show the proposal unless it was ``shown``."""
    for name in value.copied:
        say(target, f"Copied in: {one_line(name)}")
    _fetched(target, value)
    refresh(target, value.refresh, dry_run=dry_run)
    if value.again and value.again.outcomes:
        say(target, f"Read anew: {counted(len(value.again.outcomes), 'document')}")
    if value.accepted:
        say(target, ("Profile written.", "green"), f" See {CONFIG_FILE}.")
    if not (shown and value.proposal):
        proposal(target, value.proposal)
    if value.proposal and not value.accepted:
        say(target, f"Not written. Accept it: chapterhouse persona update {value.slug} --yes")


def _fetched(target: "Console", value: "PersonaUpdate") -> None:
    if value.fetched is None:
        return
    counts = Counter(outcome.status for outcome in value.fetched.outcomes)
    text = ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none listed"
    say(target, ("Pages: ", "bold"), text)
    for outcome in value.fetched.outcomes:
        if outcome.status == "failed":
            say(target, ("failed    ", "red"), one_line(outcome.link.url))
            why = " ".join(filter(None, (outcome.message, outcome.hint)))
            say(target, f"          {one_line(why)} ({outcome.code})")
    for page in value.fetched.orphaned:
        say(target, ("gone      ", "dim"), f"{one_line(page.url)}: no list has it any more")


def refresh(target: "Console", value: "Refresh", *, dry_run: bool = False) -> None:
    """Say what bringing a persona up to date did."""
    for warning in value.warnings:
        say(target, ("warning   ", "yellow"), one_line(warning))
    if value.curation is not None:
        counts = Counter(outcome.status.value for outcome in value.curation.outcomes)
        text = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        verb = "Would curate" if dry_run else "Curated"
        say(target, (f"{verb}: ", "bold"), text or "nothing")
        for outcome in value.curation.outcomes:
            if outcome.status in _REPORTED:
                say(target, (f"{outcome.status.value:<10}", "red"), one_line(outcome.source))
                say(target, f"          {one_line(outcome.sentence)} ({outcome.code})")
    if value.sync is not None:
        (render.planned if dry_run else render.report)(target, value.sync.files)
        for source in value.sync.removed:
            say(target, ("removed   ", "dim"), one_line(source))
        for move in value.sync.moves:
            text = " ".join(
                [*(f"+{shelf}" for shelf in move.joined), *(f"-{shelf}" for shelf in move.left)]
            )
            say(target, ("shelves   ", "dim"), f"{one_line(move.source)}: {text}")


def proposal(target: "Console", value: "Proposal") -> None:
    """Show a proposed profile as a difference."""
    for warning in value.warnings:
        say(target, ("warning   ", "yellow"), one_line(warning))
    if not value:
        say(target, "The profile is as the documents have it; nothing to change.")
        return
    say(target, ("Profile, ", "bold"), f"by {one_line(value.method)}:")
    reasons = dict(value.reasons)
    for change in value.changes:
        say(target, (f"  {change.key}", "bold"), (f"  ({change.why})", "dim"))
        if isinstance(change.before, str) or isinstance(change.after, str):
            _sentence_change(target, change)
            continue
        for entry in change.dropped:
            say(target, (f"    - {entry}", "red"), ("  in no document any more", "dim"))
        for entry in change.added:
            reason = f"  {reasons[entry]}" if change.key == "tags" and entry in reasons else ""
            say(target, (f"    + {entry}", "green"), (reason, "dim"))


def _sentence_change(target: "Console", change: "Change") -> None:
    if change.before:
        say(target, (f"    - {change.before}", "red"))
    if change.after:
        say(target, (f"    + {change.after}", "green"))


def _settings(values: dict[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "as the library"


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown}, …" if len(names) > 5 else shown  # noqa: PLR2004 - a line's worth
