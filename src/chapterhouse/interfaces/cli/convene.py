"""The command that lets a council meet: convene."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.agents.problems import CouncilConfigError
from chapterhouse.errors import UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli import render_personas
from chapterhouse.interfaces.cli.councils import Which, with_councils
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import Trace, common, readable, reopening, require_path
from chapterhouse.interfaces.cli.output_files import destination, is_marked, marked
from chapterhouse.interfaces.cli.session import OK, PARTLY, Outcome
from chapterhouse.interfaces.cli.terminal import console, draw
from chapterhouse.interfaces.cli.verify import bundle_path
from chapterhouse.loading import lazy
from chapterhouse.types import Minutes

if TYPE_CHECKING:
    from chapterhouse.council.meeting import session
    from chapterhouse.council.minutes import bundle as bundles
    from chapterhouse.council.minutes import contents, outline
    from chapterhouse.council.minutes import decision_record as decisions
    from chapterhouse.interfaces.cli import live, render_minutes
    from chapterhouse.library import Library
else:
    session = lazy("chapterhouse.council.meeting.session")
    bundles = lazy("chapterhouse.council.minutes.bundle")
    contents = lazy("chapterhouse.council.minutes.contents")
    decisions = lazy("chapterhouse.council.minutes.decision_record")
    outline = lazy("chapterhouse.council.minutes.outline")
    live = lazy("chapterhouse.interfaces.cli.live")
    render_minutes = lazy("chapterhouse.interfaces.cli.render_minutes")


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
            metavar="NAME",
            help="A model of the settings that speaks for everybody; “none” only quotes.",
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
    full: Annotated[bool, typer.Option("--full", help="Show more than fits one screen.")] = False,
    allow_tools: Annotated[
        bool, typer.Option("--allow-tools", help="Let the council start the servers it declares.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what everybody would be told; ask no model.")
    ] = False,
    trace: Trace = False,
) -> None:
    """Put a question to a council, and print the minutes of its meeting.

    Exit code 4 says that a member was absent from a round. Ctrl-C stops at once; the same command
    goes on where it stopped.
    """
    if markdown + html + common().json > 1:
        raise typer.BadParameter("--markdown, --html and --json are forms of one thing: take one.")
    if dry_run and (markdown or html or output or record or bundle):
        raise typer.BadParameter("--dry-run makes no minutes that could be printed or written.")
    form = (
        render_minutes.markdown
        if markdown
        else render_minutes.html
        if html
        else partial(render_minutes.minutes, full=full)
    )

    def work(library: "Library") -> Outcome:
        options = session.MeetingOptions(
            model,
            remember=not forget,
            fresh=fresh,
            transcript=None if transcript is None else Path(require_path(transcript)).expanduser(),
            options=tuple(option) if option else None,
            allow_tools=allow_tools,
        )
        asked = readable(*question)
        try:
            if dry_run:
                found = library.councils.plan(council, asked, options=options)
                return Outcome(
                    {**plain(found), "dry_run": True}, partial(render_minutes.plan, value=found)
                )
            writing = _writers(output, record, bundle)  # before anything is paid for
            minutes = live.attend(
                lambda on_event: library.councils.convene(
                    council, asked, options=options, on_event=on_event
                ),
                quiet=common().json,
                is_saved=not fresh,
            )
        except CouncilConfigError as error:
            raise _join_problems(error) from None
        for write in writing:
            write(library, minutes)
        return Outcome(
            bundles.minutes_fields(minutes) if common().json else None,
            lambda target: form(target, minutes, reopening()),
            PARTLY if any(held.absences for _, held in contents.meetings(minutes)) else OK,
        )

    with_councils(work, trace=trace)


# --- a council that cannot meet ----------------------------------------------------------------


def _join_problems(error: CouncilConfigError) -> UsageError:
    """Return the error with everything wrong in its message, or shown above it to people."""
    hint = "Fix council.json, or see: chapterhouse council validate"
    if common().json:
        sentences = (f"{one.place}: {one.sentence}".removeprefix(": ") for one in error.problems)
        message = " ".join(("The council cannot meet.", *sentences))
        return UsageError(message, hint=hint)
    draw(console(stderr=True), render_personas.problems(error.problems))
    return UsageError("The council cannot meet.", hint=hint)


# --- files -------------------------------------------------------------------------------------

Write = Callable[["Library", Minutes], None]


def _writers(output: str | None, record: str | None, bundle: str | None) -> list[Write]:
    """Return what writes each of the files that are named, once it is clear that all can be.

    Raises:
        UsageError: a name is none, or two are the same.
        RefusedError: a file is of something else.
    """
    named = ((_output, output), (_record, record), (_bundle, bundle))
    found = [prepare(name) for prepare, name in named if name is not None]
    if len({path.resolve() for path, _ in found}) < len(found):
        raise UsageError("Two of the files to be written have one name.", hint="Name them apart.")
    return [write for _, write in found]


def _output(name: str) -> tuple[Path, Write]:
    ending = Path(require_path(name)).suffix.lower()
    form = _FORMS.get(ending)
    if form is None:
        raise UsageError(
            f"The name '{name}' does not say in which form the minutes are to be written.",
            hint="End it with .md, .html or .json.",
        )
    is_ours = _is_minutes if ending == ".json" else is_marked
    path = destination(name, "The minutes", "--output minutes.html", is_ours)
    return path, lambda _, minutes: write_output(path, form(minutes))


def _record(name: str) -> tuple[Path, Write]:
    path = destination(name, "A decision record", "--record 0001-berths.md", is_marked)
    begins = re.match(r"[0-9]{1,9}", path.name)
    number = int(begins.group()) if begins else 1
    return path, lambda _, minutes: write_output(
        path, marked(decisions.decision_record(minutes, number))
    )


def _bundle(name: str) -> tuple[Path, Write]:
    path = bundle_path(name)
    return path, lambda library, minutes: write_output(
        path, bundles.minutes_bundle_json(library.councils.bundle(minutes))
    )


def _markdown(minutes: Minutes) -> str:
    return marked(outline.minutes_markdown(minutes))


def _html(minutes: Minutes) -> str:
    return marked(outline.minutes_html(minutes))


def _json(minutes: Minutes) -> str:
    return bundles.minutes_json(minutes)


_FORMS: Final[Mapping[str, Callable[[Minutes], str]]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".html": _html,
    ".htm": _html,
    ".json": _json,
}


def _is_minutes(data: bytes) -> bool:
    try:
        return bundles.minutes_json(bundles.read_minutes(data)).encode() == data
    except (UsageError, UnicodeEncodeError):
        return False
