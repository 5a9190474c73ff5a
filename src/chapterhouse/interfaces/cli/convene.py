"""The command that lets a council meet: convene."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse import lazy
from chapterhouse.agents.problems import CouncilConfigError
from chapterhouse.errors import UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.councils import COUNCILS, Which
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import (
    Trace,
    argument,
    common,
    destination,
    flag,
    is_marked,
    marked,
    option,
    readable,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.progress import attend
from chapterhouse.interfaces.cli.registries import show_problems
from chapterhouse.interfaces.cli.session import OK, PARTLY, Outcome, console
from chapterhouse.interfaces.cli.verify import bundle_path, write_bundle
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Part,
    Raw,
    Sources,
    Style,
    TerminalBlock,
    names_in,
    paragraph,
    table,
    verbatim,
)
from chapterhouse.presenting.styled import one_line, styled
from chapterhouse.presenting.terminal import draw, show
from chapterhouse.text.counting import counted
from chapterhouse.types import Minutes

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.answering import bundle as bundles
    from chapterhouse.council.meeting import session
    from chapterhouse.council.meeting.convene import Plan, PlannedTurn
    from chapterhouse.council.minutes import bundle as minutes_bundle
    from chapterhouse.council.minutes import contents, outline
    from chapterhouse.library import Library
else:
    session = lazy("chapterhouse.council.meeting.session")
    bundles = lazy("chapterhouse.answering.bundle")
    minutes_bundle = lazy("chapterhouse.council.minutes.bundle")
    contents = lazy("chapterhouse.council.minutes.contents")
    outline = lazy("chapterhouse.council.minutes.outline")

_MORE: Final = "sources in full and all that was said: --full, --markdown or --output"
# Of the first screen, and how many lines of each of its lists.
_FIRST: Final = (
    "table",
    "decision",
    "grounds",
    "dissent",
    "agreement",
    "open-questions",
    "absences",
    "warnings",
)
_MOST_LINES: Final = 4


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
    if markdown and common().json:
        raise typer.BadParameter("--markdown and --json are forms of one thing: take one.")
    if dry_run and (markdown or output or bundle):
        raise typer.BadParameter("--dry-run makes no minutes that could be printed or written.")
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
            planned = library.councils.plan(council, asked, options=options)
            return Outcome({**plain(planned), "dry_run": True}, _show_plan(planned))
        writing = _writers(output, bundle)  # before anything is paid for
        minutes = attend(
            lambda on_event: library.councils.convene(
                council, asked, options=options, on_event=on_event
            ),
            quiet=common().json,
            is_saved=not fresh,
        )
        for write in writing:
            write(library, minutes)
    if markdown:
        shown: list[Raw] | partial[None] = [Raw(outline.minutes_markdown(minutes))]
    else:
        shown = partial(show_minutes, value=minutes, options=reopening(), full=full)
    return Outcome(
        bundles.json_fields(minutes) if common().json else None,
        shown,
        PARTLY if any(held.absences for _, held in contents.meetings(minutes)) else OK,
    )


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


# --- what is shown ------------------------------------------------------------------------------


def show_minutes(target: "Console", value: Minutes, options: str = "", *, full: bool) -> None:
    """Show minutes: the same parts as in Markdown in full, or those that fit one screen."""
    target.print(styled((one_line(value.title or value.council), "bold cyan")))
    if full:
        show(target, outline.outline(value), options, detailed=True)
    else:
        show(target, _first_screen(value), None)


def _first_screen(value: Minutes) -> Part:
    parts = {part.key: part for part in outline.meeting(contents.Reader(value)).parts}
    first = [
        replace(parts[key], blocks=tuple(_cut(parts[key].blocks))) for key in _FIRST if key in parts
    ]
    named = {name for part in first for block in part.blocks for name in names_in(block)}
    numbered = ((str(one.number), one) for one in value.citations)
    sources = Sources(tuple(one for one in numbered if one[0] in named))
    last = Part("sources", "", (sources, paragraph(_MORE, Style.QUIET)))
    return Part("minutes", "", (paragraph(value.question),), (*first, last))


def _cut(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Bullets) and len(block.lines) > _MOST_LINES:
            yield Bullets(block.lines[:_MOST_LINES])
            yield paragraph(f"and {len(block.lines) - _MOST_LINES} more: --full")
        else:
            yield block


def _show_plan(value: "Plan") -> Iterator[TerminalBlock]:
    """Show who would take part and what each would be told, in full."""
    yield verbatim((one_line(value.title), Style.STRONG))
    yield verbatim(one_line(value.question))
    yield verbatim()
    yield from table(
        value.participants,
        ("member", lambda one: one.title or one.key),
        ("seat", lambda one: one.kind),
        ("reads", lambda one: ", ".join(one.shelves) or "nothing"),
        "documents",
        ("model", lambda one: one.model or "none: quotations"),
    )
    for number, turn in enumerate(value.turns, start=1):
        yield from _show_turn(turn, number)
    for warning in value.warnings:
        yield verbatim((one_line(warning), Style.WARNING))
    turns = counted(len(value.turns), "turn")
    yield verbatim((f"{turns} planned; no model was asked.", Style.QUIET))


def _show_turn(turn: "PlannedTurn", number: int) -> Iterator[TerminalBlock]:
    yield verbatim()
    yield verbatim((f"{number}. {one_line(turn.round)}: {one_line(turn.member)}", Style.TITLE))
    facts = [
        f"model {turn.model}" if turn.model else "no model: documents are quoted",
        f"grounding {turn.grounding}",
        f"reads {', '.join(turn.shelves) or 'nothing'}",
        f"tools {', '.join(turn.tools) or 'none'}",
    ]
    yield verbatim((" · ".join(map(one_line, facts)), Style.QUIET), indent=3)
    for name, text in (("Instructions", turn.instructions), ("Prompt", turn.prompt)):
        if text.strip():
            yield verbatim((name, Style.STRONG), indent=3)
            yield verbatim(text.rstrip(), indent=5)
