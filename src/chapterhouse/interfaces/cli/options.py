"""The options that every command takes.

Command modules import only typer, types and errors at the top; whatever is heavy is imported
when a command runs, so that ``chapterhouse --help`` answers at once.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Home = Annotated[
    Path | None,
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
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")
]


@dataclass(frozen=True, slots=True)
class Common:
    """What the common options came to."""

    json: bool
    home: Path | None
    workspace: str
    debug: bool
