"""The command chat: lines in, answers out, until the end of the input."""

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    Home,
    Json,
    Shelves,
    Tags,
    WorkspaceName,
    reopening,
)
from chapterhouse.interfaces.cli.session import Outcome, with_library

if TYPE_CHECKING:
    from pathlib import Path

    from chapterhouse.interfaces.cli.conversation import Conversation
    from chapterhouse.library import Library

_GREETING: Final = "Ask in your own words. /help shows what else there is; Ctrl-D ends."
_HISTORY: Final = 1_000  # lines


def chat(
    *,
    persona: Annotated[
        str,
        typer.Option(
            "--persona", metavar="NAME", help="Who is asked; they answer from their own shelves."
        ),
    ] = "",
    shelf: Shelves = None,
    tag: Tags = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="PROFILE", help="A profile of the settings; “none” only quotes."
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--no-memory", help="Do not remember questions and answers.")
    ] = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Ask one question after the other; each may go on from the one before.

    Each line is a question, or a command such as /help. Off a terminal lines are read from
    standard input; with --json each answer is one JSON object on a line of its own.
    """
    from chapterhouse.interfaces.cli.asked import Asking  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.conversation import Conversation  # noqa: PLC0415 - likewise
    from chapterhouse.interfaces.cli.last import history_of  # noqa: PLC0415 - likewise

    common = Common(json, home, workspace, debug)
    asking = Asking(persona, tuple(shelf or ()), tuple(tag or ()), model=model, remember=not forget)

    def work(library: "Library") -> Outcome:
        conversation = Conversation(library, asking, reopening(common), json=json)
        if persona:
            conversation.speak_to(persona)
        with _typed(None if forget else history_of(library.folder)) as on_terminal:
            _converse(conversation, common, on_terminal=on_terminal)
        return Outcome(None, lambda _: None, is_told=True)

    with_library(common, work)


def _converse(conversation: "Conversation", common: Common, *, on_terminal: bool) -> None:
    """Answer line after line, until one says that it is over."""
    if on_terminal:
        typer.echo(_GREETING)
    while not conversation.is_over:
        try:
            line = input(f"{conversation.name}> " if on_terminal else "")
            if line.strip() and not (on_terminal or common.json):
                typer.echo(f"{conversation.name}> {line.strip()}")
            conversation.take(line)
        except EOFError:
            if on_terminal:
                typer.echo("")
            return
        except ChapterhouseError as error:
            conversation.fail(type(error).__name__, error)
        except KeyboardInterrupt as stop:
            if signal.SIGTERM in stop.args:
                raise
            typer.echo("" if on_terminal else "Stopped.", err=True)


@contextmanager
def _typed(history: "Path | None") -> Iterator[bool]:
    """Say whether somebody types on a terminal; there, lines of earlier days can be called up."""
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with ExitStack() as closing:
        if on_terminal:
            with suppress(ImportError):
                closing.enter_context(_line_editing(history))
        yield on_terminal


@contextmanager
def _line_editing(history: "Path | None") -> Iterator[None]:
    """Let lines be edited and called up again; those of a history file, where one is kept."""
    import readline  # noqa: PLC0415 - not everywhere, and for terminals only

    readline.set_auto_history(True)
    if history is None:
        yield
        return
    readline.set_history_length(_HISTORY)
    with suppress(OSError):  # there is none yet
        readline.read_history_file(history)
    try:
        yield
    finally:
        with suppress(OSError):  # a library that cannot be written to still answers
            history.touch(mode=0o600)
            readline.write_history_file(history)
