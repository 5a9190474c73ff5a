"""The options that every command takes, and others that several take."""

import os
import shlex
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final

import typer

from chapterhouse.errors import UsageError


def group(text: str) -> typer.Typer:
    """Return a group of commands, to which they are added."""
    return typer.Typer(help=text, no_args_is_help=True, rich_markup_mode=None)


def flag(name: str, text: str) -> Any:
    """Return an option that is there or not."""
    return typer.Option(name, help=text)


def option(
    name: str, metavar: str, text: str, *, least: int | None = None, most: int | None = None
) -> Any:
    """Return an option with a value; numbers are from ``least`` to ``most``."""
    return typer.Option(name, metavar=metavar, help=text, min=least, max=most)


def argument(metavar: str, text: str) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=text)


Shelves = Annotated[
    list[str] | None, option("--shelf", "NAME", "Only documents on this shelf; repeatable.")
]
OnShelf = Annotated[
    str,
    option(
        "--shelf",
        "NAME",
        "The shelf to put the documents on.  [default: as before, else library]",
    ),
]
Tags = Annotated[
    list[str] | None,
    option("--tag", "TAG", "A topic you know; documents with this tag rank higher."),
]
PersonaName = Annotated[
    str, option("--persona", "NAME", "Who is asked; they answer from their own shelves.")
]
Model = Annotated[
    str | None, option("--model", "NAME", "A model of the settings; “none” quotes without a model.")
]
Trace = Annotated[
    bool,
    flag("--trace", "Show what was done and how long it took, on standard error or in “meta”."),
]
DryRun = Annotated[bool, flag("--dry-run", "Say what would be done, and change nothing.")]
Yes = Annotated[bool, flag("--yes", "Do not ask.")]
Confirmed = Annotated[bool, flag("--yes", "The files were deleted: remove also many documents.")]


@dataclass(frozen=True, slots=True)
class Common:
    """What the options of every command came to. Each is a field, annotated as an option."""

    json: Annotated[bool, flag("--json", "Print one JSON object instead of text.")] = False
    home: Annotated[
        str | None,  # not a Path, which takes "" for the present folder
        typer.Option(
            "--home",
            metavar="PATH",
            envvar="CHAPTERHOUSE_HOME",
            help="The folder that holds everything.  [default: ~/Chapterhouse]",
        ),
    ] = None
    workspace: Annotated[
        str, option("--workspace", "NAME", "The library inside the home; no other is read.")
    ] = "default"
    debug: Annotated[bool, flag("--debug", "Show the traceback of an unexpected error.")] = False
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Show no progress and no drafts; only results and errors."
        ),
    ] = False


COMMON: Final = ContextVar("common", default=Common())  # noqa: B039 - it is frozen
COMMON_NAMES: Final = tuple(entry.name for entry in fields(Common))


def common() -> Common:
    """Return what the common options of the command that runs came to."""
    return COMMON.get()


def reopening() -> str:
    """Return the options that lead another command to the same library, ready for a shell."""
    options: list[str] = []
    home, workspace = common().home, common().workspace
    if home is not None and home != os.environ.get("CHAPTERHOUSE_HOME"):
        options += ["--home", home]
    if workspace != "default":
        options += ["--workspace", workspace]
    return "".join(f" {shlex.quote(option)}" for option in options)


def require_path(path: str) -> str:
    """Return ``path`` unless it is empty, as from a variable that is not set."""
    if not path.strip():
        raise UsageError(
            "A path is empty.", hint="Is a variable not set? The present folder is written '.'."
        )
    return path


def readable(*words: str) -> str:
    """Return words as one text; bytes that are none, as after a wrong paste, become U+FFFD."""
    return " ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
