"""The command that lets a council meet: convene."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import UsageError
from chapterhouse.files import write_whole
from chapterhouse.interfaces.cli.bundles import bundle_path
from chapterhouse.interfaces.cli.councils import Which, with_councils
from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    Home,
    Json,
    Trace,
    WorkspaceName,
    readable,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.output_files import destination, is_marked, marked
from chapterhouse.interfaces.cli.session import Outcome

if TYPE_CHECKING:
    from chapterhouse.agents.problems import CouncilConfigError
    from chapterhouse.council.meeting.plan import Convening
    from chapterhouse.library import Library
    from chapterhouse.types import Minutes

_MARKDOWN, _HTML = frozenset({".md", ".markdown"}), frozenset({".html", ".htm"})


def convene(
    council: Which,
    question: Annotated[
        list[str], typer.Argument(metavar="QUESTION...", help="What the council is to discuss.")
    ],
    *,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="PROFILE",
            help="A profile of the settings that speaks for everybody; “none” only quotes.",
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print all of the minutes as Markdown.")
    ] = False,
    html: Annotated[
        bool, typer.Option("--html", help="Print the minutes as a page that stands alone.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", metavar="FILE", help="Write the minutes too: to FILE.md, .html or .json."
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            "--record",
            metavar="FILE",
            help="Write a decision record; it has the number with which its name begins.",
        ),
    ] = None,
    bundle: Annotated[
        str | None,
        typer.Option(
            "--bundle", metavar="FILE", help="Write the minutes with all that is needed to check."
        ),
    ] = None,
    transcript: Annotated[
        str | None,
        typer.Option(
            "--transcript",
            metavar="FILE",
            help="Keep what is said there; else in the council's folder.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="TEXT",
            help="What is to be decided between, instead of the council's own; give two or more.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew where a meeting was interrupted.")
    ] = False,
    forget: Annotated[
        bool, typer.Option("--no-memory", help="Do not remember what was held and decided.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what everybody would be told; ask no model.")
    ] = False,
    trace: Trace = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Put a question to a council, and print the minutes of its meeting.

    Exit code 4 says that a member was absent from a round. Ctrl-C stops at once; the same command
    goes on where it stopped.
    """
    if markdown + html + json > 1:
        raise typer.BadParameter("--markdown, --html and --json are forms of one thing: take one.")
    if dry_run and (markdown or html or output or record or bundle):
        raise typer.BadParameter("--dry-run makes no minutes that could be printed or written.")
    common = Common(json, home, workspace, debug, trace)
    files = _Files(output, record, bundle)

    def work(library: "Library") -> Outcome:
        from chapterhouse.agents.problems import CouncilConfigError  # noqa: PLC0415 - likewise
        from chapterhouse.council.meeting.plan import Convening  # noqa: PLC0415 - see options

        kept = None if transcript is None else Path(require_path(transcript)).expanduser()
        choices = Convening(
            model,
            remember=not forget,
            fresh=fresh,
            transcript=kept,
            options=tuple(option) if option else None,
        )
        try:
            if dry_run:
                return _planned(library, council, readable(*question), choices)
            return _held(library, council, readable(*question), choices, files)
        except CouncilConfigError as error:
            raise _all_told(error, common) from None

    def _held(
        library: "Library", name: str, asked: str, choices: "Convening", files: _Files
    ) -> Outcome:
        from chapterhouse.interfaces.cli import (  # noqa: PLC0415 - see options
            live,
            render_minutes,
            shapes_minutes,
        )

        writing = files.opened()  # before anything is paid for
        minutes = live.attended(
            lambda on_event, on_progress: library.convene(
                name, asked, choices=choices, on_event=on_event, on_progress=on_progress
            ),
            quiet=json,
            kept=not fresh,
        )
        for write in writing:
            write(library, minutes)
        show = (
            render_minutes.markdown
            if markdown
            else render_minutes.html
            if html
            else render_minutes.minutes
        )
        return Outcome(
            shapes_minutes.minutes(minutes) if json else None,
            lambda target: show(target, minutes, reopening(common)),
            shapes_minutes.minutes_code(minutes),
        )

    with_councils(common, work)


def _planned(library: "Library", name: str, asked: str, choices: "Convening") -> Outcome:
    from chapterhouse.interfaces.cli import render_plan, shapes_minutes  # noqa: PLC0415 - see options

    found = library.plan_council(name, asked, choices=choices)
    return Outcome(shapes_minutes.plan(found), lambda target: render_plan.plan(target, found))


# --- a council that cannot meet ----------------------------------------------------------------


def _all_told(error: "CouncilConfigError", common: Common) -> UsageError:
    """Return the error with everything wrong in its message, or shown above it to people."""
    from chapterhouse.interfaces.cli import render_councils  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.terminal import console  # noqa: PLC0415 - likewise

    hint = "Mend council.json, or see: chapterhouse council validate"
    if common.json:
        told = (f"{one.place}: {one.sentence}".removeprefix(": ") for one in error.problems)
        message = " ".join(("The council cannot meet.", *told))
        return UsageError(message, hint=hint)
    render_councils.problems(console(stderr=True), error.problems)
    return UsageError("The council cannot meet.", hint=hint)


# --- files -------------------------------------------------------------------------------------

Write = Callable[["Library", "Minutes"], None]


@dataclass(frozen=True, slots=True)
class _Files:
    """The files that the user named, or None."""

    output: str | None
    record: str | None
    bundle: str | None

    def opened(self) -> list[Write]:
        """Return what writes each of them, once it is clear that all can be written.

        Raises:
            UsageError: a name is none, or two are the same.
            RefusedError: a file is of something else.
        """
        writing: list[tuple[Path, Write]] = []
        if self.output is not None:
            writing.append(_output(self.output))
        if self.record is not None:
            writing.append(_record(self.record))
        if self.bundle is not None:
            writing.append(_bundle(self.bundle))
        if len({path.resolve() for path, _ in writing}) < len(writing):
            raise UsageError(
                "Two of the files to be written have one name.", hint="Name them apart."
            )
        return [write for _, write in writing]


def _output(name: str) -> tuple[Path, Write]:
    ending = Path(require_path(name)).suffix.lower()
    example = "--output minutes.html"
    if ending in _MARKDOWN:
        path = destination(name, "The minutes", example, is_marked)
        return path, lambda _, minutes: write_whole(path, marked(_as_markdown(minutes)))
    if ending in _HTML:
        path = destination(name, "The minutes", example, is_marked)
        return path, lambda _, minutes: write_whole(path, marked(_as_html(minutes)))
    if ending == ".json":
        path = destination(name, "The minutes", example, _is_minutes)
        return path, lambda _, minutes: write_whole(path, _as_json(minutes))
    raise UsageError(
        f"The name '{name}' does not say in which form the minutes are to be written.",
        hint="End it with .md, .html or .json.",
    )


def _record(name: str) -> tuple[Path, Write]:
    from chapterhouse.council.minutes.record import decision_record  # noqa: PLC0415 - see options

    path = destination(name, "A decision record", "--record 0001-berths.md", is_marked)
    begins = re.match(r"[0-9]{1,9}", path.name)
    number = int(begins.group()) if begins else 1
    return path, lambda _, minutes: write_whole(path, marked(decision_record(minutes, number)))


def _bundle(name: str) -> tuple[Path, Write]:
    from chapterhouse.council.minutes.bundle import minutes_bundle_json  # noqa: PLC0415 - see options

    path = bundle_path(name)
    return path, lambda library, minutes: write_whole(
        path, minutes_bundle_json(library.bundle_minutes(minutes))
    )


def _as_markdown(minutes: "Minutes") -> str:
    from chapterhouse.council.minutes.outline import minutes_markdown  # noqa: PLC0415 - see options

    return minutes_markdown(minutes)


def _as_html(minutes: "Minutes") -> str:
    from chapterhouse.council.minutes.outline import minutes_html  # noqa: PLC0415 - see options

    return minutes_html(minutes)


def _as_json(minutes: "Minutes") -> str:
    from chapterhouse.council.minutes.bundle import minutes_json  # noqa: PLC0415 - see options

    return minutes_json(minutes)


def _is_minutes(data: bytes) -> bool:
    from chapterhouse.council.minutes.bundle import minutes_json, read_minutes  # noqa: PLC0415 - see options

    try:
        return minutes_json(read_minutes(data)).encode() == data
    except (UsageError, UnicodeEncodeError):
        return False
