"""Commands about single documents: docs list, show, quality, check, remove, reprocess, formats."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.cli.options import (
    Common,
    Debug,
    DryRun,
    Home,
    Json,
    Shelves,
    WorkspaceName,
)
from chapterhouse.interfaces.cli.session import ConfirmationNeededError, Outcome, run, with_library
from chapterhouse.text.counting import counted
from chapterhouse.types import Document, FileRecord

if TYPE_CHECKING:
    from chapterhouse.library import Library

app = typer.Typer(
    help="List, show, remove and reread documents.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Ids, beginnings of ids or files.")
]


@app.command("list")
def list_documents(
    *,
    shelf: Shelves = None,
    files: Annotated[
        bool,
        typer.Option("--files", help="List every file that was looked at, with the reasons."),
    ] = False,
    problems: Annotated[
        bool,
        typer.Option("--problems", help="List only files that are not wholly in the library."),
    ] = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """List the documents, or what became of every file."""
    from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.shapes import is_incomplete  # noqa: PLC0415 - likewise

    if (files or problems) and shelf:
        option = "--problems" if problems else "--files"
        raise typer.BadParameter(f"{option} lists files, which stand on no shelf: leave one out.")

    def work(library: "Library") -> Outcome:
        if files or problems:
            records = tuple(
                record for record in library.files() if not problems or is_incomplete(record)
            )
            return Outcome(records, lambda target: render.files(target, records, problems=problems))
        found = tuple(library.documents(tuple(shelf or ())))
        return Outcome(found, lambda target: render.documents(target, found))

    with_library(Common(json, home, workspace, debug), work)


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An id, the beginning of one, or a file name.")
    ],
    *,
    text: Annotated[bool, typer.Option("--text", help="Print the whole text.")] = False,
    span: Annotated[
        str, typer.Option("--span", metavar="A:B", help="Open a citation: characters A to B.")
    ] = "",
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Show a document or open a citation.

    Without an option: what is known of the document, its outline, and the files in it. Of an
    archive: the files in it.
    """
    from chapterhouse.interfaces.cli import render, shapes  # noqa: PLC0415 - see options

    if text and span:
        raise typer.BadParameter("--text and --span exclude each other.")

    def work(library: "Library") -> Outcome:
        try:
            document = library.document(name)
        except NotFoundError:
            unpacked = None if text or span else library.archive(name)
            if unpacked is None:
                raise
            return _archive(library, unpacked)
        body = library.body(document.id)
        if span:
            place = shapes.place(document, body, *_bounds(span, len(body.text)))
            return Outcome(place, lambda target: render.place(target, place))
        if text:
            data = {"document": document, "text": body.text}
            return Outcome(data, lambda target: render.text(target, body))
        inside = tuple(library.files(document.location))
        data = {
            "document": document,
            "sections": body.sections,
            "pages": body.pages,
            "files": inside,
        }
        return Outcome(data, lambda target: render.document(target, document, body, inside))

    with_library(Common(json, home, workspace, debug), work)


def _archive(library: "Library", record: FileRecord) -> Outcome:
    from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options

    inside = tuple(library.files(record.location))
    data = {"file": record, "files": inside}
    return Outcome(data, lambda target: render.archive(target, record, inside))


@app.command()
def quality(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An id, the beginning of one, or a file name.")
    ],
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Measure the chunks of a document.

    Entropy, coherence, density and importance of each chunk's words, and their means.
    """
    from chapterhouse.chunking.quality import mean_quality, measure_quality  # noqa: PLC0415 - likewise
    from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        document = library.document(name)
        chunks = library.chunks(document.id)
        measured = measure_quality([chunk.text for chunk in chunks], document.language)
        mean = mean_quality(measured)
        rows = [
            {"id": chunk.id, "start": chunk.start, "end": chunk.end, "quality": measures}
            for chunk, measures in zip(chunks, measured, strict=True)
        ]
        data = {"document": document, "chunks": rows, "mean": mean}
        return Outcome(data, lambda target: render.chunk_quality(target, chunks, measured, mean))

    with_library(Common(json, home, workspace, debug), work)


@app.command()
def check(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An id, the beginning of one, or a file name.")
    ],
    *,
    output: Annotated[
        str,
        typer.Option(
            "--output", metavar="FILE", help="The page to write.  [default: check-ID.html]"
        ),
    ] = "",
    pages: Annotated[
        str,
        typer.Option(
            "--pages", metavar="A-B", help="Pages of a PDF, at most 50.  [default: the first]"
        ),
    ] = "",
    open_: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Show a file and the text taken from it side by side.

    Writes one HTML page, which needs no network and runs no script. What was not taken is marked
    on it, and listed here.
    """
    from chapterhouse.interfaces.cli import checking  # noqa: PLC0415 - see options

    with_library(
        Common(json, home, workspace, debug),
        lambda library: checking.checked(library, name, output, pages, may_open=open_),
    )


@app.command()
def remove(
    names: Names = None,
    *,
    missing: Annotated[
        bool, typer.Option("--missing", help="Remove documents whose files are gone.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Remove documents from the library.

    The files they came from are not touched. Answers that rest on them are forgotten. The indexes
    are built anew, and every file of the library is searched for what was removed.

    Asks first. Off a terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options

    if not names and not missing:
        raise typer.BadParameter("Name what to remove, or use --missing.")

    def work(library: "Library") -> Outcome:
        removal = library.remove(*(names or ()), missing=missing, dry_run=True)
        if removal.documents and not dry_run:
            if not yes:
                _confirm(removal.documents, may_ask=not json)
            removal = library.remove(*(names or ()), missing=missing)
        data = {"documents": removal.documents, "receipt": removal.receipt, "dry_run": dry_run}
        return Outcome(data, lambda target: render.removed(target, removal, dry_run=dry_run))

    with_library(Common(json, home, workspace, debug), work)


@app.command()
def reprocess(
    names: Names = None,
    *,
    dry_run: DryRun = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Read stored files again, as after an update.

    Without a name, all of them.
    """
    from chapterhouse.interfaces.cli import progress, render, shapes  # noqa: PLC0415 - see options

    def work(library: "Library") -> Outcome:
        if dry_run:
            chosen = tuple(map(library.document, names) if names else library.documents())
            data = {"documents": chosen, "dry_run": True}
            return Outcome(data, lambda target: render.documents(target, chosen))
        report = progress.watched(lambda tell: library.reprocess(*(names or ()), on_progress=tell))
        return Outcome(
            shapes.report(report),
            lambda target: render.report(target, report),
            shapes.report_code(report),
        )

    with_library(Common(json, home, workspace, debug), work)


@app.command()
def formats(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """List the formats that can be read here."""

    def work() -> Outcome:
        from chapterhouse.interfaces.cli import render  # noqa: PLC0415 - see options
        from chapterhouse.library import Library  # noqa: PLC0415 - brings the engines

        found = Library.formats()
        return Outcome(found, lambda target: render.formats(target, found))

    run(Common(json, home, workspace, debug), work)


def _bounds(span: str, length: int) -> tuple[int, int]:
    """Read ``A:B``.

    Raises:
        UsageError: it is not two numbers, or lies outside the text.
    """
    start, colon, end = span.partition(":")
    if not (colon and start.isdecimal() and end.isdecimal()):
        raise UsageError(f"--span wants two numbers as A:B, not {span!r}.")
    if not int(start) < int(end) <= length:
        raise UsageError(
            f"--span {span} lies outside the text, which has {counted(length, 'character')}.",
            hint="A citation names its characters as a–b: write them as A:B.",
        )
    return int(start), int(end)


def _confirm(documents: tuple[Document, ...], *, may_ask: bool) -> None:
    """Ask on standard error whether these may go.

    Raises:
        ConfirmationNeededError: nobody can be asked, or the answer was no.
    """
    from chapterhouse.interfaces.cli.terminal import one_line  # noqa: PLC0415 - see options

    count = counted(len(documents), "document")
    if not (may_ask and sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfirmationNeededError(
            f"Removing {count} needs to be confirmed.",
            hint="Add --yes, or look first with --dry-run.",
        )
    for document in documents:
        typer.echo(f"  {one_line(document.source)}", err=True)
    try:
        agreed = typer.confirm(f"Remove {count} from the library?", err=True)
    except typer.Abort:  # Ctrl-C or Ctrl-D at the question
        agreed = False
    if not agreed:
        raise ConfirmationNeededError("Nothing was removed.")
