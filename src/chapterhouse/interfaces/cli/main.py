"""The application, and the one place where a run becomes an exit code."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

import typer

from chapterhouse import __version__
from chapterhouse.files import private_files
from chapterhouse.interfaces.cli import (
    asking,
    bundles,
    chatting,
    convening,
    councils,
    documents,
    evaluating,
    keeping,
    models,
    opening,
    personas,
    remembering,
    serving,
)
from chapterhouse.interfaces.cli.interrupts import end_at_once, exchange
from chapterhouse.interfaces.cli.options import take_quiet

# Plain help: Rich's takes a tenth of a second to load and its boxes do not copy into a manual.
app = typer.Typer(
    name="chapterhouse",
    help="Answers from your own documents, with citations checked to the character. Offline.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


_HELP = "Run chapterhouse --help for what there is."
_BEHIND = "Options stand behind the command, like: chapterhouse add PATH --home FOLDER"


def _version(value: bool) -> None:
    if value:
        typer.echo(f"chapterhouse {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    pass


app.command("init")(keeping.init)
app.command("add")(keeping.add)
app.command("search")(asking.search)
app.command("context")(asking.context)
app.command("ask")(asking.ask)
app.command("chat")(chatting.chat)
app.command("open")(opening.open_source)
app.command("more")(opening.more)
app.command("convene")(convening.convene)
app.add_typer(documents.app, name="docs")
app.add_typer(personas.app, name="persona")
app.add_typer(councils.app, name="council")
app.add_typer(remembering.app, name="memory")
app.add_typer(bundles.app, name="cite")
app.command("verify")(bundles.verify)
app.add_typer(models.app, name="model")
app.command("mcp")(serving.mcp)
app.command("eval")(evaluating.evaluate)
app.command("feedback")(evaluating.feedback)
app.command("status")(keeping.status)
app.command("doctor")(keeping.doctor)
app.command("reindex")(keeping.reindex)
take_quiet(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; ``docs/cli.md`` lists them."""
    if arguments is None:
        # Also while Python itself ends, after the command.
        exchange(signal.default_int_handler, end_at_once)
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(given)
    except BrokenPipeError:
        # Whoever read us has stopped, as ``| head`` does: nothing is left to say, nor anyone to.
        _drop_output()
        return 1
    except OSError as error:
        # Commands tell their own, so it is what they wrote that has no room, as on a full disk.
        _drop_output()
        with suppress(OSError):  # where standard error leads to the same place
            what = error.strerror or str(error)
            typer.echo(f"chapterhouse: The output could not be written: {what}.", err=True)
        return 1


def _run(given: list[str]) -> int:
    try:
        with _asked_to_stop(), private_files():
            # Outside standalone mode an Exit comes back as its code, a usage error is raised.
            code = app(given, prog_name="chapterhouse", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _usage(error, _hint(given, error.format_message()), as_json="--json" in given)
    return code if isinstance(code, int) else 0


def _hint(given: Sequence[str], message: str) -> str:
    if "No such option" not in message:
        return _HELP
    name = next((one for one in given if one.startswith("-") and os.path.lexists(one)), "")
    if name:
        return f"If you mean the file, write it with its folder: ./{name}"
    return _BEHIND if given[0].startswith("-") else _HELP


def _drop_output() -> None:
    """Let Python empty its buffers into nothing when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _asked_to_stop() -> Iterator[None]:
    """Let SIGTERM, as from a service manager, end the work as Ctrl-C does."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield  # whoever runs us has plans of their own
        return
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)  # by which a conversation tells it from Ctrl-C


def _usage(error: typer.TyperException, hint: str, *, as_json: bool) -> int:
    """Show what was wrong with the command line."""
    from chapterhouse.interfaces.cli.envelope import failure, write  # noqa: PLC0415 - see options

    message = error.format_message()
    if as_json:
        write(failure("UsageError", message, hint))
    else:
        typer.echo(message if "\n" in message else f"chapterhouse: {message}", err=True)
        if "\n" not in message:
            typer.echo(hint, err=True)
    return 2
