"""Commands that ask: search, context and ask."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli import ask_request
from chapterhouse.interfaces.cli.ask_request import ask_next
from chapterhouse.interfaces.cli.envelope import search_data
from chapterhouse.interfaces.cli.opening import read_last, remember_hits
from chapterhouse.interfaces.cli.options import (
    Model,
    PersonaName,
    Shelves,
    Tags,
    Trace,
    common,
    readable,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import (
    NO_ANSWER,
    OK,
    Outcome,
    library_class,
    named_home,
    run,
    with_library,
)
from chapterhouse.interfaces.cli.terminal import one_line, say, shown
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.presenting.hits import hits_blocks
from chapterhouse.presenting.terminal import show as blocks
from chapterhouse.text.counting import counted
from chapterhouse.types import Answer, Context, Turn

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.interfaces.cli.ask_request import Asked, Asking
    from chapterhouse.library import Library


def search(
    query: Annotated[
        list[str],
        typer.Argument(metavar="QUERY...", help="Words, a question, a file name or a “phrase”."),
    ],
    *,
    shelf: Shelves = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=1,
            max=1000,
            help="Number of passages; by default as in the settings.",
        ),
    ] = None,
    per_document: Annotated[
        int | None,
        typer.Option(
            "--per-document", metavar="N", min=0, help="At most so many of one document; 0: all."
        ),
    ] = None,
    tag: Tags = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="List every document that holds all the words, by its best passage."
        ),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the score of every stage for every hit.")
    ] = False,
) -> None:
    """Find passages, best first.

    Exit code 6 says that there are none.
    """
    if everything and (limit is not None or per_document is not None or tag):
        raise typer.BadParameter(
            "--all lists every document and takes no --limit, --per-document or --tag."
        )

    def work(library: "Library") -> Outcome:
        if everything:
            result = library.search.all(readable(*query), shelves=shelf or None)
        else:
            result = library.search.hits(
                readable(*query),
                shelves=shelf or None,
                limit=limit,
                per_document=per_document,
                tags=tuple(tag or ()),
            )
        remember_hits(library.folder, result)
        return Outcome(
            search_data(result, explain=explain),
            lambda target: blocks(target, hits_blocks(result, explain=explain)),
            OK if result.hits else NO_ANSWER,
        )

    with_library(work)


def context(
    question: Annotated[
        list[str], typer.Argument(metavar="QUESTION...", help="What the excerpts shall answer.")
    ],
    *,
    maximum: Annotated[
        int | None,
        typer.Option(
            "--tokens", metavar="N", min=1, help="Longest context; by default as in the settings."
        ),
    ] = None,
    shelf: Shelves = None,
    tag: Tags = None,
) -> None:
    """Pack what the documents say on a question into a number of tokens.

    The text is Markdown, to be read or given to a model. Exit code 6 says that there is nothing.
    """

    def work(library: "Library") -> Outcome:
        packed = library.search.context(
            readable(*question), maximum=maximum, shelves=shelf or None, tags=tuple(tag or ())
        )
        return Outcome(
            packed,
            lambda target: _show_context(target, packed),
            OK if packed.excerpts else NO_ANSWER,
        )

    with_library(work)


def _show_context(target: "Console", value: Context) -> None:
    """Print the Markdown as it is, and below it, apart, what it cost."""
    if value.excerpts:
        target.out(shown(value.markdown), highlight=False)
    for warning in value.warnings:
        say(target, (one_line(warning), "yellow"))
    if not value.excerpts:
        say(target, (_nothing(value), "bold"))
        return
    facts = [
        f"{value.tokens:,} of {value.maximum:,} tokens",
        f"{counted(len(value.excerpts), 'excerpt')} of {counted(len(value.sources), 'document')}",
        f"{value.information_gain:.0%} of the value found",
    ]
    say(target, (" · ".join(facts), "dim"))


def _nothing(value: Context) -> str:
    if not value.candidates:
        return "Nothing found."
    return (
        f"Something was found, but no sentence of it fits into {counted(value.maximum, 'token')}."
    )


def ask(
    question: Annotated[
        list[str], typer.Argument(metavar="QUESTION...", help="A question in your own words.")
    ],
    *,
    persona: PersonaName = "",
    shelf: Shelves = None,
    tag: Tags = None,
    words: Annotated[
        int | None,
        typer.Option(
            "--words",
            metavar="N",
            min=10,
            max=2000,
            help="Longest answer without a model; by default as in the settings.",
        ),
    ] = None,
    model: Model = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown with footnotes.")
    ] = False,
    sources: Annotated[
        bool,
        typer.Option(
            "--sources", help="Show each source with its quotation, characters and checksum."
        ),
    ] = False,
    bundle: Annotated[
        str | None,
        typer.Option(
            "--bundle", metavar="FILE", help="Write the answer with all that is needed to check it."
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--no-memory", help="Do not remember question and answer.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Let the model write anew, whatever was kept.")
    ] = False,
    go_on: Annotated[
        bool,
        typer.Option("--continue", help="Go on from the last question, like “and in winter?”."),
    ] = False,
    file: Annotated[
        list[str] | None,
        typer.Option(
            "--file", metavar="PATH", help="Ask this file alone, adding nothing; repeatable."
        ),
    ] = None,
    trace: Trace = False,
) -> None:
    """Answer a question with quotations that were checked.

    Exit code 6 says that the documents hold no answer; what was searched is shown instead.
    """
    if markdown and common().json:
        raise typer.BadParameter("--markdown and --json are two forms of one answer: take one.")
    if file and (go_on or persona or shelf):
        raise typer.BadParameter("--file asks these files alone: no --continue, persona or shelf.")
    asking = ask_request.Asking(
        persona,
        tuple(shelf) if shelf else None,
        tuple(tag or ()),
        words,
        model,
        not forget,
        not fresh,
    )

    def work(library: "Library") -> Outcome:
        # Before anything is paid for.
        write = None if bundle is None else _bundle_writer(library, bundle)
        if go_on:
            found = _go_on(library, " ".join(question), asking)
        else:
            found = ask_request.ask_one(library, " ".join(question), asking)
        if write is not None:
            write(found.answer)

        def show(target: "Console") -> None:
            if markdown:
                target.out(shown(answer_markdown(found.answer)), highlight=False, end="")
            else:
                opens = None if file else reopening()
                ask_request.show(target, found, opens, detailed=sources)

        return Outcome(ask_request.shape(found), show, OK if found.answer.found else NO_ANSWER)

    if file:
        asking = replace(asking, remember=False)
        _with_files(file, work, trace=trace)
    else:
        with_library(work, trace=trace)


def _with_files(
    paths: Sequence[str], work: "Callable[[Library], Outcome]", *, trace: bool = False
) -> None:
    """Run ``work`` on a library of these files alone, of which nothing stays, and show it."""

    def opened() -> Outcome:
        wanted = [require_path(path) for path in paths]
        place, libraries = named_home(), library_class()
        with ExitStack() as closing:
            with show_progress() as on_progress:
                files = libraries.of_files(
                    wanted, place, common().workspace, on_progress=on_progress
                )
                library = closing.enter_context(files)
            return work(library)

    run(opened, trace=trace)


def _bundle_writer(library: "Library", name: str) -> Callable[[Answer], None]:
    """Return what writes an answer to a file, once it is clear that it can be written."""
    from chapterhouse.interfaces.cli.bundles import (  # noqa: PLC0415 - brings what checks bundles
        bundle_path,
        write_bundle,
    )

    path = bundle_path(name)
    return lambda answer: write_bundle(path, library.answers.bundle(answer))


def _go_on(library: "Library", question: str, asking: "Asking") -> "Asked":
    """Ask what goes on from the last question, whom it was put to unless the options say."""
    last = read_last(library.folder)
    named = bool(asking.persona or asking.shelves)
    asking = replace(
        asking,
        persona=asking.persona if named else last.persona,
        shelves=asking.shelves if named else last.shelves or None,
        tags=asking.tags or last.tags,
    )
    if asking.persona and asking.shelves == last.shelves:  # a search as a persona names both
        asking = replace(asking, shelves=None)
    return ask_next(library, question, asking, [Turn(last.question)], certain=True)
