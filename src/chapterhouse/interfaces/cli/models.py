"""Commands about models: model list, use, test, and those about encoders."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli import encoders
from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    Home,
    Json,
    WorkspaceName,
    require_path,
)
from chapterhouse.interfaces.cli.session import FAILED, OK, Outcome, run
from chapterhouse.interfaces.cli.terminal import is_watched

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from chapterhouse.evaluation.model_trial import Trial
    from chapterhouse.settings import LanguageModelSettings, Settings

app = typer.Typer(
    help="Choose the models: what writes answers, makes vectors and orders passages.",
    rich_markup_mode=None,
)
app.command("embed")(encoders.embed)
app.command("back")(encoders.back)
app.command("compare")(encoders.compare)
app.command("forget")(encoders.forget)
_REWRITING: Final = "rewriting"  # the profile of a model that rewrites questions


@app.callback(invoke_without_command=True)
def models(
    context: typer.Context,
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Choose the models: what writes answers, makes vectors and orders passages."""
    if context.invoked_subcommand is None:
        list_models(json=json, home=home, workspace=workspace, debug=debug)
    for name in ("json", "home", "workspace", "debug"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"--{name} stands behind the command.")


@app.command("list")
def list_models(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """List the language models that can be reached, then the encoders of the library.

    Only this machine is asked, for less than a second. Hosted services are listed where their
    key is there, and not asked.
    """
    from chapterhouse.interfaces.cli import render_models  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.model_listing import listing  # noqa: PLC0415 - likewise

    common = Common(json, home, workspace, debug)

    def work() -> Outcome:
        place, own = _folders(common)
        found = listing(place, workspace, _settings(place, own))
        return Outcome(found.data, lambda target: render_models.listed(target, found))

    run(common, work)


@app.command()
def use(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help="A language model: its name, URL, SERVICE/NAME of a hosted one, or none.",
        ),
    ] = "",
    *,
    embedder: Annotated[
        str,
        typer.Option(
            "--embedder",
            metavar="NAME|FOLDER|URL",
            help="An encoder: a known name, a folder with a model, or the address of a service.",
        ),
    ] = "",
    reranker: Annotated[
        str,
        typer.Option(
            "--reranker",
            metavar="FOLDER|URL",
            help="A reranker: a folder with a model, or an address; features: without a model.",
        ),
    ] = "",
    model: Annotated[
        str,
        typer.Option("--model", metavar="NAME", help="The model, as the service at URL calls it."),
    ] = "",
    rewriting: Annotated[
        bool,
        typer.Option("--rewriting", help="Let this language model only rewrite questions."),
    ] = False,
    key: Annotated[
        bool,
        typer.Option(
            "--key",
            help="Ask for a key, or read it from standard input, and put it in the keyring.",
        ),
    ] = False,
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
    """Choose a language model, write it into the settings, and test it.

    Without a name, the one that can be reached; where there are several, you are asked. With
    --embedder an encoder is chosen instead: it is fetched if it is a known one, and the library
    answers as before until every document has its vectors. With --reranker, a reranker.
    """
    common = Common(json, home, workspace, debug)
    if sum(map(bool, (name or key or rewriting, embedder, reranker))) > 1:
        raise typer.BadParameter("Choose one thing at a time: NAME, --embedder or --reranker.")
    if (mirror or file) and not embedder:
        raise typer.BadParameter("--mirror and --file are for --embedder.")
    if embedder:
        encoders.use_encoder(common, embedder, model, mirror, file, ask=not yes)
    elif reranker:
        run(common, lambda: _use_reranker(common, reranker, model))
    else:
        run(common, lambda: _use(common, name, model, key=key, rewriting=rewriting))


@app.command("test")
def try_out(
    profile: Annotated[
        str,
        typer.Argument(metavar="[PROFILE]", help="A profile; else the library's own model."),
    ] = "",
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Try the language model out, and say what will work with it.

    It is asked about a document of three lines, in a library made for it and deleted. Exit code 1
    says that it does not answer with the right citation.
    """
    from chapterhouse.interfaces.cli import render_models  # noqa: PLC0415 - see options
    from chapterhouse.models.opening import profile_named  # noqa: PLC0415 - likewise

    common = Common(json, home, workspace, debug)

    def work() -> Outcome:
        place, own = _folders(common)
        settings = _settings(place, own)
        chosen = profile_named(settings, profile)
        trial = _tried(common, chosen, settings, place)
        code = OK if trial.found[0].passed else FAILED
        return Outcome(_trial(trial), lambda target: render_models.trial(target, trial), code)

    run(common, work)


def _use(common: Common, name: str, model: str, *, key: bool, rewriting: bool) -> Outcome:
    from chapterhouse.interfaces.cli import render_models, settings_file  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.model_choice import (  # noqa: PLC0415 - likewise
        Wish,
        choose,
        require_installed,
    )

    place, own = _folders(common)
    section = settings_file.REWRITING if rewriting else settings_file.LANGUAGE_MODEL
    settings_file.require_effect(own, section)
    present = _settings(place, own).language_model
    chosen = choose(Wish(name, model, key, common.json), present)
    require_installed(chosen.settings)
    place.mkdir(parents=True, exist_ok=True)
    if rewriting:
        wanted = chosen.settings.engine != "none"
        rewrites: dict[str, settings_file.Value] = {"model": _REWRITING} if wanted else {}
        settings_file.write_section(place, own, settings_file.EXPANSION, rewrites)
    values = settings_file.values_of(chosen.settings, section)
    written = settings_file.write_section(place, own, section, values, chosen.unless_stated)
    settings = _settings(place, own)
    data: dict[str, object] = {"written": written, "notes": chosen.notes, "trial": None}
    made = settings.profiles[_REWRITING] if rewriting else settings.language_model
    data["language_model"] = made
    if made.engine == "none":
        return Outcome(
            _plain(data), lambda target: render_models.chosen(target, made, written, chosen.notes)
        )
    _say(common, f"{made.model} is chosen: {written.path}, line {written.line}.")
    trial = _tried(common, made, settings, place)
    if trial.slots and trial.slots != made.calls_at_once:
        made = made.model_copy(update={"calls_at_once": trial.slots})
        written = settings_file.write_section(
            place, own, section, settings_file.values_of(made, section)
        )
    data |= {"trial": _trial(trial), "language_model": made, "written": written}

    def show(target: "Console") -> None:
        render_models.chosen(target, made, written, chosen.notes)
        render_models.trial(target, trial)

    return Outcome(_plain(data), show, OK if trial.found[0].passed else FAILED)


def _use_reranker(common: Common, name: str, model: str) -> Outcome:
    from contextlib import ExitStack  # noqa: PLC0415 - see options

    from chapterhouse.interfaces.cli import render_models, settings_file  # noqa: PLC0415 - likewise
    from chapterhouse.interfaces.cli.model_choice import reranker  # noqa: PLC0415 - likewise
    from chapterhouse.models.opening import open_reranker  # noqa: PLC0415 - likewise

    place, own = _folders(common)
    settings_file.require_effect(own, settings_file.RERANK)
    chosen = reranker(name, model)
    with ExitStack() as opened:  # one that does not work is not written down
        tried = open_reranker(chosen, opened.callback)
        scores = tried.score(*render_models.RERANKED) if tried else ()
    place.mkdir(parents=True, exist_ok=True)
    values = settings_file.values_of(chosen, settings_file.RERANK)
    written = settings_file.write_section(place, own, settings_file.RERANK, values)
    right = not scores or scores[0] > scores[1]
    data = {"written": written, "rerank": chosen.model_dump(mode="json"), "right_order": right}
    return Outcome(
        data, lambda target: render_models.reranked(target, chosen, written, right=right)
    )


def _tried(
    common: Common, chosen: "LanguageModelSettings", settings: "Settings", place: "Path"
) -> "Trial":
    from chapterhouse.evaluation.model_trial import try_model  # noqa: PLC0415 - see options

    if chosen.engine == "none":
        raise UsageError("No language model is chosen.", hint="Choose one: chapterhouse model use")
    place.mkdir(parents=True, exist_ok=True)
    return try_model(chosen, settings, place, lambda step: _say(common, f"  {step} …"))


def _say(common: Common, sentence: str) -> None:
    """Tell somebody who waits at a terminal what is being done."""
    if is_watched() and not common.json:
        typer.echo(sentence, err=True)


def _folders(common: Common) -> "tuple[Path, Path]":
    from chapterhouse.library import home_folder  # noqa: PLC0415 - see options

    place = home_folder(None if common.home is None else require_path(common.home))
    return place, place / "workspaces" / common.workspace


def _settings(place: "Path", own: "Path") -> "Settings":
    from chapterhouse.settings import load_settings  # noqa: PLC0415 - see options

    return load_settings(place, own)


def _trial(trial: "Trial") -> dict[str, object]:
    """Shape a trial: of the answer, its text and what it quotes."""
    return {
        "model": trial.model,
        "answer": trial.answer.text,
        "quotes": [citation.quote for citation in trial.answer.citations],
        "found": trial.found,
        "works": trial.works,
        "context_size": trial.context_size,
        "slots": trial.slots,
        "tokens_per_second": trial.tokens_per_second,
    }


def _plain(data: dict[str, object]) -> dict[str, object]:
    from pydantic import BaseModel  # noqa: PLC0415 - see options

    return {
        name: value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        for name, value in data.items()
    }
