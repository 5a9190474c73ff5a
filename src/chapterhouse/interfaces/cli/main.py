"""The application, and the one place where a run becomes an exit code.

A command's module is loaded when the command is named, so that ``chapterhouse --help`` answers at
once: this module imports next to nothing.
"""

import atexit
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import typer
from typer.core import TyperGroup

from chapterhouse import __version__, lazy
from chapterhouse.files import private_files
from chapterhouse.interfaces.cli.interrupts import WithoutCollection, end_at_once, exchange

if TYPE_CHECKING:
    from chapterhouse.interfaces.cli import session
else:
    session = lazy("chapterhouse.interfaces.cli.session")

# Every command and group, as the help lists them: where it is, and its line.
GROUPS: Final = {
    "The first hour": {
        "add": ("library:add", "Read files and folders into the library."),
        "ask": ("ask:ask", "Answer a question with quotations that were checked."),
        "chat": (
            "chat:chat",
            "Ask one question after the other; each may go on from the one before.",
        ),
        "open": ("search:open_source", "Open a source of the last answer or search."),
        "serve": (
            "server:serve",
            "Serve the home over HTTP: the page, the API, MCP and what OpenAI's clients speak.",
        ),
        "status": ("library:status", "Show what the library holds and where it is."),
    },
    "Ask": {
        "search": ("search:search", "Find passages, best first."),
        "context": (
            "search:context",
            "Pack what the documents say on a question into a number of tokens.",
        ),
        "more": ("search:more", "Show up to eight passages for the last question."),
        "graph": ("graph:app", "Show who and what the documents speak of, with the sentences."),
        "memory": ("memory:app", "List, search and forget what was asked and answered."),
        "verify": ("verify:verify", "Check a saved answer or saved minutes and their quotations."),
        "eval": (
            "evaluate:evaluate",
            "Measure how well questions are answered, or whose documents answer them.",
        ),
        "feedback": ("evaluate:feedback", "Keep a good or bad answer as a question to evaluate."),
        "analytics": (
            "memory:analytics",
            "Show what was asked, how well it was answered, and what the documents lack.",
        ),
    },
    "Documents": {
        "sync": ("sync:sync", "Make the library the image of its folders again."),
        "source": ("sync:app", "Say which folders and lists of web pages the library follows."),
        "cloud": ("cloud:app", "Connect cloud drives, browse them, and read folders of them."),
        "docs": ("documents:app", "List, show, remove and reread documents."),
        "jobs": ("jobs:app", "List, show, stop and retry long work."),
        "worker": ("jobs:worker", "Do the long work that waits."),
    },
    "People who answer, and who may ask": {
        "persona": ("personas:app", "Make, describe, validate and update personas."),
        "council": ("councils:app", "Make and check councils, and list their documents."),
        "convene": ("convene:convene", "Put a question to a council, and print what comes of it."),
        "user": (
            "server:users",
            "Add, list and remove people who log in with a name and a password.",
        ),
        "key": (
            "server:keys",
            "Make, list and revoke keys, with which programs use the home over the network.",
        ),
        "audit": (
            "server:audit",
            "List what was changed and refused, newest first, in all workspaces.",
        ),
    },
    "Connect": {
        "model": (
            "models:app",
            "Choose the models: what writes answers, makes vectors and orders passages.",
        ),
        "mcp": (
            "server:mcp",
            "Serve the library over standard input and output to clients that speak MCP.",
        ),
        "settings": ("settings:app", "List, show, change and reset the settings of the library."),
    },
    "Upkeep": {
        "init": ("library:init", "Create the home folder and an empty library."),
        "self-test": (
            "library:self_test",
            "Check that this installation reads, finds, answers and verifies; it takes seconds.",
        ),
        "doctor": (
            "library:doctor",
            "Say whether the library is sound, what it runs on, and what to do.",
        ),
        "reindex": (
            "library:reindex",
            "Cut documents again that other settings cut, and build the search indexes again.",
        ),
        "export": ("library:export_archive", "Write the whole library to one archive."),
        "import": (
            "library:import_archive",
            "Restore an archive to a new home or an empty workspace.",
        ),
    },
}
COMMANDS: Final = {name: entry for group in GROUPS.values() for name, entry in group.items()}
_NEXT: Final = "next"  # what ``chapterhouse`` alone runs
_HIDDEN: Final = {_NEXT: ("library:next_steps", "Say what to do next.")}
# Words of other systems that mean the same.
ALIASES: Final = {"expert": "persona", "panel": "council", "debate": "convene"}


@cache
def command(name: str) -> Any:
    """Return a command or a group of commands with its options; its module is loaded."""
    module, _, attribute = (COMMANDS | _HIDDEN)[name][0].partition(":")
    with WithoutCollection():
        found = getattr(import_module(f"{__package__}.{module}"), attribute)
    group = found if isinstance(found, typer.Typer) else typer.Typer(rich_markup_mode=None)
    if group is not found:
        group.command(name)(found)
    session.take_common_options(group)
    made = typer.main.get_group(group)
    return made if group is found else made.commands[name]


class _LazyGroup(TyperGroup):
    """Lists commands, group by group, without loading them."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if today := ALIASES.get(args[0]):
            typer.echo(f"{args[0]} is called {today} here: chapterhouse {today}", err=True)
            args = [today, *args[1:]]
        name, _, rest = super().resolve_command(ctx, args)
        return name, command(str(name)), rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])


# Plain help: Rich's takes a tenth of a second to load and its boxes do not copy into a manual.
app = typer.Typer(
    name="chapterhouse",
    cls=_LazyGroup,
    help="Answers from your own documents, with citations checked to the character. Offline.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _name, (_, _line) in (COMMANDS | _HIDDEN).items():
    app.command(_name, help=_line, hidden=_name in _HIDDEN)(lambda: None)

# What other systems have: where a name leads nowhere here, what does the same.
ELSEWHERE: Final = {
    "council docs link": "A folder is linked by: chapterhouse source add PATH --council NAME",
    "council docs unlink": "It is done by: chapterhouse source remove PATH --council NAME",
    "persona chat": "It is called: chapterhouse chat with --persona NAME",
    "persona create": "It is called: chapterhouse persona new NAME --folder FOLDER",
    "council create": "It is called: chapterhouse council new NAME --member PERSONA",
    "train": "It is called: chapterhouse persona update",
}

_HELP = "Run chapterhouse --help for what there is."
_BEHIND = "Options come after the command, like: chapterhouse add PATH --home FOLDER"


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; ``docs/cli.md`` lists them."""
    if arguments is None:
        # Also while Python itself ends, after the command.
        exchange(signal.default_int_handler, end_at_once)
        _open_standard_streams()
        return _leave(_run_writing(sys.argv[1:]))
    return _run_writing(list(arguments))


def _run_writing(given: list[str]) -> int:
    """Run one command; what it writes may have nowhere to go."""
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


def _leave(code: int) -> int:
    """End the process, unless threads go on: Python would take all modules apart first.

    That takes longer than many a command.
    """
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return code
    atexit._run_exitfuncs()  # noqa: SLF001 - there is no other way to run them
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _open_standard_streams() -> None:
    """Let streams that were closed (``2>&-``) lead nowhere, so that no file gets their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - of a descriptor


def _run(given: list[str]) -> int:
    try:
        with _asked_to_stop(), private_files():
            # Outside standalone mode an Exit comes back as its code, a usage error is raised.
            if given[:1] == ["help"]:
                given = [*given[1:], "--help"]
            code = app(given or [_NEXT], prog_name="chapterhouse", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _usage(error, _hint(given, error.format_message()), as_json="--json" in given)
    return code if isinstance(code, int) else 0


def _hint(given: Sequence[str], message: str) -> str:
    if "No such command" in message:
        words = " ".join((ALIASES.get(given[0], given[0]), *given[1:], ""))
        return next((say for name, say in ELSEWHERE.items() if words.startswith(f"{name} ")), _HELP)
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
    from chapterhouse.interfaces.cli.envelope import failure, write  # noqa: PLC0415 - not for --help

    message = error.format_message()
    if as_json:
        write(failure("UsageError", message, hint))
    else:
        typer.echo(message if "\n" in message else f"chapterhouse: {message}", err=True)
        if "\n" not in message:
            typer.echo(hint, err=True)
    return 2
