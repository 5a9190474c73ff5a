"""The options that every command takes.

Command modules import only typer, types and errors at the top; whatever is heavy is imported
when a command runs, so that ``chapterhouse --help`` answers at once.
"""

import os
import shlex
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Final

import typer

from chapterhouse.errors import UsageError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Home = Annotated[
    str | None,  # not a Path, which takes "" for the present folder
    typer.Option(
        "--home",
        metavar="PATH",
        envvar="CHAPTERHOUSE_HOME",
        help="The folder that holds everything.  [default: ~/Chapterhouse]",
    ),
]
WorkspaceName = Annotated[
    str,
    typer.Option(
        "--workspace", metavar="NAME", help="The library inside the home; others are out of sight."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")]
Shelves = Annotated[
    list[str] | None,
    typer.Option(
        "--shelf", metavar="NAME", help="Only documents on this shelf; may be given again."
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", metavar="TAG", help="What you know about; documents with that tag rank higher."
    ),
]
Trace = Annotated[
    bool,
    typer.Option(
        "--trace", help="Show what was done and how long it took, on standard error or in “meta”."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")
]

Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Show no progress and no drafts; only results and errors."),
]
QUIET: Final = ContextVar("quiet", default=False)


def take_quiet(app: typer.Typer) -> None:
    """Let every command of ``app`` take --quiet."""
    for group in app.registered_groups:
        if group.typer_instance is not None:
            take_quiet(group.typer_instance)
    for command in app.registered_commands:
        if command.callback is not None:
            command.callback = _quietly(command.callback)


def _quietly(function: Callable[..., None]) -> Callable[..., None]:
    @wraps(function)
    def run(*, quiet: bool, **given: object) -> None:
        before = QUIET.set(quiet)
        try:
            function(**given)
        finally:
            QUIET.reset(before)

    added = Parameter("quiet", Parameter.KEYWORD_ONLY, default=False, annotation=Quiet)
    stated = signature(function, eval_str=True)
    parameters = [*stated.parameters.values(), added]
    run.__signature__ = stated.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {**function.__annotations__, "quiet": Quiet}
    return run


@dataclass(frozen=True, slots=True)
class Common:
    """What the common options came to."""

    json: bool
    home: str | None
    workspace: str
    debug: bool
    trace: bool = False


def reopening(common: Common) -> str:
    """Return the options that lead another command to the same library, ready for a shell."""
    options: list[str] = []
    if common.home is not None and common.home != os.environ.get("CHAPTERHOUSE_HOME"):
        options += ["--home", common.home]
    if common.workspace != "default":
        options += ["--workspace", common.workspace]
    return "".join(f" {shlex.quote(option)}" for option in options)


def require_path(path: str) -> str:
    """Return ``path`` unless it is empty, as from a variable that is not set.

    Raises:
        UsageError: it is.
    """
    if not path.strip():
        raise UsageError(
            "A path is empty.", hint="Is a variable not set? The present folder is written '.'."
        )
    return path


def readable(*words: str) -> str:
    """Return words as one text; bytes that are none, as after a wrong paste, become U+FFFD."""
    return " ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
