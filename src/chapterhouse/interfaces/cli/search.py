"""Commands that find passages: search and context."""

from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.interfaces.cli.envelope import search_data
from chapterhouse.interfaces.cli.options import (
    Shelves,
    Tags,
    readable,
)
from chapterhouse.interfaces.cli.session import (
    NO_ANSWER,
    OK,
    Outcome,
    with_library,
)
from chapterhouse.interfaces.cli.sources import remember_hits
from chapterhouse.interfaces.cli.terminal import one_line, say, shown
from chapterhouse.presenting.hits import hits_blocks
from chapterhouse.presenting.terminal import show as blocks
from chapterhouse.text.counting import counted
from chapterhouse.types import Context

if TYPE_CHECKING:
    from rich.console import Console

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
