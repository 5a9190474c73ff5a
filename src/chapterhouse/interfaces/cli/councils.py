"""Commands about councils: new, list, show, validate, and their shared documents."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.agents.council import as_object
from chapterhouse.agents.council_folder import CouncilFolder
from chapterhouse.agents.council_model import Member
from chapterhouse.agents.council_templates import council_from
from chapterhouse.interfaces.cli import render, render_councils, render_personas
from chapterhouse.interfaces.cli.options import DryRun, reopening, require_path
from chapterhouse.interfaces.cli.personas import (
    absolute,
    documents_data,
    has_folders,
    problems_code,
    problems_data,
)
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import OK, Outcome, require_yes, with_library

if TYPE_CHECKING:
    from chapterhouse.agents.councils import Entry, Link
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
    str,
    typer.Argument(
        metavar="COUNCIL", help="A council: its slug, the beginning of it, or its name."
    ),
]


@app.command()
def new(
    slug: Annotated[
        str, typer.Argument(metavar="SLUG", help="Lower-case letters, digits and single hyphens.")
    ],
    *,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="How it is called; else the slug.")
    ] = "",
    template: Annotated[
        str,
        typer.Option(
            "--template", metavar="NAME", help="What to start from: debate, review or blank."
        ),
    ] = "debate",
    member: Annotated[
        list[str] | None,
        typer.Option(
            "--member",
            metavar="PERSONA",
            help="A persona who sits in it, instead of the template's roles; repeatable.",
        ),
    ] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder",
            metavar="PATH",
            help="A folder whose documents all members read; repeatable.",
        ),
    ] = None,
) -> None:
    """Make a council's folder, with a configuration to fill in.

    In a folder that is there already only what is missing is made.
    """

    def work(library: "Library") -> Outcome:
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
            lambda target: render_councils.made(target, made, problems, reopening()),
        )

    with_library(work, create=True)


@app.command("list")
def list_councils() -> None:
    """List the councils, also those that cannot be read, with the reason."""

    def work(library: "Library") -> Outcome:
        entries = library.councils.all()
        counts = {entry.slug: library.councils.census(entry.slug).documents for entry in entries}
        return Outcome(
            _entries_data(entries, counts),
            lambda target: render_councils.entries(target, entries, counts),
        )

    with_councils(work)


@app.command()
def show(
    council: Which,
) -> None:
    """Show who sits in a council, its rounds, its tools and its documents."""

    def work(library: "Library") -> Outcome:
        councils = library.councils
        folder, census = councils.load(council), councils.census(council)
        current = councils.is_current(council)
        return Outcome(
            {**folder_data(folder), "census": census, "current": current},
            lambda target: render_councils.council(target, folder, census, current=current),
        )

    with_councils(work)


@app.command()
def validate(
    council: Annotated[
        str | None, typer.Argument(metavar="[COUNCIL]", help="A council; all when left out.")
    ] = None,
) -> None:
    """Name everything that keeps a council from meeting, by path and code.

    Exit code 1 says that there are errors; warnings alone end with 0.
    """

    def work(library: "Library") -> Outcome:
        found = library.councils.validate(council)
        return Outcome(
            problems_data(found),
            lambda target: render_personas.problems(target, found),
            problems_code(found),
        )

    with_councils(work)


# --- documents ---


@docs.command("list")
def list_documents(
    council: Which,
) -> None:
    """List the documents that all members share: what is indexed, and why something is not."""

    def work(library: "Library") -> Outcome:
        folder = library.councils.load(council)
        listed = library.councils.documents(council)
        return Outcome(
            {**documents_data(listed), "folders": folder.folders},
            lambda target: render_councils.documents(target, folder, listed),
        )

    with_councils(work)


@docs.command()
def link(
    council: Which,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder.")],
    *,
    dry_run: DryRun = False,
) -> None:
    """Link a folder and read it: all members see its documents, no persona's shelf does.

    The files stay where they are. Exit code 4 says that something could not be read.
    """

    def work(library: "Library") -> Outcome:
        with show_progress() as on_progress:
            linked = library.councils.link(
                council, absolute(require_path(path)), on_progress=on_progress, dry_run=dry_run
            )
        return Outcome(
            _link_data(linked, dry_run=dry_run),
            lambda target: render_councils.linked(target, linked, dry_run=dry_run),
            render.report_code(linked.refresh.sync.files) if linked.refresh.sync else OK,
        )

    with_councils(work)


@docs.command()
def unlink(
    council: Which,
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A linked folder: its path, or its last name.")
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Take a linked folder away again; the files stay where they are.

    Documents that nobody else has leave the library. It asks first; off a terminal, and with
    --json, it does nothing without --yes: exit code 10.
    """

    def work(library: "Library") -> Outcome:
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
            lambda target: render_councils.unlinked(
                target, unlinked, again, reopening(), dry_run=dry_run
            ),
        )

    with_councils(work)


def with_councils(work: "Callable[[Library], Outcome]", *, trace: bool = False) -> None:
    """Run ``work`` on the library, made where only folders of councils or personas are there."""
    with_library(work, create=has_folders("councils", "personas"), trace=trace)


def _linked(path: str, folders: Sequence[Path]) -> str:
    """Return ``path`` from the present folder where that is one of the linked, else as it is."""
    here = Path(path).expanduser().resolve()
    return str(here) if any(here == folder.resolve() for folder in folders) else path


# --- what --json shows --------------------------------------------------------------------------


def folder_data(value: CouncilFolder) -> dict[str, object]:
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


def _entries_data(found: "Sequence[Entry]", counts: Mapping[str, int]) -> list[dict[str, object]]:
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
