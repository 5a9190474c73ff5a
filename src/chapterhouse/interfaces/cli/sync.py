"""Commands that make a library follow its folders: sync, and those of sources."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli import progress, render_jobs, render_sync
from chapterhouse.interfaces.cli.options import (
    Confirmed,
    DryRun,
    Yes,
    argument,
    common,
    flag,
    group,
    option,
    require_path,
)
from chapterhouse.interfaces.cli.session import (
    OK,
    PARTLY,
    Outcome,
    opened_library,
    require_yes,
    survive_the_locale,
)
from chapterhouse.interfaces.cli.terminal import console, draw
from chapterhouse.text.counting import counted
from chapterhouse.types import Trust

if TYPE_CHECKING:
    from chapterhouse.library import Library
    from chapterhouse.types import SyncReport

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
            return Outcome(job, render_jobs.waits(job))
        work = partial(
            library.sources.sync,
            *chosen,
            delete=not no_delete,
            confirmed=yes,
            dry_run=dry_run,
        )
        reports = progress.sync_with_progress(work)
        if watch:
            return _watch(library, chosen, reports)
    data = {"sources": reports, "dry_run": dry_run}
    return Outcome(data, render_sync.reports(reports, dry_run=dry_run), _code(reports))


def _watch(library: "Library", names: Sequence[str], first: "Sequence[SyncReport]") -> Outcome:
    """Show what each sync did until the user stops it."""
    synced = 0
    survive_the_locale()
    draw(console(), render_sync.reports(first, dry_run=False))
    folders = counted(len(library.sources.list()), "source")
    typer.echo(f"Watching {folders}. Stop with Ctrl-C.", err=True)
    try:
        for reports in library.sources.watch(*names, stop=Event()):
            synced += 1
            draw(console(), render_sync.changes(reports))
    except KeyboardInterrupt:
        typer.echo(f"Stopped watching after {counted(synced, 'sync', 'syncs')}.", err=True)
    return Outcome({"syncs": synced}, (), is_reported=not common().json)


def _code(reports: "Sequence[SyncReport]") -> int:
    """Return 4 where something was not synced or not read, else 0."""
    return PARTLY if any(render_sync.is_partial(report) for report in reports) else OK


@app.command()
def add(
    path: Annotated[str, argument("PATH", "A folder, or a list of web pages.")],
    *,
    name: Annotated[str, option("--name", "NAME", "How it is called.  [default: its own]")] = "",
    shelf: Annotated[
        str,
        option(
            "--shelf",
            "NAME",
            "The shelf to put its documents on.  [default: as before, else library]",
        ),
    ] = "",
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
        return Outcome({"source": source}, render_sync.added(source))


@app.command("list")
def list_sources() -> Outcome:
    """List the sources, when each was synced, and whether it has changed since."""
    with opened_library() as library:
        sources = library.sources.list()
        stale = {one.name: library.sources.is_stale(one) for one in sources}
        data = [{"source": one, "stale": stale[one.name]} for one in sources]
        return Outcome({"sources": data}, render_sync.sources(sources, stale))


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
        return Outcome(data, render_sync.source(source, counts, syncs, stale=stale))


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
        return Outcome({"source": source}, render_sync.trusted(source))


@app.command()
def remove(
    name: Name,
    *,
    documents: Annotated[
        bool, flag("--documents", "Remove its documents from the library, too.")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Follow a source no longer.

    Its documents stay, unless --documents is given: then they leave the library, which needs to be
    confirmed. The files are not touched.
    """
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
        shown = render_sync.dropped(source, len(removed), stays, dry_run=dry_run)
        return Outcome(data, shown)
