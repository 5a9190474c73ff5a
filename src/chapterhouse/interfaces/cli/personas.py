"""Commands about personas: new, list, show, edit, validate, train, docs."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli import consent
from chapterhouse.interfaces.cli.editor import open_editor
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
from chapterhouse.interfaces.cli.session import (
    Outcome,
    with_library,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from chapterhouse.agents.listing import Listed
    from chapterhouse.agents.personas import House
    from chapterhouse.agents.proposal import Proposal
    from chapterhouse.library import Library

app = typer.Typer(
    help="Make, describe, validate and train personas.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Who = Annotated[
    str,
    typer.Argument(
        metavar="SLUG", help="A persona: their slug, the beginning of it, or their name."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command()
def new(
    slug: Annotated[
        str, typer.Argument(metavar="SLUG", help="Lower-case letters, digits and single hyphens.")
    ],
    *,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="How they are called; else the slug.")
    ] = "",
    template: Annotated[
        str,
        typer.Option(
            "--template",
            metavar="NAME",
            help="What to start from: expert, advisor, archivist, teacher or blank.",
        ),
    ] = "expert",
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder",
            metavar="PATH",
            help="A folder elsewhere whose documents are theirs; may be given again.",
        ),
    ] = None,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Make a persona's folder, with a description and a configuration to fill in.

    In a folder that is there already only what is missing is made.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_personas,
        shapes_personas,
    )

    common = Common(json, home, workspace, debug)

    def work(library: "Library") -> Outcome:
        folders = [_absolute(require_path(path)) for path in folder or ()]
        house = library.personas
        made = house.create(slug, display_name=name, template=template, folders=folders)
        errors = shapes_personas.errors(house.validate(slug))
        return Outcome(
            {**shapes_personas.folder(made), "problems": shapes_personas.problems(errors)},
            lambda target: render_personas.made(target, made, errors, reopening(common)),
        )

    with_library(common, work, create=True)


@app.command("list")
def list_personas(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """List the personas, also those that cannot be used, with the reason."""
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_personas,
        shapes_personas,
    )

    def work(library: "Library") -> Outcome:
        entries = library.personas.all()
        counts = {entry.slug: library.personas.census(entry.slug).documents for entry in entries}
        return Outcome(
            shapes_personas.entries(entries, counts),
            lambda target: render_personas.entries(target, entries, counts),
        )

    _with_house(Common(json, home, workspace, debug), work)


@app.command()
def show(
    slug: Who,
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Show what is known of a persona: who they are, their field, their documents."""
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_personas,
        shapes_personas,
    )

    def work(library: "Library") -> Outcome:
        house = library.personas
        folder, census = house.load(slug), house.census(slug)
        current = house.is_current(slug)
        return Outcome(
            shapes_personas.persona(folder, census, current=current),
            lambda target: render_personas.persona(target, folder, census, current=current),
        )

    _with_house(Common(json, home, workspace, debug), work)


@app.command()
def edit(
    slug: Who,
    *,
    config: Annotated[
        bool, typer.Option("--config", help="Open the configuration, not the description.")
    ] = False,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a key of the configuration, like retrieval.max_chunks=8; may be given again.",
        ),
    ] = None,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Open a persona's description in $EDITOR, and say what is wrong afterwards.

    With --set nothing is opened. Exit code 1 says that the persona cannot be used as it is.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_personas,
        shapes_personas,
    )

    if config and changes:
        raise typer.BadParameter("--set changes the configuration without opening it.")
    common = Common(json, home, workspace, debug)

    def work(library: "Library") -> Outcome:
        house = library.personas
        name = house.resolve(slug)
        if changes:
            house.change(name, dict(map(_pair, changes)))
        else:
            open_editor(house.file(name, config=config), may_ask=not json)
        problems = house.validate(name)
        return Outcome(
            shapes_personas.problems(problems),
            lambda target: render_personas.problems(target, problems),
            shapes_personas.problems_code(problems),
        )

    _with_house(common, work)


@app.command()
def validate(
    slug: Annotated[
        str | None, typer.Argument(metavar="[SLUG]", help="A persona; all when left out.")
    ] = None,
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Name everything wrong in a persona's folder, by file, key and reason.

    Exit code 1 says that there are errors; warnings alone end with 0.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_personas,
        shapes_personas,
    )

    def work(library: "Library") -> Outcome:
        problems = library.personas.validate(slug)
        return Outcome(
            shapes_personas.problems(problems),
            lambda target: render_personas.problems(target, problems),
            shapes_personas.problems_code(problems),
        )

    _with_house(Common(json, home, workspace, debug), work)


@app.command()
def train(
    slug: Who,
    *,
    file: Annotated[
        list[str] | None,
        typer.Option(
            "--file", metavar="FILE", help="Copy a file into RAW-DOCS first; may be given again."
        ),
    ] = None,
    url: Annotated[
        list[str] | None,
        typer.Option(
            "--url", metavar="URL", help="List and fetch a page first; may be given again."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Accept the profile without asking.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Read a persona's documents again and propose a profile.

    All pages of their .links lists are fetched again and everything is read anew; with --file or
    --url only what is new. The profile (tags, expertise, key terms, other names) is shown and
    written only when accepted. Exit code 4 says that something could not be read.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_personas,
        shapes_personas,
    )
    from chapterhouse.interfaces.cli.progress import told_to  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        house = library.personas
        files = [Path(require_path(path)) for path in file or ()]
        with told_to() as tell:
            training = house.train(
                slug, files=files, urls=tuple(url or ()), on_progress=tell, dry_run=dry_run
            )
        asked = not (dry_run or yes) and consent.may_ask(as_json=json)
        if training.proposal and not dry_run and (yes or (asked and _accepts(training.proposal))):
            house.accept(training.slug, training.proposal)
            training = training.as_accepted()
        return Outcome(
            shapes_personas.training(training, dry_run=dry_run),
            lambda target: render_personas.training(target, training, dry_run=dry_run, shown=asked),
            shapes_personas.training_code(training),
        )

    _with_house(Common(json, home, workspace, debug), work)


@app.command()
def docs(
    slug: Who,
    *,
    remove: Annotated[
        str,
        typer.Option(
            "--remove", metavar="NAME", help="Take one file out of the index, and keep it out."
        ),
    ] = "",
    restore: Annotated[
        str, typer.Option("--restore", metavar="NAME", help="Take a removed file in again.")
    ] = "",
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """List a persona's documents: what is indexed, and why something is not.

    --remove takes a file out of the index and leaves it where it is. It asks first; off a
    terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        render_personas,
        shapes_personas,
    )

    if remove and restore:
        raise typer.BadParameter("--remove and --restore exclude each other.")
    common = Common(json, home, workspace, debug)

    def work(library: "Library") -> Outcome:
        house = library.personas
        if not remove and not restore:
            listed = house.documents(slug)
            return Outcome(
                shapes_personas.documents(listed),
                lambda target: render_personas.documents(target, listed),
            )
        chosen = house.chosen(slug, remove or restore)
        if not dry_run:
            if remove and not yes:
                consent.require_yes(f"Take {chosen.source} out of the index", as_json=json)
            _move(house, slug, chosen, out=bool(remove))
        data = shapes_personas.moved(chosen, out=bool(remove), dry_run=dry_run)
        name = house.resolve(slug)
        again = f"chapterhouse persona docs {name} --restore {shlex.quote(chosen.source)}"
        return Outcome(
            data,
            lambda target: render_personas.moved(
                target, chosen, again + reopening(common), out=bool(remove), dry_run=dry_run
            ),
        )

    _with_house(common, work)


def _with_house(common: Common, work: "Callable[[Library], Outcome]") -> None:
    """Run ``work`` on the library, which is made where only folders of personas are there yet."""
    named = common.home or os.environ.get("CHAPTERHOUSE_HOME") or "~/Chapterhouse"
    personas = Path(named).expanduser() / "personas"
    with_library(common, work, create=common.workspace == "default" and personas.is_dir())


def _absolute(path: str) -> str:
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
    from chapterhouse.interfaces.cli import render_personas  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.terminal import console  # noqa: PLC0415 - see options

    render_personas.proposal(console(stderr=True), proposal)
    return consent.agreed("Write this profile?")


def _move(house: "House", slug: str, chosen: "Listed", *, out: bool) -> None:
    if out:
        house.remove(slug, chosen.source)
    else:
        house.restore(slug, chosen.source)
