"""Commands about encoders: model list, use, embed, back, forget."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.errors import EngineError
from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    Home,
    Json,
    WorkspaceName,
    require_path,
)
from chapterhouse.interfaces.cli.session import Outcome, with_library

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.library import Library

app = typer.Typer(
    help="Choose what makes the vectors for search by meaning.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_MODELS: Final = "models"  # in the home folder


@app.command("list")
def list_encoders(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """List the encoders of the library and how far their vectors are, then those that are known."""
    from chapterhouse.interfaces.cli import render_encoders  # noqa: PLC0415 - see options
    from chapterhouse.models.cards import known_cards  # noqa: PLC0415 - likewise

    def work(library: "Library") -> Outcome:
        found, cards = library.encoders(), known_cards()
        known = [card.model_dump(mode="json") for card in cards]
        data = {"encoders": found, "known": known}
        return Outcome(data, lambda target: render_encoders.listed(target, found, cards))

    with_library(Common(json, home, workspace, debug), work)


@app.command()
def use(
    *,
    embedder: Annotated[
        str,
        typer.Option(
            "--embedder",
            metavar="NAME|FOLDER|URL",
            help="A known name, a folder with a model, or the address of a service.",
        ),
    ],
    model: Annotated[
        str,
        typer.Option("--model", metavar="NAME", help="The model, as the service at URL calls it."),
    ] = "",
    mirror: Annotated[
        str,
        typer.Option(
            "--mirror", metavar="URL", help="Fetch from here, which is laid out as the model hub."
        ),
    ] = "",
    file: Annotated[
        str,
        typer.Option(
            "--file", metavar="PATH", help="Fetch nothing: a folder or zip that has the files."
        ),
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before fetching.")] = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Choose an encoder, fetch it if it is a known one, and begin to make its vectors.

    The library answers as before until every document has them; then the encoder takes over.
    Files are fetched only by this command, and only if their SHA-256 is the one that is pinned.
    """
    from chapterhouse.interfaces.cli import render_encoders  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.encoder_choice import (  # noqa: PLC0415 - likewise
        Choice,
        settings_of,
    )
    from chapterhouse.interfaces.cli.settings_file import (  # noqa: PLC0415 - likewise
        require_effect,
        write_encoder,
    )
    from chapterhouse.library import home_folder  # noqa: PLC0415 - likewise

    common = Common(json, home, workspace, debug)
    if mirror and file:
        raise typer.BadParameter("--mirror and --file exclude each other.")

    def prepare() -> None:
        place = home_folder(None if home is None else require_path(home))
        own = place / "workspaces" / workspace
        require_effect(own)
        choice = Choice(embedder, model, mirror, file, place / _MODELS)
        chosen = settings_of(choice, ask=not yes, as_json=json)
        place.mkdir(parents=True, exist_ok=True)
        write_encoder(place, own, chosen)

    def work(library: "Library") -> Outcome:
        chunks, speed, problem = 0, 0.0, ""
        try:
            chunks, speed = library.embedding_speed()
        except EngineError as error:  # it is chosen all the same, and may be there later
            problem = f"{error.message} {error.hint}".strip()
        found = library.encoders()
        data = {
            "encoders": found,
            "chunks": chunks,
            "chunks_per_second": round(speed, 1),
            "problem": problem,
        }

        def show(target: "Console") -> None:
            render_encoders.chosen(target, found, chunks, speed, problem)

        return Outcome(data, show)

    with_library(common, work, create=True, before=prepare)


@app.command()
def embed(
    *,
    idle: Annotated[bool, typer.Option("--idle", help="Work at the lowest priority.")] = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Make the vectors that documents lack, and wait for it.

    Commands do this in the background by themselves. Ctrl-C stops it; what was made is safe.
    """
    from chapterhouse.interfaces.background import become_idle  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli import progress, render_encoders  # noqa: PLC0415 - likewise

    if idle:
        become_idle()

    def work(library: "Library") -> Outcome:
        with progress.told_to() as tell:
            found = library.embed_pending(tell)
        return Outcome(
            {"encoders": found}, lambda target: render_encoders.listed(target, found, ())
        )

    with_library(Common(json, home, workspace, debug), work)


@app.command()
def back(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Return to the encoder before the present one, at once, or give up one that is being built."""
    from chapterhouse.interfaces.cli import render_encoders  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.settings_file import write_encoder  # noqa: PLC0415 - likewise

    def work(library: "Library") -> Outcome:
        settings = library.previous_encoder()
        write_encoder(library.home, library.home / "workspaces" / library.workspace, settings)
        library.return_to_previous_encoder()
        found = library.encoders()
        return Outcome(
            {"encoders": found}, lambda target: render_encoders.listed(target, found, ())
        )

    with_library(Common(json, home, workspace, debug), work, background=False)


@app.command()
def compare(
    questions: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="A file of questions, as for eval; else the workspace's own."
        ),
    ] = None,
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Ask the library's own questions with the encoder in use and with the previous one.

    The questions are those of eval and feedback.
    """
    from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
        encoder_comparison,
        render_evaluation,
        shapes_evaluation,
    )

    def work(library: "Library") -> Outcome:
        path = None if questions is None else require_path(questions)
        result = encoder_comparison.compare_encoders(library, path)
        data = shapes_evaluation.evaluation(result, latency=False)
        return Outcome(data, lambda target: render_evaluation.evaluation(target, result))

    with_library(Common(json, home, workspace, debug), work)


@app.command()
def forget(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Delete the vectors of the previous encoder.

    There is no way back to it without making them again.
    """

    def work(library: "Library") -> Outcome:
        number = library.forget_encoders()
        sentence = f"Deleted the vectors of {number:,} documents."
        return Outcome({"documents": number}, lambda target: target.print(sentence))

    with_library(Common(json, home, workspace, debug), work)
