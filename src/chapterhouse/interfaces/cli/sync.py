"""Commands that make a library follow its folders: sync, and those of sources."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from threading import Event
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.interfaces.cli import jobs, progress, render
from chapterhouse.interfaces.cli.options import (
    Confirmed,
    DryRun,
    OnShelf,
    Yes,
    argument,
    common,
    flag,
    group,
    option,
    require_path,
)
from chapterhouse.interfaces.cli.session import (
    Outcome,
    console,
    opened_library,
    require_yes,
    survive_the_locale,
)
from chapterhouse.presenting.blocks import Style, TerminalBlock, record, table, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.terminal import draw
from chapterhouse.text.counting import counted
from chapterhouse.types import Job, Source, SourceKind, Trust, source_result

if TYPE_CHECKING:
    from chapterhouse.library import Library
    from chapterhouse.types import SyncReport

_AGENTS: Final = (SourceKind.PERSONA, SourceKind.COUNCIL)
_MEGABYTE: Final = 2**20

app = group("Say which folders and lists of web pages the library follows.")

Names = Annotated[list[str] | None, argument("[SOURCE]...", "Names or paths of sources.")]
Name = Annotated[str, argument("SOURCE", "The name or the path of a source.")]


def sync(
    names: Names = None,
    *,
    watch: Annotated[bool, flag("--watch", "Go on, and sync whenever something changes.")] = False,
    no_delete: Annotated[
        bool, flag("--no-delete", "Let documents stay whose files are gone.")
    ] = False,
    yes: Confirmed = False,
    background: Annotated[
        bool, flag("--background", "Leave it to the next worker, and print the job.")
    ] = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Make the library the image of its folders again.

    Reads what is new or has changed, follows files that were renamed or moved, and removes
    documents whose files are gone. Without a name: all sources, the folders of personas and
    councils, and the files that were added one by one.

    Documents stay whose disk is away, and so do those of a folder that would lose more than half of
    them and more than twenty: a folder that was emptied by mistake looks like that. Add --yes, when
    the files were deleted.

    Exit code 4 says that something was not read or not synced, or that such documents stay.
    """
    if (watch or background) and (dry_run or no_delete or yes or watch == background):
        raise typer.BadParameter("--watch and --background go with no other option.")

    with opened_library() as library:
        chosen = tuple(names or ())
        if background:
            job = library.sources.sync_later(*chosen)
            return Outcome(job, jobs.waits(job))
        with progress.interruptible() as on_progress:
            reports = library.sources.sync(
                *chosen,
                delete=not no_delete,
                confirmed=yes,
                dry_run=dry_run,
                on_progress=on_progress,
            )
            progress.require_end(*(report.files for report in reports))
        if watch:
            return _watch(library, chosen, reports)
    return render.synced(reports, dry_run=dry_run)


def _watch(library: "Library", names: Sequence[str], first: "Sequence[SyncReport]") -> Outcome:
    """Show what each sync did until the user stops it."""
    synced = 0
    survive_the_locale()
    draw(console(), render.sync_reports(first, dry_run=False))
    folders = counted(len(library.sources.list()), "source")
    typer.echo(f"Watching {folders}. Stop with Ctrl-C.", err=True)
    try:
        for reports in library.sources.watch(*names, stop=Event()):
            synced += 1
            draw(console(), render.sync_changes(reports))
    except KeyboardInterrupt:
        typer.echo(f"Stopped watching after {counted(synced, 'sync', 'syncs')}.", err=True)
    return Outcome({"syncs": synced}, (), is_reported=not common().json)


@app.command()
def add(
    path: Annotated[str, argument("PATH", "A folder, or a list of web pages.")],
    *,
    name: Annotated[str, option("--name", "NAME", "How it is called.  [default: its own]")] = "",
    shelf: OnShelf = "",
    include: Annotated[
        list[str] | None,
        option("--include", "PATTERN", "Read only such files, as in .gitignore; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        option("--exclude", "PATTERN", "Do not read such files; repeatable."),
    ] = None,
    maximum: Annotated[
        int, option("--maximum", "MB", "Reject larger files; 0 for the settings' limit.", least=0)
    ] = 0,
    trust: Annotated[
        Trust | None,
        option("--trust", "LEVEL", "How far it is trusted: own, shared, external or web."),
    ] = None,
    persona: Annotated[
        str, option("--persona", "NAME", "Give the folder to a persona, for them alone.")
    ] = "",
    council: Annotated[str, option("--council", "NAME", "Give the folder to a council.")] = "",
) -> Outcome:
    """Follow a folder, or a list of web pages.

    Nothing is read yet: chapterhouse sync reads it. `chapterhouse add FOLDER` does both. Adding a
    source again changes its patterns and its limit.
    """
    if persona and council:
        raise typer.BadParameter("--persona and --council exclude each other.")
    with opened_library(create=True) as library:
        sources = library.sources
        if persona or council:
            if include or exclude or maximum or name or trust:
                raise typer.BadParameter(
                    "No pattern, limit, name or trust goes with a persona or council."
                )
            owner = library.personas if persona else library.councils
            source = sources.give(require_path(path), owner, persona or council)
        else:
            source = sources.add(
                require_path(path),
                name=name,
                shelf=shelf,
                include=include or (),
                exclude=exclude or (),
                maximum_bytes=maximum * 2**20,
                trust=trust,
            )
        return Outcome({"source": source}, _added(source))


@app.command("list")
def list_sources() -> Outcome:
    """List the sources, when each was synced, and whether it has changed since."""
    with opened_library() as library:
        sources = library.sources.list()
        stale = {one.name: library.sources.is_stale(one) for one in sources}
        data = [{"source": one, "stale": stale[one.name]} for one in sources]
        return Outcome({"sources": data}, _table(sources, stale))


@app.command()
def show(name: Name) -> Outcome:
    """Show a source and what became of its files."""
    with opened_library() as library:
        source = library.sources.get(name)
        files = tuple(library.sources.files(source))
        counts = Counter(record.status.value for record in files)
        stale = library.sources.is_stale(source)
        syncs = library.sources.history(source)
        data = {"source": source, "stale": stale, "counts": counts, "syncs": syncs}
        return Outcome(data, _record(source, counts, syncs, stale=stale))


@app.command()
def trust(
    name: Name,
    level: Annotated[Trust, argument("LEVEL", "own, shared, external or web.")],
) -> Outcome:
    """Say how far a source is trusted.

    It holds at once for every document of the source; nothing is read again. Answers show it where
    a source is not your own.
    """
    with opened_library() as library:
        source = library.sources.set_trust(name, level)
        return Outcome(
            {"source": source}, [verbatim((source.name, Style.STRONG), f": {source.trust}")]
        )


@app.command()
def remove(
    name: Name,
    *,
    documents: Annotated[
        bool, flag("--documents", "Remove its documents from the library, too.")
    ] = False,
    persona: Annotated[
        str, option("--persona", "NAME", "Take the folder away from a persona.")
    ] = "",
    council: Annotated[
        str, option("--council", "NAME", "Take the folder away from a council.")
    ] = "",
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Follow a source no longer.

    Its documents stay, unless --documents is given: then they leave the library, which needs to be
    confirmed. Those of a folder that is taken away from a persona or a council leave with the next
    sync. The files are not touched.
    """
    if persona or council:
        if documents or yes or dry_run or (persona and council):
            raise typer.BadParameter("--persona and --council go with no other option.")
        with opened_library() as library:
            owner = library.personas if persona else library.councils
            source = library.sources.take(require_path(name), owner, persona or council)
            return Outcome({"source": source}, _taken(source, name))
    with opened_library() as library:
        source = library.sources.get(name)
        ids = [one.document_id for one in library.sources.files(source) if one.document_id]
        removed = sorted(set(ids)) if documents else []
        if removed and not (yes or dry_run):
            count = counted(len(removed), "document")
            require_yes(f"Remove the source '{source.name}' and {count}")
        if not dry_run:
            library.sources.remove(source.name)
            if removed:
                library.documents.remove(*removed)
        data = {"source": source, "removed": len(removed), "dry_run": dry_run}
        stays = len(set(ids)) - len(removed)
        shown = _dropped(source, len(removed), stays, dry_run=dry_run)
        return Outcome(data, shown)


# --- what is shown ------------------------------------------------------------------------------


def _added(source: Source) -> Iterator[TerminalBlock]:
    yield verbatim("Following ", (source.name, Style.STRONG), f": {one_line(source.location)}")
    yield verbatim(f"Next: chapterhouse sync {source.name}")


def _taken(source: Source, path: str) -> Iterator[TerminalBlock]:
    yield verbatim((source.name, Style.STRONG), f" no longer reads {one_line(path)}")
    yield verbatim(f"Next: chapterhouse sync {source.name}")


def _dropped(source: Source, removed: int, stays: int, *, dry_run: bool) -> Iterator[TerminalBlock]:
    verb = "Would stop following" if dry_run else "No longer following"
    yield verbatim(f"{verb} ", (source.name, Style.STRONG))
    if removed:
        what = "would be removed" if dry_run else "were removed"
        yield verbatim(f"{counted(removed, 'document')} {what}.")
    if stays:
        yield verbatim(f"{counted(stays, 'document stays', 'documents stay')} in the library.")


def _table(found: Sequence[Source], stale: Mapping[str, bool]) -> Iterator[TerminalBlock]:
    yield from table(
        found,
        ("source", lambda one: one.name),
        "kind",
        "shelf",
        ("trust", _trust),
        ("synced", _when),
        ("state", lambda one: _state(one, stale[one.name])),
        ("place", lambda one: one.location),
        none="No sources yet. Add one: chapterhouse source add FOLDER",
    )
    for one in found:
        if one.problem:
            yield verbatim((f"{one.name}: {one_line(one.problem)}", Style.WARNING))


def _record(
    one: Source, counts: Mapping[str, int], syncs: Sequence[Job], *, stale: bool
) -> Iterator[TerminalBlock]:
    """Show one source, what became of its files, and what the latest syncs did."""
    yield record(
        one,
        ("source", one.name),
        "kind",
        ("place", one.location),
        "shelf",
        ("trust", _trust(one)),
        "include",
        "exclude",
        ("maximum", f"{one.maximum_bytes // _MEGABYTE:,} MB" if one.maximum_bytes else ""),
        ("synced", _when(one)),
        ("state", _state(one, stale)),
        ("files", ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))),
        "problem",
    )
    for job in syncs:
        yield verbatim(f"{_moment(job.finished)}  {job.id}  {_did(job, one.name)}")


def _trust(one: Source) -> Trust | None:
    return None if one.kind in _AGENTS else one.trust


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
