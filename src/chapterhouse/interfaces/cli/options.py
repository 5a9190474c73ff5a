"""The options that every command takes, and others that several take."""

import os
import shlex
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, Final

import typer

from chapterhouse.errors import UsageError

Shelves = Annotated[
    list[str] | None,
    typer.Option("--shelf", metavar="NAME", help="Only documents on this shelf; repeatable."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", metavar="TAG", help="What you know about; documents with that tag rank higher."
    ),
]
PersonaName = Annotated[
    str,
    typer.Option(
        "--persona", metavar="NAME", help="Who is asked; they answer from their own shelves."
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="A model of the settings; “none” only quotes."),
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
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@dataclass(frozen=True, slots=True)
class Common:
    """What the options of every command came to. Each is a field, annotated as an option."""

    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = (
        False
    )
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
        str,
        typer.Option(
            "--workspace",
            metavar="NAME",
            help="The library inside the home; no other is read.",
        ),
    ] = "default"
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")
    ] = False
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


def take_common_options(app: typer.Typer) -> None:
    """Let every command of ``app`` take the common options."""
    for group in app.registered_groups:
        if group.typer_instance is not None:
            take_common_options(group.typer_instance)
    for entry in (*app.registered_commands, app.registered_callback):
        if entry is not None and entry.callback is not None:
            entry.callback = _with_common_options(entry.callback)


def _with_common_options(function: Callable[..., None]) -> Callable[..., None]:
    @wraps(function)
    def run(**given: Any) -> None:
        before = COMMON.set(Common(**{name: given.pop(name) for name in COMMON_NAMES}))
        try:
            function(**given)
        finally:
            COMMON.reset(before)

    stated, added = (
        signature(function),
        [
            Parameter(
                entry.name, Parameter.KEYWORD_ONLY, default=entry.default, annotation=entry.type
            )
            for entry in fields(Common)
        ],
    )
    parameters = [*stated.parameters.values(), *added]
    run.__signature__ = stated.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {
        **function.__annotations__,
        **{parameter.name: parameter.annotation for parameter in added},
    }
    return run


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
