"""The options that every command takes, others that several take, and the files that they name."""

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from chapterhouse.errors import RefusedError, UsageError


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
Documents = Annotated[
    list[str] | None,
    option("--document", "NAME", "Only this document, or those in this folder; repeatable."),
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


def readable_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names that an option was given, as ``readable`` does."""
    return tuple(map(readable, names or ()))


# Markdown and HTML both take it for a comment. What was changed since belongs to who changed it.
_MARK: Final = re.compile(rb"<!-- written by Chapterhouse, SHA-256 ([0-9a-f]{64}) -->\n\Z")
_LARGEST: Final = 64 * 2**20  # bytes of a file that is looked at


def destination(name: str, what: str, example: str, is_ours: Callable[[bytes], bool]) -> Path:
    """Return the file that is to be written, once it is clear that it can be.

    Args:
        example: An option with a name that would do.
        is_ours: Whether a file of this content is of our making and may be replaced.

    Raises:
        UsageError: it is no name of a file, or its folder is not there.
        RefusedError: it is a file of something else, which would be lost.
    """
    path = Path(require_path(name)).expanduser()
    if name == "-" or path.is_dir() or not path.parent.is_dir():
        raise UsageError(
            f"{what} cannot be written to '{name}'.",
            hint=f"Name a file in a folder that is there, like: {example}",
        )
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"The folder of '{name}' cannot be written to.", hint="Name another file.")
    if path.exists() and not (path.is_file() and is_ours(_beginning(path))):
        raise RefusedError(
            f"'{name}' is a file of something else, and would be lost.",
            hint="Name a new file, or one that such a command wrote and nobody has changed.",
        )
    return path


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST)
    except OSError:
        return b""  # what cannot be read is not ours


def marked(text: str) -> str:
    """Return Markdown or HTML with a comment at its end, by which ``is_marked`` knows it again."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text}<!-- written by Chapterhouse, SHA-256 {digest} -->\n"


def is_marked(data: bytes) -> bool:
    """Whether a file is as a command wrote it: what people changed is theirs."""
    mark = _MARK.search(data)
    return mark is not None and (
        hashlib.sha256(data[: mark.start()]).hexdigest().encode() == mark.group(1)
    )
