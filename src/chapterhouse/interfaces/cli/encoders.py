"""Commands about encoders: model embed, back, compare, forget."""

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
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.library import Library

_MODELS: Final = "models"  # in the home folder


def use_encoder(
    common: Common, embedder: str, model: str, mirror: str, file: str, ask: bool
) -> None:
    """Choose an encoder, fetch it if it is a known one, and begin to make its vectors.

    Args:
        common: The common options.
        embedder: A known name, a folder, or the address of a service.
        model: As the service calls it.
        mirror: Fetch from here; empty for the hub.
        file: A folder or zip with the files; empty to fetch them.
        ask: Whether to ask before something is fetched.
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

    if mirror and file:
        raise typer.BadParameter("--mirror and --file exclude each other.")

    def prepare() -> None:
        place = home_folder(None if common.home is None else require_path(common.home))
        own = place / "workspaces" / common.workspace
        require_effect(own)
        choice = Choice(embedder, model, mirror, file, place / _MODELS)
        chosen = settings_of(choice, ask=ask, as_json=common.json)
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
        sentence = f"Deleted the vectors of {counted(number, 'document')}."
        return Outcome({"documents": number}, lambda target: target.print(sentence))

    with_library(Common(json, home, workspace, debug), work)
