"""Commands about personas: new, list, show, edit, validate, update, docs."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.agents.curated import Outcome as Curation
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.problems import Problem, Severity
from chapterhouse.errors import UsageError
from chapterhouse.files import home_folder
from chapterhouse.interfaces.cli import render, render_personas
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import (
    DryRun,
    Yes,
    argument,
    common,
    flag,
    option,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.output_files import open_editor
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import (
    FAILED,
    OK,
    PARTLY,
    Outcome,
    confirm,
    may_ask,
    opened_library,
    require_yes,
)
from chapterhouse.interfaces.cli.terminal import console, draw

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chapterhouse.agents.listing import Listed
    from chapterhouse.agents.persona_update import PersonaUpdate, Proposal
    from chapterhouse.agents.personas import Personas
    from chapterhouse.agents.registry import Entry
    from chapterhouse.library import Library

app = typer.Typer(
    help="Make, describe, validate and update personas.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Who = Annotated[str, argument("SLUG", "A persona: their slug, the beginning of it, or their name.")]


@app.command()
def new(
    slug: Annotated[str, argument("SLUG", "Lower-case letters, digits and single hyphens.")],
    *,
    name: Annotated[str, option("--name", "NAME", "How they are called; else the slug.")] = "",
    template: Annotated[
        str,
        option(
            "--template",
            "NAME",
            "What to start from: expert, advisor, archivist, teacher or blank.",
        ),
    ] = "expert",
    folder: Annotated[
        list[str] | None,
        option("--folder", "PATH", "A folder elsewhere whose documents are theirs; repeatable."),
    ] = None,
) -> Outcome:
    """Make a persona's folder, with a description and a configuration to fill in.

    In a folder that is there already only what is missing is made.
    """
    with opened_library(create=True) as library:
        folders = [absolute(require_path(path)) for path in folder or ()]
        personas = library.personas
        made = personas.create(slug, display_name=name, template=template, folders=folders)
        errors = [one for one in personas.validate(slug) if one.severity.value == "error"]
        return Outcome(
            {**_folder_data(made), "problems": problems_data(errors)},
            render_personas.made(made, errors, reopening()),
        )


@app.command("list")
def list_personas() -> Outcome:
    """List the personas, also those that cannot be used, with the reason."""
    with _personas_library() as library:
        entries = library.personas.all()
        counts = {entry.slug: library.personas.census(entry.slug).documents for entry in entries}
        return Outcome(_entries_data(entries, counts), render_personas.entries(entries, counts))


@app.command()
def show(slug: Who) -> Outcome:
    """Show what is known of a persona: who they are, their field, their documents."""
    with _personas_library() as library:
        personas = library.personas
        folder, census = personas.load(slug), personas.census(slug)
        current = personas.is_current(slug)
        return Outcome(
            {**_folder_data(folder), "census": census, "current": current},
            render_personas.persona(folder, census, current=current),
        )


@app.command()
def edit(
    slug: Who,
    *,
    config: Annotated[
        bool, flag("--config", "Open the configuration, not the description.")
    ] = False,
    changes: Annotated[
        list[str] | None,
        option(
            "--set",
            "KEY=VALUE",
            "Set a key of the configuration, like retrieval.max_chunks=8; repeatable.",
        ),
    ] = None,
) -> Outcome:
    """Open a persona's description in $EDITOR, and say what is wrong afterwards.

    With --set nothing is opened. Exit code 1 says that the persona cannot be used as it is.
    """
    if config and changes:
        raise typer.BadParameter("--set changes the configuration without opening it.")

    with _personas_library() as library:
        personas = library.personas
        name = personas.resolve(slug)
        if changes:
            personas.change(name, dict(map(_pair, changes)))
        else:
            open_editor(personas.file(name, config=config), there_is_somebody=not common().json)
        problems = personas.validate(name)
        return Outcome(
            problems_data(problems), render_personas.problems(problems), problems_code(problems)
        )


@app.command()
def validate(
    slug: Annotated[str | None, argument("[SLUG]", "A persona; all when left out.")] = None,
) -> Outcome:
    """Name everything wrong in a persona's folder, by file, key and reason.

    Exit code 1 says that there are errors; warnings alone end with 0.
    """
    with _personas_library() as library:
        problems = library.personas.validate(slug)
        return Outcome(
            problems_data(problems), render_personas.problems(problems), problems_code(problems)
        )


@app.command()
def update(
    slug: Who,
    *,
    file: Annotated[
        list[str] | None, option("--file", "FILE", "Copy a file into RAW-DOCS first; repeatable.")
    ] = None,
    url: Annotated[
        list[str] | None, option("--url", "URL", "List and fetch a page first; repeatable.")
    ] = None,
    yes: Annotated[bool, flag("--yes", "Accept the profile without asking.")] = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Read a persona's documents again and propose a profile.

    All pages of their .links lists are fetched again and everything is read anew; with --file or
    --url only what is new. The profile (tags, expertise, key terms, other names) is shown and
    written only when accepted. Exit code 4 says that something could not be read.
    """
    with _personas_library() as library:
        personas = library.personas
        files = [Path(require_path(path)) for path in file or ()]
        with show_progress() as on_progress:
            done = personas.update(
                slug, files=files, urls=tuple(url or ()), on_progress=on_progress, dry_run=dry_run
            )
        asked = not (dry_run or yes) and may_ask()
        if done.proposal and not dry_run and (yes or (asked and _accepts(done.proposal))):
            personas.accept(done.slug, done.proposal)
            done = done.as_accepted()
        return Outcome(
            {**plain(done), "dry_run": dry_run},
            render_personas.update(done, dry_run=dry_run, shown=asked),
            _update_code(done),
        )


@app.command()
def docs(
    slug: Who,
    *,
    remove: Annotated[
        str, option("--remove", "NAME", "Take one file out of the index, and keep it out.")
    ] = "",
    restore: Annotated[str, option("--restore", "NAME", "Take a removed file in again.")] = "",
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """List a persona's documents: what is indexed, and why something is not.

    --remove takes a file out of the index and leaves it where it is. It asks first; off a
    terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    if remove and restore:
        raise typer.BadParameter("--remove and --restore exclude each other.")

    with _personas_library() as library:
        personas = library.personas
        if not remove and not restore:
            listed = personas.documents(slug)
            return Outcome(documents_data(listed), render_personas.documents(listed))
        chosen = personas.chosen(slug, remove or restore)
        if not dry_run:
            if remove and not yes:
                require_yes(f"Take {chosen.source} out of the index")
            _move(personas, slug, chosen, out=bool(remove))
        data = {"file": chosen, "removed": bool(remove), "dry_run": dry_run}
        name = personas.resolve(slug)
        again = f"chapterhouse persona docs {name} --restore {shlex.quote(chosen.source)}"
        return Outcome(
            data,
            render_personas.moved(chosen, again + reopening(), out=bool(remove), dry_run=dry_run),
        )


def _personas_library() -> "AbstractContextManager[Library]":
    """Open the library, which is made where only folders of personas are there yet."""
    return opened_library(create=has_folders("personas"))


def has_folders(*names: str) -> bool:
    """Whether the home has one of these folders, from which its own library can be made."""
    there = any((home_folder(common().home) / name).is_dir() for name in names)
    return common().workspace == "default" and there


def absolute(path: str) -> str:
    """Return a folder as the configuration keeps it: it is read from anywhere."""
    return path if path.startswith("~") else str(Path(path).absolute())


def _pair(change: str) -> tuple[str, str]:
    key, equals, value = change.partition("=")
    if not equals or not key.strip():
        raise UsageError(
            f"--set wants KEY=VALUE, not {change!r}.", hint="Like: --set retrieval.max_chunks=8"
        )
    return key.strip(), value


def _accepts(proposal: "Proposal") -> bool:
    """Show a proposal on standard error and ask."""
    draw(console(stderr=True), render_personas.proposal(proposal))
    return confirm("Write this profile?")


def _move(personas: "Personas", slug: str, chosen: "Listed", *, out: bool) -> None:
    if out:
        personas.remove(slug, chosen.source)
    else:
        personas.restore(slug, chosen.source)


# --- what --json shows --------------------------------------------------------------------------


def _folder_data(value: PersonaFolder) -> dict[str, object]:
    """Shape a persona's folder: who they are and all that is set."""
    return {
        "slug": value.slug,
        "display_name": value.display_name,
        "path": str(value.path),
        "config": value.config.model_dump(mode="json"),
        "prose": value.prose,
    }


def _entries_data(
    found: "Sequence[Entry[PersonaFolder]]", counts: Mapping[str, int]
) -> list[dict[str, object]]:
    """Shape the list of personas, with the number of documents on each shelf."""
    return [
        {
            "slug": entry.slug,
            "display_name": entry.folder.display_name if entry.folder else "",
            "tags": list(entry.folder.config.tags) if entry.folder else [],
            "documents": counts[entry.slug],
            "problems": entry.problems,
            "usable": entry.folder is not None,
        }
        for entry in found
    ]


def problems_data(found: Sequence[Problem]) -> dict[str, object]:
    """Return what validation found."""
    counts = Counter(problem.severity for problem in found)
    return {"problems": found, "counts": {kind.value: counts[kind] for kind in Severity}}


def problems_code(found: Sequence[Problem]) -> int:
    """Return 1 where a persona or a council cannot be used, else 0."""
    return FAILED if any(problem.severity is Severity.ERROR for problem in found) else OK


def documents_data(listed: "Sequence[Listed]") -> dict[str, object]:
    """Shape what is indexed of a persona."""
    counts = Counter(entry.status.value for entry in listed)
    return {
        "documents": listed,
        "counts": {name: counts[name] for name in render_personas.STANDINGS},
    }


def _update_code(value: "PersonaUpdate") -> int:
    """Return 4 where a page could not be fetched or a file not be read, else 0."""
    fetched = value.fetched.outcomes if value.fetched else ()
    curated = value.refresh.curation.outcomes if value.refresh.curation else ()
    failed = any(outcome.status == "failed" for outcome in fetched)
    failed |= any(outcome.status in {Curation.FAILED, Curation.CONFLICT} for outcome in curated)
    read = [value.again, value.refresh.sync.files if value.refresh.sync else None]
    codes = [render.report_code(report) for report in read if report]
    return PARTLY if failed or PARTLY in codes else OK
