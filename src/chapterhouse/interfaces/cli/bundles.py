"""Commands that check old answers: cite check, verify."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    Home,
    Json,
    WorkspaceName,
    require_path,
)
from chapterhouse.interfaces.cli.output_files import destination
from chapterhouse.interfaces.cli.session import FAILED, OK, PARTLY, Outcome, run, with_library
from chapterhouse.types import Answer, Check, Minutes

if TYPE_CHECKING:
    from chapterhouse.answering.bundle import Bundle
    from chapterhouse.library import Library

app = typer.Typer(
    help="Check the citations of answers and minutes of earlier.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="What ask or convene wrote with --json or --bundle; “-” to read it."
    ),
]
_BundleFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="What ask or convene wrote with --bundle; “-” to read it."),
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
    """Say which sources of an old answer or of minutes have changed, moved or gone.

    Exit code 4 says that a quotation no longer stands anywhere in its document.
    """
    from chapterhouse.answering.bundle import read_answer  # noqa: PLC0415 - see options
    from chapterhouse.council.minutes.bundle import (  # noqa: PLC0415 - likewise
        holds_minutes,
        read_minutes,
    )
    from chapterhouse.interfaces.cli import render_checks, shapes_checks  # noqa: PLC0415 - likewise

    def work(library: "Library") -> Outcome:
        data = _content(file)
        if holds_minutes(data):
            minutes = read_minutes(data)
            question, found = minutes.question, library.recheck_minutes(minutes)
        else:
            answer = read_answer(data)
            question, found = answer.question, library.recheck(answer)
        return Outcome(
            shapes_checks.rechecked(question, found),
            lambda target: render_checks.rechecked(target, question, found),
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
    from chapterhouse.interfaces.cli import render_checks, shapes_checks  # noqa: PLC0415 - see options

    common = Common(json, home, workspace, debug)

    def by_itself() -> Outcome:
        examined = _examined(_content(file))
        return Outcome(
            shapes_checks.verified(examined, None),
            lambda target: render_checks.verified(target, examined, None),
            OK if examined.trusted else FAILED,
        )

    def against(library: "Library") -> Outcome:
        examined = _examined(_content(file))
        held = examined.held
        if isinstance(held, Minutes):
            found = library.recheck_minutes(held)
        else:
            found = library.recheck(held)
        stands = all(one.holds for one in found)
        return Outcome(
            shapes_checks.verified(examined, found),
            lambda target: render_checks.verified(target, examined, found),
            FAILED if not examined.trusted else OK if stands else PARTLY,
        )

    if alone:
        run(common, by_itself)
    with_library(common, against)


@dataclass(frozen=True, slots=True)
class Examined:
    """A bundle that was checked by itself, of whichever kind.

    Attributes:
        held: What it is the bundle of.
        versions: Of what made it.
    """

    held: Answer | Minutes
    versions: Mapping[str, str]
    checks: tuple[Check, ...]

    @property
    def trusted(self) -> bool:
        """Whether it passed every check."""
        return all(check.passed for check in self.checks)


def _examined(data: bytes) -> Examined:
    from chapterhouse.answering.bundle import examine, read_bundle  # noqa: PLC0415 - see options
    from chapterhouse.claims.judge import judge  # noqa: PLC0415 - likewise
    from chapterhouse.council.minutes.bundle import (  # noqa: PLC0415 - likewise
        examine_minutes,
        holds_minutes,
        read_minutes_bundle,
    )

    if holds_minutes(data):
        held = read_minutes_bundle(data)
        return Examined(held.minutes, held.versions, examine_minutes(held, judge))
    bundle = read_bundle(data)
    return Examined(bundle.answer, bundle.versions, examine(bundle, judge))


def bundle_path(name: str) -> Path:
    """Return the file that a bundle is to be written to, once it is clear that it can be.

    Raises:
        UsageError: it is no name of a file, or its folder is not there.
        RefusedError: it is a file of something else, which would be lost.
    """
    return destination(name, "A bundle", "--bundle answer.json", is_bundle)


def is_bundle(data: bytes) -> bool:
    """Whether bytes are a bundle, of an answer or of minutes, which may be replaced."""
    from chapterhouse.answering.bundle import read_bundle  # noqa: PLC0415 - see options
    from chapterhouse.council.minutes.bundle import (  # noqa: PLC0415 - likewise
        holds_minutes,
        read_minutes_bundle,
    )

    try:
        if holds_minutes(data):
            read_minutes_bundle(data)
        else:
            read_bundle(data)
    except UsageError:
        return False
    return True


def write_bundle(path: Path, bundle: "Bundle") -> None:
    """Write a bundle whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    from chapterhouse.answering.bundle import bundle_json  # noqa: PLC0415 - see options

    write_output(path, bundle_json(bundle))


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
