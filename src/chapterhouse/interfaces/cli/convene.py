"""The command that lets a council meet: convene."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.agents.problems import CouncilConfigError
from chapterhouse.errors import UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.councils import COUNCILS, Which
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import (
    Trace,
    argument,
    common,
    flag,
    option,
    readable,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.output_files import destination, is_marked, marked
from chapterhouse.interfaces.cli.registries import show_problems
from chapterhouse.interfaces.cli.session import OK, PARTLY, Outcome
from chapterhouse.interfaces.cli.terminal import console, draw
from chapterhouse.interfaces.cli.verify import bundle_path, write_bundle
from chapterhouse.loading import lazy
from chapterhouse.types import Minutes

if TYPE_CHECKING:
    from chapterhouse.answering import bundle as bundles
    from chapterhouse.council.meeting import session
    from chapterhouse.council.minutes import bundle as minutes_bundle
    from chapterhouse.council.minutes import contents, outline
    from chapterhouse.interfaces.cli import live, render_minutes
    from chapterhouse.library import Library
else:
    session = lazy("chapterhouse.council.meeting.session")
    bundles = lazy("chapterhouse.answering.bundle")
    minutes_bundle = lazy("chapterhouse.council.minutes.bundle")
    contents = lazy("chapterhouse.council.minutes.contents")
    outline = lazy("chapterhouse.council.minutes.outline")
    live = lazy("chapterhouse.interfaces.cli.live")
    render_minutes = lazy("chapterhouse.interfaces.cli.render_minutes")


def convene(
    council: Which,
    question: Annotated[list[str], argument("QUESTION...", "What the council is to discuss.")],
    *,
    model: Annotated[
        str | None,
        option(
            "--model",
            "NAME",
            "A model of the settings that speaks for everybody; “none” only reads.",
        ),
    ] = None,
    markdown: Annotated[bool, flag("--markdown", "Print all of the minutes as Markdown.")] = False,
    html: Annotated[bool, flag("--html", "Print the minutes as a page that stands alone.")] = False,
    output: Annotated[
        str | None,
        option("--output", "FILE", "Write the minutes too: to FILE.md, .html or .json."),
    ] = None,
    bundle: Annotated[
        str | None,
        option("--bundle", "FILE", "Write the minutes with all that is needed to check."),
    ] = None,
    transcript: Annotated[
        str | None,
        option("--transcript", "FILE", "Keep what is said there; else in the council's folder."),
    ] = None,
    choice: Annotated[
        list[str] | None,
        option(
            "--option",
            "TEXT",
            "What is to be decided between, instead of the council's own; give two or more.",
        ),
    ] = None,
    seconds: Annotated[
        int | None,
        option("--seconds", "S", "Ask nobody any more after so many seconds.", least=1),
    ] = None,
    tokens: Annotated[
        int | None,
        option("--tokens", "N", "Ask nobody any more once models have used so many.", least=1),
    ] = None,
    fresh: Annotated[bool, flag("--fresh", "Begin anew where a meeting was interrupted.")] = False,
    forget: Annotated[
        bool, flag("--no-memory", "Do not remember what was held and decided.")
    ] = False,
    full: Annotated[bool, flag("--full", "Show more than fits one screen.")] = False,
    dry_run: Annotated[
        bool, flag("--dry-run", "Show what everybody would be told; ask no model.")
    ] = False,
    trace: Trace = False,  # noqa: ARG001 - for whoever runs the command
) -> Outcome:
    """Put a question to a council, and print what comes of it.

    Exit code 4 says that a member was absent from a round. Ctrl-C stops at once; the same command
    goes on where it stopped.
    """
    if markdown + html + common().json > 1:
        raise typer.BadParameter("--markdown, --html and --json are forms of one thing: take one.")
    if dry_run and (markdown or html or output or bundle):
        raise typer.BadParameter("--dry-run makes no minutes that could be printed or written.")
    form = render_minutes.markdown if markdown else render_minutes.html if html else None
    show = form or partial(render_minutes.minutes, full=full)
    options = session.MeetingOptions(
        model,
        remember=not forget,
        fresh=fresh,
        transcript=None if transcript is None else Path(require_path(transcript)).expanduser(),
        options=tuple(choice) if choice else None,
        seconds=seconds or 0,
        tokens=tokens or 0,
        interface="cli",
    )
    asked = readable(*question)
    with COUNCILS.opened() as library, _joined_problems():
        if dry_run:
            return _plan(library, council, asked, options)
        writing = _writers(output, bundle)  # before anything is paid for
        minutes = live.attend(
            lambda on_event: library.councils.convene(
                council, asked, options=options, on_event=on_event
            ),
            quiet=common().json,
            is_saved=not fresh,
        )
        for write in writing:
            write(library, minutes)
    return Outcome(
        bundles.json_fields(minutes) if common().json else None,
        lambda target: show(target, minutes, reopening()),
        PARTLY if any(held.absences for _, held in contents.meetings(minutes)) else OK,
    )


def _plan(
    library: "Library", council: str, asked: str, options: "session.MeetingOptions"
) -> Outcome:
    found = library.councils.plan(council, asked, options=options)
    return Outcome({**plain(found), "dry_run": True}, partial(render_minutes.plan, value=found))


# --- a council that cannot meet ----------------------------------------------------------------


@contextmanager
def _joined_problems() -> Iterator[None]:
    """Tell everything that is wrong with a council at once."""
    try:
        yield
    except CouncilConfigError as error:
        raise _join_problems(error) from None


def _join_problems(error: CouncilConfigError) -> UsageError:
    """Return the error with everything wrong in its message, or shown above it to people."""
    hint = "Fix council.json, or see: chapterhouse council validate"
    if common().json:
        sentences = (f"{one.place}: {one.sentence}".removeprefix(": ") for one in error.problems)
        message = " ".join(("The council cannot meet.", *sentences))
        return UsageError(message, hint=hint)
    draw(console(stderr=True), show_problems(error.problems))
    return UsageError("The council cannot meet.", hint=hint)


# --- files -------------------------------------------------------------------------------------

Write = Callable[["Library", Minutes], None]


def _writers(output: str | None, bundle: str | None) -> list[Write]:
    """Return what writes each of the files that are named, once it is clear that all can be."""
    named = ((_output, output), (_bundle, bundle))
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


def _bundle(name: str) -> tuple[Path, Write]:
    path = bundle_path(name)
    return path, lambda library, minutes: write_bundle(path, library.councils.bundle(minutes))


def _markdown(minutes: Minutes) -> str:
    return marked(outline.minutes_markdown(minutes))


def _html(minutes: Minutes) -> str:
    return marked(outline.minutes_html(minutes))


def _json(minutes: Minutes) -> str:
    return bundles.file_text(bundles.json_fields(minutes))


_FORMS: Final[Mapping[str, Callable[[Minutes], str]]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".html": _html,
    ".htm": _html,
    ".json": _json,
}


def _is_minutes(data: bytes) -> bool:
    try:
        return _json(bundles.read_held(data, minutes_bundle.MINUTES)).encode() == data
    except (UsageError, UnicodeEncodeError):
        return False
