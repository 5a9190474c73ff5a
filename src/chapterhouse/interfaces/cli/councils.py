"""Commands about councils: new, list, show, validate, and their shared documents."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.agents.council import as_object, council_from
from chapterhouse.agents.council_model import Member
from chapterhouse.interfaces.cli import render, render_councils, render_personas
from chapterhouse.interfaces.cli.options import (
    DryRun,
    argument,
    flag,
    option,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.personas import (
    absolute,
    documents_data,
    has_folders,
    problems_code,
    problems_data,
)
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import OK, Outcome, opened_library, require_yes, run

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chapterhouse.agents.councils import CouncilFolder, Link
    from chapterhouse.agents.registry import Entry
    from chapterhouse.library import Library

app = typer.Typer(
    help="Make and check councils, and link their documents.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
docs = typer.Typer(
    help="The documents that all members share.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(docs, name="docs")

Which = Annotated[
    str, argument("COUNCIL", "A council: its slug, the beginning of it, or its name.")
]


@app.command()
def new(
    slug: Annotated[str, argument("SLUG", "Lower-case letters, digits and single hyphens.")],
    *,
    name: Annotated[str, option("--name", "NAME", "How it is called; else the slug.")] = "",
    template: Annotated[
        str, option("--template", "NAME", "What to start from: debate, review or blank.")
    ] = "debate",
    member: Annotated[
        list[str] | None,
        option(
            "--member",
            "PERSONA",
            "A persona who sits in it, instead of the template's roles; repeatable.",
        ),
    ] = None,
    folder: Annotated[
        list[str] | None,
        option("--folder", "PATH", "A folder whose documents all members read; repeatable."),
    ] = None,
) -> Outcome:
    """Make a council's folder, with a configuration to fill in.

    In a folder that is there already only what is missing is made.
    """
    with opened_library(create=True) as library:
        council = council_from(
            template,
            slug,
            display_name=name,
            personas=[library.personas.resolve(persona) for persona in member or ()],
            folders=[absolute(require_path(path)) for path in folder or ()],
        )
        made = library.councils.create(council)
        problems = library.councils.validate(slug)
        return Outcome(
            {**folder_data(made), "problems": problems_data(problems)},
            render_councils.made(made, problems, reopening()),
        )


@app.command("list")
def list_councils() -> Outcome:
    """List the councils, also those that cannot be read, with the reason."""
    with _councils_library() as library:
        entries = library.councils.all()
        counts = {entry.slug: library.councils.census(entry.slug).documents for entry in entries}
        return Outcome(_entries_data(entries, counts), render_councils.entries(entries, counts))


@app.command()
def show(council: Which) -> Outcome:
    """Show who sits in a council, its rounds, its tools and its documents."""
    with _councils_library() as library:
        councils = library.councils
        folder, census = councils.load(council), councils.census(council)
        current = councils.is_current(council)
        return Outcome(
            {**folder_data(folder), "census": census, "current": current},
            render_councils.council(folder, census, current=current),
        )


@app.command()
def validate(
    council: Annotated[str | None, argument("[COUNCIL]", "A council; all when left out.")] = None,
) -> Outcome:
    """Name everything that keeps a council from meeting, by path and code.

    Exit code 1 says that there are errors; warnings alone end with 0.
    """
    with _councils_library() as library:
        found = library.councils.validate(council)
        return Outcome(problems_data(found), render_personas.problems(found), problems_code(found))


# --- documents ---


@docs.command("list")
def list_documents(council: Which) -> Outcome:
    """List the documents that all members share: what is indexed, and why something is not."""
    with _councils_library() as library:
        folder = library.councils.load(council)
        listed = library.councils.documents(council)
        return Outcome(
            {**documents_data(listed), "folders": folder.folders},
            render_councils.documents(folder, listed),
        )


@docs.command()
def link(
    council: Which, path: Annotated[str, argument("PATH", "A folder.")], *, dry_run: DryRun = False
) -> Outcome:
    """Link a folder and read it: all members see its documents, no persona's shelf does.

    The files stay where they are. Exit code 4 says that something could not be read.
    """
    with _councils_library() as library:
        with show_progress() as on_progress:
            linked = library.councils.link(
                council, absolute(require_path(path)), on_progress=on_progress, dry_run=dry_run
            )
        return Outcome(
            _link_data(linked, dry_run=dry_run),
            render_councils.linked(linked, dry_run=dry_run),
            render.report_code(linked.refresh.sync.files) if linked.refresh.sync else OK,
        )


@docs.command()
def unlink(
    council: Which,
    path: Annotated[str, argument("PATH", "A linked folder: its path, or its last name.")],
    *,
    yes: Annotated[bool, flag("--yes", "Do not ask.")] = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Take a linked folder away again; the files stay where they are.

    Documents that nobody else has leave the library. It asks first; off a terminal, and with
    --json, it does nothing without --yes: exit code 10.
    """
    with _councils_library() as library:
        name = _linked(require_path(path), library.councils.load(council).folders)
        unlinked = library.councils.unlink(council, name, dry_run=True)
        if not dry_run:
            if not yes:
                what = f"Unlink {unlinked.written} from {unlinked.folder.slug}"
                require_yes(what)
            with show_progress() as on_progress:
                unlinked = library.councils.unlink(council, name, on_progress=on_progress)
        again = f"chapterhouse council docs link {unlinked.folder.slug}"
        return Outcome(
            _link_data(unlinked, dry_run=dry_run),
            render_councils.unlinked(unlinked, again, reopening(), dry_run=dry_run),
        )


def _councils_library() -> "AbstractContextManager[Library]":
    """Open the library, which is made where only folders of councils or personas are there."""
    return opened_library(create=has_folders("councils", "personas"))


def with_councils(work: "Callable[[Library], Outcome]", *, trace: bool = False) -> None:
    """Run ``work`` on the library of the councils, and show what came of it."""

    def opened() -> Outcome:
        with _councils_library() as library:
            return work(library)

    run(opened, trace=trace)


def _linked(path: str, folders: Sequence[Path]) -> str:
    """Return ``path`` from the present folder where that is one of the linked, else as it is."""
    here = Path(path).expanduser().resolve()
    return str(here) if any(here == folder.resolve() for folder in folders) else path


# --- what --json shows --------------------------------------------------------------------------


def folder_data(value: "CouncilFolder") -> dict[str, object]:
    """Shape a council's folder: its file as it is written, and what that comes to."""
    council = value.council
    return {
        "slug": value.slug,
        "display_name": council.title,
        "path": str(value.path),
        "shelf": council.shelf,
        "config": as_object(council),
        "members": [_member_fields(member) for member in council.members],
        "chair": _member_fields(council.chaired_by) if council.chaired_by else None,
        "rounds": [
            {"name": entry.name, "kind": entry.kind.value, "shows_claims": entry.shows_claims}
            for entry in council.rounds
        ],
        "folders": [str(path) for path in value.folders],
    }


def _member_fields(member: Member) -> dict[str, object]:
    return {"key": member.key, "kind": member.kind.value}


def _entries_data(
    found: "Sequence[Entry[CouncilFolder]]", counts: Mapping[str, int]
) -> list[dict[str, object]]:
    """Shape the list of councils, with the number of documents that each shares."""
    return [
        {
            "slug": entry.slug,
            "display_name": entry.folder.council.title if entry.folder else "",
            "members": [m.key for m in entry.folder.council.members] if entry.folder else [],
            "rounds": [r.name for r in entry.folder.council.rounds] if entry.folder else [],
            "documents": counts[entry.slug],
            "problems": entry.problems,
            "readable": entry.folder is not None,
        }
        for entry in found
    ]


def _link_data(value: "Link", *, dry_run: bool) -> dict[str, object]:
    """Shape what linking or unlinking did."""
    return {
        "slug": value.folder.slug,
        "folder": value.written,
        "changed": value.changed,
        "refresh": value.refresh,
        "dry_run": dry_run,
    }
