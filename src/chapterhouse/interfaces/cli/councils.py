"""Commands about councils: new, list, show, validate, and their shared documents."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli import consent
from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    DryRun,
    Home,
    Json,
    WorkspaceName,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.session import Outcome, with_library

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
            help="A persona who sits in it, instead of the template's roles; may be given again.",
        ),
    ] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder",
            metavar="PATH",
            help="A folder whose documents all members read; may be given again.",
        ),
    ] = None,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Make a council's folder, with a configuration to fill in.

    In a folder that is there already only what is missing is made.
    """
    from chapterhouse.agents.council_templates import council_from  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_councils,
        shapes_councils,
    )

    common = Common(json, home, workspace, debug)

    def work(library: "Library") -> Outcome:
        council = council_from(
            template,
            slug,
            display_name=name,
            personas=[library.personas.resolve(persona) for persona in member or ()],
            folders=[_absolute(require_path(path)) for path in folder or ()],
        )
        made = library.councils.create(council)
        problems = library.councils.validate(slug)
        return Outcome(
            {**shapes_councils.folder(made), "problems": shapes_councils.problems(problems)},
            lambda target: render_councils.made(target, made, problems, reopening(common)),
        )

    with_library(common, work, create=True)


@app.command("list")
def list_councils(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """List the councils, also those that cannot be read, with the reason."""
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_councils,
        shapes_councils,
    )

    def work(library: "Library") -> Outcome:
        entries = library.councils.all()
        counts = {entry.slug: library.councils.census(entry.slug).documents for entry in entries}
        return Outcome(
            shapes_councils.entries(entries, counts),
            lambda target: render_councils.entries(target, entries, counts),
        )

    with_councils(Common(json, home, workspace, debug), work)


@app.command()
def show(
    council: Which,
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Show who sits in a council, its rounds, its tools and its documents."""
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_councils,
        shapes_councils,
    )

    def work(library: "Library") -> Outcome:
        councils = library.councils
        folder, census = councils.load(council), councils.census(council)
        current = councils.is_current(council)
        return Outcome(
            shapes_councils.council(folder, census, current=current),
            lambda target: render_councils.council(target, folder, census, current=current),
        )

    with_councils(Common(json, home, workspace, debug), work)


@app.command()
def validate(
    council: Annotated[
        str | None, typer.Argument(metavar="[COUNCIL]", help="A council; all when left out.")
    ] = None,
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Name everything that keeps a council from meeting, by path and code.

    Exit code 1 says that there are errors; warnings alone end with 0.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_councils,
        shapes_councils,
    )

    def work(library: "Library") -> Outcome:
        found = library.councils.validate(council)
        return Outcome(
            shapes_councils.problems(found),
            lambda target: render_councils.problems(target, found),
            shapes_councils.problems_code(found),
        )

    with_councils(Common(json, home, workspace, debug), work)


# --- documents ---


@docs.command("list")
def list_documents(
    council: Which,
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """List the documents that all members share: what is indexed, and why something is not."""
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_councils,
        shapes_councils,
    )

    def work(library: "Library") -> Outcome:
        folder = library.councils.load(council)
        listed = library.councils.documents(council)
        return Outcome(
            shapes_councils.documents(folder, listed),
            lambda target: render_councils.documents(target, folder, listed),
        )

    with_councils(Common(json, home, workspace, debug), work)


@docs.command()
def link(
    council: Which,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder.")],
    *,
    dry_run: DryRun = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Link a folder and read it: all members see its documents, no persona's shelf does.

    The files stay where they are. Exit code 4 says that something could not be read.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_councils,
        shapes_councils,
    )
    from chapterhouse.interfaces.cli.progress import told_to  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        with told_to() as tell:
            linked = library.councils.link(
                council, _absolute(require_path(path)), on_progress=tell, dry_run=dry_run
            )
        return Outcome(
            shapes_councils.link(linked, dry_run=dry_run),
            lambda target: render_councils.linked(target, linked, dry_run=dry_run),
            shapes_councils.link_code(linked),
        )

    with_councils(Common(json, home, workspace, debug), work)


@docs.command()
def unlink(
    council: Which,
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A linked folder: its path, or its last name.")
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Take a linked folder away again; the files stay where they are.

    Documents that nobody else has leave the library. It asks first; off a terminal, and with
    --json, it does nothing without --yes: exit code 10.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_councils,
        shapes_councils,
    )
    from chapterhouse.interfaces.cli.progress import told_to  # noqa: PLC0415 - see options

    common = Common(json, home, workspace, debug)

    def work(library: "Library") -> Outcome:
        name = _linked(require_path(path), library.councils.load(council).folders)
        unlinked = library.councils.unlink(council, name, dry_run=True)
        if not dry_run:
            if not yes:
                what = f"Unlink {unlinked.written} from {unlinked.folder.slug}"
                consent.require_yes(what, as_json=json)
            with told_to() as tell:
                unlinked = library.councils.unlink(council, name, on_progress=tell)
        again = f"chapterhouse council docs link {unlinked.folder.slug}"
        return Outcome(
            shapes_councils.link(unlinked, dry_run=dry_run),
            lambda target: render_councils.unlinked(
                target, unlinked, again, reopening(common), dry_run=dry_run
            ),
        )

    with_councils(common, work)


def with_councils(common: Common, work: "Callable[[Library], Outcome]") -> None:
    """Run ``work`` on the library, made where only folders of councils or personas are there."""
    named = Path(common.home or os.environ.get("CHAPTERHOUSE_HOME") or "~/Chapterhouse")
    there = any((named.expanduser() / name).is_dir() for name in ("councils", "personas"))
    with_library(common, work, create=common.workspace == "default" and there)


def _linked(path: str, folders: "Sequence[Path]") -> str:
    """Return ``path`` from the present folder where that is one of the linked, else as it is."""
    here = Path(path).expanduser().resolve()
    return str(here) if any(here == folder.resolve() for folder in folders) else path


def _absolute(path: str) -> str:
    """Return a folder as the configuration keeps it: it is read from anywhere."""
    return path if path.startswith("~") else str(Path(path).absolute())
