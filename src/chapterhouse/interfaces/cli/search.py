"""Commands that find passages: search and context."""

from collections.abc import Iterator
from typing import Annotated

import typer

from chapterhouse.interfaces.cli.envelope import search_data
from chapterhouse.interfaces.cli.options import (
    Shelves,
    Tags,
    argument,
    flag,
    option,
    readable,
)
from chapterhouse.interfaces.cli.session import NO_ANSWER, OK, Outcome, opened_library
from chapterhouse.interfaces.cli.sources import remember_hits
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Raw, Style, TerminalBlock, verbatim
from chapterhouse.presenting.hits import hits_blocks
from chapterhouse.presenting.terminal import show as blocks
from chapterhouse.text.counting import counted
from chapterhouse.types import Context


def search(
    query: Annotated[
        list[str], argument("QUERY...", "Words, a question, a file name or a “phrase”.")
    ],
    *,
    shelf: Shelves = None,
    limit: Annotated[
        int | None,
        option(
            "--limit", "N", "Number of passages; by default as in the settings.", least=1, most=1000
        ),
    ] = None,
    per_document: Annotated[
        int | None,
        option("--per-document", "N", "At most so many from one document; 0 for all.", least=0),
    ] = None,
    tag: Tags = None,
    everything: Annotated[
        bool, flag("--all", "List every document that holds all the words, by its best passage.")
    ] = False,
    explain: Annotated[
        bool, flag("--explain", "Show the score of every stage for every hit.")
    ] = False,
) -> Outcome:
    """Find passages, best first.

    Exit code 6 says that there are none.
    """
    if everything and (limit is not None or per_document is not None or tag):
        raise typer.BadParameter(
            "--all lists every document and takes no --limit, --per-document or --tag."
        )

    with opened_library() as library:
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


def context(
    question: Annotated[list[str], argument("QUESTION...", "What the excerpts are to answer.")],
    *,
    maximum: Annotated[
        int | None,
        option("--tokens", "N", "Longest context; by default as in the settings.", least=1),
    ] = None,
    purpose: Annotated[
        str,
        option("--purpose", "NAME", "As many tokens as packing.budgets has for it: chat, recipe …"),
    ] = "",
    shelf: Shelves = None,
    tag: Tags = None,
) -> Outcome:
    """Pack what the documents say on a question into a number of tokens.

    The text is Markdown, to be read or given to a model. Exit code 6 says that there is nothing.
    """
    with opened_library() as library:
        packed = library.search.context(
            readable(*question),
            maximum=maximum,
            purpose=purpose,
            shelves=shelf or None,
            tags=tuple(tag or ()),
        )
        return Outcome(packed, _context_blocks(packed), OK if packed.excerpts else NO_ANSWER)


def _context_blocks(value: Context) -> Iterator[TerminalBlock]:
    """Show the Markdown as it is, and below it, apart, what it cost."""
    if value.excerpts:
        yield Raw(f"{value.markdown}\n")
    for warning in value.warnings:
        yield verbatim((one_line(warning), Style.WARNING))
    if not value.excerpts:
        yield verbatim((_nothing(value), Style.STRONG))
        return
    facts = [
        f"{value.tokens:,} of {value.maximum:,} tokens",
        f"{counted(len(value.excerpts), 'excerpt')} of {counted(len(value.sources), 'document')}",
        f"{value.information_gain:.0%} of the value found",
    ]
    yield verbatim((" · ".join(facts), Style.QUIET))


def _nothing(value: Context) -> str:
    if not value.candidates:
        return "Nothing found."
    return (
        f"Something was found, but no sentence of it fits into {counted(value.maximum, 'token')}."
    )
