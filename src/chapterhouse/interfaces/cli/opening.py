"""Commands that go on from the last question: open and more."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.cli.options import Common, Debug, Home, Json, WorkspaceName
from chapterhouse.interfaces.cli.session import NO_ANSWER, OK, Outcome, with_library

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.interfaces.cli.last import LastSource
    from chapterhouse.library import Library
    from chapterhouse.types import Document

_PASSAGES = 8  # that `more` shows


def open_source(
    number: Annotated[
        int, typer.Argument(metavar="N", help="The source's number in the last answer or search.")
    ] = 1,
    *,
    only_print: Annotated[
        bool, typer.Option("--print", help="Show the place here; never start a viewer.")
    ] = False,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Open a source of the last answer or search.

    On a terminal its file is shown in the system's viewer, at its page where the viewer can;
    elsewhere the place is printed. Scripts and web pages are only ever printed.
    """
    may_open = not only_print and not json and sys.stdout.isatty()
    with_library(
        Common(json, home, workspace, debug),
        lambda library: opened_source(library, number, may_open=may_open),
    )


def opened_source(library: "Library", number: int, *, may_open: bool) -> Outcome:
    """Return a source of the last answer or search, shown in the system's viewer if it may be.

    Raises:
        NotFoundError: there is no such source, or its document is gone or has changed.
    """
    from chapterhouse.interfaces.cli import render, shapes, viewer  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.last import read_last, source_numbered  # noqa: PLC0415 - likewise
    from chapterhouse.interfaces.cli.terminal import one_line, styled  # noqa: PLC0415 - likewise

    source = source_numbered(read_last(library.folder), number)
    document = _unchanged(library, source)
    place = shapes.place(document, library.body(document.id), source.start, source.end)
    path = viewer.original_of(document) if may_open else None
    command = viewer.viewer_command(path, place.page) if path else ()
    opened = bool(command) and viewer.start(command)

    def show(target: "Console") -> None:
        told = "Opened " if opened else ""
        target.print(styled((f"{told}{one_line(document.location)}", "bold")))
        render.place(target, place)

    return Outcome({"number": number, "path": document.location, "place": place}, show)


def _unchanged(library: "Library", source: "LastSource") -> "Document":
    """Return the document of a source.

    Raises:
        NotFoundError: it is gone, or its text is another one than was cited.
    """
    hint = "Ask again, and open the new source."
    try:
        document = library.document(source.document_id)
    except NotFoundError:
        message = f"The document of source {source.number} is not in the library any more."
        raise NotFoundError(message, hint=hint) from None
    if document.text_sha256 != source.text_sha256:
        message = f"'{document.source}' has changed since it was cited."
        raise NotFoundError(message, hint=hint)
    return document


def more(
    *,
    json: Json = False,
    home: Home = None,
    workspace: WorkspaceName = "default",
    debug: Debug = False,
) -> None:
    """Show up to eight passages for the last question.

    In each the sentence with most of the question's words stands out. `open N` then opens these.
    Exit code 6 says that there are none.
    """
    from chapterhouse.interfaces.cli import render, shapes  # noqa: PLC0415 - see options
    from chapterhouse.interfaces.cli.last import read_last, remember_hits  # noqa: PLC0415 - likewise

    def work(library: "Library") -> Outcome:
        last = read_last(library.folder)
        persona = library.personas.load(last.persona).persona if last.persona else None
        result = library.search(
            last.question,
            shelves=persona.reads if persona else last.shelves,
            limit=_PASSAGES,
            tags=last.tags,
        )
        remember_hits(library.folder, result, last.persona)
        return Outcome(
            shapes.search(result, explain=False),
            lambda target: render.search(target, result, telling=True),
            OK if result.hits else NO_ANSWER,
        )

    with_library(Common(json, home, workspace, debug), work)
