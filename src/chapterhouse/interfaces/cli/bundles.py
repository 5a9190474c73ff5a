"""Commands that check old answers: cite check, verify."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    Home,
    Json,
    WorkspaceName,
    require_path,
)
from chapterhouse.interfaces.cli.session import FAILED, OK, PARTLY, Outcome, run, with_library

if TYPE_CHECKING:
    from chapterhouse.answering.bundle import Bundle
    from chapterhouse.library import Library

app = typer.Typer(
    help="Check the citations of answers given earlier.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_File = Annotated[
    str, typer.Argument(metavar="FILE", help="What ask --json or --bundle wrote; “-” to read it.")
]
_BundleFile = Annotated[
    str, typer.Argument(metavar="FILE", help="What ask --bundle wrote; “-” to read it.")
]


@app.command("check")
def check(
    file: _File,
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Say which sources of an old answer have changed, moved or gone.

    Exit code 4 says that a quotation no longer stands anywhere in its document.
    """
    from chapterhouse.answering.bundle import read_answer  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli import render_checks, shapes_checks  # noqa: PLC0415 - likewise

    def work(library: "Library") -> Outcome:
        answer = read_answer(_content(file))
        found = library.recheck(answer)
        return Outcome(
            shapes_checks.rechecked(answer, found),
            lambda target: render_checks.rechecked(target, answer, found),
            OK if all(one.holds for one in found) else PARTLY,
        )

    with_library(Common(json, home, workspace, debug), work)


def verify(
    file: _BundleFile,
    *,
    alone: Annotated[
        bool, typer.Option("--alone", help="Check the file by itself, without any library.")
    ] = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Check a bundle: that it is as it was written, and that its quotations stand.

    With --alone all is checked that the file itself can show, on any machine. Exit code 1 says
    that the file is not to be trusted, 4 that a quotation stands no more.
    """
    from chapterhouse.answering.bundle import examine, read_bundle  # noqa: PLC0415 - see options
    from chapterhouse.answering.judge import judge  # noqa: PLC0415 - likewise
    from chapterhouse.interfaces.cli import render_checks, shapes_checks  # noqa: PLC0415 - likewise

    common = Common(json, home, workspace, debug)

    def by_itself() -> Outcome:
        bundle = read_bundle(_content(file))
        checks = examine(bundle, judge)
        return Outcome(
            shapes_checks.verified(bundle, checks, None),
            lambda target: render_checks.verified(target, bundle, checks, None),
            OK if all(one.passed for one in checks) else FAILED,
        )

    def against(library: "Library") -> Outcome:
        bundle = read_bundle(_content(file))
        checks = examine(bundle, judge)
        found = library.recheck(bundle.answer)
        trusted = all(one.passed for one in checks)
        stands = all(one.holds for one in found)
        return Outcome(
            shapes_checks.verified(bundle, checks, found),
            lambda target: render_checks.verified(target, bundle, checks, found),
            FAILED if not trusted else OK if stands else PARTLY,
        )

    if alone:
        run(common, by_itself)
    with_library(common, against)


def bundle_path(name: str) -> Path:
    """Return the file that a bundle is to be written to, once it is clear that it can be.

    Raises:
        UsageError: it is no name of a file, or its folder is not there.
        RefusedError: it is a file of something else, which would be lost.
    """
    from chapterhouse.answering.bundle import read_bundle  # noqa: PLC0415 - see options

    path = Path(require_path(name)).expanduser()
    if name == "-" or path.is_dir() or not path.parent.is_dir():
        raise UsageError(
            f"A bundle cannot be written to '{name}'.",
            hint="Name a file in a folder that is there, like: --bundle answer.json",
        )
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"The folder of '{name}' cannot be written to.", hint="Name another file.")
    if path.exists():
        try:
            read_bundle(path.read_bytes())
        except (UsageError, OSError):
            raise RefusedError(
                f"'{name}' is a file of something else, and would be lost.",
                hint="Name a new file, or a bundle that may be replaced.",
            ) from None
    return path


def write_bundle(path: Path, bundle: "Bundle") -> None:
    """Write a bundle whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    from chapterhouse.answering.bundle import bundle_json  # noqa: PLC0415 - see options

    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8", errors="surrogatepass") as stream:
            stream.write(bundle_json(bundle))
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _content(name: str) -> bytes:
    from chapterhouse.answering.bundle import LARGEST  # noqa: PLC0415 - see options

    if name == "-":
        return sys.stdin.buffer.read(LARGEST + 1)
    path = Path(require_path(name)).expanduser()
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST + 1)  # what is longer is refused, and never read whole
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {name}.", hint="Check the spelling.") from None
