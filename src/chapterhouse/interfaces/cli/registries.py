"""What the commands about personas and about councils share: to make, list, show and check one."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from chapterhouse.agents.curated import Outcome as Curation
from chapterhouse.agents.problems import Problem, Severity
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.cli import render
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import common, require_path
from chapterhouse.interfaces.cli.session import (
    FAILED,
    OK,
    Outcome,
    named_home,
    opened_library,
    require_yes,
)
from chapterhouse.presenting.blocks import Columns, Style, TerminalBlock, table, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chapterhouse.agents.definition import DefinitionFolder
    from chapterhouse.agents.listing import FileListing
    from chapterhouse.agents.registry import Entry, Refresh, Registry
    from chapterhouse.library import Library

# Every standing of a file, in order. By value: what lists files is slow to load.
_STANDINGS: Final = {
    "indexed": Style.GOOD,
    "partial": Style.WARNING,
    "new": Style.NOTABLE,
    "rejected": Style.BAD,
    "removed": Style.QUIET,
    "ignored": Style.QUIET,
}
_REPORTED: Final = frozenset((Curation.FAILED, Curation.CONFLICT, Curation.ORPHANED))

Folder = TypeVar("Folder", bound="DefinitionFolder[Any]")
Rows = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Noun(Generic[Folder]):
    """What personas or councils have for themselves.

    Attributes:
        homes: Folders of the home from which a library can be made.
        entry: What ``--json`` says of each in a list, as HTTP does.
        lists: What a list names of each, by the column of a table.
        data: What ``--json`` shows of one beside that and its folder.
        rows: What people are shown of one, from what is said of its documents.
        later: When its folders are read if they have changed.
        prose: What people are shown below the rows.
    """

    kind: str
    registry: "Callable[[Library], Registry[Folder]]"
    homes: tuple[str, ...]
    entry: "Callable[[Entry[Folder], Library], object]"
    lists: Mapping[str, Callable[[Folder], Sequence[str]]]
    columns: Mapping[str, Callable[[Sequence[str]], str]]
    data: Callable[[Folder], Mapping[str, object]]
    rows: Callable[[Folder, str], Rows]
    later: str
    prose: Callable[[Folder], str] = lambda _: ""

    def opened(self) -> "AbstractContextManager[Library]":
        """Open the library, which is made where only such folders are there yet."""
        there = any((named_home() / name).is_dir() for name in self.homes)
        return opened_library(create=common().workspace == "default" and there)


# --- the commands -------------------------------------------------------------------------------


def made(
    noun: Noun[Folder],
    folder: Folder,
    steps: Mapping[str, str],
    problems: Sequence[Problem],
    read: "Refresh | None" = None,
    members: Sequence[str] = (),
) -> Outcome:
    """Say where a new one is, what was read for whom, and what comes next: what to do, and how."""

    def blocks() -> Iterator[TerminalBlock]:
        yield verbatim("Made ", (folder.display_name, Style.STRONG), f" in {folder.path}")
        if read is not None:
            yield verbatim(f"{counted(len(members), 'member')}:")
            yield from (verbatim(f"  {one_line(name)}") for name in members)
            yield from show_refresh(read)
        yield verbatim("Next:")
        for number, (what, how) in enumerate(steps.items(), 1):
            yield verbatim(f"  {number}. {what}:")
            yield verbatim(f"     {how}")
        for one in problems:
            yield from _problem(one)

    data = {**_data(noun, folder), "problems": _problems_data(problems)}
    if read is None:
        return Outcome(data, blocks())
    return Outcome({**data, "refresh": read}, blocks(), refresh_code(read))


def refresh_code(value: "Refresh") -> int:
    """Return 4 where a file was rejected or read in part, now or earlier, else 0."""
    return render.report_code(value.sync.files) if value.sync else OK


def list_all(noun: Noun[Folder]) -> Outcome:
    """List all, also those that cannot be used, with the reason."""
    with noun.opened() as library:
        registry = noun.registry(library)
        entries = registry.all()
        counts = [registry.census(entry.slug).documents for entry in entries]
        data = [noun.entry(entry, library) for entry in entries]
    return Outcome(data, _table(noun, entries, counts))


def show(noun: Noun[Folder], name: str) -> Outcome:
    """Show everything known of one."""
    with noun.opened() as library:
        registry = noun.registry(library)
        folder, census = registry.load(name), registry.census(name)
        current = registry.is_current(name)
        listed = next(one for one in registry.all() if one.slug == folder.slug)
        entry = plain(noun.entry(listed, library))
    state = "" if current else f"; {noun.later}"
    rows = [
        ("name", folder.display_name),
        ("slug", folder.slug),
        ("folder", str(folder.path)),
        *noun.rows(folder, f"{census.documents:,}, {counted(census.chunks, 'chunk')}{state}"),
    ]
    data = {**entry, **_data(noun, folder), "census": census, "current": current}
    prose = noun.prose(folder)
    below = (verbatim(), verbatim(prose, indent=2)) if prose else ()
    return Outcome(data, (Columns(rows, header=False), *below))


def validate(noun: Noun[Folder], name: str | None) -> Outcome:
    """Name everything wrong with one, or with all."""
    with noun.opened() as library:
        return checked(noun.registry(library).validate(name))


def remove(noun: Noun[Folder], name: str, *, yes: bool, dry_run: bool) -> Outcome:
    """Remove one, once what goes with it was told and that is confirmed."""
    with noun.opened() as library:
        registry = noun.registry(library)
        found = registry.remove_agent(name, dry_run=True)
        if not dry_run:
            if not yes:
                require_yes(f"Remove {found.display_name}", listed=found.sentences)
            found = registry.remove_agent(found.slug)
    does = "Would remove" if dry_run else "Removed"
    blocks = [verbatim(f"{does} ", (found.display_name, Style.STRONG), ".")]
    blocks += [verbatim(f"  {one_line(text)}") for text in found.sentences]
    blocks += [] if dry_run else [verbatim(f"Its folder: {one_line(found.folder)}")]
    return Outcome({**plain(found), "dry_run": dry_run}, blocks)


def checked(found: Sequence[Problem]) -> Outcome:
    """Show what validation found; exit code 1 where something cannot be used."""
    failed = any(problem.severity is Severity.ERROR for problem in found)
    return Outcome(_problems_data(found), show_problems(found), FAILED if failed else OK)


def absolute(path: str) -> str:
    """Return a path as a configuration keeps it, which is read from anywhere."""
    return path if path.startswith("~") else str(Path(require_path(path)).absolute())


def folder_named(path: str) -> str:
    """Return the path of a folder that is there, as ``absolute``."""
    if not Path(absolute(path)).expanduser().is_dir():
        raise NotFoundError(f"There is no folder {path}.", hint="Check the spelling.")
    return absolute(path)


# --- what is shown ------------------------------------------------------------------------------


def _table(
    noun: Noun[Folder], entries: "Sequence[Entry[Folder]]", counts: Sequence[int]
) -> Iterator[TerminalBlock]:
    """List all, a line each, and below them why some cannot be used."""

    def cell(name: str, folder: Folder | None) -> str:
        return noun.columns[name](noun.lists[name](folder)) if folder else ""

    count = dict(zip((entry.slug for entry in entries), counts, strict=True))
    yield from table(
        entries,
        "slug",
        ("name", lambda one: one.folder.display_name if one.folder else "(cannot be used)"),
        ("documents", lambda one: count[one.slug]),
        *((name, lambda one, name=name: cell(name, one.folder)) for name in noun.columns),
        none=f"No {noun.kind}s. Make one: chapterhouse {noun.kind} new SLUG",
    )
    for entry in entries:
        for problem in entry.problems:
            yield from _problem(problem)


def _data(noun: Noun[Folder], folder: Folder) -> dict[str, object]:
    name = {"slug": folder.slug, "display_name": folder.display_name, "path": str(folder.path)}
    return {**name, **noun.data(folder)}


def _problems_data(found: Sequence[Problem]) -> dict[str, object]:
    counts = Counter(problem.severity for problem in found)
    return {"problems": found, "counts": {kind.value: counts[kind] for kind in Severity}}


def documents_data(listed: "Sequence[FileListing]") -> dict[str, object]:
    """Shape what is indexed of a persona or a council."""
    counts = Counter(entry.status.value for entry in listed)
    return {
        "documents": listed,
        "counts": {name: counts[name] for name in _STANDINGS},
    }


def show_problems(found: Sequence[Problem]) -> Iterator[TerminalBlock]:
    """Show what validation found."""
    for one in found:
        yield from _problem(one)
    errors = sum(one.severity is Severity.ERROR for one in found)
    warnings = len(found) - errors
    yield verbatim(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}")


def _problem(found: Problem) -> Iterator[TerminalBlock]:
    colour = Style.BAD if found.severity is Severity.ERROR else Style.WARNING
    where = one_line(": ".join(filter(None, (found.file, found.place))))
    severity = (f"{found.severity.value:<8}", colour)
    yield verbatim(severity, (where, Style.STRONG), (f"  ({found.code.value})", Style.QUIET))
    yield verbatim(f"        {one_line(found.sentence)}")
    yield verbatim((f"        {one_line(found.hint)}", Style.QUIET))


def show_documents(listed: "Sequence[FileListing]", into: str) -> Iterator[TerminalBlock]:
    """List files, and under each that is not indexed why; or say ``into`` what to drop some."""
    if not listed:
        yield verbatim(f"No documents. Drop some into {into}")
        return
    width = max(map(len, _STANDINGS)) + 2
    for entry in listed:
        shared = f"  shared with {', '.join(entry.shared_with)}" if entry.shared_with else ""
        detail = f"  {entry.document_id}  {counted(entry.chunks, 'chunk')}" if entry.chunks else ""
        yield verbatim(
            (f"{entry.status.value:<{width}}", _STANDINGS[entry.status]),
            (one_line(entry.source), Style.STRONG),
            (one_line(detail + shared).join(("  ", "")) if detail or shared else "", Style.QUIET),
        )
        if entry.reason:
            code = f" ({entry.code})" if entry.code else ""
            yield verbatim(" " * width + one_line(entry.reason) + code)
    counts = Counter(entry.status.value for entry in listed)
    text = ", ".join(f"{counts[name]} {name}" for name in _STANDINGS if counts[name])
    yield verbatim((f"{counted(len(listed), 'file')}: ", Style.STRONG), text)


def show_refresh(value: "Refresh", *, dry_run: bool = False) -> Iterator[TerminalBlock]:
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
